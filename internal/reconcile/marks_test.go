package reconcile_test

import (
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// After a flush the definitions come back by themselves, born now: no free burst for after_loss refill, a full bucket
// for after_loss full. A brand-new bucket starts full.
func TestFlushGrantsNoFreeBurst(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("refill")
		w.create("full")
		w.edit("full", func(d *model.Definition) { d.AfterLoss = model.LossFull })
		w.run(r)
		w.eventuallyEqual(5 * time.Second)
		for _, name := range []string{"refill", "full"} {
			if got := w.granted(name, 10); got != 10 {
				t.Fatalf("brand-new %s granted %d of 10", name, got)
			}
		}
		w.flush()
		testenv.Eventually(t, 5*time.Second, "the loss is found", func() bool { return !r.Status().LastLoss.IsZero() })
		w.eventuallyEqual(5 * time.Second)
		if got := w.granted("refill", 10); got != 0 {
			t.Errorf("after a flush refill granted %d at once", got)
		}
		if got := w.granted("full", 10); got != 10 {
			t.Errorf("after a flush full granted %d of 10", got)
		}
		w.create("new")
		w.push(r, "new")
		if got := w.granted("new", 10); got != 10 {
			t.Errorf("a bucket made after the flush granted %d of 10", got)
		}
	})
}

// A save that comes before the repair re-installs a lost definition as born now too.
func TestPushAfterFlushGrantsNoFreeBurst(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.push(r, "api")
		w.flush()
		w.setMax("api", 20)
		w.push(r, "api")
		if got := w.granted("api", 20); got != 0 {
			t.Errorf("granted %d at once", got)
		}
		w.requireEqual()
	})
}

// A flush between a push's reading and its writing is no different: what was there when it looked is gone, with its state.
func TestFlushUnderAPushGrantsNoFreeBurst(t *testing.T) {
	ways := map[string]func(w *world, r *reconcile.Reconciler){
		"pushed":  func(w *world, r *reconcile.Reconciler) { w.push(r, "api") },
		"brought": func(w *world, r *reconcile.Reconciler) { w.repair(r) },
	}
	onBoth(t, func(w *world) {
		for how, bring := range ways {
			w.create("api")
			w.push(w.server(), "api")
			w.setMax("api", 20)
			bring(w, w.held(w.flush))
			if got := w.granted("api", 20); got != 0 {
				t.Errorf("%s: granted %d at once", how, got)
			}
			w.requireEqual()
			w.remove("api")
			w.push(w.server(), "api")
		}
	})
}

// An edit alone never restarts state, and neither does a restart of the admin server.
func TestNoLossIsFoundWhereNoneWas(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.repair(r)
		before := w.read("api").Generation
		for range 3 {
			w.repair(r)
		}
		again := w.server()
		w.repair(again)
		if after := w.read("api").Generation; after != before {
			t.Error("the state was restarted")
		}
		if !r.Status().LastLoss.IsZero() || !again.Status().LastLoss.IsZero() {
			t.Error("a loss was found")
		}
	})
}

// A Redis that comes back from an old snapshot has forgotten what was granted since: every bucket's state restarts as
// after_loss says.
func TestRedisFromAnOldSnapshotIsRestarted(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		r := w.server()
		w.create("api")
		w.create("deleted")
		w.repair(r)
		must(t, w.rdb.Save(t.Context()).Err())

		// The snapshot is made old by moving the marks on, not by waiting.
		mark := w.mark()
		if !mark.Stands {
			t.Fatal("no mark in Redis")
		}
		w.remember(mark.At.Add(time.Minute))
		w.setMark(mark.At.Add(time.Minute))
		if got := w.granted("api", 10); got != 10 {
			t.Fatalf("granted %d of 10", got)
		}
		w.setMax("api", 12)
		w.remove("deleted")
		w.repair(r)
		if !r.Status().LastLoss.IsZero() {
			t.Fatal("a loss was found before there was one")
		}
		server.Stop()
		server.Start(t)
		if found := w.read("api"); found.Revision != 1 {
			t.Fatalf("the snapshot has %+v", found)
		}

		testenv.Eventually(t, 5*time.Second, "Redis answers", func() bool { return r.Repair(t.Context()) == nil })
		w.requireEqual()
		if got := w.granted("api", 10); got != 0 {
			t.Errorf("granted %d of the 10 that were taken after the snapshot", got)
		}
		if s := r.Status(); s.LastLoss.IsZero() || s.Restarted != 1 {
			t.Errorf("status %+v", s)
		}
	})
}

// A replica that took over a little behind has lost next to nothing.
func TestMarkALittleBehindIsNoLoss(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.repair(r)
		for _, behind := range []time.Duration{4 * time.Second, 6 * time.Second} {
			w.setMark(w.remembered().Add(-behind))
			w.repair(r)
			if lost := !r.Status().LastLoss.IsZero(); lost != (behind > 5*time.Second) {
				t.Errorf("%v behind: loss found %v", behind, lost)
			}
		}
		if got := w.granted("api", 1); got != 0 {
			t.Error("the state was not restarted")
		}
	})
}

