package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// BucketLabels lists the labels of living buckets by key and value, up to the query's limit, with the number of buckets
// that have each. CodeInvalid naming the field of the query.
func (s *Store) BucketLabels(ctx context.Context, q model.LabelQuery) ([]model.LabelCount, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if q.Limit == 0 {
		q.Limit = model.LabelsMost
	}
	labels := []model.LabelCount{}
	err := s.read(ctx, func(db *gorm.DB) error {
		query, err := bucketFilters(db, model.BucketQuery{Viewer: q.Viewer})
		if err != nil {
			return err
		}
		query = query.Joins("JOIN bucket_labels ON bucket_labels.bucket_id = buckets.id").
			Select("bucket_labels.name AS `key`, bucket_labels.value AS value, COUNT(*) AS buckets").
			Group("bucket_labels.name, bucket_labels.value").Order("bucket_labels.name, bucket_labels.value").Limit(q.Limit)
		return contains(query, q.Search, "bucket_labels.name", "bucket_labels.value").Scan(&labels).Error
	})
	return labels, err
}
