package store

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// CreateSession saves a login. CodeUnauthorized when the user is disabled or gone by now.
func (s *Store) CreateSession(ctx context.Context, session model.Session) error { return errNotYet }

// Session reads a session and its user as they are now, disabled users and expired sessions too: the caller checks
// both. CodeNotFound when it was ended.
func (s *Store) Session(ctx context.Context, id string) (model.Session, model.User, error) {
	return model.Session{}, model.User{}, errNotYet
}

// RotateSession exchanges the refresh hash old for next in one atomic step: of two calls with the same old hash one
// answers Rotated. The other one, and any later return of an old hash, answers RotateConcurrent within
// Config.RotationGrace of the exchange, and RotateReused after it; these change nothing. CodeNotFound when the
// session was ended, is expired at the time at, or its user is disabled.
func (s *Store) RotateSession(ctx context.Context, id string, old, next []byte, at, expires time.Time) (model.RotateResult, error) {
	return "", errNotYet
}

// DeleteSession ends a session; an absent one is no error.
func (s *Store) DeleteSession(ctx context.Context, id string) error { return errNotYet }

// DeleteSessionsOf ends all sessions of a user.
func (s *Store) DeleteSessionsOf(ctx context.Context, userID int64) error { return errNotYet }

// DeleteExpiredSessions removes the sessions that expired before a time and tells how many.
func (s *Store) DeleteExpiredSessions(ctx context.Context, before time.Time) (int64, error) {
	return 0, errNotYet
}
