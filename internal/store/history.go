package store

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// BucketPast tells where a bucket name stands, living or deleted, and what the user is to it. A deleted bucket keeps its
// owners: they are the ones who may restore it; its apps' members are nothing to it any more. CodeNotFound when the name
// never existed.
func (s *Store) BucketPast(ctx context.Context, user, name string) (model.BucketPast, model.Relation, error) {
	var past model.BucketPast
	var relation model.Relation
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := bucketByName(db, name)
		if err != nil {
			return err
		}
		past = model.BucketPast{Name: row.Name, Deleted: row.Deleted, Revision: row.Revision, CreatedRevision: row.CreatedRevision}
		relation, err = bucketRelation(db, row, user)
		if row.Deleted {
			relation = model.Relation{BucketOwner: relation.BucketOwner}
		}
		return err
	})
	return past, relation, err
}

// BucketRevision reads a bucket name as one of its revisions left it. CodeNotFound when the kept history has no such
// revision.
func (s *Store) BucketRevision(ctx context.Context, name string, revision int64) (model.Revision, error) {
	var out model.Revision
	err := s.read(ctx, func(db *gorm.DB) error {
		var rows []changeRow
		err := revisionRows(db, name).Where("revision = ?", revision).Order("id DESC").Limit(1).Find(&rows).Error
		if err == nil && len(rows) == 0 {
			err = noRevision(revision)
		}
		if err != nil {
			return err
		}
		out, err = asRevision(db, &rows[0])
		return err
	})
	return out, err
}

// LastRevision reads the last revision of a deleted bucket under which it lived: what a restoration takes over when it
// names none. CodeNotFound when the kept history does not reach back to the deletion.
func (s *Store) LastRevision(ctx context.Context, name string) (model.Revision, error) {
	var out model.Revision
	err := s.read(ctx, func(db *gorm.DB) error {
		var rows []changeRow
		err := revisionRows(db, name).Where("action = ?", model.ActionBucketDelete).Order("id DESC").Limit(1).Find(&rows).Error
		if err == nil && len(rows) == 0 {
			err = model.Errorf(model.CodeNotFound, "the history that is kept does not reach back to the deletion")
		}
		if err != nil {
			return err
		}
		deleted := rows[0]
		var before []changeRow
		if err := revisionRows(db, name).Where("id < ?", deleted.ID).Order("id DESC").Limit(1).Find(&before).Error; err != nil {
			return err
		}
		if len(before) > 0 {
			out, err = asRevision(db, &before[0])
			return err
		}
		// The row of that revision was pruned; what the bucket was stands in the deletion's own row.
		out.Revision = deleted.Revision - 1
		if out.Definition, err = model.DecodeDefinition(jsonOf(deleted.BeforeJSON)); err != nil {
			return err
		}
		out.OwnersNow, err = ownersNow(db, out.Definition, deleted.ID)
		return err
	})
	return out, err
}

// RollBackBucket makes the definition of an earlier revision, from, the next revision of a bucket that is still at
// revision base. CodeNotFound; CodeStale; CodeInvalid with "apps[i]" or "owners[i]" for one that is not registered any
// more, or that was disabled and is no owner now.
func (s *Store) RollBackBucket(ctx context.Context, name string, base int64, d model.Definition, from int64, o model.Origin) (model.Bucket, error) {
	if err := prepare(&d); err != nil {
		return model.Bucket{}, err
	}
	var bucket model.Bucket
	err := s.write(ctx, func(t *tx) error {
		row, before, err := t.lockBucket(name, base)
		if err != nil {
			return err
		}
		if err := t.checkOwnersEnabled(&d, before.Owners); err != nil {
			return err
		}
		bucket, err = t.takeOver(row, &d, from, o, model.Change{Action: model.ActionBucketRollback, Before: model.DefinitionJSON(&before.Definition)})
		return err
	})
	return bucket, err
}

// RestoreBucket makes a deleted bucket live again with the definition of its revision from; the name goes on counting its
// revisions. CodeNotFound when the name never existed, CodeTaken when a bucket of the name lives, CodeInvalid as
// RollBackBucket.
func (s *Store) RestoreBucket(ctx context.Context, name string, d model.Definition, from int64, o model.Origin) (model.Bucket, error) {
	if err := prepare(&d); err != nil {
		return model.Bucket{}, err
	}
	var bucket model.Bucket
	err := s.write(ctx, func(t *tx) error {
		row, err := bucketByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		if !row.Deleted {
			return model.Errorf(model.CodeTaken, "a bucket named %s is there; only a deleted one can be restored", name)
		}
		if err := t.checkOwnersEnabled(&d, nil); err != nil {
			return err
		}
		row.Deleted = false
		if from < row.CreatedRevision {
			// A bucket from before the last one of the name: what that one did is none of these owners' business.
			row.CreatedRevision = row.Revision + 1
		}
		bucket, err = t.takeOver(row, &d, from, o, model.Change{Action: model.ActionBucketRestore})
		return err
	})
	return bucket, err
}

