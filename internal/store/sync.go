package store

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Dirty returns up to limit buckets (deleted ones too) whose push is due at now, the longest due first.
func (s *Store) Dirty(ctx context.Context, now time.Time, limit int) ([]model.Dirty, error) {
	return nil, errNotYet
}

// CountDirty counts the buckets that wait for a push, due or not.
func (s *Store) CountDirty(ctx context.Context) (int64, error) { return 0, errNotYet }

// SyncRow reads what reconcile needs of one bucket, living or deleted. CodeNotFound when the name never existed.
func (s *Store) SyncRow(ctx context.Context, name string) (model.SyncRow, error) {
	return model.SyncRow{}, errNotYet
}

// SyncRows reads up to limit rows with names after the given one, in the order of their names; "" starts.
func (s *Store) SyncRows(ctx context.Context, after string, limit int) ([]model.SyncRow, error) {
	return nil, errNotYet
}

// MarkInstalled notes that Redis has a revision (a lower one than noted before changes nothing), and ends the push that
// mark names unless the bucket was marked again meanwhile. CodeNotFound.
func (s *Store) MarkInstalled(ctx context.Context, name string, revision, mark int64) error {
	return errNotYet
}

// MarkFailed notes why the push that mark names failed and when to try next; a newer marking stays due as it was.
func (s *Store) MarkFailed(ctx context.Context, name string, mark int64, message string, next time.Time) error {
	return errNotYet
}

// MarkDirty asks for a push now. CodeNotFound when the name never existed.
func (s *Store) MarkDirty(ctx context.Context, name string) error { return errNotYet }

// RaiseRevision lifts a bucket's revision above the one found in Redis, when it is not above it already: to
// redisRevision+1, with a change row by model.SystemActor and an outbox mark. It returns the revision that now stands
// and whether it was raised. CodeNotFound when the name never existed.
func (s *Store) RaiseRevision(ctx context.Context, name string, redisRevision int64) (int64, bool, error) {
	return 0, false, errNotYet
}

// DeploymentID is this database's identity, made by the first Migrate.
func (s *Store) DeploymentID(ctx context.Context) (string, error) { return "", errNotYet }

// NewDeploymentID replaces the identity, for a cloned database, and returns the new one.
func (s *Store) NewDeploymentID(ctx context.Context, o model.Origin) (string, error) {
	return "", errNotYet
}

// EpochMark is the newest mark that was written to Redis to show data loss; the zero time when there was none.
func (s *Store) EpochMark(ctx context.Context) (time.Time, error) { return time.Time{}, errNotYet }

// SetEpochMark notes the mark written to Redis; an older one than noted before changes nothing.
func (s *Store) SetEpochMark(ctx context.Context, mark time.Time) error { return errNotYet }
