package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// usageBatch is how many rows one transaction merges.
const usageBatch = 400

// usageHour is what one app used of one bucket in one hour.
type usageHour struct {
	BucketID      int64  `gorm:"primaryKey;autoIncrement:false"`
	Hour          int64  `gorm:"primaryKey;autoIncrement:false"`
	App           string `gorm:"primaryKey"`
	Granted       int64
	Limited       int64
	ShadowLimited int64
	Minutes       []byte
}

func (usageHour) TableName() string { return "usage_hours" }

func (r *usageHour) used() model.Used {
	return model.Used{Granted: r.Granted, Limited: r.Limited, ShadowLimited: r.ShadowLimited}
}

func (r *usageHour) row(bucket string) model.UsageRow {
	return model.UsageRow{Bucket: bucket, App: r.App, Minute: r.Hour * model.HourMinutes, Used: r.used()}
}

// merge takes over what is more than was known, minute by minute, and tells whether anything was. The sum never falls:
// of hours whose minutes were given up it is all that is left.
func (r *usageHour) merge(read *model.HourUsage) (bool, error) {
	known, err := model.DecodeHourUsage(r.Minutes)
	if err != nil {
		return false, err
	}
	merged := known
	for i := range merged {
		merged[i] = merged[i].Or(read[i])
	}
	if merged == known {
		return false, nil
	}
	sum := merged.Sum().Or(r.used())
	r.Granted, r.Limited, r.ShadowLimited, r.Minutes = sum.Granted, sum.Limited, sum.ShadowLimited, merged.Encode()
	return true, nil
}

// usageKey names a row of usage_hours.
type usageKey struct {
	bucket int64
	hour   int64
	app    string
}

func (r *usageHour) key() usageKey { return usageKey{r.BucketID, r.Hour, r.App} }

// MergeUsage adds readings of minutes to their hours. Of each minute the greatest reading counts, so that readings may be
// merged again, late, in any order and by several servers at once, and a Redis that lost its minutes lowers nothing.
// Buckets that there never were are passed over.
func (s *Store) MergeUsage(ctx context.Context, minutes []model.UsageRow) error {
	ids, err := s.bucketIDs(ctx, minutes)
	if err != nil {
		return err
	}
	hours := map[usageKey]*model.HourUsage{}
	for _, m := range minutes {
		id := ids[m.Bucket]
		if id == 0 || m.Minute < 0 {
			continue
		}
		key := usageKey{id, m.Minute / model.HourMinutes, m.App}
		if hours[key] == nil {
			hours[key] = &model.HourUsage{}
		}
		minute := &hours[key][m.Minute%model.HourMinutes]
		*minute = minute.Or(m.Used)
	}
	for _, batch := range usageBatches(hours) {
		if err := s.mergeHours(ctx, batch, hours); err != nil {
			return err
		}
	}
	return nil
}

// usageBatches splits keys so that each part is of one hour and in one order, so that two servers can't wait for each other.
func usageBatches(hours map[usageKey]*model.HourUsage) [][]usageKey {
	keys := make([]usageKey, 0, len(hours))
	for key := range hours {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b usageKey) int {
		return cmp.Or(cmp.Compare(a.hour, b.hour), cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.app, b.app))
	})
	var batches [][]usageKey
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && to-from < usageBatch && keys[to].hour == keys[from].hour {
			to++
		}
		batches = append(batches, keys[from:to])
		from = to
	}
	return batches
}

