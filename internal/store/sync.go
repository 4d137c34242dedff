package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// maxRevision is the largest revision that Redis' scripts carry exactly (2^53-1, a Lua number).
const maxRevision = 1<<53 - 1

// errorBound is what the outbox keeps of an error, in characters.
const errorBound = 500

// syncColumns are what Redis gets of a bucket, and what tells how far it has followed.
var syncColumns = []string{"id", "name", "all_apps", "algorithm", "max_permits", "rate", "period_ms", "partition_by", "shards", "mode", "max_wait_ms",
	"on_redis_failure", "after_loss", "deleted", "revision", "installed_revision", "installed_at", "updated_at"}

// syncBound bounds one reading of Dirty and SyncRows, in rows.
const syncBound = 1000

// outboxRow says that a bucket is to be pushed to Redis: one row a bucket, however often it was marked.
type outboxRow struct {
	BucketID  int64 `gorm:"primaryKey;autoIncrement:false"`
	Mark      int64
	Attempts  int
	NextAt    time.Time
	LastError string
}

func (outboxRow) TableName() string { return "outbox" }

// Dirty returns up to limit (1..1000) buckets, deleted ones too, whose push is due at now, the longest due first.
func (s *Store) Dirty(ctx context.Context, now time.Time, limit int) ([]model.Dirty, error) {
	var due []model.Dirty
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Table("outbox").Select("buckets.name, outbox.mark, outbox.attempts").
			Joins("JOIN buckets ON buckets.id = outbox.bucket_id").
			Where("outbox.next_at <= ?", micros(now)).
			Order("outbox.next_at, outbox.bucket_id").Limit(min(max(limit, 1), syncBound)).Scan(&due).Error
	})
	return due, err
}

// CountDirty counts the buckets that wait for a push, due or not.
func (s *Store) CountDirty(ctx context.Context) (int64, error) {
	var count int64
	err := s.readOne(ctx, func(db *gorm.DB) error { return db.Model(&outboxRow{}).Count(&count).Error })
	return count, err
}

// SyncRow reads what reconcile needs of one bucket, living or deleted: what Redis gets. Of the rest some is left out. CodeNotFound when the name never existed.
func (s *Store) SyncRow(ctx context.Context, name string) (model.SyncRow, error) {
	var out model.SyncRow
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := bucketByName(db, name)
		if err != nil {
			return err
		}
		rows, err := syncRows(db, []bucketRow{*row})
		if err == nil {
			out = rows[0]
		}
		return err
	})
	return out, err
}

// SyncRows reads up to limit (1..1000) rows with names after the given one, in the order of their names; "" starts.
func (s *Store) SyncRows(ctx context.Context, after string, limit int) ([]model.SyncRow, error) {
	var out []model.SyncRow
	err := s.read(ctx, func(db *gorm.DB) error {
		var rows []bucketRow
		if err := db.Select(syncColumns).Where("name > ?", after).Order("name").Limit(min(max(limit, 1), syncBound)).Find(&rows).Error; err != nil {
			return err
		}
		var err error
		out, err = syncRows(db, rows)
		return err
	})
	return out, err
}

