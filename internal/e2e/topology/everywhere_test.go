package topology_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
)

// Definitions of many names, which a cluster spreads over its masters, are installed, listed, read in order, edited and
// removed, and each holds its limit.
func TestEveryTopologyHoldsItsBuckets(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		const buckets = 20
		names := make([]string, buckets)
		for i := range names {
			names[i] = fmt.Sprintf("bucket-%02d", i)
			w.install(shared(names[i], int64(i%3+1), 1, time.Hour))
		}
		indexed, err := w.engine.IndexedNames(t.Context())
		slices.Sort(indexed)
		if err != nil || !slices.Equal(indexed, names) {
			t.Fatalf("indexed: %v, %v", indexed, err)
		}
		found, err := w.engine.Read(t.Context(), names...)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			if in := found[i]; !in.Present || in.Name != name || in.MaxPermits != int64(i%3+1) || in.Deployment != deployment {
				t.Errorf("read %s: %+v", name, in)
			}
			for range i%3 + 1 {
				wants(t, w.acquire(name), client.Granted, true)
			}
			wants(t, w.acquire(name), client.Limited, false)
		}
		w.editAndRemove(names[0])
	})
}

// editAndRemove raises the limit of a bucket of one permit that is used up, and removes it.
func (w *world) editAndRemove(name string) {
	w.t.Helper()
	d := shared(name, 5, 1000, time.Second)
	d.Revision = 2
	if r, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: deployment}); err != nil || r.Status != bucket.StatusInstalled {
		w.t.Fatalf("edit: %+v, %v", r, err)
	}
	for deadline := time.Now().Add(patient); ; {
		got := w.acquire(name, client.Permits(5))
		if got.Outcome == client.Granted && got.Revision == 2 {
			break
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("five permits under a limit of five came to %+v", got)
		}
	}
	if r, err := w.engine.Remove(w.t.Context(), name, 3, deployment); err != nil || r.Status != bucket.StatusInstalled {
		w.t.Fatalf("remove: %+v, %v", r, err)
	}
	for deadline := time.Now().Add(patient); ; {
		got := w.acquire(name)
		if got.Outcome == client.NotConfigured {
			break
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("a removed bucket answers %+v", got)
		}
	}
	if r, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: deployment}); err != nil || r.Status != bucket.StatusUnchanged {
		w.t.Fatalf("a late install of an older revision: %+v, %v", r, err)
	}
}

// However many callers ask at once, exactly the permits of each bucket and key are granted.
func TestConcurrentCallersShareEachLimitExactlyEverywhere(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		const callers, keys, maxPermits = 20, 25, 7
		w.install(shared("all", 40, 1, time.Hour), keyed("each", maxPermits, 1, time.Hour))
		granted := make([]atomic.Int64, keys+1)
		var work sync.WaitGroup
		count := func(n int, call func() client.Decision) {
			if d := call(); d.Outcome == client.Granted {
				granted[n].Add(1)
			} else if d.Outcome != client.Limited {
				t.Errorf("%+v", d)
			}
		}
		for range callers {
			for key := range keys {
				work.Go(func() {
					count(keys, func() client.Decision { return w.tryAcquire("all") })
					count(key, func() client.Decision { return w.tryAcquire("each", client.Key(fmt.Sprint("user:", key))) })
				})
			}
		}
		work.Wait()
		for key := range keys {
			if n := granted[key].Load(); n != maxPermits {
				t.Errorf("key %d: %d granted of %d", key, n, maxPermits)
			}
		}
		if n := granted[keys].Load(); n != 40 {
			t.Errorf("shared: %d granted of 40", n)
		}
	})
}

// tryAcquire is acquire for goroutines other than the test's.
func (w *world) tryAcquire(name string, opts ...client.CallOption) client.Decision {
	d, err := w.c.Acquire(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Errorf("Acquire %s: %v", name, err)
	}
	return d
}

// What was granted and limited is reported under each bucket, wherever its keys live.
func TestUsageIsReportedEverywhere(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		const buckets = 9
		for i := range buckets {
			name := fmt.Sprintf("bucket-%d", i)
			w.install(shared(name, 2, 1, time.Hour))
			for range 3 {
				w.acquire(name)
			}
		}
		now, err := w.engine.Time(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.c.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range buckets {
			used, err := w.engine.ReadUsage(context.Background(), fmt.Sprintf("bucket-%d", i), now.Unix()/60-2, now.Unix()/60+2)
			if err != nil {
				t.Fatal(err)
			}
			var sum bucket.Usage
			for _, u := range used {
				sum.Granted += u.Granted
				sum.Limited += u.Limited
			}
			if sum.Granted != 2 || sum.Limited != 1 {
				t.Errorf("bucket %d: %+v", i, used)
			}
		}
	})
}