// mergeHours merges rows of one hour. It looks without locks first: most readings bring nothing new.
func (s *Store) mergeHours(ctx context.Context, keys []usageKey, hours map[usageKey]*model.HourUsage) error {
	var news []usageHour
	err := s.readOne(ctx, func(db *gorm.DB) (err error) {
		news, err = grownHours(db, keys, hours)
		return err
	})
	if err != nil || len(news) == 0 {
		return err
	}
	changed := make([]usageKey, len(news))
	for i := range news {
		changed[i] = news[i].key()
		news[i] = usageHour{BucketID: changed[i].bucket, Hour: changed[i].hour, App: changed[i].app, Minutes: []byte{}}
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&news).Error; err != nil {
			return err // the rows must be there to be locked
		}
		grown, err := grownHours(forUpdate(t.DB), changed, hours)
		if err != nil || len(grown) == 0 {
			return err
		}
		set := clause.AssignmentColumns([]string{"granted", "limited", "shadow_limited", "minutes"})
		return t.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "bucket_id"}, {Name: "hour"}, {Name: "app"}}, DoUpdates: set}).Create(&grown).Error
	})
}

// grownHours are the rows as they are to be, of those keys where the readings bring something new. All keys are of one
// hour.
func grownHours(db *gorm.DB, keys []usageKey, hours map[usageKey]*model.HourUsage) ([]usageHour, error) {
	ids := make([]int64, 0, len(keys))
	for _, key := range keys {
		if len(ids) == 0 || ids[len(ids)-1] != key.bucket {
			ids = append(ids, key.bucket)
		}
	}
	var rows []usageHour
	if err := db.Where("hour = ? AND bucket_id IN ?", keys[0].hour, ids).Order("bucket_id, app").Find(&rows).Error; err != nil {
		return nil, err
	}
	known := make(map[usageKey]usageHour, len(rows))
	for i := range rows {
		known[rows[i].key()] = rows[i]
	}
	var grown []usageHour
	for _, key := range keys {
		row, found := known[key]
		if !found {
			row = usageHour{BucketID: key.bucket, Hour: key.hour, App: key.app}
		}
		more, err := row.merge(hours[key])
		if err != nil {
			return nil, err
		}
		if more {
			grown = append(grown, row)
		}
	}
	return grown, nil
}

// bucketIDs finds the ids of the buckets, living or deleted, that rows are of.
func (s *Store) bucketIDs(ctx context.Context, rows []model.UsageRow) (map[string]int64, error) {
	ids := map[string]int64{}
	var names []string
	for _, row := range rows {
		if _, known := ids[row.Bucket]; !known {
			ids[row.Bucket] = 0
			names = append(names, row.Bucket)
		}
	}
	for part := range slices.Chunk(names, 1000) {
		var found []bucketRow
		err := s.readOne(ctx, func(db *gorm.DB) error { return db.Select("id", "name").Where("name IN ?", part).Find(&found).Error })
		if err != nil {
			return nil, err
		}
		for i := range found {
			ids[found[i].Name] = found[i].ID
		}
	}
	return ids, nil
}

// UsageBuckets reads those of the named buckets that are living or were deleted since. The lists of their definitions
// (apps, owners, labels) are left out.
func (s *Store) UsageBuckets(ctx context.Context, names []string, deletedSince time.Time) ([]model.Bucket, error) {
	none := &bucketLists{}
	var buckets []model.Bucket
	for part := range slices.Chunk(names, 1000) {
		var rows []bucketRow
		err := s.readOne(ctx, func(db *gorm.DB) error { return usedSince(db, deletedSince).Where("name IN ?", part).Find(&rows).Error })
		if err != nil {
			return nil, err
		}
		for i := range rows {
			buckets = append(buckets, rows[i].bucket(none))
		}
	}
	return buckets, nil
}

// UsageNames lists up to limit names, after the given one and in their order, of the buckets whose usage Redis may have:
// those that are living or were deleted since.
func (s *Store) UsageNames(ctx context.Context, deletedSince time.Time, after string, limit int) (names []string, err error) {
	err = s.readOne(ctx, func(db *gorm.DB) error {
		return usedSince(db, deletedSince).Model(&bucketRow{}).Where("name > ?", after).Order("name").Limit(limit).Pluck("name", &names).Error
	})
	return names, err
}

func usedSince(db *gorm.DB, deletedSince time.Time) *gorm.DB {
	return db.Where("(deleted = ? OR updated_at >= ?)", false, micros(deletedSince))
}
