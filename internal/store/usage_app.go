package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// usageParts bounds the buckets of one statement.
const usageParts = 1000

// AppUsageHours sums an app's hours from hour from to hour to over the buckets that the viewer may see now ("" = all, the
// deleted ones too): by hour, and by bucket with the top ones by name. Of a bucket whose name was another's before, a viewer
// gets the hours that began after its creation.
func (s *Store) AppUsageHours(ctx context.Context, viewer, app string, from, to int64, top int) (model.AppUsage, error) {
	sums := newAppSums()
	var usage model.AppUsage
	err := s.read(ctx, func(db *gorm.DB) error {
		seen, err := seenOf(db, viewer)
		if err != nil {
			return err
		}
		err = seen.eachPart(db, from, func(part *gorm.DB, from int64) error {
			const sum = "SUM(granted) AS granted, SUM(limited) AS limited, SUM(shadow_limited) AS shadow_limited"
			query := part.Model(&usageHour{}).Where("usage_hours.app = ? AND hour BETWEEN ? AND ?", app, from, to).Session(&gorm.Session{})
			var hours, buckets []usageHour
			if err := query.Select("hour, " + sum).Group("hour").Scan(&hours).Error; err != nil {
				return err
			}
			if err := query.Select("bucket_id, " + sum).Group("bucket_id").Scan(&buckets).Error; err != nil {
				return err
			}
			for i := range hours {
				sums.at[hours[i].Hour] = sums.at[hours[i].Hour].Plus(hours[i].used())
			}
			for i := range buckets {
				sums.of[buckets[i].BucketID] = sums.of[buckets[i].BucketID].Plus(buckets[i].used())
			}
			return nil
		})
		if err == nil {
			usage, err = sums.usage(db, app, model.HourMinutes, top)
		}
		return err
	})
	return usage, err
}

// AppUsageMinutes sums an app's kept minutes as AppUsageHours does its hours; from and to are minutes. recent are readings
// of the app's buckets that need not be kept yet: of each minute of a bucket the greater counts.
func (s *Store) AppUsageMinutes(ctx context.Context, viewer, app string, from, to int64, recent []model.UsageRow, top int) (model.AppUsage, error) {
	ids, err := s.bucketIDs(ctx, recent)
	if err != nil {
		return model.AppUsage{}, err
	}
	fresh := map[bucketMinute]model.Used{}
	for _, row := range recent {
		if id := ids[row.Bucket]; id != 0 && row.Minute >= from && row.Minute <= to {
			fresh[bucketMinute{id, row.Minute}] = row.Used
		}
	}
	var usage model.AppUsage
	err = s.read(ctx, func(db *gorm.DB) error {
		seen, err := seenOf(db, viewer)
		if err != nil {
			return err
		}
		sums := newAppSums()
		err = seen.eachPart(db, from/model.HourMinutes, func(part *gorm.DB, since int64) error {
			hours := part.Model(&usageHour{}).Select("bucket_id, hour, minutes").Where("usage_hours.app = ? AND hour BETWEEN ? AND ?", app, since, to/model.HourMinutes)
			return eachHour(hours, func(r *usageHour) error {
				return eachMinute(r, from, to, func(minute int64, used model.Used) {
					place := bucketMinute{r.BucketID, minute}
					sums.add(r.BucketID, minute, used.Or(fresh[place]))
					delete(fresh, place)
				})
			})
		})
		if err != nil {
			return err
		}
		for place, used := range fresh {
			if seen.shows(place.bucket, place.minute/model.HourMinutes) {
				sums.add(place.bucket, place.minute, used)
			}
		}
		usage, err = sums.usage(db, app, 1, top)
		return err
	})
	return usage, err
}

// bucketMinute names a minute of a bucket's.
type bucketMinute struct{ bucket, minute int64 }