// takeOver saves a definition of an earlier revision as the next one, and says in the change row which it was.
func (t *tx) takeOver(row *bucketRow, d *model.Definition, from int64, o model.Origin, c model.Change) (model.Bucket, error) {
	c.After = model.DefinitionFromJSON(d, from)
	return t.saveBucket(row, d, o, c)
}

// checkOwnersEnabled refuses owners who can't log in any more, except those who are owners already.
func (t *tx) checkOwnersEnabled(d *model.Definition, present []string) error {
	var disabled []string
	err := t.Model(&userRow{}).Where("disabled = ? AND name IN ?", true, d.Owners).Pluck("name", &disabled).Error
	if err != nil {
		return err
	}
	var fields []model.FieldError
	for i, owner := range d.Owners {
		if slices.Contains(disabled, owner) && !slices.Contains(present, owner) {
			fields = append(fields, model.Broken(fmt.Sprintf("owners[%d]", i), "%s is disabled", owner))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return &model.Error{Code: model.CodeInvalid, Message: "the bucket has invalid fields", Fields: fields}
}

// DeletedBuckets lists the deleted buckets that may be restored, by name. CodeInvalid naming the field of the query.
func (s *Store) DeletedBuckets(ctx context.Context, q model.DeletedQuery) (model.Page[model.DeletedBucket], error) {
	var page model.Page[model.DeletedBucket]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope := cursorScope("deleted buckets", q)
	place, err := placeOf(scope, cursor)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(db *gorm.DB) error {
		query := db.Model(&bucketRow{}).Where("buckets.deleted = ?", true)
		if q.Viewer != "" {
			id, err := viewerID(db, q.Viewer)
			if err != nil {
				return err
			}
			query = query.Where("EXISTS (SELECT 1 FROM bucket_owners WHERE bucket_owners.bucket_id = buckets.id AND bucket_owners.user_id = ?)", id)
		}
		if q.Name != "" {
			query = query.Where("buckets.name = ?", q.Name)
		}
		var rows []bucketRow
		query = contains(query, q.Search, "buckets.name", "buckets.description")
		if err := orderOf(model.SortName).after(query, place, limit).Find(&rows).Error; err != nil {
			return err
		}
		rows, page.Next = cut(rows, limit, scope, func(r bucketRow) any { return namePlace{Name: r.Name} })
		page.Items, err = deletedBuckets(db, rows)
		return err
	})
	return page, err
}

// deletedBuckets completes rows with what their newest deletion says.
func deletedBuckets(db *gorm.DB, rows []bucketRow) ([]model.DeletedBucket, error) {
	items := make([]model.DeletedBucket, len(rows))
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
		items[i] = model.DeletedBucket{Name: r.Name, Revision: r.Revision, DeletedBy: r.UpdatedBy, DeletedAt: r.UpdatedAt.UTC()}
	}
	deletions := db.Where("action = ?", model.ActionBucketDelete)
	newest, err := newestRows(db, model.TargetBucket, names, deletions)
	if err != nil {
		return nil, err
	}
	for i := range items {
		row, found := newest[items[i].Name]
		if !found {
			continue
		}
		item := &items[i]
		item.DeletedBy, item.DeletedAt, item.Reason = row.Actor, row.At.UTC(), row.Reason
		if item.Definition, err = model.DecodeDefinition(jsonOf(row.BeforeJSON)); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// revisionRows limits a query to the change rows that made a bucket name's revisions.
func revisionRows(db *gorm.DB, name string) *gorm.DB {
	return db.Model(&changeRow{}).Where("target_kind = ? AND target = ? AND action IN ?", model.TargetBucket, name, model.RevisionActions)
}

// newestRows finds the newest change row of each target that a condition leaves.
func newestRows(db *gorm.DB, kind model.TargetKind, targets []string, where *gorm.DB) (map[string]changeRow, error) {
	newest := make(map[string]changeRow, len(targets))
	if len(targets) == 0 {
		return newest, nil
	}
	ids := db.Model(&changeRow{}).Select("MAX(id)").Where("target_kind = ? AND target IN ?", kind, targets).Where(where).Group("target")
	var rows []changeRow
	err := db.Where("id IN (?)", ids).Find(&rows).Error
	for _, row := range rows {
		newest[row.Target] = row
	}
	return newest, err
}

func asRevision(db *gorm.DB, r *changeRow) (model.Revision, error) {
	d, err := model.DecodeDefinition(jsonOf(r.AfterJSON))
	if err != nil {
		return model.Revision{}, err
	}
	owners, err := ownersNow(db, d, r.ID)
	return model.Revision{
		Revision: r.Revision, At: r.At.UTC(), Actor: r.Actor, Action: model.Action(r.Action), Reason: r.Reason, Definition: d, OwnersNow: owners,
	}, err
}

// ownersNow are the owners in a definition of row id under their present names. Without that, whoever has got the name of
// a former owner since would become an owner by a roll back.
func ownersNow(db *gorm.DB, d *model.Definition, id int64) ([]string, error) {
	if d == nil {
		return nil, nil
	}
	people, err := renamesAfter(db, id)
	return each(d.Owners, func(name string) string { return people.now(name, id) }), err
}

func noRevision(revision int64) error {
	return model.Errorf(model.CodeNotFound, "the history that is kept has no revision %d of this bucket", revision)
}
