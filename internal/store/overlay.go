package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// overlayRow is a break-glass, in force while Covers is set.
type overlayRow struct {
	ID        int64 `gorm:"primaryKey"`
	Covers    *string
	Scope     string
	App       string
	Reason    string
	StartedBy string
	StartedAt time.Time
	EndedBy   string
	EndedAt   *time.Time
}

func (overlayRow) TableName() string { return "overlays" }

func (r *overlayRow) overlay() model.Overlay {
	return model.Overlay{
		ID: r.ID, Scope: model.OverlayScope(r.Scope), App: r.App, Reason: r.Reason, StartedBy: r.StartedBy, StartedAt: r.StartedAt.UTC(),
	}
}

// Overlays lists the overlays that are in force, the oldest first; at most model.OverlaysBound.
func (s *Store) Overlays(ctx context.Context) ([]model.Overlay, error) {
	var rows []overlayRow
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Where("covers IS NOT NULL").Order("id").Find(&rows).Error
	})
	all := make([]model.Overlay, len(rows))
	for i := range rows {
		all[i] = rows[i].overlay()
	}
	return all, err
}

// StartOverlay puts an overlay in force, on behalf of o, whose reason it keeps. CodeInvalid, also for an app that is not
// registered; CodeTaken when what it covers is covered in the same words already; CodeInUse when there are
// model.OverlaysBound.
func (s *Store) StartOverlay(ctx context.Context, overlay model.Overlay, o model.Origin) (model.Overlay, error) {
	overlay.Reason = strings.TrimSpace(o.Reason)
	if err := overlay.Validate(); err != nil {
		return model.Overlay{}, err
	}
	var started model.Overlay
	err := s.write(ctx, func(t *tx) error {
		if err := t.mayStart(&overlay); err != nil {
			return err
		}
		covers := overlay.Covers()
		row := overlayRow{
			Covers: &covers, Scope: string(overlay.Scope), App: overlay.App, Reason: overlay.Reason, StartedBy: o.Actor, StartedAt: t.now,
		}
		if err := t.Create(&row).Error; isDuplicate(err) {
			return model.Errorf(model.CodeTaken, "break-glass is in force for this already")
		} else if err != nil {
			return err
		}
		started = row.overlay()
		return t.appendChange(o, model.Change{
			Action: model.ActionBreakGlassStart, TargetKind: model.TargetSystem, Target: covers, After: model.OverlayJSON(&started),
		})
	})
	return started, err
}

func (t *tx) mayStart(overlay *model.Overlay) error {
	if overlay.Scope == model.OverlayApp {
		switch _, err := livingApp(t.DB, overlay.App); {
		case model.CodeOf(err) == model.CodeNotFound:
			return invalidField("break-glass", "app", "is not registered")
		case err != nil:
			return err
		}
	}
	var count int64
	if err := t.Model(&overlayRow{}).Where("covers IS NOT NULL").Count(&count).Error; err != nil {
		return err
	}
	if count >= model.OverlaysBound {
		return model.Errorf(model.CodeInUse, "break-glass is in force %d times already; end one first", count)
	}
	return nil
}

// EndOverlay ends an overlay. CodeNotFound when it is not in force.
func (s *Store) EndOverlay(ctx context.Context, id int64, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		var row overlayRow
		if err := forUpdate(t.DB).Take(&row, "id = ? AND covers IS NOT NULL", id).Error; err != nil {
			return orNotFound(err, "break-glass in force")
		}
		before := row.overlay()
		err := t.Model(&row).Updates(map[string]any{"covers": nil, "ended_by": o.Actor, "ended_at": t.now}).Error
		if err != nil {
			return err
		}
		return t.appendChange(o, model.Change{
			Action: model.ActionBreakGlassEnd, TargetKind: model.TargetSystem, Target: before.Covers(), Before: model.OverlayJSON(&before),
		})
	})
}
