package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// pendingRow is a bucket of the outbox with how far it is.
type pendingRow struct {
	Name              string
	Deleted           bool
	Revision          int64
	InstalledRevision int64
	UpdatedAt         time.Time
	Attempts          int
	NextAt            time.Time
	LastError         string
}

// PendingBuckets lists the first buckets, deleted ones too, that wait to be brought to Redis: those that were changed
// longest ago first. limit is 1..1000.
func (s *Store) PendingBuckets(ctx context.Context, limit int) ([]model.PendingBucket, error) {
	var rows []pendingRow
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Table("outbox").
			Select("buckets.name, buckets.deleted, buckets.revision, buckets.installed_revision, buckets.updated_at, outbox.attempts, outbox.next_at, outbox.last_error").
			Joins("JOIN buckets ON buckets.id = outbox.bucket_id").
			Order("buckets.updated_at, buckets.name").Limit(min(max(limit, 1), syncBound)).Scan(&rows).Error
	})
	all := make([]model.PendingBucket, len(rows))
	for i, r := range rows {
		all[i] = model.PendingBucket{
			Name: r.Name, Deleted: r.Deleted, Revision: r.Revision, InstalledRevision: r.InstalledRevision, ChangedAt: r.UpdatedAt.UTC(),
			Attempts: r.Attempts, NextAt: r.NextAt.UTC(), LastError: r.LastError,
		}
	}
	return all, err
}
