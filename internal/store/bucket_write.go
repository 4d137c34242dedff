package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// CreateBucket makes a bucket; a name that was deleted goes on counting its revisions. CodeTaken; CodeInvalid with
// field "apps[i]" or "owners[i]" for one that is not registered, and for each field that breaks its rule.
func (s *Store) CreateBucket(ctx context.Context, name string, d model.Definition, o model.Origin) (model.Bucket, error) {
	if err := model.ValidateBucketName(name); err != nil {
		return model.Bucket{}, err
	}
	if err := prepare(&d); err != nil {
		return model.Bucket{}, err
	}
	var bucket model.Bucket
	err := s.write(ctx, func(t *tx) error {
		row, err := bucketByName(forUpdate(t.DB), name)
		switch {
		case err == nil && !row.Deleted:
			return model.Errorf(model.CodeTaken, "the name %s is taken", name)
		case model.CodeOf(err) == model.CodeNotFound:
			row = &bucketRow{Name: name}
		case err != nil:
			return err
		}
		bucket, err = t.createBucket(row, &d, o)
		return err
	})
	return bucket, err
}

// createBucket makes a row, new or of a deleted bucket, that of a living one.
func (t *tx) createBucket(row *bucketRow, d *model.Definition, o model.Origin) (model.Bucket, error) {
	if row.ID != 0 {
		if err := t.forgetAlerts(row.ID); err != nil {
			return model.Bucket{}, err
		}
	}
	row.Deleted, row.CreatedBy, row.CreatedAt, row.CreatedRevision = false, o.Actor, t.now, row.Revision+1
	return t.saveBucket(row, d, o, model.Change{Action: model.ActionBucketCreate})
}

// UpdateBucket replaces the definition of a bucket that is still at revision base. CodeNotFound, CodeStale,
// CodeInvalid as CreateBucket.
func (s *Store) UpdateBucket(ctx context.Context, name string, base int64, d model.Definition, o model.Origin) (model.Bucket, error) {
	if err := prepare(&d); err != nil {
		return model.Bucket{}, err
	}
	var bucket model.Bucket
	err := s.write(ctx, func(t *tx) error {
		row, before, err := t.lockBucket(name, base)
		if err != nil {
			return err
		}
		bucket, err = t.saveBucket(row, &d, o, model.Change{Action: model.ActionBucketUpdate, Before: model.DefinitionJSON(&before.Definition)})
		return err
	})
	return bucket, err
}

// DeleteBucket deletes a bucket that is still at revision base and returns the revision of its tombstone. CodeNotFound,
// CodeStale.
func (s *Store) DeleteBucket(ctx context.Context, name string, base int64, o model.Origin) (int64, error) {
	var revision int64
	err := s.write(ctx, func(t *tx) error {
		row, before, err := t.lockBucket(name, base)
		if err != nil {
			return err
		}
		revision = row.Revision + 1
		return t.deleteBucket(row, &before.Definition, o)
	})
	return revision, err
}

func (t *tx) deleteBucket(row *bucketRow, before *model.Definition, o model.Origin) error {
	row.Deleted = true
	t.stamp(row, o)
	if err := t.Save(row).Error; err != nil {
		return err
	}
	// The owners stay: they may restore the bucket.
	if err := t.clearLists(row.ID, &bucketApp{}, &bucketLabel{}); err != nil {
		return err
	}
	if err := t.endAlerts(row, o); err != nil {
		return err
	}
	return t.recordBucket(row, o, model.Change{Action: model.ActionBucketDelete, Before: model.DefinitionJSON(before)})
}

// prepare brings a definition to the form in which it is kept, and checks it.
func prepare(d *model.Definition) error {
	d.SetDefaults()
	return d.Validate()
}

// lockBucket locks a living bucket that must be at revision base, and reads it as it stands.
func (t *tx) lockBucket(name string, base int64) (*bucketRow, model.Bucket, error) {
	row, err := livingBucket(forUpdate(t.DB), name)
	if err != nil {
		return nil, model.Bucket{}, err
	}
	if row.Revision != base {
		return nil, model.Bucket{}, stale("bucket", row.Revision, base)
	}
	bucket, err := loadBucket(t.DB, row)
	return row, bucket, err
}

// stamp makes a bucket's row that of its next revision.
func (t *tx) stamp(row *bucketRow, o model.Origin) {
	row.Revision++
	row.Mark++
	row.UpdatedBy, row.UpdatedAt = o.Actor, t.now
}

