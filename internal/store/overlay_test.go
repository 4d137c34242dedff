package store_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

// Of many admins on two servers who start the same at one moment, one does; it outlives both servers; ended, it can be
// started again.
func TestTheSameIsCoveredOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s, other := d.migrated(t), d.open(t)
		apps(t, s, "pay")
		var group sync.WaitGroup
		var mu sync.Mutex
		started := 0
		for i := range 8 {
			server := s
			if i%2 == 1 {
				server = other
			}
			group.Go(func() {
				_, err := server.StartOverlay(t.Context(), model.Overlay{Scope: model.OverlayApp, App: "pay"}, byAlice)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					started++
				} else if model.CodeOf(err) != model.CodeTaken {
					t.Errorf("got %v", err)
				}
			})
		}
		group.Wait()
		all := must(d.open(t).Overlays(t.Context()))(t)
		if started != 1 || len(all) != 1 || all[0].App != "pay" || all[0].StartedBy != "alice" || all[0].Reason != "because" {
			t.Fatalf("started %d times: %+v", started, all)
		}
		ok(t, s.EndOverlay(t.Context(), all[0].ID, byBob))
		wantCode(t, other.EndOverlay(t.Context(), all[0].ID, byBob), model.CodeNotFound)
		again := must(s.StartOverlay(t.Context(), model.Overlay{Scope: model.OverlayApp, App: "pay"}, byBob))(t)
		if again.ID == all[0].ID {
			t.Error("an ended one came back")
		}
		if n := d.count(t, "SELECT COUNT(*) FROM changes WHERE action LIKE 'break_glass.%' AND target = 'app:pay'"); n != 3 {
			t.Errorf("%d change rows, want 3", n)
		}
	})
}

func TestAnOverlayOfNothingRealIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		for _, c := range []struct {
			overlay model.Overlay
			reason  string
			field   string
		}{
			{model.Overlay{Scope: model.OverlayApp, App: "absent"}, "why", "app"},
			{model.Overlay{Scope: model.OverlayAll}, " ", "reason"},
			{model.Overlay{Scope: model.OverlayAll}, strings.Repeat("r", 501), "reason"},
			{model.Overlay{}, "why", "scope"},
		} {
			_, err := s.StartOverlay(t.Context(), c.overlay, model.Origin{Actor: "alice", Reason: c.reason})
			wantCode(t, err, model.CodeInvalid, c.field)
		}
	})
}
