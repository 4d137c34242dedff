package store

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// SyncHeadsOf reads the rows of some names, by name; names that never existed are left out.
func (s *Store) SyncHeadsOf(ctx context.Context, names []string) (map[string]model.SyncHead, error) {
	byName := make(map[string]model.SyncHead, len(names))
	for page := range slices.Chunk(names, syncBound) {
		var heads []model.SyncHead
		err := s.readOne(ctx, func(db *gorm.DB) error { return syncHeads(db).Where("buckets.name IN ?", page).Scan(&heads).Error })
		if err != nil {
			return nil, err
		}
		for _, h := range heads {
			byName[h.Name] = h
		}
	}
	return byName, nil
}

func syncHeads(db *gorm.DB) *gorm.DB {
	return db.Table("buckets").
		Select("buckets.name, buckets.revision, buckets.deleted, buckets.shards, buckets.installed_revision, COALESCE(outbox.mark, 0) AS mark").
		Joins("LEFT JOIN outbox ON outbox.bucket_id = buckets.id")
}

// SyncRowsOf reads the rows of some names, by name; names that never existed are left out.
func (s *Store) SyncRowsOf(ctx context.Context, names []string) (map[string]model.SyncRow, error) {
	byName := make(map[string]model.SyncRow, len(names))
	for page := range slices.Chunk(names, syncBound) {
		err := s.read(ctx, func(db *gorm.DB) error {
			var rows []bucketRow
			if err := db.Select(syncColumns).Where("name IN ?", page).Find(&rows).Error; err != nil {
				return err
			}
			found, err := syncRows(db, rows)
			for _, row := range found {
				byName[row.Name] = row
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return byName, nil
}

// MarkInstalledAll is MarkInstalled for many buckets in one transaction. Names that never existed are passed over.
func (s *Store) MarkInstalledAll(ctx context.Context, all []model.Installed) error {
	for page := range slices.Chunk(all, syncBound) {
		if err := s.markInstalled(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) markInstalled(ctx context.Context, all []model.Installed) error {
	installed := make(map[string]model.Installed, len(all))
	names := make([]string, len(all))
	for i, one := range all {
		installed[one.Name], names[i] = one, one.Name
	}
	return s.write(ctx, func(t *tx) error {
		var rows []bucketRow
		// By id, as everybody who locks several: two servers that settle the same buckets must not wait for each other.
		err := forUpdate(t.DB).Select("id", "name", "installed_revision").Where("name IN ?", names).Order("id").Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return err
		}
		var ids []int64
		var revisions, marks []any
		var raised []int64
		for _, row := range rows {
			one := installed[row.Name]
			ids, marks = append(ids, row.ID), append(marks, row.ID, one.Mark)
			if one.Revision > row.InstalledRevision {
				raised, revisions = append(raised, row.ID), append(revisions, row.ID, one.Revision)
			}
		}
		if len(raised) > 0 {
			update := "UPDATE buckets SET installed_at = ?, installed_revision = " + choose("id", len(raised)) + " WHERE id IN ?"
			if err := t.Exec(update, append(append([]any{t.now}, revisions...), raised)...).Error; err != nil {
				return err
			}
		}
		return t.Exec("DELETE FROM outbox WHERE bucket_id IN ? AND mark <= "+choose("bucket_id", len(ids)), append([]any{ids}, marks...)...).Error
	})
}

// choose is an expression that has a value of its own for each of n ids: pairs of id and value are its parameters.
func choose(column string, n int) string {
	return "CASE " + column + strings.Repeat(" WHEN ? THEN ?", n) + " ELSE 0 END"
}
