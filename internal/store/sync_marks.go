package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// Marks of a Cluster stand in table meta as epoch_mark/SLOT, with "RFC 3339 time, first slot, last slot"; the mark of a
// Redis that is none as epoch_mark, with the time alone.
const metaMarks = metaEpoch + "/"

// lastSlot is the last of the slots that a mark without a slot speaks for: all of them.
const lastSlot = 16383

// Marks returns the newest marks noted by SetMarks, in the order of their slots; the one of a Redis that is no Cluster
// is always there, and comes first.
func (s *Store) Marks(ctx context.Context) ([]model.Mark, error) {
	var rows []metaRow
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Where("name = ? OR name > ? AND name < ?", metaEpoch, metaMarks, metaMarks+"~").Order("name").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	marks := make([]model.Mark, len(rows))
	for i, row := range rows {
		if marks[i], err = markOf(row); err != nil {
			return nil, err
		}
	}
	return marks, nil
}

// SetMarks notes marks; one that is older than noted before changes nothing but the slots it speaks for. The marks of the
// slots in forget are noted no longer.
func (s *Store) SetMarks(ctx context.Context, marks []model.Mark, forget []int) error {
	marks = slices.Clone(marks)
	slices.SortFunc(marks, func(a, b model.Mark) int { return a.Slot - b.Slot }) // locked in the same order by everybody
	names := make([]string, len(marks))
	for i, m := range marks {
		names[i] = markName(m.Slot)
	}
	return s.write(ctx, func(t *tx) error {
		noted, err := t.lockMarks(marks, names)
		if err != nil {
			return err
		}
		rows, err := newerMarks(marks, noted)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			replace := clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"value"})}
			if err := t.Clauses(replace).Create(&rows).Error; err != nil {
				return err
			}
		}
		if len(forget) == 0 {
			return nil
		}
		gone := make([]string, len(forget))
		for i, slot := range forget {
			gone[i] = markName(slot)
		}
		return t.Where("name IN ?", gone).Delete(&metaRow{}).Error
	})
}

// lockMarks locks the rows of the marks, and makes those that are not there: what is not there can't be locked.
func (t *tx) lockMarks(marks []model.Mark, names []string) (noted []metaRow, err error) {
	lock := func() error { return forUpdate(t.DB).Where("name IN ?", names).Order("name").Find(&noted).Error }
	if err := lock(); err != nil || len(noted) == len(names) {
		return noted, err
	}
	rows := make([]metaRow, len(marks))
	for i, m := range marks {
		m.At = time.Time{}
		rows[i] = metaRow{markName(m.Slot), markValue(m)}
	}
	if err := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error; err != nil {
		return nil, err
	}
	noted = nil
	err = lock()
	return noted, err
}

// newerMarks are the rows to be written where some are noted already.
func newerMarks(marks []model.Mark, noted []metaRow) ([]metaRow, error) {
	before := map[int]model.Mark{}
	for _, row := range noted {
		m, err := markOf(row)
		if err != nil {
			return nil, err
		}
		before[m.Slot] = m
	}
	var rows []metaRow
	for _, m := range marks {
		old := before[m.Slot]
		if !m.At.After(old.At) {
			m.At = old.At
		}
		if m.At = micros(m.At); m != old {
			rows = append(rows, metaRow{markName(m.Slot), markValue(m)})
		}
	}
	return rows, nil
}

func markName(slot int) string {
	if slot == model.NoSlot {
		return metaEpoch
	}
	return fmt.Sprintf("%s%05d", metaMarks, slot)
}

func markValue(m model.Mark) string {
	at := ""
	if !m.At.IsZero() {
		at = m.At.Format(time.RFC3339Nano)
	}
	if m.Slot == model.NoSlot {
		return at
	}
	return fmt.Sprintf("%s %d %d", at, m.From, m.To)
}

func markOf(row metaRow) (model.Mark, error) {
	m := model.Mark{Slot: model.NoSlot, From: 0, To: lastSlot}
	text := row.Value
	if slot, ok := strings.CutPrefix(row.Name, metaMarks); ok {
		at, rest, _ := strings.Cut(row.Value, " ")
		text = at
		if _, err := fmt.Sscanf(slot+" "+rest, "%d %d %d", &m.Slot, &m.From, &m.To); err != nil {
			return m, internal(fmt.Errorf("the mark %q is %q: %w", row.Name, row.Value, err))
		}
	}
	if text == "" {
		return m, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return m, internal(err)
	}
	m.At = at.UTC()
	return m, nil
}
