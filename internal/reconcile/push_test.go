package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// A push after the commit brings the whole definition, and the answer says so.
func TestPushBringsEveryField(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		b := w.create("partner-api")
		if state := w.push(r, b.Name); state.InstalledRevision != b.Revision {
			t.Errorf("installed revision %d, not %d", state.InstalledRevision, b.Revision)
		}
		w.requireEqual()
		w.edit(b.Name, func(d *model.Definition) {
			d.Apps, d.MaxPermits, d.Rate, d.Period = []string{"search", "checkout"}, 77, 240, time.Minute
			d.Partition, d.Mode, d.MaxWait = model.PartitionAppKey, model.ModeShadow, 0
			d.OnRedisFailure, d.AfterLoss = model.FailLocal, model.LossFull
		})
		w.push(r, b.Name)
		w.requireEqual()
		if found := w.read(b.Name); found.MaxPermits != 77 || found.Period != time.Minute || found.Mode != bucket.ModeShadow {
			t.Errorf("Redis has %+v", found)
		}
		w.edit(b.Name, func(d *model.Definition) { d.Apps = nil })
		w.push(r, b.Name)
		w.requireEqual()
	})
}

// Pushing what is there already changes nothing, byte for byte, and takes no permit back.
func TestPushAgainChangesNothing(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.push(r, "api")
		if got := w.granted("api", 10); got != 10 {
			t.Fatalf("a brand-new bucket granted %d of 10", got)
		}
		before := w.read("api")
		must(t, w.store.MarkDirty(t.Context(), "api"))
		w.push(r, "api")
		w.repair(r)
		w.requireEqual()
		if after := w.read("api"); after.Generation != before.Generation || after.Revision != before.Revision {
			t.Errorf("before %+v, after %+v", before, after)
		}
		if got := w.granted("api", 10); got != 0 {
			t.Errorf("pushing again gave %d permits back", got)
		}
		if raised := w.raises("api"); len(raised) > 0 {
			t.Errorf("the system changed an unchanged bucket: %+v", raised)
		}
	})
}

// A deleted bucket is gone from Redis; made again under the same name it goes on counting revisions.
func TestNameDeletedAndMadeAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.push(r, "api")
		gone := w.remove("api")
		w.push(r, "api")
		w.requireEqual()
		if found := w.read("api"); !found.Tombstone || found.Revision != gone {
			t.Fatalf("after the delete Redis has %+v, want a tombstone of revision %d", found, gone)
		}
		b := w.create("api")
		if b.Revision <= gone {
			t.Fatalf("made again at revision %d, deleted at %d", b.Revision, gone)
		}
		w.push(r, "api")
		w.requireEqual()
		w.remove("api")
		w.create("api")
		w.push(r, "api") // both at once: the pusher reads the present row only
		w.requireEqual()
	})
}

func TestPushOfANameThatNeverWasIsNotFound(t *testing.T) {
	onBoth(t, func(w *world) {
		if _, err := w.server().Push(t.Context(), "nobody"); model.CodeOf(err) != model.CodeNotFound {
			t.Errorf("got %v", err)
		}
	})
}

// What the engine can't enforce, such as a row of a newer server beside this one, stays pending with a reason, and holds
// up nobody else.
func TestUnenforceableBucketStaysPendingAlone(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("newer")
		_, err := w.raw.ExecContext(t.Context(), "UPDATE buckets SET algorithm = 'leaky' WHERE name = 'newer'")
		must(t, err)
		w.create("zebra")
		state, err := r.Push(t.Context(), "newer")
		if err == nil || !state.Pending || state.LastError == "" {
			t.Errorf("state %+v, error %v", state, err)
		}
		w.repair(r)
		if found := w.read("zebra"); !found.Present {
			t.Error("the bucket after it was not installed")
		}
		if s := r.Status(); s.State != reconcile.StateOK || s.Pending != 1 {
			t.Errorf("status %+v", s)
		}
	})
}

// Who asked may go away; the committed save is pushed all the same. A deadline is kept.
func TestPushOutlivesItsCallerButNotItsDeadline(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Push(ctx, "api"); err != nil {
			t.Fatal(err)
		}
		w.requireEqual()

		w.setMax("api", 20)
		ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		if state, err := r.Push(ctx, "api"); err == nil || !state.Pending {
			t.Errorf("state %+v, error %v after the deadline", state, err)
		}
	})
}

// The embedded Redis serves as well as a real one.
func TestWorksOnTheEmbeddedRedis(t *testing.T) {
	mini := testenv.Mini(t)
	w := newWorld(t, "sqlite", mini.Addr(), "")
	r := w.server()
	w.create("api")
	w.create("gone")
	w.push(r, "api")
	w.push(r, "gone")
	w.remove("gone")
	w.setMax("api", 20)
	w.repair(r)
	w.requireEqual()
	mini.FlushAll()
	w.repair(r)
	w.requireEqual()
	if got := w.granted("api", 20); got != 0 {
		t.Errorf("after a flush %d were granted at once", got)
	}
	must(t, w.rdb.HSet(t.Context(), w.hash("api"), "max", "banana").Err())
	w.repair(r)
	w.requireEqual()
}
