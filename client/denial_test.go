package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

const longestDenialTime = longestDenial * time.Microsecond

// newDenied is a world on a real Redis with a bucket b of 10 permits that hardly gets any.
func newDenied(t *testing.T, opts ...client.Option) *world {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix, opts...)
	w.install(definition("b", 10, 1, time.Hour))
	return w
}

// from checks what came of a call, and who said it.
func from(t *testing.T, d client.Decision, outcome client.Outcome, source client.Source) {
	t.Helper()
	if d.Outcome != outcome || d.Source != source {
		t.Fatalf("%+v, want %s by %s", d, outcome, source)
	}
}

func TestWhatRedisJustRefusedIsRefusedInTheProcess(t *testing.T) {
	w := newDenied(t)
	w.acquire("b", client.Permits(10))
	began := time.Now()
	refused := w.acquire("b")
	from(t, refused, client.Limited, client.SourceRedis)
	d := w.acquire("b")
	if time.Since(began) > longestDenialTime {
		return // too slow a machine: the denial may be over
	}
	from(t, d, client.Limited, client.SourceDenial)
	if d.Allowed || d.Limit != 10 || d.Remaining != 0 || d.Revision != 1 || !d.At.IsZero() || d.Err != nil ||
		d.RetryAfter <= 0 || d.RetryAfter > refused.RetryAfter || d.ResetAfter <= 0 || d.ResetAfter > refused.ResetAfter {
		t.Fatalf("after %+v: %+v", refused, d)
	}
}

// Each refusal of Redis covers the next 250 ms at most: then Redis is asked again.
func TestLocalDenialEndsAfter250Milliseconds(t *testing.T) {
	w := newDenied(t)
	w.acquire("b", client.Permits(10))
	var answered time.Time // when Redis last refused
	asked := 0
	testenv.Eventually(t, 30*time.Second, "Redis is asked again three times", func() bool {
		called := time.Now()
		switch d := w.acquire("b"); {
		case d.Outcome != client.Limited:
			t.Fatalf("%+v", d)
		case d.Source == client.SourceRedis:
			answered = time.Now()
			asked++
		case called.Sub(answered) > longestDenialTime:
			t.Fatalf("refused in the process %v after Redis did: %+v", called.Sub(answered), d)
		}
		return asked == 4
	})
	if denied := w.c.Stats().Buckets["b"].Denied; denied == 0 {
		t.Fatal("Redis was asked each time")
	}
}

// The denial is over as soon as the permits have come, so nothing is lost by it: whoever asks without a pause gets exactly
// what the bucket gives.
func TestLocalDenialEndsWhenPermitsCome(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(definition("b", 1, 1, 20*time.Millisecond))
	var first, last time.Time
	granted := int64(0)
	for granted < 20 {
		switch d := w.acquire("b"); {
		case d.Allowed && granted == 0:
			first = d.At
			granted++
		case d.Allowed:
			last = d.At
			granted++
		case d.RetryAfter > 20*time.Millisecond:
			t.Fatalf("%+v", d)
		}
	}
	if most := int64(last.Sub(first)/(20*time.Millisecond)) + 1; granted > most {
		t.Fatalf("%d granted in %v", granted, last.Sub(first))
	}
	if denied := w.c.Stats().Buckets["b"].Denied; denied == 0 {
		t.Fatal("Redis was asked each time")
	}
}

func TestLocalDenialIsNeverForFewerPermits(t *testing.T) {
	w := newDenied(t)
	w.acquire("b", client.Permits(7))
	from(t, w.acquire("b", client.Permits(5)), client.Limited, client.SourceRedis)
	for _, n := range []int64{5, 6, 10} {
		if d := w.acquire("b", client.Permits(n)); d.Outcome != client.Limited {
			t.Fatalf("%d permits: %+v", n, d)
		}
	}
	from(t, w.acquire("b", client.Permits(4)), client.Limited, client.SourceRedis)
	for range 3 {
		from(t, w.acquire("b"), client.Granted, client.SourceRedis)
	}
	from(t, w.acquire("b", client.Permits(11)), client.TooMany, client.SourceRedis)
}