// eachHour reads the rows of a query one at a time: an app of thousands of buckets has a lot of them.
func eachHour(query *gorm.DB, each func(r *usageHour) error) error {
	rows, err := query.Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r usageHour
		if err := rows.Scan(&r.BucketID, &r.Hour, &r.Minutes); err != nil {
			return err
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// appSums adds up what an app used: by time, in minutes or hours, and by bucket id.
type appSums struct{ at, of map[int64]model.Used }

func newAppSums() *appSums {
	return &appSums{at: map[int64]model.Used{}, of: map[int64]model.Used{}}
}

func (s *appSums) add(bucket, at int64, used model.Used) {
	s.at[at], s.of[bucket] = s.at[at].Plus(used), s.of[bucket].Plus(used)
}

// usage orders the sums; unit is how many minutes a step of time is. Equals among the buckets stand in the order in which
// they were made.
func (s *appSums) usage(db *gorm.DB, app string, unit int64, top int) (model.AppUsage, error) {
	ids := make([]int64, 0, len(s.of))
	for id, used := range s.of {
		if used != (model.Used{}) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Or(cmp.Compare(s.of[b].Asked(), s.of[a].Asked()), cmp.Compare(a, b)) })
	usage := model.AppUsage{Rows: sorted(app, unit, s.at)}
	for _, id := range ids[min(top, len(ids)):] {
		usage.Others = usage.Others.Plus(s.of[id])
		usage.OtherBuckets++
	}
	ids = ids[:min(top, len(ids))]
	if len(ids) == 0 {
		return usage, nil
	}
	var rows []bucketRow
	if err := db.Select("id", "name", "deleted").Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return usage, err
	}
	for _, id := range ids {
		if i := slices.IndexFunc(rows, func(r bucketRow) bool { return r.ID == id }); i >= 0 {
			usage.Top = append(usage.Top, model.BucketUsed{Bucket: rows[i].Name, Deleted: rows[i].Deleted, Used: s.of[id]})
		}
	}
	return usage, nil
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

// seenSince tells, by bucket id, from which hour on a viewer may see usage; nil: of all buckets, all of it.
type seenSince map[int64]int64

func seenOf(db *gorm.DB, viewer string) (seenSince, error) {
	if viewer == "" {
		return nil, nil
	}
	id, err := viewerID(db, viewer)
	if err != nil {
		return nil, err
	}
	var rows []bucketRow
	query := seenBuckets(db.Model(&bucketRow{}).Where("buckets.deleted = ?", false), id)
	if err := query.Select("id", "created_revision", "created_at").Find(&rows).Error; err != nil {
		return nil, err
	}
	seen := make(seenSince, len(rows))
	for i := range rows {
		seen[rows[i].ID] = firstHour(rows[i].CreatedRevision, rows[i].CreatedAt)
	}
	return seen, nil
}

func (s seenSince) shows(bucket, hour int64) bool {
	first, ok := s[bucket]
	return s == nil || ok && hour >= first
}

// eachPart calls fn with queries limited to some of the buckets, and the first hour to be read of those, from the given one
// on.
func (s seenSince) eachPart(db *gorm.DB, from int64, fn func(part *gorm.DB, from int64) error) error {
	if s == nil {
		return fn(db, from)
	}
	since := map[int64][]int64{}
	for id, first := range s {
		since[max(from, first)] = append(since[max(from, first)], id)
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
	return createdAt.Add(time.Hour-time.Nanosecond).Unix() / 3600
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

// AppBuckets names, in the order of lists, the living buckets that apps may use: those that list the app, and those of all apps. An app
// that there is not is left out.
func (s *Store) AppBuckets(ctx context.Context, apps []string) (map[string][]string, error) {
	catalog, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	var rows []appRow
	err = s.readOne(ctx, func(db *gorm.DB) error {
		return db.Select("id", "name").Where("deleted = ? AND name IN ?", false, apps).Find(&rows).Error
	})
	names := make(map[string][]string, len(rows))
	for i := range rows {
		names[rows[i].Name] = catalog.namesOf(rows[i].ID)
	}
	return names, err
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
