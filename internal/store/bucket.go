package store

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// Bucket reads one bucket. CodeNotFound.
func (s *Store) Bucket(ctx context.Context, name string) (model.Bucket, error) {
	var bucket model.Bucket
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := livingBucket(db, name)
		if err != nil {
			return err
		}
		bucket, err = loadBucket(db, row)
		return err
	})
	return bucket, err
}

// BucketFor reads one bucket and what the user is to it. CodeNotFound only when there is no such bucket: whether a
// user without a relation may see it is the caller's to decide.
func (s *Store) BucketFor(ctx context.Context, user, name string) (model.Bucket, model.Relation, error) {
	var bucket model.Bucket
	var relation model.Relation
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := livingBucket(db, name)
		if err != nil {
			return err
		}
		if bucket, err = loadBucket(db, row); err != nil {
			return err
		}
		relation, err = bucketRelation(db, row, user)
		return err
	})
	return bucket, relation, err
}

// Buckets lists buckets. CodeInvalid naming the field of the query.
func (s *Store) Buckets(ctx context.Context, q model.BucketQuery) (model.Page[model.Bucket], error) {
	var page model.Page[model.Bucket]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope := cursorScope("buckets", q)
	place, err := placeOf(scope, cursor)
	if err != nil {
		return page, err
	}
	catalog, err := s.present(ctx)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(db *gorm.DB) error {
		rows, err := catalog.bucketRows(db, q, place, limit)
		if err != nil {
			return err
		}
		rows, page.Next = cut(rows, limit, scope, func(r listedRow) any { return r.place })
		page.Items, err = loadBuckets(db, bareRows(rows))
		return err
	})
	return page, err
}

func bareRows(listed []listedRow) []bucketRow {
	rows := make([]bucketRow, len(listed))
	for i := range listed {
		rows[i] = listed[i].row
	}
	return rows
}

// bucketFilters are a query's conditions in SQL, but for its search.
func bucketFilters(db *gorm.DB, q model.BucketQuery, s sight) *gorm.DB {
	query := db.Model(&bucketRow{}).Where("buckets.deleted = ?", false)
	if !s.all {
		query = seenBuckets(query, s.user)
	}
	switch q.App {
	case "":
	case model.AllApps:
		query = query.Where("buckets.all_apps = ?", true)
	default:
		query = query.Where("EXISTS (SELECT 1 FROM bucket_apps JOIN apps ON apps.id = bucket_apps.app_id WHERE bucket_apps.bucket_id = buckets.id AND apps.name = ?)", q.App)
	}
	if q.Owner != "" {
		query = query.Where("EXISTS (SELECT 1 FROM bucket_owners JOIN users ON users.id = bucket_owners.user_id WHERE bucket_owners.bucket_id = buckets.id AND users.name = ?)", q.Owner)
	}
	if key, value, both := strings.Cut(q.Label, "="); both {
		query = query.Where("EXISTS (SELECT 1 FROM bucket_labels WHERE bucket_labels.bucket_id = buckets.id AND bucket_labels.name = ? AND bucket_labels.value = ?)", key, value)
	} else if key != "" {
		query = query.Where("EXISTS (SELECT 1 FROM bucket_labels WHERE bucket_labels.bucket_id = buckets.id AND bucket_labels.name = ?)", key)
	}
	if q.Mode != "" {
		query = query.Where("buckets.mode = ?", q.Mode)
	}
	const pending = "(buckets.installed_revision < buckets.revision OR EXISTS (SELECT 1 FROM outbox WHERE outbox.bucket_id = buckets.id))"
	switch q.Sync {
	case model.SyncPending:
		query = query.Where(pending)
	case model.SyncSynced:
		query = query.Where("NOT " + pending)
	}
	return query
}

// seenBuckets limits a query on buckets to those that a user owns or whose apps it is a member of; "*" is shown to the
// members of any app.
func seenBuckets(query *gorm.DB, userID int64) *gorm.DB {
	return query.Where(`(EXISTS (SELECT 1 FROM bucket_owners WHERE bucket_owners.bucket_id = buckets.id AND bucket_owners.user_id = ?)
 OR EXISTS (SELECT 1 FROM bucket_apps JOIN members ON members.app_id = bucket_apps.app_id WHERE bucket_apps.bucket_id = buckets.id AND members.user_id = ?)
 OR (buckets.all_apps = ? AND EXISTS (SELECT 1 FROM members WHERE members.user_id = ?)))`, userID, userID, true, userID)
}

// viewerID finds the id of the user that a list is made for. One that is gone sees what is nobody's: nothing.
func viewerID(db *gorm.DB, name string) (int64, error) {
	row, err := userByName(db, name)
	if model.CodeOf(err) == model.CodeNotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return row.ID, nil
}

func bucketRelation(db *gorm.DB, row *bucketRow, user string) (model.Relation, error) {
	var relation model.Relation
	id, err := viewerID(db, user)
	if err != nil || id == 0 {
		return relation, err
	}
	var owned int64
	if err := db.Model(&bucketOwner{}).Where("bucket_id = ? AND user_id = ?", row.ID, id).Count(&owned).Error; err != nil {
		return relation, err
	}
	roles := db.Model(&memberRow{}).Where("members.user_id = ?", id)
	if !row.AllApps {
		roles = roles.Where("EXISTS (SELECT 1 FROM bucket_apps WHERE bucket_apps.app_id = members.app_id AND bucket_apps.bucket_id = ?)", row.ID)
	}
	relation, err = relationOf(roles)
	relation.BucketOwner = owned > 0
	return relation, err
}

// relationOf reads the roles that a query on members finds.
func relationOf(members *gorm.DB) (model.Relation, error) {
	var relation model.Relation
	var roles []string
	if err := members.Distinct().Pluck("role", &roles).Error; err != nil {
		return relation, err
	}
	for _, role := range roles {
		switch model.AppRole(role) {
		case model.AppOwner:
			relation.AppOwner = true
		case model.AppViewer:
			relation.AppViewer = true
		}
	}
	return relation, nil
}

// bucketByName reads a name's row, living or deleted. MySQL's comparison ignores spaces at the end, so the name is
// compared once more here.
func bucketByName(db *gorm.DB, name string) (*bucketRow, error) {
	var row bucketRow
	err := db.Take(&row, "name = ?", name).Error
	if err == nil && row.Name != name {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return nil, orNotFound(err, "bucket")
	}
	return &row, nil
}

func livingBucket(db *gorm.DB, name string) (*bucketRow, error) {
	row, err := bucketByName(db, name)
	if err != nil {
		return nil, err
	}
	if row.Deleted {
		return nil, notFound("bucket")
	}
	return row, nil
}
