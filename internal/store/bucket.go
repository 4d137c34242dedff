package store

import (
	"context"

	"github.com/headgate/headgate/internal/model"
)

// Bucket reads one bucket. CodeNotFound.
func (s *Store) Bucket(ctx context.Context, name string) (model.Bucket, error) {
	return model.Bucket{}, errNotYet
}

// BucketFor reads one bucket and what the user is to it. CodeNotFound only when there is no such bucket: whether a
// user without a relation may see it is the caller's to decide.
func (s *Store) BucketFor(ctx context.Context, user, name string) (model.Bucket, model.Relation, error) {
	return model.Bucket{}, model.Relation{}, errNotYet
}

// Buckets lists buckets. CodeInvalid naming the field of the query.
func (s *Store) Buckets(ctx context.Context, q model.BucketQuery) (model.Page[model.Bucket], error) {
	return model.Page[model.Bucket]{}, errNotYet
}

// CreatedRevision tells at which revision the present incarnation of a bucket began; earlier history belongs to a
// deleted bucket of the same name. CodeNotFound.
func (s *Store) CreatedRevision(ctx context.Context, name string) (int64, error) { return 0, errNotYet }

// CreateBucket makes a bucket; a name that was deleted goes on counting its revisions. CodeTaken; CodeInvalid with
// field "apps[i]" or "owners[i]" for one that is not registered, and for each field that breaks its rule.
func (s *Store) CreateBucket(ctx context.Context, name string, d model.Definition, o model.Origin) (model.Bucket, error) {
	return model.Bucket{}, errNotYet
}

// UpdateBucket replaces the definition of a bucket that is still at revision base. CodeNotFound, CodeStale,
// CodeInvalid as CreateBucket.
func (s *Store) UpdateBucket(ctx context.Context, name string, base int64, d model.Definition, o model.Origin) (model.Bucket, error) {
	return model.Bucket{}, errNotYet
}

// DeleteBucket deletes a bucket that is still at revision base and returns the revision of its tombstone. CodeNotFound,
// CodeStale.
func (s *Store) DeleteBucket(ctx context.Context, name string, base int64, o model.Origin) (int64, error) {
	return 0, errNotYet
}