func TestLocalDenialIsPerKeyAndPerBucket(t *testing.T) {
	w := newDenied(t)
	d := definition("keyed", 1, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	w.install(d)
	w.install(definition("c", 1, 1, time.Hour))
	w.acquire("b", client.Permits(10))
	w.acquire("keyed", client.Key("k1"))
	from(t, w.acquire("b"), client.Limited, client.SourceRedis)
	from(t, w.acquire("keyed", client.Key("k1")), client.Limited, client.SourceRedis)
	from(t, w.acquire("keyed", client.Key("k2")), client.Granted, client.SourceRedis)
	from(t, w.acquire("c"), client.Granted, client.SourceRedis)
	from(t, w.acquire("keyed", client.Key("k2")), client.Limited, client.SourceRedis)
}

func TestLocalDenialCanBeSwitchedOff(t *testing.T) {
	w := newDenied(t, client.WithLocalDenial(false))
	w.acquire("b", client.Permits(10))
	for range 20 {
		from(t, w.acquire("b"), client.Limited, client.SourceRedis)
	}
}

// Peek, AcquireAll, Wait and leases always ask Redis.
func TestOnlyAcquireIsRefusedInTheProcess(t *testing.T) {
	w := newDenied(t)
	slots := definition("slots", 1, 1, time.Hour)
	slots.Algorithm = bucket.Concurrency
	w.install(slots)
	w.acquire("b", client.Permits(10))
	lease, _, err := w.c.Enter(t.Context(), "slots")
	if err != nil || lease == nil {
		t.Fatal(err)
	}
	for range 5 {
		w.acquire("b")
		d, err := w.c.Peek(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		from(t, d, client.Limited, client.SourceRedis)
		ds, err := w.c.AcquireAll(t.Context(), client.Request{Bucket: "b"})
		if err != nil {
			t.Fatal(err)
		}
		from(t, ds[0], client.Limited, client.SourceRedis)
		d, err = w.c.Wait(t.Context(), "b", client.MaxWait(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		from(t, d, client.Limited, client.SourceRedis)
		if _, d, err = w.c.Enter(t.Context(), "slots"); err != nil {
			t.Fatal(err)
		}
		from(t, d, client.Limited, client.SourceRedis)
	}
	lease.Release()
	testenv.Eventually(t, 10*time.Second, "the slot is free", func() bool {
		_, d, err := w.c.Enter(t.Context(), "slots")
		return err == nil && d.Allowed
	})
}

// newGatedBy is a gated world whose bucket counts by key, if there is one.
func newGatedBy(t *testing.T, key string) *gated {
	t.Helper()
	g := newGated(t)
	if key != "" {
		d := definition("b", 10, 1, time.Hour)
		d.Partition, d.Revision = bucket.PartitionKey, 2
		g.install(d)
		if err := g.c.Preload(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// landed lets the flight go that was held first, and waits until its answer has been handed out.
func (g *gated) landed() {
	g.t.Helper()
	trips := g.c.Stats().RoundTrips
	g.gate.release()
	testenv.Eventually(g.t, 10*time.Second, "the flight lands", func() bool { return g.c.Stats().RoundTrips > trips })
}

// Two calls are in flight, one has all permits and the other is refused; the caller of the first has left, and its answer
// comes first. Once the permits are back, this client asks for them again.
func TestAGiveBackEndsLocalDenialAlsoOfARefusalThatArrivesLater(t *testing.T) {
	for _, key := range []string{"", "k"} {
		t.Run("key "+key, func(t *testing.T) {
			g := newGatedBy(t, key)
			g.gate.close()
			first := g.acquires(client.Permits(10), client.Key(key))
			g.gate.waits(t, 1)
			second := g.acquires(client.Permits(1), client.Key(key))
			g.gate.waits(t, 2)
			first.leaves(t)
			g.gate.open()
			g.landed()
			g.gate.release()
			second.comes(t, client.Limited)
			testenv.Eventually(t, 10*time.Second, "the client finds its permits given back", func() bool {
				d, err := g.c.Peek(context.WithoutCancel(t.Context()), "b", client.Key(key))
				return err == nil && d.Remaining == 10
			})
			from(t, g.acquire("b", client.Key(key)), client.Granted, client.SourceRedis)
		})
	}
}

// The refusal comes first and is remembered. As soon as the other call is to give its permits back, this client asks again,
// though the give-back is still under way.
func TestAGiveBackEndsLocalDenialAtOnce(t *testing.T) {
	for _, key := range []string{"", "k"} {
		t.Run("key "+key, func(t *testing.T) {
			g := newGatedBy(t, key)
			g.gate.close()
			first := g.acquires(client.Permits(10), client.Key(key))
			g.gate.waits(t, 1)
			g.gate.open()
			from(t, g.acquire("b", client.Key(key)), client.Limited, client.SourceRedis)
			g.gate.close()
			first.leaves(t)
			g.landed()
			g.gate.waits(t, 1) // the give-back has run, and the client does not know it yet
			next := g.acquires(client.Permits(10), client.Key(key))
			g.queued(1)
			g.gate.open()
			g.gate.release()
			next.comes(t, client.Granted)
		})
	}
}

// Clients that were just refused find out within a second that the limit or the mode is another one.
func TestAChangedLimitIsInForceEverywhereWithinASecond(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	d := definition("b", 10, 1, time.Hour)
	w.install(d)
	clients := []*client.Client{w.c}
	for range 4 {
		rdb := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { _ = rdb.Close() })
		other := &world{t: t, rdb: rdb}
		clients = append(clients, other.client("billing", client.Prefix(prefix), client.WithDeadline(20*time.Second)))
	}
	w.acquire("b", client.Permits(10))
	ends := func(outcome client.Outcome, allowed bool) {
		t.Helper()
		changed := time.Now()
		for n, c := range clients {
			testenv.Eventually(t, 30*time.Second, "the change is in force", func() bool {
				called := time.Now()
				d, err := c.Acquire(t.Context(), "b")
				if err != nil {
					t.Fatal(err)
				}
				holds := d.Outcome == outcome && d.Allowed == allowed
				if !holds && called.Sub(changed) > time.Second {
					t.Fatalf("client %d, %v after the change: %+v", n, called.Sub(changed), d)
				}
				return holds
			})
		}
	}
	ends(client.Limited, false)
	d.Revision, d.Mode = 2, bucket.ModeShadow
	w.install(d)
	ends(client.Limited, true)
	d.Revision, d.Mode, d.Rate, d.Period = 3, bucket.ModeEnforce, 10_000, time.Second
	w.install(d)
	ends(client.Granted, true)
	d.Revision, d.Rate, d.Period = 4, 1, time.Hour
	w.install(d)
	ends(client.Limited, false)
}

func TestDeniedCallsAreLimitedUsage(t *testing.T) {
	w := newDenied(t)
	w.acquire("b", client.Permits(10))
	for range 50 {
		wants(t, w.acquire("b", client.Permits(3)), client.Limited, false)
	}
	s := w.c.Stats().Buckets["b"]
	if s.Limited != 150 || s.Denied == 0 || s.Denied >= 50 {
		t.Fatalf("%+v", s)
	}
	w.reported("b", "checkout", bucket.Usage{Granted: 10, Limited: 150})
}

func TestInShadowModeADeniedCallIsAllowedAndCounted(t *testing.T) {
	w := newDenied(t)
	d := definition("b", 10, 1, time.Hour)
	d.Revision, d.Mode = 2, bucket.ModeShadow
	w.install(d)
	w.acquire("b", client.Permits(10))
	for range 20 {
		if d := w.acquire("b"); d.Outcome != client.Limited || !d.Allowed || !d.Shadow {
			t.Fatalf("%+v", d)
		}
	}
	if s := w.c.Stats().Buckets["b"]; s.ShadowLimited != 20 || s.Limited != 0 || s.Denied == 0 {
		t.Fatalf("%+v", s)
	}
}

// A refusal in the process allocates nothing, with options or without.
func TestALocalDenialAllocatesNothing(t *testing.T) {
	w := newDenied(t)
	d := definition("keyed", 1, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	w.install(d)
	ctx := t.Context()
	for name, call := range map[string]func(){
		"shared":       func() { _, _ = w.c.Acquire(ctx, "b") },
		"with permits": func() { _, _ = w.c.Acquire(ctx, "b", client.Permits(2)) },
		"keyed":        func() { _, _ = w.c.Acquire(ctx, "keyed", client.Key("k"), client.Permits(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 12 {
				call()
			}
			const runs = 500
			testenv.Eventually(t, 30*time.Second, "all calls are refused in the process", func() bool {
				before := denied(w.c)
				allocated := testing.AllocsPerRun(runs, call)
				if denied(w.c)-before <= runs {
					return false // the denial ended meanwhile, so some asked Redis
				}
				if allocated != 0 {
					t.Fatalf("%v allocations", allocated)
				}
				return true
			})
		})
	}
}

func denied(c *client.Client) int64 {
	n := int64(0)
	for _, b := range c.Stats().Buckets {
		n += b.Denied
	}
	return n
}
