package client_test

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

var manyKeys = flag.Int("coalesce.keys", 200_000, "how many distinct keys the test of many keys uses; 1000000 takes half a minute")

// spread runs calls 0..n-1 by as many callers at the same time.
func spread(callers, n int, call func(i int)) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				call(i)
			}
		})
	}
	running.Wait()
}

// scriptCalls is how many scripts a server has run.
func scriptCalls(t *testing.T, rdb *redis.Client) int64 {
	t.Helper()
	info, err := rdb.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, name := range []string{"evalsha", "eval"} {
		calls := int64(0)
		_, _ = fmt.Sscanf(info["Commandstats"]["cmdstat_"+name], "calls=%d,", &calls)
		n += calls
	}
	return n
}

// Distinct keys of one bucket, each asked for by a caller of its own, travel many to a script call and several of those to
// a round trip. Every key has its own permit.
func TestManyDistinctKeysTravelInFewCommands(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newWorld(t, server.Addr, client.DefaultPrefix)
	d := definition("b", 1, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	w.install(d)
	if err := w.c.Preload(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	n, before := *manyKeys, scriptCalls(t, w.rdb)
	trips := w.c.Stats().RoundTrips
	var wrong atomic.Int64
	spread(2000, n, func(i int) {
		if d, err := w.c.Acquire(t.Context(), "b", client.Key(strconv.Itoa(i))); err != nil || d.Outcome != client.Granted || d.Remaining != 0 {
			if wrong.Add(1) == 1 {
				t.Errorf("key %d: %+v, %v", i, d, err)
			}
		}
	})
	if wrong.Load() > 0 {
		t.Fatalf("%d keys were refused", wrong.Load())
	}
	commands, trips := scriptCalls(t, w.rdb)-before, w.c.Stats().RoundTrips-trips
	t.Logf("%d keys: %d script calls, %d round trips", n, commands, trips)
	if most := int64(n / 50); commands > most || trips > most {
		t.Fatalf("%d keys took %d script calls and %d round trips", n, commands, trips)
	}
	spread(100, 1000, func(i int) {
		if d, err := w.c.Acquire(t.Context(), "b", client.Key(strconv.Itoa(i))); err != nil || d.Outcome != client.Limited {
			t.Errorf("key %d once more: %+v, %v", i, d, err)
		}
	})
}

func TestThousandsOfBucketsTravelTogether(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newWorld(t, server.Addr, client.DefaultPrefix)
	const buckets, each = 2000, 10
	name := func(i int) string { return fmt.Sprint("b", i%buckets) }
	spread(16, buckets, func(i int) { w.install(definition(name(i), each-1, 1, time.Hour)) })
	for i := range buckets {
		if err := w.c.Preload(t.Context(), name(i)); err != nil {
			t.Fatal(err)
		}
	}
	trips := w.c.Stats().RoundTrips
	granted := make([]atomic.Int64, buckets)
	spread(500, buckets*each, func(i int) {
		d, err := w.c.Acquire(t.Context(), name(i))
		if err != nil || d.Bucket != name(i) || d.Limit != each-1 {
			t.Errorf("%+v, %v", d, err)
		}
		if d.Allowed {
			granted[i%buckets].Add(1)
		}
	})
	for i := range granted {
		if n := granted[i].Load(); n != each-1 {
			t.Fatalf("%s granted %d of %d", name(i), n, each-1)
		}
	}
	if trips := w.c.Stats().RoundTrips - trips; trips > buckets*each/20 {
		t.Fatalf("%d calls on %d buckets took %d round trips", buckets*each, buckets, trips)
	}
}

// Equal calls made at the same time are one entry of a script call, however many they are.
func TestEqualCallsTravelAsOneRow(t *testing.T) {
	g := newGated(t)
	flying := g.busy()
	const callers = 1000
	var rows []*started
	for range callers {
		rows = append(rows, g.acquires())
	}
	g.queued(callers)
	sent := g.gate.calls()
	g.gate.open()
	g.lands(flying, client.Granted)
	granted := 0
	for _, s := range rows {
		<-s.done
		if s.err != nil {
			t.Fatal(s.err)
		}
		if s.d.Allowed {
			granted++
		}
	}
	if want := 10 - len(flying); granted != want || g.gate.calls() != sent+1 {
		t.Fatalf("%d granted, want %d, in %d script calls", granted, want, g.gate.calls()-sent)
	}
}

// Past the bound of the queue callers are answered at once by the policy of the bucket, whichever call they make, and
// those who queue are served.
func TestPastTheBoundOfTheQueueCallersGetThePolicyAtOnce(t *testing.T) {
	for policy, allowed := range map[string]bool{bucket.FailOpen: true, bucket.FailClosed: false} {
		t.Run(policy, func(t *testing.T) {
			g := newGated(t, client.WithQueue(3))
			d := definition("b", 10, 1, time.Hour)
			d.Revision, d.OnFailure = 2, policy
			g.install(d)
			if err := g.c.Preload(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			flying := g.busy()
			var row []*started
			for n := range 3 {
				row = append(row, g.acquires())
				g.queued(int64(n + 1))
			}
			check := func(call string, d client.Decision, err error) {
				t.Helper()
				if err != nil || d.Outcome != client.Unavailable || d.Allowed != allowed || !errors.Is(d.Err, client.ErrBusy) || d.Source != client.SourcePolicy {
					t.Errorf("%s: %+v, %v", call, d, err)
				}
			}
			for range 100 {
				d, err := g.c.Acquire(t.Context(), "b")
				check("Acquire", d, err)
				d, err = g.c.Acquire(t.Context(), "b", client.Permits(2))
				check("Acquire 2", d, err)
			}
			d1, err := g.c.Wait(t.Context(), "b")
			check("Wait", d1, err)
			d1, err = g.c.Peek(t.Context(), "b")
			check("Peek", d1, err)
			ds, err := g.c.AcquireAll(t.Context(), client.Request{Bucket: "b"})
			if len(ds) == 1 {
				d1 = ds[0]
			}
			check("AcquireAll", d1, err)
			g.gate.open()
			g.lands(flying, client.Granted)
			for _, s := range row {
				s.comes(t, client.Granted)
			}
			g.becomes(int64(10 - len(flying) - 3))
		})
	}
}
