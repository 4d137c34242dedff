package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// What was so at an instant is read from the change rows: the newest row of a thing whose time is not after the instant
// says it in its after. Where there is none, nothing changed between the instant and the thing's next row, whose before
// says it, or the present when there is no next row either. Neither holds when rows were pruned that could have been in
// between: then it is not known. A clock that jumped back leaves times out of order; rows count in the order of their
// ids all the same.

// BucketAsOf tells what one bucket name was at an instant. CodeNotFound when the name never existed.
func (s *Store) BucketAsOf(ctx context.Context, name string, at time.Time) (model.AsOf, error) {
	var out model.AsOf
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := bucketByName(db, name)
		if err != nil {
			return err
		}
		all, err := bucketsAsOf(db, []bucketRow{*row}, micros(at))
		if err == nil {
			out = all[0]
		}
		return err
	})
	return out, err
}

// BucketsAsOf lists, by name, the buckets that were in force at an instant, or of which that is not known. A page may hold
// fewer than limit (1..200, 0 = 50) though more follow: Next says so. CodeInvalid naming the field.
func (s *Store) BucketsAsOf(ctx context.Context, at time.Time, cursor string, limit int) (model.Page[model.AsOf], error) {
	page := model.Page[model.AsOf]{Items: []model.AsOf{}}
	query := model.DeletedQuery{Limit: limit} // for its bounds
	if err := query.Validate(); err != nil {
		return page, err
	}
	limit, at = limitOf(limit), micros(at)
	scope := cursorScope("buckets as of", at)
	place, err := placeOf(scope, cursor)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(db *gorm.DB) error {
		page.Items = page.Items[:0]
		var rows []bucketRow
		if err := orderOf(model.SortName).after(db.Model(&bucketRow{}), place, limit).Find(&rows).Error; err != nil {
			return err
		}
		rows, page.Next = cut(rows, limit, scope, func(r bucketRow) any { return namePlace{Name: r.Name} })
		all, err := bucketsAsOf(db, rows, at)
		for _, one := range all {
			if one.State == model.AsOfInForce || one.State == model.AsOfUnknown {
				page.Items = append(page.Items, one)
			}
		}
		return err
	})
	return page, err
}

// KeptSince is the time of the oldest change row that is kept, and whether older ones were pruned: what happened before
// is then not known. The zero time when there is no row at all.
func (s *Store) KeptSince(ctx context.Context) (since time.Time, pruned bool, err error) {
	err = s.read(ctx, func(db *gorm.DB) error {
		k, err := keptRows(db)
		since, pruned = k.since, k.pruned
		return err
	})
	return since, pruned, err
}

// kept is how far back the change rows reach.
type kept struct {
	since  time.Time
	pruned bool
}

func keptRows(db *gorm.DB) (kept, error) {
	var k kept
	var oldest, prunings []changeRow
	if err := db.Select("id, at").Order("id").Limit(1).Find(&oldest).Error; err != nil {
		return k, err
	}
	if len(oldest) > 0 {
		k.since = oldest[0].At.UTC()
	}
	err := db.Select("id").Where("action = ?", model.ActionAuditPrune).Limit(1).Find(&prunings).Error
	k.pruned = len(prunings) > 0
	return k, err
}

// covers tells whether every row is kept from an instant on.
func (k kept) covers(at time.Time) bool { return !k.pruned || !at.Before(k.since) }

// around is what the change rows say about things of one kind at an instant.
type around struct {
	known  bool                 // no row is missing between the instant and now
	before map[string]changeRow // by target: the newest row that is not after the instant
	after  map[string]changeRow // by target: the oldest row after the instant
}

// rowsAround reads the rows next to an instant, of the given targets (nil = of all), for the given actions.
func rowsAround(db *gorm.DB, kind model.TargetKind, targets []string, actions []model.Action, at time.Time) (around, error) {
	a := around{before: map[string]changeRow{}, after: map[string]changeRow{}}
	k, err := keptRows(db)
	if err != nil {
		return a, err
	}
	a.known = k.covers(at)
	read := func(into map[string]changeRow, pick, when string) error {
		ids := db.Model(&changeRow{}).Select(pick+"(id)").Where("target_kind = ? AND action IN ? AND "+when, kind, actions, at).Group("target")
		if targets != nil {
			ids = ids.Where("target IN ?", targets)
		}
		var rows []changeRow
		err := db.Where("id IN (?)", ids).Find(&rows).Error
		for _, row := range rows {
			into[row.Target] = row
		}
		return err
	}
	if err := read(a.before, "MAX", "at <= ?"); err != nil {
		return a, err
	}
	return a, read(a.after, "MIN", "at > ?")
}

func bucketsAsOf(db *gorm.DB, rows []bucketRow, at time.Time) ([]model.AsOf, error) {
	out := make([]model.AsOf, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Name
	}
	a, err := rowsAround(db, model.TargetBucket, names, model.RevisionActions, at)
	if err != nil {
		return nil, err
	}
	people, err := renamesAfter(db, 0)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if out[i], err = a.bucket(db, &rows[i], people, at); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a around) bucket(db *gorm.DB, row *bucketRow, people renames, at time.Time) (model.AsOf, error) {
	out := model.AsOf{Name: row.Name}
	if c, found := a.before[row.Name]; found {
		out.Revision, out.Since, out.By, out.Reason = c.Revision, c.At.UTC(), c.Actor, c.Reason
		return withDefinition(out, c.AfterJSON, model.AsOfDeleted, func(name string) string { return people.later(name, c.ID, at) })
	}
	if !a.known {
		out.State = model.AsOfUnknown
		return out, nil
	}
	if next, found := a.after[row.Name]; found {
		without := model.AsOfAbsent
		if next.Revision > 1 {
			without = model.AsOfDeleted // it had revisions before, in rows that were pruned
			if model.Action(next.Action) != model.ActionBucketRaise {
				out.Revision = next.Revision - 1
			}
		}
		return withDefinition(out, next.BeforeJSON, without, func(name string) string { return people.earlier(name, next.ID, at) })
	}
	out.Revision, out.Since, out.By = row.Revision, row.UpdatedAt.UTC(), row.UpdatedBy
	if row.Deleted {
		out.State = model.AsOfDeleted
		return out, nil
	}
	bucket, err := loadBucket(db, row)
	out.State, out.Definition = model.AsOfInForce, &bucket.Definition
	out.Definition.Owners = each(bucket.Owners, func(name string) string { return people.earlier(name, present, at) })
	return out, err
}

// withDefinition completes an answer with the definition that a row holds, its owners under the names that they had at
// the instant, or with the state of having none.
func withDefinition(out model.AsOf, text *string, without model.AsOfState, then func(name string) string) (model.AsOf, error) {
	d, err := model.DecodeDefinition(jsonOf(text))
	if out.State = without; d != nil {
		d.Owners = each(d.Owners, then)
		out.State, out.Definition = model.AsOfInForce, d
	}
	return out, err
}
