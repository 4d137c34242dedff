package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

const breakGlassPath = "/api/v1/break-glass"

func glass(changes map[string]any) map[string]any {
	body := map[string]any{"scope": "all", "reason": "limits hurt production", "confirm": "SHADOW"}
	for k, v := range changes {
		if v == nil {
			delete(body, k)
		} else {
			body[k] = v
		}
	}
	return body
}

// inForce is what everybody is shown.
func (c *client) inForce() []api.BreakGlass {
	c.t.Helper()
	var list struct{ Items []api.BreakGlass }
	c.do("GET", breakGlassPath, nil).want(c.t, http.StatusOK).into(c.t, &list)
	return list.Items
}

// One action puts everything into shadow: everybody sees it, Redis has it, and the history tells who, why, and who ended it.
// What is edited meanwhile keeps its own mode.
func TestBreakGlassIsOneConfirmedActionThatEverybodySees(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		var started api.BreakGlassStarted
		admin.do("POST", breakGlassPath, glass(nil)).want(t, http.StatusCreated).into(t, &started)
		if started.Scope != model.OverlayAll || started.StartedBy != root || started.Sync != "synced" {
			t.Errorf("started %+v", started)
		}
		if o, stands, err := w.engine.ReadOverlay(t.Context()); err != nil || !stands || !o.All {
			t.Errorf("Redis has %+v, %v, %v", o, stands, err)
		}
		for _, who := range []string{nemo, vic, aud} {
			if all := w.as(who).inForce(); len(all) != 1 || all[0].Reason != "limits hurt production" || all[0].StartedBy != root || all[0].StartedAt.IsZero() {
				t.Errorf("%s sees %+v", who, all)
			}
		}
		if b := admin.do("GET", buckets+"/"+theBucket, nil).bucket(t, http.StatusOK); b.Mode != model.ModeEnforce {
			t.Errorf("the definition says %s", b.Mode)
		}
		one := fmt.Sprintf("%s/%d", breakGlassPath, started.ID)
		admin.do("DELETE", one+"?reason=over", nil).want(t, http.StatusOK)
		admin.do("DELETE", one, nil).problem(t, http.StatusNotFound)
		if all := admin.inForce(); len(all) != 0 {
			t.Errorf("after the end %+v", all)
		}
		if o, _, err := w.engine.ReadOverlay(t.Context()); err != nil || o.All {
			t.Errorf("after the end Redis has %+v, %v", o, err)
		}
		rows, err := w.store.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetSystem, Target: "all"})
		must(t, err)
		if len(rows.Items) != 2 || rows.Items[0].Action != model.ActionBreakGlassEnd || rows.Items[0].Reason != "over" ||
			rows.Items[1].Action != model.ActionBreakGlassStart || rows.Items[1].Actor != root || rows.Items[1].Reason != "limits hurt production" {
			t.Errorf("the history has %+v", rows.Items)
		}
	})
}

// Without the word, a reason or a real app nothing happens; the same can't be covered twice.
func TestBreakGlassIsNotStartedByMistake(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		for _, c := range []struct {
			body  map[string]any
			field string
		}{
			{glass(map[string]any{"confirm": nil}), "confirm"},
			{glass(map[string]any{"confirm": "shadow"}), "confirm"},
			{glass(map[string]any{"reason": "  "}), "reason"},
			{glass(map[string]any{"scope": "some"}), "scope"},
			{glass(map[string]any{"scope": nil}), "scope"},
			{glass(map[string]any{"scope": "app"}), "app"},
			{glass(map[string]any{"scope": "app", "app": "nothing"}), "app"},
			{glass(map[string]any{"app": "checkout"}), "app"},
		} {
			if p := admin.do("POST", breakGlassPath, c.body).problem(t, http.StatusUnprocessableEntity); !slices.Equal(fields(p), []string{c.field}) {
				t.Errorf("%v: fields %v, want %s", c.body, fields(p), c.field)
			}
		}
		app := glass(map[string]any{"scope": "app", "app": "checkout"})
		admin.do("POST", breakGlassPath, app).want(t, http.StatusCreated)
		admin.do("POST", breakGlassPath, app).problem(t, http.StatusConflict)
		admin.do("POST", breakGlassPath, glass(nil)).want(t, http.StatusCreated)
		if all := admin.inForce(); len(all) != 2 {
			t.Errorf("in force: %+v", all)
		}
	})
}

// Who sees neither an app nor a bucket that lists it does not learn from break-glass that there is one; the owner of such a
// bucket is told that its limits do not hold.
func TestBreakGlassOfAnAppIsShownToThoseWhoSeeTheAppOrItsBuckets(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.as(root).do("POST", breakGlassPath, glass(map[string]any{"scope": "app", "app": "checkout"})).want(t, http.StatusCreated)
		for who, want := range map[string]int{nemo: 0, otto: 0, vic: 1, ann: 1, bob: 1, aud: 1, root: 1} {
			if got := len(w.as(who).inForce()); got != want {
				t.Errorf("%s is shown %d, want %d", who, got, want)
			}
		}
	})
}

// While Redis is away it is started all the same, and says so.
func TestBreakGlassIsKeptWhileRedisIsAway(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.redis.turn(true)
		var started api.BreakGlassStarted
		w.as(root).do("POST", breakGlassPath, glass(nil)).want(t, http.StatusCreated).into(t, &started)
		if all := w.as(nemo).inForce(); started.Sync != "pending" || len(all) != 1 {
			t.Errorf("started %+v, in force %+v", started, all)
		}
	})
}
