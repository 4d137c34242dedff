package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
	catalog, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	var eyes sight
	err = s.read(ctx, func(db *gorm.DB) (err error) {
		eyes, err = sightOf(db, q.Viewer)
		return err
	})
	if err != nil {
		return nil, err
	}
	labels := []model.LabelCount{}
	for has, buckets := range catalog.labels(eyes) {
		// Written as people type it: so the text may stand in the key, in the value, or reach from one into the other.
		if strings.Contains(fold(has.Value().name+"="+has.Value().value), fold(q.Search)) {
			labels = append(labels, model.LabelCount{Key: has.Value().name, Value: has.Value().value, Buckets: buckets})
		}
	}
	slices.SortFunc(labels, func(a, b model.LabelCount) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	return labels[:min(q.Limit, len(labels))], nil
}
