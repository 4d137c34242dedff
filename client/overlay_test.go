package client_test

import (
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func (w *world) overlay(o bucket.Overlay) {
	w.t.Helper()
	if err := w.engine.WriteOverlay(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

const overlaySoon = 3 * time.Second

// covered waits until the client lets pass what is refused, or no more.
func (w *world) covered(name string, want bool) {
	w.t.Helper()
	testenv.Eventually(w.t, overlaySoon, "break-glass reaches the client", func() bool { return w.acquire(name).Allowed == want })
}

// An empty bucket, whose refusals the client repeats by itself, lets everything pass within seconds, counted as in
// shadow, and refuses again within seconds of the end. The definition is not touched.
func TestBreakGlassLetsPassAndItsEndRefusesAgain(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := connect(t, addr, prefix, nil)
		w.install(definition("b", 1, 1, time.Hour))
		wants(t, w.acquire("b"), client.Granted, true)
		wants(t, w.acquire("b"), client.Limited, false)
		w.overlay(bucket.Overlay{All: true})
		w.covered("b", true)
		if d := w.acquire("b"); d.Outcome != client.Limited || !d.Shadow || d.Revision != 1 {
			t.Errorf("got %+v, want what the bucket decided, in shadow", d)
		}
		w.overlay(bucket.Overlay{})
		w.covered("b", false)
		if d := w.acquire("b"); d.Shadow {
			t.Errorf("got %+v after the end", d)
		}
	})
}

// Only the app that is covered passes.
func TestBreakGlassOfAnAppConcernsNoOther(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := connect(t, addr, prefix, nil)
		d := definition("b", 1, 1, time.Hour)
		d.Apps = []string{bucket.AllApps}
		w.install(d)
		other := w.client("other")
		wants(t, w.acquire("b"), client.Granted, true)
		w.overlay(bucket.Overlay{Apps: []string{"checkout"}})
		w.covered("b", true)
		if d, err := other.Acquire(t.Context(), "b"); err != nil || d.Allowed || d.Shadow {
			t.Errorf("another app got %+v, %v", d, err)
		}
	})
}

// A Redis that lost the text ends nothing, and one that is away neither: only an end that was written does.
func TestBreakGlassOutlivesALossAndAnOutageOfRedis(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	d := definition("b", 1, 1, time.Hour)
	d.OnFailure = bucket.FailClosed
	w.install(d)
	wants(t, w.acquire("b"), client.Granted, true)
	w.overlay(bucket.Overlay{All: true})
	w.covered("b", true)
	if err := w.rdb.Del(t.Context(), "headgate:overlay").Err(); err != nil {
		t.Fatal(err)
	}
	second := w.client("checkout")
	testenv.Eventually(t, overlaySoon, "a new client, that knows of nothing, is refused", func() bool {
		d, err := second.Acquire(t.Context(), "b")
		return err == nil && !d.Allowed
	})
	stays := time.Now().Add(2500 * time.Millisecond) // two more looks
	testenv.Eventually(t, 5*time.Second, "time passes", func() bool {
		if !w.acquire("b").Allowed {
			t.Fatal("the loss of the text ended break-glass")
		}
		return time.Now().After(stays)
	})
	server.Stop()
	if d := w.acquire("b"); !d.Allowed || !d.Shadow {
		t.Errorf("while Redis is away: %+v", d)
	}
}

// AcquireAll takes from every bucket that has enough, whatever another refuses, as in mode shadow.
func TestUnderBreakGlassAcquireAllTakesWhereThereIsEnough(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := connect(t, addr, prefix, nil)
		w.install(definition("empty", 1, 1, time.Hour))
		w.install(definition("ample", 5, 1, time.Hour))
		wants(t, w.acquire("empty"), client.Granted, true)
		w.overlay(bucket.Overlay{All: true})
		w.covered("empty", true)
		ds, err := w.c.AcquireAll(t.Context(), of("empty", "ample")...)
		if err != nil || !client.AllAllowed(ds) || ds[0].Outcome != client.Limited || ds[1].Outcome != client.Granted {
			t.Errorf("got %+v, %v", ds, err)
		}
		w.hasLeft([]int64{0, 4}, "empty", "ample")
	})
}

// A lease is entered though no slot is free, and none is awaited.
func TestUnderBreakGlassLeasesAreEnteredWithoutASlot(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := connect(t, addr, prefix, nil)
		d := definition("slots", 1, 1, time.Hour)
		d.Algorithm = bucket.Concurrency
		w.install(d)
		first, _, err := w.c.Enter(t.Context(), "slots")
		if err != nil || first == nil {
			t.Fatal(first, err)
		}
		w.overlay(bucket.Overlay{All: true})
		testenv.Eventually(t, overlaySoon, "break-glass reaches the client", func() bool {
			lease, d, err := w.c.Enter(t.Context(), "slots")
			if lease != nil {
				lease.Release()
			}
			return err == nil && lease != nil && d.Shadow && d.Outcome == client.Limited
		})
	})
}
