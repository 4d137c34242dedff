package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// PushOverlay makes Redis say which overlays are in force, as the database has them. Call it after the commit; each tick
// does the same, so a failure only delays it. It is bounded by the push timeout. CodeUnavailable, CodeForeignRedis.
func (r *Reconciler) PushOverlay(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.pushTimeout)
	defer cancel()
	_, err := r.own(ctx)
	if err == nil {
		err = r.applyOverlay(ctx)
	}
	if err != nil {
		r.noteError(messageOf(err))
		r.Wake()
	}
	return err
}

// applyOverlay writes the overlay where Redis has another, or has lost it. Two servers that write at one moment may leave
// the older one; the next tick of either puts it right.
func (r *Reconciler) applyOverlay(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	inForce, err := r.store.Overlays(ctx)
	if err != nil {
		return err
	}
	want := overlayOf(inForce)
	found, stands, err := r.engine.ReadOverlay(ctx)
	if err == nil && stands && found.Equal(want) {
		return nil
	}
	if err != nil && !isAlien(err) && !errors.Is(err, bucket.ErrUnknownFormat) {
		return redisTrouble(err)
	}
	// What can't be read as an overlay was written by hand, or by another version: then too the database decides.
	if err := r.engine.WriteOverlay(ctx, want); err != nil {
		return redisTrouble(err)
	}
	r.log.Info("the overlay of break-glass was written to Redis", "all", want.All, "apps", want.Apps)
	return nil
}

// overlayOf is what several overlays cover together.
func overlayOf(inForce []model.Overlay) bucket.Overlay {
	var o bucket.Overlay
	for _, one := range inForce {
		if one.Scope == model.OverlayAll {
			o.All = true
		} else {
			o.Apps = append(o.Apps, one.App)
		}
	}
	slices.Sort(o.Apps)
	return o
}
