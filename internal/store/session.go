package store

import (
	"context"
	"crypto/subtle"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// userAgentBound is what the column holds, in characters; longer ones are cut.
const userAgentBound = 255

type sessionRow struct {
	ID          string `gorm:"primaryKey"`
	UserID      int64
	RefreshHash []byte
	PrevHash    []byte
	CreatedAt   time.Time `gorm:"autoCreateTime:false"`
	RotatedAt   time.Time
	ExpiresAt   time.Time
	Address     string
	UserAgent   string
}

func (sessionRow) TableName() string { return "sessions" }

func (r *sessionRow) session() model.Session {
	return model.Session{
		ID: r.ID, UserID: r.UserID, RefreshHash: r.RefreshHash, PrevHash: r.PrevHash, CreatedAt: r.CreatedAt.UTC(),
		RotatedAt: r.RotatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), Address: r.Address, UserAgent: r.UserAgent,
	}
}

// CreateSession saves a login and its change row, or neither. CodeUnauthorized when the user is disabled or gone by now,
// or is a service account.
func (s *Store) CreateSession(ctx context.Context, session model.Session, c model.Change) error {
	return s.write(ctx, func(t *tx) error {
		// Locked, so that a session cannot slip in beside the disabling that ends the user's sessions.
		user, err := userByID(forShare(t.DB), session.UserID)
		if model.CodeOf(err) == model.CodeNotFound || err == nil && (user.Disabled || user.Service) {
			return model.Errorf(model.CodeUnauthorized, "the user can't log in")
		}
		if err != nil {
			return err
		}
		t.insertChange(c)
		return t.Create(&sessionRow{
			ID: session.ID, UserID: session.UserID, RefreshHash: session.RefreshHash, PrevHash: session.PrevHash,
			CreatedAt: micros(session.CreatedAt), RotatedAt: micros(session.RotatedAt), ExpiresAt: micros(session.ExpiresAt),
			Address: clip(session.Address, model.AddressBound), UserAgent: clip(session.UserAgent, userAgentBound),
		}).Error
	})
}

// Session reads a session and its user as they are now, disabled users and expired sessions too: the caller checks
// both. CodeNotFound when it was ended.
func (s *Store) Session(ctx context.Context, id string) (model.Session, model.User, error) {
	var session model.Session
	var user model.User
	err := s.readOne(ctx, func(db *gorm.DB) error {
		row, err := sessionByID(db, id)
		if err != nil {
			return err
		}
		person, err := userByID(db, row.UserID)
		if err != nil {
			return err
		}
		session, user = row.session(), person.user()
		return nil
	})
	return session, user, err
}

// RotateSession exchanges the refresh hash old for next in one atomic step: of two calls with the same old hash one
// answers Rotated. The other one, and any later return of an old hash, answers RotateConcurrent within
// Config.RotationGrace of the exchange, and RotateReused after it; these change nothing. CodeNotFound when the
// session was ended, is expired at the time at, or its user is disabled.
func (s *Store) RotateSession(ctx context.Context, id string, old, next []byte, at, expires time.Time) (model.RotateResult, error) {
	var result model.RotateResult
	err := s.write(ctx, func(t *tx) error {
		row, err := sessionByID(forUpdate(t.DB), id)
		if err != nil {
			return err
		}
		user, err := userByID(t.DB, row.UserID)
		if err != nil {
			return err
		}
		if user.Disabled || !at.Before(row.ExpiresAt) {
			return notFound("session")
		}
		result = s.judge(row, old, at)
		if result != model.Rotated {
			return nil
		}
		row.PrevHash, row.RefreshHash, row.RotatedAt, row.ExpiresAt = row.RefreshHash, next, micros(at), micros(expires)
		return t.Save(row).Error
	})
	return result, err
}

// judge compares a presented hash with the session's newest and the one before. Any other one is older still, or made
// up by someone who knows the session's secret id: reuse as well.
func (s *Store) judge(row *sessionRow, old []byte, at time.Time) model.RotateResult {
	if subtle.ConstantTimeCompare(old, row.RefreshHash) == 1 {
		return model.Rotated
	}
	// Abs: while a clock that jumped back is behind the exchange, an old token is not good for as long.
	if subtle.ConstantTimeCompare(old, row.PrevHash) == 1 && micros(at).Sub(row.RotatedAt).Abs() <= s.grace {
		return model.RotateConcurrent
	}
	return model.RotateReused
}

// DeleteSession ends a session and keeps the change row that tells why, or neither; for an absent one it keeps none and
// is no error.
func (s *Store) DeleteSession(ctx context.Context, id string, c model.Change) error {
	return s.write(ctx, func(t *tx) error {
		gone := t.Where("id = ?", id).Delete(&sessionRow{})
		if gone.RowsAffected > 0 {
			t.insertChange(c)
		}
		return gone.Error
	})
}

// DeleteExpiredSessions removes the sessions that expired before a time and tells how many.
func (s *Store) DeleteExpiredSessions(ctx context.Context, before time.Time) (int64, error) {
	var count int64
	err := s.write(ctx, func(t *tx) error {
		gone := t.Where("expires_at < ?", micros(before)).Delete(&sessionRow{})
		count = gone.RowsAffected
		return gone.Error
	})
	return count, err
}

func sessionByID(db *gorm.DB, id string) (*sessionRow, error) {
	var row sessionRow
	err := db.Take(&row, "id = ?", id).Error
	if err == nil && row.ID != id {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return nil, orNotFound(err, "session")
	}
	return &row, nil
}