// A server that dies while it restarts buckets leaves the loss to be found by the next.
func TestInterruptedRestartIsFoundAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("a")
		w.create("b")
		w.repair(w.server())
		w.repair(w.server()) // a mark that is younger than the buckets
		w.granted("a", 10)
		w.granted("b", 10)
		w.setMark(w.remembered().Add(-time.Minute))
		dying := w.server(func(c *reconcile.Config) {
			c.Engine = &tampered{Engine: w.engine, restart: func(string) error { return errDied }}
		})
		if err := dying.Repair(t.Context()); err == nil {
			t.Fatal("the restart went through")
		}
		next := w.server()
		w.repair(next)
		if s := next.Status(); s.Restarted != 2 {
			t.Errorf("the next server restarted %d of 2 buckets", s.Restarted)
		}
	})
}

// Redis that loses its state between the comparison of the marks and the writing of the next one is not taken for
// whole.
func TestLossDuringARoundIsFoundByTheNext(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("api")
		w.repair(w.server())
		lose := true
		r := w.server(func(c *reconcile.Config) {
			c.Engine = &tampered{Engine: w.engine, moving: func() {
				if lose {
					lose = false
					w.flush()
				}
			}}
		})
		w.repair(r)
		w.repair(r)
		if r.Status().LastLoss.IsZero() {
			t.Error("the loss was hidden by a new mark")
		}
		w.requireEqual()
	})
}

// Two servers that start together after a long pause: one stands between noting its mark in the database and writing it
// to Redis while the other compares. That is no loss.
func TestMarkInFlightIsNoLoss(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("api")
		w.repair(w.server())
		mark := w.mark().At
		w.remember(mark.Add(time.Minute))
		var first sync.Once
		second := w.server(func(c *reconcile.Config) {
			c.Engine = &tampered{Engine: w.engine, marked: func() { // the first server's write comes after a look at the mark
				first.Do(func() { w.setMark(mark.Add(time.Minute)) })
			}}
		})
		w.repair(second)
		if !second.Status().LastLoss.IsZero() {
			t.Error("a loss was found")
		}
	})
}

// Redis dies and comes back from an old snapshot exactly between the reading of its mark and the writing of the next: what
// shows the loss is not written over.
func TestSnapshotBetweenReadingAndWritingTheMarkIsFound(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("api")
		w.repair(w.server())
		w.repair(w.server())
		var once sync.Once
		r := w.server(func(c *reconcile.Config) {
			c.Engine = &tampered{Engine: w.engine, moving: func() {
				once.Do(func() { w.setMark(w.remembered().Add(-time.Minute)) })
			}}
		})
		w.repair(r)
		if !r.Status().LastLoss.IsZero() {
			t.Fatal("a loss was found before there was one")
		}
		w.repair(r)
		if s := r.Status(); s.LastLoss.IsZero() || s.Restarted != 1 {
			t.Errorf("the loss was hidden by a new mark: %+v", s)
		}
	})
}

// Redis goes back to the same snapshot a second time, while the buckets are being restarted: the restart was in vain, and
// the mark that would end it is not written.
func TestSecondLossDuringARestartIsFoundAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("api")
		w.repair(w.server())
		w.repair(w.server())
		old := w.remembered().Add(-time.Minute)
		w.setMark(old)
		var once sync.Once
		r := w.server(func(c *reconcile.Config) {
			c.Engine = &tampered{Engine: w.engine, restart: func(string) error {
				once.Do(func() { w.setMark(old) })
				return nil
			}}
		})
		w.repair(r)
		if got := w.mark().At; !got.Equal(old) {
			t.Fatalf("the mark is %v, and the loss hidden", got)
		}
		next := w.server()
		w.repair(next)
		if next.Status().LastLoss.IsZero() {
			t.Error("the second loss was not found")
		}
		w.repair(next)
		if got := w.mark().At; !got.After(old.Add(time.Minute)) {
			t.Errorf("the mark is %v after the restart", got)
		}
	})
}

// Between two rounds the marks are watched: a flush is noticed within a second, however seldom rounds are.
func TestFlushIsNoticedWithinASecond(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("api")
		r := w.server(func(c *reconcile.Config) { c.Tick, c.RepairEvery = time.Hour, time.Hour })
		w.run(r)
		w.eventuallyEqual(5 * time.Second)
		w.granted("api", 10)
		testenv.Eventually(t, 5*time.Second, "the first round ends", func() bool { return r.Status().State == reconcile.StateOK })
		w.flush()
		testenv.Eventually(t, time.Second, "the loss is found", func() bool { return !r.Status().LastLoss.IsZero() })
		w.eventuallyEqual(2 * time.Second)
		if got := w.granted("api", 10); got != 0 {
			t.Errorf("granted %d after the flush", got)
		}
	})
}
