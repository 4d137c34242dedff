package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// BucketsNamed reads the living buckets of these names that the viewer may see ("" sees all), by name. Names that are not
// there are left out.
func (s *Store) BucketsNamed(ctx context.Context, viewer string, names []string) ([]model.Bucket, error) {
	var buckets []model.Bucket
	err := s.read(ctx, func(db *gorm.DB) error {
		eyes, err := sightOf(db, viewer)
		if err != nil {
			return err
		}
		rows, err := bucketRows(bucketFilters(db, model.BucketQuery{}, eyes), names)
		if err != nil {
			return err
		}
		buckets, err = loadBuckets(db, rows)
		return err
	})
	return buckets, err
}

// bucketRows reads rows of these very names, sorted by name: MySQL's comparison ignores spaces at the end. By id, as
// everybody who locks several, so that two writers wait for each other instead of forever.
func bucketRows(query *gorm.DB, names []string) ([]bucketRow, error) {
	var rows []bucketRow
	err := query.Where("buckets.name IN ?", names).Order("buckets.id").Find(&rows).Error
	rows = slices.DeleteFunc(rows, func(r bucketRow) bool { return !slices.Contains(names, r.Name) })
	slices.SortFunc(rows, func(a, b bucketRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows, err
}

// UpdateBuckets makes one change to each of many buckets that still are at the revisions given, or to none. A dry run
// tells the same and changes nothing; its buckets are then as they would become. CodeNotFound, CodeStale, CodeInvalid
// naming "change.add_owners[i]", or "buckets[i]" for one that the change would leave without an owner or over a bound.
func (s *Store) UpdateBuckets(ctx context.Context, targets []model.BulkTarget, c model.BulkChange, o model.Origin, dryRun bool) (model.BulkResult, error) {
	var result model.BulkResult
	err := s.write(ctx, func(t *tx) error {
		b := bulk{tx: t, change: c, origin: o}
		if err := b.run(targets); err != nil {
			return err
		}
		result = b.result
		if dryRun {
			return errDryRun
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return model.BulkResult{}, err
	}
	return result, nil
}

// bulk is one bulk edit in its transaction. It writes a few statements whatever the number of buckets, so that they are
// not locked for long.
type bulk struct {
	*tx
	change model.BulkChange
	origin model.Origin
	result model.BulkResult
	ids    []int64 // of the buckets that change
}

func (b *bulk) run(targets []model.BulkTarget) error {
	rows, before, err := b.lock(targets)
	if err != nil {
		return err
	}
	owners, err := b.newOwners()
	if err != nil {
		return err
	}
	if err := b.apply(targets, rows, before); err != nil || len(b.ids) == 0 {
		return err
	}
	if err := b.saveRows(); err != nil {
		return err
	}
	if err := b.saveLabels(); err != nil {
		return err
	}
	if err := b.saveOwners(owners); err != nil {
		return err
	}
	return b.mark(rows)
}

// lock locks all buckets, which must be at the revisions given, and reads them as they stand.
func (b *bulk) lock(targets []model.BulkTarget) ([]bucketRow, []model.Bucket, error) {
	names := make([]string, len(targets))
	base := make(map[string]int64, len(targets))
	for i, t := range targets {
		names[i], base[t.Name] = t.Name, t.Base
	}
	rows, err := bucketRows(forUpdate(b.DB).Where("deleted = ?", false), names)
	if err != nil {
		return nil, nil, err
	}
	if len(rows) < len(base) {
		return nil, nil, notFound("bucket")
	}
	for i := range rows {
		if want := base[rows[i].Name]; rows[i].Revision != want {
			return nil, nil, stale("bucket", rows[i].Revision, want)
		}
	}
	before, err := loadBuckets(b.DB, rows)
	return rows, before, err
}

// newOwners finds the ids of the users to be added.
func (b *bulk) newOwners() (map[string]int64, error) {
	ids, err := b.idsOf(&userRow{}, "name IN ?", []any{b.change.AddOwners}, len(b.change.AddOwners))
	if err != nil {
		return nil, err
	}
	missing := &model.Error{Code: model.CodeInvalid, Message: "the request has invalid fields"}
	for i, name := range b.change.AddOwners {
		if _, ok := ids[name]; !ok {
			missing.Fields = append(missing.Fields, model.FieldError{Field: fmt.Sprintf("change.add_owners[%d]", i), Message: name + " is not registered"})
		}
	}
	if len(missing.Fields) > 0 {
		return nil, missing
	}
	return ids, nil
}

// apply finds what becomes of each bucket, and leaves the change row of each that differs.
func (b *bulk) apply(targets []model.BulkTarget, rows []bucketRow, before []model.Bucket) error {
	faults := &model.Error{Code: model.CodeInvalid, Message: "a bucket would have invalid fields"}
	for i := range rows {
		row, bucket := &rows[i], before[i]
		after, differs := b.change.Apply(bucket.Definition)
		if !differs {
			b.result.Unchanged = append(b.result.Unchanged, row.Name)
			continue
		}
		if err := after.Validate(); err != nil {
			place := slices.IndexFunc(targets, func(t model.BulkTarget) bool { return t.Name == row.Name })
			faults.Fields = append(faults.Fields, fieldsBelow(fmt.Sprintf("buckets[%d].", place), err)...)
			continue
		}
		c := model.Change{
			Action: model.ActionBucketUpdate, TargetKind: model.TargetBucket, Target: row.Name,
			Before: model.DefinitionJSON(&bucket.Definition), After: model.DefinitionJSON(&after),
		}
		b.stamp(row, b.origin)
		c.Revision = row.Revision
		if err := b.appendChange(b.origin, c); err != nil {
			return err
		}
		bucket.Definition, bucket.Revision = after, row.Revision
		bucket.UpdatedBy, bucket.UpdatedAt, bucket.Sync.Pending = row.UpdatedBy, row.UpdatedAt, true
		b.result.Changed = append(b.result.Changed, bucket)
		b.ids = append(b.ids, row.ID)
	}
	if len(faults.Fields) > 0 {
		return faults
	}
	return nil
}

func fieldsBelow(place string, err error) []model.FieldError {
	var e *model.Error
	errors.As(err, &e)
	fields := slices.Clone(e.Fields)
	for i := range fields {
		fields[i].Field = place + fields[i].Field
	}
	return fields
}

// saveRows writes what stamp did to each row, and the mode.
func (b *bulk) saveRows() error {
	set := map[string]any{
		"revision": gorm.Expr("revision + 1"), "mark": gorm.Expr("mark + 1"), "updated_by": b.origin.Actor, "updated_at": b.now,
	}
	if b.change.Mode != "" {
		set["mode"] = string(b.change.Mode)
	}
	return b.Model(&bucketRow{}).Where("id IN ?", b.ids).Updates(set).Error
}

func (b *bulk) saveLabels() error {
	keys := slices.Clone(b.change.RemoveLabels)
	var rows []bucketLabel
	for key, value := range b.change.SetLabels {
		keys = append(keys, key)
		for _, id := range b.ids {
			rows = append(rows, bucketLabel{id, key, value})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := b.Where("bucket_id IN ? AND name IN ?", b.ids, keys).Delete(&bucketLabel{}).Error; err != nil {
		return err
	}
	return insertAll(b.tx, rows)
}

func (b *bulk) saveOwners(added map[string]int64) error {
	if len(b.change.RemoveOwners) > 0 {
		gone := b.Model(&userRow{}).Select("id").Where("name IN ?", b.change.RemoveOwners)
		if err := b.Where("bucket_id IN ? AND user_id IN (?)", b.ids, gone).Delete(&bucketOwner{}).Error; err != nil {
			return err
		}
	}
	var rows []bucketOwner
	for _, user := range added {
		for _, id := range b.ids {
			rows = append(rows, bucketOwner{id, user})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return b.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, 500).Error
}

// mark asks for the push of the buckets that changed.
func (b *bulk) mark(rows []bucketRow) error {
	var marks []outboxRow
	for i := range rows {
		if slices.Contains(b.ids, rows[i].ID) {
			marks = append(marks, outboxRow{BucketID: rows[i].ID, Mark: rows[i].Mark, NextAt: b.now})
		}
	}
	return b.Clauses(replaceMark).CreateInBatches(marks, 500).Error
}
