package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

func (w *world) breakGlass(scope model.OverlayScope, app string) model.Overlay {
	w.Helper()
	o, err := w.store.StartOverlay(w.Context(), model.Overlay{Scope: scope, App: app}, origin)
	must(w.T, err)
	return o
}

// overlay is what Redis says; it fails the test where nothing stands.
func (w *world) overlay() bucket.Overlay {
	w.Helper()
	o, stands, err := w.engine.ReadOverlay(w.Context())
	must(w.T, err)
	if !stands {
		w.Fatal("Redis has no overlay")
	}
	return o
}

func (w *world) eventuallyCovers(all bool, apps ...string) {
	w.Helper()
	testenv.Eventually(w.T, 5*time.Second, "the overlay reaches Redis", func() bool {
		o, stands, err := w.engine.ReadOverlay(w.Context())
		return err == nil && stands && o.All == all && slices.Equal(o.Apps, apps)
	})
}

// What covers together is in Redis after the push, and an end is written too.
func TestAnOverlayIsInRedisAfterThePush(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.push(r, "api")
		before := w.read("api")
		search, everything := w.breakGlass(model.OverlayApp, "search"), w.breakGlass(model.OverlayAll, "")
		w.breakGlass(model.OverlayApp, "checkout")
		must(t, r.PushOverlay(t.Context()))
		if o := w.overlay(); !o.All || !slices.Equal(o.Apps, []string{"checkout", "search"}) {
			t.Errorf("Redis has %+v", o)
		}
		for _, o := range []model.Overlay{search, everything} {
			must(t, w.store.EndOverlay(t.Context(), o.ID, origin))
		}
		must(t, r.PushOverlay(t.Context()))
		if o := w.overlay(); o.All || !slices.Equal(o.Apps, []string{"checkout"}) || o.Covers("search") {
			t.Errorf("Redis has %+v after the end", o)
		}
		if after := w.read("api"); after.Revision != before.Revision || after.Generation != before.Generation || after.Mode != before.Mode {
			t.Errorf("a definition changed: %+v", after.Definition)
		}
	})
}

// It survives a restart of the admin server, a flush, a hand that wrote something else, and a stale write of another
// server; and an end that Redis slept through is made good.
func TestAnOverlayStandsUntilItIsEnded(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		o := w.breakGlass(model.OverlayAll, "")
		stop := w.run(w.server())
		w.eventuallyCovers(true)
		stop()
		w.flush()
		w.run(w.server())
		w.eventuallyCovers(true)
		must(t, w.engine.WriteOverlay(t.Context(), bucket.Overlay{Apps: []string{"search"}}))
		w.eventuallyCovers(true)
		for _, text := range []string{"nonsense", `{"v":99,"all":false}`} {
			must(t, w.rdb.Set(t.Context(), "headgate:overlay", text, 0).Err())
			w.eventuallyCovers(true)
		}
		must(t, w.rdb.Del(t.Context(), "headgate:overlay").Err())
		must(t, w.rdb.RPush(t.Context(), "headgate:overlay", "a list").Err())
		w.eventuallyCovers(true)
		server.Stop()
		must(t, w.store.EndOverlay(t.Context(), o.ID, origin))
		server.Start(t)
		w.eventuallyCovers(false)
	})
}

// Another deployment's Redis is left alone.
func TestAnOverlayIsNotWrittenToAnothersRedis(t *testing.T) {
	onOwnRedis(t, func(w *world, _ *testenv.RedisServer) {
		must(t, w.rdb.Set(t.Context(), "headgate:owner", "somebody", 0).Err())
		w.breakGlass(model.OverlayAll, "")
		if err := w.server().PushOverlay(t.Context()); model.CodeOf(err) != model.CodeForeignRedis {
			t.Errorf("got %v", err)
		}
		if _, stands, err := w.engine.ReadOverlay(t.Context()); stands || err != nil {
			t.Errorf("it was written all the same (%v)", err)
		}
	})
}
