package store

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// usageParts bounds the buckets of one statement.
const usageParts = 1000

// AppUsageHours sums an app's hours from hour from to hour to over the buckets that the viewer may see now ("" = all, the
// deleted ones too), by hour. Of a bucket whose name was another's before, a viewer gets the hours that began after its
// creation.
func (s *Store) AppUsageHours(ctx context.Context, viewer, app string, from, to int64) ([]model.UsageRow, error) {
	sums := map[int64]model.Used{}
	err := s.read(ctx, func(db *gorm.DB) error {
		return eachSeenPart(db, viewer, from, func(part *gorm.DB, from int64) error {
			var rows []usageHour
			err := part.Model(&usageHour{}).Select("hour, SUM(granted) AS granted, SUM(limited) AS limited, SUM(shadow_limited) AS shadow_limited").
				Where("usage_hours.app = ? AND hour BETWEEN ? AND ?", app, from, to).Group("hour").Scan(&rows).Error
			for i := range rows {
				sums[rows[i].Hour] = sums[rows[i].Hour].Plus(rows[i].used())
			}
			return err
		})
	})
	return sorted(app, model.HourMinutes, sums), err
}

// AppUsageMinutes sums an app's kept minutes as AppUsageHours does its hours; from and to are minutes.
func (s *Store) AppUsageMinutes(ctx context.Context, viewer, app string, from, to int64) ([]model.UsageRow, error) {
	sums := map[int64]model.Used{}
	err := s.read(ctx, func(db *gorm.DB) error {
		return eachSeenPart(db, viewer, from/model.HourMinutes, func(part *gorm.DB, since int64) error {
			rows, err := part.Model(&usageHour{}).Select("hour, minutes").
				Where("usage_hours.app = ? AND hour BETWEEN ? AND ?", app, since, to/model.HourMinutes).Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() { // one at a time: an app of thousands of buckets has a lot of them
				var r usageHour
				if err := rows.Scan(&r.Hour, &r.Minutes); err != nil {
					return err
				}
				err := eachMinute(&r, from, to, func(minute int64, used model.Used) { sums[minute] = sums[minute].Plus(used) })
				if err != nil {
					return err
				}
			}
			return rows.Err()
		})
	})
	return sorted(app, 1, sums), err
}

// sorted makes rows of sums, by time; unit is how many minutes a step of the sums' keys is.
func sorted(app string, unit int64, sums map[int64]model.Used) []model.UsageRow {
	rows := make([]model.UsageRow, 0, len(sums))
	for at, used := range sums {
		rows = append(rows, model.UsageRow{App: app, Minute: at * unit, Used: used})
	}
	slices.SortFunc(rows, func(a, b model.UsageRow) int { return int(a.Minute - b.Minute) })
	return rows
}

// eachSeenPart calls fn with queries limited to some of the buckets that a viewer may see, and the first hour that it may
// see of those.
func eachSeenPart(db *gorm.DB, viewer string, from int64, fn func(part *gorm.DB, from int64) error) error {
	if viewer == "" {
		return fn(db, from)
	}
	id, err := viewerID(db, viewer)
	if err != nil {
		return err
	}
	var rows []bucketRow
	query := seenBuckets(db.Model(&bucketRow{}).Where("buckets.deleted = ?", false), id)
	if err := query.Select("id", "created_revision", "created_at").Find(&rows).Error; err != nil {
		return err
	}
	since := map[int64][]int64{}
	for i := range rows {
		first := max(from, firstHour(rows[i].CreatedRevision, rows[i].CreatedAt))
		since[first] = append(since[first], rows[i].ID)
	}
	for first, ids := range since {
		for part := range slices.Chunk(ids, usageParts) {
			if err := fn(db.Where("bucket_id IN ?", part), first); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstHour is the first hour of a bucket's that newcomers may see: all, unless its name was another's before.
func firstHour(createdRevision int64, createdAt time.Time) int64 {
	if createdRevision <= 1 {
		return 0
	}
	return (createdAt.Unix() + 3599) / 3600
}

// SeenBuckets lists the living buckets that a viewer may see ("" = all), with whether the user named mine owns them. With
// names among it looks at those alone, a page of them at most.
func (s *Store) SeenBuckets(ctx context.Context, viewer, mine string, among ...string) (map[string]bool, error) {
	if len(among) > 0 {
		return s.seenAmong(ctx, viewer, mine, among)
	}
	catalog, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	var eyes sight
	var id int64
	err = s.read(ctx, func(db *gorm.DB) (err error) {
		if eyes, err = sightOf(db, viewer); err == nil {
			id, err = viewerID(db, mine)
		}
		return err
	})
	seen := map[string]bool{}
	if err == nil {
		catalog.each(&wanted{sight: eyes}, func(e *entry) { seen[e.name] = slices.Contains(e.owners, id) })
	}
	return seen, err
}

func (s *Store) seenAmong(ctx context.Context, viewer, mine string, among []string) (map[string]bool, error) {
	seen := map[string]bool{}
	err := s.read(ctx, func(db *gorm.DB) error {
		id, err := viewerID(db, mine)
		if err != nil {
			return err
		}
		eyes, err := sightOf(db, viewer)
		if err != nil {
			return err
		}
		var names, owned []string
		if err := bucketFilters(db, model.BucketQuery{}, eyes).Where("buckets.name IN ?", among).Pluck("buckets.name", &names).Error; err != nil {
			return err
		}
		for _, name := range names {
			seen[name] = false
		}
		err = db.Model(&bucketRow{}).Joins("JOIN bucket_owners ON bucket_owners.bucket_id = buckets.id AND bucket_owners.user_id = ?", id).
			Where("buckets.deleted = ? AND buckets.name IN ?", false, among).Pluck("buckets.name", &owned).Error
		for _, name := range owned {
			seen[name] = true
		}
		return err
	})
	return seen, err
}

// CountBuckets counts the living buckets that a viewer may see ("" = all), and those of them that Redis is not known to
// have in their present revision.
func (s *Store) CountBuckets(ctx context.Context, viewer string) (all, pending int64, err error) {
	catalog, err := s.present(ctx)
	if err != nil {
		return 0, 0, err
	}
	var eyes sight
	var waiting map[int64]bool
	err = s.read(ctx, func(db *gorm.DB) (err error) {
		if eyes, err = sightOf(db, viewer); err == nil {
			waiting, err = waitingBuckets(db)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	all, pending = catalog.tally(eyes, waiting)
	return all, pending, nil
}

// BucketHeads reads where names stand, living or deleted; names that there never were are left out.
func (s *Store) BucketHeads(ctx context.Context, names []string) (map[string]model.BucketHead, error) {
	heads := map[string]model.BucketHead{}
	for part := range slices.Chunk(names, usageParts) {
		var rows []bucketRow
		err := s.readOne(ctx, func(db *gorm.DB) error {
			return db.Select("name", "revision", "installed_revision", "deleted").Where("name IN ?", part).Find(&rows).Error
		})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			r := &rows[i]
			heads[r.Name] = model.BucketHead{Name: r.Name, Revision: r.Revision, InstalledRevision: r.InstalledRevision, Deleted: r.Deleted}
		}
	}
	return heads, nil
}