func syncRows(db *gorm.DB, rows []bucketRow) ([]model.SyncRow, error) {
	out := make([]model.SyncRow, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	lists := &bucketLists{outbox: map[int64]outboxRow{}}
	var err error
	if lists.apps, err = loadNames(db, "bucket_apps", "apps", "app_id", ids); err != nil {
		return nil, err
	}
	var waiting []outboxRow
	if err := db.Where("bucket_id IN ?", ids).Find(&waiting).Error; err != nil {
		return nil, err
	}
	for _, row := range waiting {
		lists.outbox[row.BucketID] = row
	}
	for i := range rows {
		r := &rows[i]
		waits := lists.outbox[r.ID]
		head := model.SyncHead{
			Name: r.Name, Revision: r.Revision, Deleted: r.Deleted, Shards: r.Shards, InstalledRevision: r.InstalledRevision, Mark: waits.Mark,
		}
		out[i] = model.SyncRow{SyncHead: head, LastError: waits.LastError, UpdatedAt: r.UpdatedAt.UTC()}
		if r.InstalledAt != nil {
			out[i].InstalledAt = r.InstalledAt.UTC()
		}
		if !r.Deleted {
			bucket := r.bucket(lists)
			out[i].Bucket = &bucket
		}
	}
	return out, nil
}

// MarkInstalled notes that Redis has a revision (a lower one than noted before changes nothing), and ends the push that
// mark names unless the bucket was marked again meanwhile. CodeNotFound.
func (s *Store) MarkInstalled(ctx context.Context, name string, revision, mark int64) error {
	return s.write(ctx, func(t *tx) error {
		row, err := bucketByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		if revision > row.InstalledRevision {
			if err := t.Model(row).Updates(map[string]any{"installed_revision": revision, "installed_at": t.now}).Error; err != nil {
				return err
			}
		}
		return t.Where("bucket_id = ? AND mark <= ?", row.ID, mark).Delete(&outboxRow{}).Error
	})
}

// MarkFailed notes why the push that mark names failed and when to try next; a newer marking stays due as it was.
func (s *Store) MarkFailed(ctx context.Context, name string, mark int64, message string, next time.Time) error {
	return s.write(ctx, func(t *tx) error {
		row, err := bucketByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		return t.Model(&outboxRow{}).Where("bucket_id = ? AND mark = ?", row.ID, mark).Updates(map[string]any{
			"attempts": gorm.Expr("attempts + 1"), "next_at": micros(next), "last_error": clip(message, errorBound),
		}).Error
	})
}

// MarkDirty asks for a push now. CodeNotFound when the name never existed.
func (s *Store) MarkDirty(ctx context.Context, name string) error {
	return s.write(ctx, func(t *tx) error {
		row, err := bucketByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		row.Mark++
		if err := t.Model(row).Update("mark", row.Mark).Error; err != nil {
			return err
		}
		return t.putOutbox(row)
	})
}

var replaceMark = clause.OnConflict{Columns: []clause.Column{{Name: "bucket_id"}}, DoUpdates: clause.AssignmentColumns([]string{"mark", "attempts", "next_at", "last_error"})}

// putOutbox makes a locked bucket due now under its present mark. The mark comes from the bucket's row, which stays, so
// that a pusher that is late with an old mark never ends a newer push.
func (t *tx) putOutbox(row *bucketRow) error {
	return t.Clauses(replaceMark).Create(&outboxRow{BucketID: row.ID, Mark: row.Mark, NextAt: t.now}).Error
}

// RaiseRevision lifts a bucket's revision above the one found in Redis, when it is not above it already: to
// redisRevision+1, with a change row by model.SystemActor and an outbox mark. It returns the revision that now stands
// and whether it was raised. CodeNotFound when the name never existed, CodeInvalid for a revision that no bucket can
// have reached.
func (s *Store) RaiseRevision(ctx context.Context, name string, redisRevision int64) (revision int64, raised bool, err error) {
	if redisRevision < 0 || redisRevision >= maxRevision {
		return 0, false, invalidField("the bucket", "revision", "must be 0..9,007,199,254,740,990")
	}
	err = s.write(ctx, func(t *tx) error {
		row, err := bucketByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		revision, raised = row.Revision, false
		if row.Revision > redisRevision {
			return nil
		}
		c := model.Change{Action: model.ActionBucketRaise}
		if !row.Deleted {
			bucket, err := loadBucket(t.DB, row)
			if err != nil {
				return err
			}
			c.Before = model.DefinitionJSON(&bucket.Definition)
			c.After = c.Before
		}
		o := model.Origin{Actor: model.SystemActor, Reason: "Redis had this revision or a later one with other content"}
		row.Revision = redisRevision
		t.stamp(row, o)
		if err := t.Save(row).Error; err != nil {
			return err
		}
		revision, raised = row.Revision, true
		return t.recordBucket(row, o, c)
	})
	if err != nil {
		return 0, false, err
	}
	return revision, raised, nil
}
