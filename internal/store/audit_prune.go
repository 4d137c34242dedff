package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// Kept tells how much history there is.
type Kept struct {
	First, Last int64 // numbers of the first and the last row; 0 when there is none
}

// KeptChanges tells how much history there is, the rows from before the chain included.
func (s *Store) KeptChanges(ctx context.Context) (Kept, error) {
	var kept Kept
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Model(&changeRow{}).Select("COALESCE(MIN(id), 0) AS first, COALESCE(MAX(id), 0) AS last").Take(&kept).Error
	})
	return kept, err
}

// LastPrune is what the newest row about a removal of old rows says; ok is false where there is none.
func (s *Store) LastPrune(ctx context.Context) (note audit.PruneNote, ok bool, err error) {
	var rows []changeRow
	err = s.readOne(ctx, func(db *gorm.DB) error {
		return db.Where("action = ?", model.ActionAuditPrune).Order("id DESC").Limit(1).Find(&rows).Error
	})
	if err != nil || len(rows) == 0 {
		return note, false, err
	}
	if rows[0].AfterJSON == nil || json.Unmarshal([]byte(*rows[0].AfterJSON), &note) != nil {
		return note, false, internal(fmt.Errorf("change %d, about a removal of old rows, can't be read", rows[0].ID))
	}
	return note, true, nil
}

// CheckpointOlderThan is the newest checkpoint of that age behind which every row is that old too; ok is false where there
// is none. Ages are counted from now, or from the newest row where that is earlier: so neither a clock that is ahead here,
// nor one that was behind when a checkpoint was signed, makes young rows old.
func (s *Store) CheckpointOlderThan(ctx context.Context, age time.Duration, now time.Time) (audit.Checkpoint, bool, error) {
	var points []checkpointRow
	err := s.read(ctx, func(db *gorm.DB) error {
		var newest, young []changeRow
		if err := db.Select("id, at").Order("id DESC").Limit(1).Find(&newest).Error; err != nil {
			return err
		}
		if len(newest) > 0 && newest[0].At.Before(now) {
			now = newest[0].At
		}
		limit := micros(now.Add(-age))
		if err := db.Select("id").Where("at > ?", limit).Order("id").Limit(1).Find(&young).Error; err != nil {
			return err
		}
		old := db.Where("at <= ?", limit)
		if len(young) > 0 {
			old = old.Where("seq < ?", young[0].ID)
		}
		return old.Order("seq DESC").Limit(1).Find(&points).Error
	})
	if err != nil || len(points) == 0 {
		return audit.Checkpoint{}, false, err
	}
	return points[0].checkpoint(), true, nil
}

// DeleteChanges is retention's: it deletes up to limit of the oldest rows, none with a number above to, and none that
// no row about a removal tells of; and the checkpoints below the last deleted row. It tells how many rows it deleted; 0
// says that it is done.
func (s *Store) DeleteChanges(ctx context.Context, to int64, limit int) (int64, error) {
	note, told, err := s.LastPrune(ctx)
	if err != nil {
		return 0, err
	}
	if !told || note.To < to {
		return 0, internal(fmt.Errorf("no change tells of the removal of the rows up to %d", to))
	}
	var deleted int64
	err = s.write(ctx, func(t *tx) error {
		var ids []int64
		err := t.Model(&changeRow{}).Where("id <= ?", to).Order("id").Limit(limit).Pluck("id", &ids).Error
		if deleted = int64(len(ids)); err != nil || deleted == 0 {
			return err
		}
		return t.withoutGuards(func() error {
			upTo := ids[len(ids)-1]
			if err := t.Exec("DELETE FROM changes WHERE id <= ?", upTo).Error; err != nil {
				return err
			}
			return t.Exec("DELETE FROM audit_checkpoints WHERE seq < ?", upTo).Error
		})
	})
	return deleted, err
}

// MayDeleteChanges tries to delete no row, so that a user without the right adds no change about a removal that can't
// follow. CodeUnavailable.
func (s *Store) MayDeleteChanges(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.Exec("DELETE FROM changes WHERE 1 = 0").Error; err != nil {
			return err
		}
		return t.Exec("DELETE FROM audit_checkpoints WHERE 1 = 0").Error
	})
}

// withoutGuards takes SQLite's triggers, which refuse to delete history, out of the way until the work is done. It is
// the same transaction, so nobody else ever sees the tables without them. On MySQL the user's rights are the guard.
func (t *tx) withoutGuards(work func() error) error {
	if t.Name() != "sqlite" {
		return work()
	}
	var guards []struct{ Name, SQL string }
	err := t.Raw("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name IN ('changes_no_delete', 'checkpoints_no_delete')").Scan(&guards).Error
	if err != nil {
		return err
	}
	for _, guard := range guards {
		if err := t.Exec("DROP TRIGGER " + guard.Name).Error; err != nil {
			return err
		}
	}
	if err := work(); err != nil {
		return err
	}
	for _, guard := range guards {
		if err := t.Exec(guard.SQL).Error; err != nil {
			return err
		}
	}
	return nil
}
