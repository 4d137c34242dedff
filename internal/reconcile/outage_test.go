package reconcile_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// With Redis down a save says pending, in good time, and arrives by itself about a second after Redis is back.
func TestSaveDuringOutageArrivesByItself(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		r := w.server()
		w.run(r)
		w.create("api")
		w.push(r, "api")
		server.Stop()

		b := w.setMax("api", 20)
		state, err := r.Push(t.Context(), "api")
		if model.CodeOf(err) != model.CodeUnavailable || !state.Pending || state.LastError != "Redis does not answer" {
			t.Errorf("state %+v, error %v", state, err)
		}
		if state.InstalledRevision != b.Revision-1 {
			t.Errorf("installed revision %d, want the one before %d", state.InstalledRevision, b.Revision)
		}
		testenv.Eventually(t, 5*time.Second, "the state says so", func() bool {
			return r.Status().State == reconcile.StateRedisDown
		})
		w.create("made-meanwhile")
		if _, err := r.Push(t.Context(), "made-meanwhile"); err == nil {
			t.Error("a push to a dead Redis went through")
		}

		testenv.Eventually(t, 5*time.Second, "both are counted as waiting", func() bool { return r.Status().Pending == 2 })

		server.Start(t)
		w.eventuallyEqual(3 * time.Second)
		testenv.Eventually(t, time.Second, "the state is ok again", func() bool {
			s := r.Status()
			return s.State == reconcile.StateOK && s.Pending == 0
		})
	})
}

// A Redis that stands still (connections open, no answers) holds a save no longer than the push timeout. When it is
// back, what waits is pushed at once, however long its backoff is: this server's clock stands still.
func TestSaveDuringStandstillIsBounded(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		now := time.Now()
		r := w.server(func(c *reconcile.Config) {
			c.PushTimeout, c.RepairEvery = 300*time.Millisecond, time.Hour
			c.Now = func() time.Time { return now }
		})
		w.create("api")
		w.push(r, "api")
		server.Pause(t)
		w.setMax("api", 20)
		began := time.Now()
		state, err := r.Push(t.Context(), "api")
		if err == nil || !state.Pending {
			t.Errorf("state %+v, error %v", state, err)
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("the save was held for %v", took)
		}
		w.run(r)
		testenv.Eventually(t, 5*time.Second, "the state says so", func() bool { return r.Status().State == reconcile.StateRedisDown })
		server.Resume(t)
		w.eventuallyEqual(3 * time.Second)
	})
}

// A failed push is not tried again at once, and its reason stands beside the bucket.
func TestFailedPushBacksOff(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		now := time.Now()
		r := w.server(func(c *reconcile.Config) { c.Now = func() time.Time { return now } })
		w.create("api")
		server.Stop()
		if _, err := r.Push(t.Context(), "api"); err == nil {
			t.Fatal("pushed to a dead Redis")
		}
		due := func(after time.Duration) int {
			list, err := w.store.Dirty(t.Context(), now.Add(after), 10)
			must(t, err)
			return len(list)
		}
		if due(490*time.Millisecond) != 0 {
			t.Error("due again within half a second")
		}
		if due(1100*time.Millisecond) != 1 {
			t.Error("not due after the first backoff")
		}
		b, err := w.store.Bucket(t.Context(), "api")
		must(t, err)
		if !b.Sync.Pending || b.Sync.LastError != "Redis does not answer" {
			t.Errorf("sync %+v", b.Sync)
		}
	})
}

// What was marked without a push is found by the ticker, and at once when woken.
func TestWakeDrainsTheOutbox(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server(func(c *reconcile.Config) { c.Tick, c.RepairEvery = time.Hour, time.Hour })
		w.run(r)
		testenv.Eventually(t, 5*time.Second, "the first pass ends", func() bool { return r.Status().State == reconcile.StateOK })
		for _, name := range []string{"a", "b", "c"} {
			w.create(name)
		}
		r.Wake()
		w.eventuallyEqual(3 * time.Second)
	})
}

// An outage is one line when it begins and one when it ends, however many tries lie between.
func TestOutageIsLoggedOnce(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		var log testenv.Output
		r := w.server(func(c *reconcile.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		w.create("api")
		w.repair(r)
		server.Stop()
		for range 3 {
			if err := r.Repair(t.Context()); err == nil {
				t.Fatal("repaired a dead Redis")
			}
		}
		server.Start(t)
		testenv.Eventually(t, 5*time.Second, "Redis answers", func() bool { return r.Repair(t.Context()) == nil })
		for _, line := range []string{"reconcile stands still", "Redis has lost state"} {
			if got := strings.Count(log.String(), line); got != 1 {
				t.Errorf("%q stands %d times in the log:\n%s", line, got, &log)
			}
		}
		if got := strings.Count(log.String(), "reconcile works"); got != 2 { // at the start and after the outage
			t.Errorf("the log:\n%s", &log)
		}
	})
}

// The database's trouble is told from that of Redis, and passes by itself as well.
func TestDatabaseDownIsSaid(t *testing.T) {
	onBoth(t, func(w *world) {
		closed := w.again()
		must(t, closed.Close())
		r := w.server(func(c *reconcile.Config) { c.Store = closed })
		if err := r.Repair(t.Context()); err == nil {
			t.Fatal("repaired without a database")
		}
		if s := r.Status(); s.State != reconcile.StateDatabaseDown || s.LastError == "" {
			t.Errorf("status %+v", s)
		}
		if state, err := r.Push(t.Context(), "api"); err == nil || !state.Pending {
			t.Errorf("state %+v, error %v", state, err)
		}
	})
}
