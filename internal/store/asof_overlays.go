package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// overlayActions are the changes of what break-glass covers, which their target names.
var overlayActions = []model.Action{model.ActionBreakGlassStart, model.ActionBreakGlassEnd}

// OverlaysAsOf lists the overlays that were in force at an instant, the oldest first. Of one whose start was pruned, who
// started it, when and why are left out. known is false when change rows were pruned that would tell of others.
func (s *Store) OverlaysAsOf(ctx context.Context, at time.Time) (all []model.Overlay, known bool, err error) {
	err = s.read(ctx, func(db *gorm.DB) error {
		all, known, err = overlaysAsOf(db, micros(at))
		return err
	})
	return all, known, err
}

func overlaysAsOf(db *gorm.DB, at time.Time) ([]model.Overlay, bool, error) {
	a, err := rowsAround(db, model.TargetSystem, nil, overlayActions, at)
	if err != nil {
		return nil, false, err
	}
	var now []overlayRow
	if err := db.Where("covers IS NOT NULL").Find(&now).Error; err != nil {
		return nil, false, err
	}
	all := []model.Overlay{}
	told := func(covers string) bool {
		_, before := a.before[covers]
		_, after := a.after[covers]
		return before || after
	}
	for i := range now { // neither started nor ended since, and its start was pruned
		if a.known && !told(*now[i].Covers) {
			all = append(all, now[i].overlay())
		}
	}
	for _, row := range a.before {
		if row.Action == string(model.ActionBreakGlassStart) {
			overlay, err := overlayIn(row.AfterJSON)
			if err != nil {
				return nil, false, err
			}
			overlay.Reason, overlay.StartedBy, overlay.StartedAt = row.Reason, row.Actor, row.At.UTC()
			all = append(all, overlay)
		}
	}
	for covers, row := range a.after {
		if _, before := a.before[covers]; !before && a.known && row.Action == string(model.ActionBreakGlassEnd) {
			overlay, err := overlayIn(row.BeforeJSON)
			if err != nil {
				return nil, false, err
			}
			all = append(all, overlay)
		}
	}
	slices.SortFunc(all, func(a, b model.Overlay) int { return cmp.Compare(a.ID, b.ID) })
	return all, a.known, nil
}

func overlayIn(text *string) (model.Overlay, error) {
	var fields struct {
		ID    int64              `json:"id"`
		Scope model.OverlayScope `json:"scope"`
		App   string             `json:"app"`
	}
	err := json.Unmarshal(jsonOf(text), &fields)
	return model.Overlay{ID: fields.ID, Scope: fields.Scope, App: fields.App}, err
}