// saveBucket writes a definition as the next revision of a locked (or new) row, with its change and its outbox mark.
func (t *tx) saveBucket(row *bucketRow, d *model.Definition, o model.Origin, c model.Change) (model.Bucket, error) {
	apps, owners, err := t.resolve(d)
	if err != nil {
		return model.Bucket{}, err
	}
	row.set(d)
	t.stamp(row, o)
	if row.ID == 0 {
		err = t.Create(row).Error
		if isDuplicate(err) {
			err = errAgain // another server made the name in between: look at it
		}
	} else {
		err = t.Save(row).Error
	}
	if err == nil {
		err = t.replaceLists(row.ID, d, apps, owners)
	}
	if err != nil {
		return model.Bucket{}, err
	}
	if c.After == nil {
		c.After = model.DefinitionJSON(d)
	}
	if err := t.recordBucket(row, o, c); err != nil {
		return model.Bucket{}, err
	}
	return loadBucket(t.DB, row)
}

// recordBucket adds the change row of a bucket's new revision and asks for its push.
func (t *tx) recordBucket(row *bucketRow, o model.Origin, c model.Change) error {
	c.TargetKind, c.Target, c.Revision = model.TargetBucket, row.Name, row.Revision
	if err := t.appendChange(o, c); err != nil {
		return err
	}
	return t.putOutbox(row)
}

// resolve finds the ids of a definition's apps and owners; the error names each that is not registered. The apps stay
// locked against deletion until the transaction ends.
func (t *tx) resolve(d *model.Definition) (apps, owners []int64, err error) {
	var named []string
	if !slices.Contains(d.Apps, model.AllApps) {
		named = d.Apps
	}
	appIDs, err := t.idsOf(&appRow{}, "deleted = ? AND name IN ?", []any{false, named}, len(named))
	if err != nil {
		return nil, nil, err
	}
	ownerIDs, err := t.idsOf(&userRow{}, "name IN ?", []any{d.Owners}, len(d.Owners))
	if err != nil {
		return nil, nil, err
	}
	var missing []model.FieldError
	pick := func(field string, names []string, ids map[string]int64) (found []int64) {
		for i, name := range names {
			id, ok := ids[name]
			if !ok {
				missing = append(missing, model.Broken(fmt.Sprintf("%s[%d]", field, i), "%s is not registered", name))
			}
			found = append(found, id)
		}
		return found
	}
	apps, owners = pick("apps", named, appIDs), pick("owners", d.Owners, ownerIDs)
	if len(missing) > 0 {
		return nil, nil, &model.Error{Code: model.CodeInvalid, Message: "the bucket has invalid fields", Fields: missing}
	}
	return apps, owners, nil
}

// idsOf reads the ids of named rows, locked against change; count 0 asks nothing.
func (t *tx) idsOf(table any, where string, args []any, count int) (map[string]int64, error) {
	ids := make(map[string]int64, count)
	if count == 0 {
		return ids, nil
	}
	var rows []struct {
		ID   int64
		Name string
	}
	// In the order of the names, so that two writers lock the same rows in the same order.
	err := forShare(t.Model(table)).Select("id, name").Where(where, args...).Order("name").Find(&rows).Error
	for _, row := range rows {
		ids[row.Name] = row.ID
	}
	return ids, err
}

func (t *tx) clearLists(id int64, lists ...any) error {
	for _, list := range lists {
		if err := t.Where("bucket_id = ?", id).Delete(list).Error; err != nil {
			return err
		}
	}
	return nil
}

// replaceLists writes a definition's lists, one row an entry.
func (t *tx) replaceLists(id int64, d *model.Definition, apps, owners []int64) error {
	if err := t.clearLists(id, &bucketApp{}, &bucketOwner{}, &bucketLabel{}); err != nil {
		return err
	}
	appRows := make([]bucketApp, len(apps))
	for i, app := range apps {
		appRows[i] = bucketApp{id, app}
	}
	ownerRows := make([]bucketOwner, len(owners))
	for i, owner := range owners {
		ownerRows[i] = bucketOwner{id, owner}
	}
	labelRows := make([]bucketLabel, 0, len(d.Labels))
	for name, value := range d.Labels {
		labelRows = append(labelRows, bucketLabel{id, name, value})
	}
	slices.SortFunc(labelRows, func(a, b bucketLabel) int { return cmp.Compare(a.Name, b.Name) })
	if err := insertAll(t, appRows); err != nil {
		return err
	}
	if err := insertAll(t, ownerRows); err != nil {
		return err
	}
	return insertAll(t, labelRows)
}

// insertAll inserts any number of rows; none is fine.
func insertAll[R any](t *tx, rows []R) error {
	if len(rows) == 0 {
		return nil
	}
	return t.CreateInBatches(rows, 500).Error
}
