package bucket_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// grab takes n permits with one call, in a way that can be given back.
func (e *env) grab(t testing.TB, d bucket.Definition, n int64, wait time.Duration) (bucket.GiveBack, bucket.Result) {
	t.Helper()
	reply := e.acquire(t, d, bucket.Entry{Permits: n, Count: 1, Key: "k", Wait: wait})
	result := reply.Results[0]
	if result.Granted != 1 {
		t.Fatalf("not granted %d: %+v", n, result)
	}
	return bucket.GiveBack{
		Target: e.target(t, d, "checkout"), Key: "k", Permits: n, At: reply.Now, RuleID: reply.RuleID,
		ResetAfter: result.ResetAfter, Mark: result.Mark,
	}, result
}

func (e *env) give(t testing.TB, g bucket.GiveBack) bool {
	t.Helper()
	check(t, e.Ask(t.Context(), &g))
	check(t, g.Err)
	return g.Given
}

// TestWhatNobodyUsedIsGivenBack: by every algorithm and in every partition, once.
func TestWhatNobodyUsedIsGivenBack(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
			for _, partition := range partitions {
				d := definition(10, 1, 24*time.Hour)
				d.Name, d.Algorithm, d.Partition = "b-"+algorithm+"-"+partition, algorithm, partition
				e.install(t, d)
				e.one(t, d, 4)
				g, result := e.grab(t, d, 3, 0)
				expect(t, "left", result.Remaining, 3)
				expect(t, d.Name+" given", e.give(t, g), true)
				expect(t, d.Name+" left after", e.peek(t, d, 1).Remaining, 6)
			}
		}
	})
}

// TestAStaleGiveBackChangesNothing: not a byte, whatever made it stale.
func TestAStaleGiveBackChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for what, age := range map[string]func(d *bucket.Definition, g *bucket.GiveBack){
			"another limit":      func(d *bucket.Definition, _ *bucket.GiveBack) { d.Rate, d.Revision = 2, 2; e.install(t, *d) },
			"another generation": func(d *bucket.Definition, _ *bucket.GiveBack) { e.restart(t, d.Name) },
			"another partition": func(d *bucket.Definition, _ *bucket.GiveBack) {
				d.Partition, d.Revision = bucket.PartitionKey, 2
				e.install(t, *d)
			},
			"removed": func(d *bucket.Definition, _ *bucket.GiveBack) {
				_, err := e.Remove(t.Context(), d.Name, 2, deployment)
				check(t, err)
			},
			"more than there ever are":  func(_ *bucket.Definition, g *bucket.GiveBack) { g.Permits = 11 },
			"a decision that took none": func(_ *bucket.Definition, g *bucket.GiveBack) { g.RuleID = 0 },
			"from the future":           func(_ *bucket.Definition, g *bucket.GiveBack) { g.At = g.At.Add(time.Hour) },
			"too old":                   func(d *bucket.Definition, _ *bucket.GiveBack) { e.pass(t, 61*time.Minute, d.Name) },
			"a bucket that would be full": func(_ *bucket.Definition, g *bucket.GiveBack) {
				g.ResetAfter, g.Mark = 0, 0
			},
		} {
			d := definition(10, 1, time.Hour)
			d.Name = "b-" + strings.ReplaceAll(what, " ", "-")
			e.install(t, d)
			g, _ := e.grab(t, d, 5, 0)
			before := g.At
			age(&d, &g)
			snapshot := e.snapshot(t, d.Name)
			if what == "too old" && e.mini == nil {
				g.At = before.Add(-61 * time.Minute) // as the state's instants were moved
			}
			expect(t, what, e.give(t, g), false)
			expectSame(t, snapshot, e.snapshot(t, d.Name))
		}
	})
}

// restart begins a new generation, once the clock has passed the present one's id.
func (e *env) restart(t testing.TB, name string) {
	t.Helper()
	e.pass(t, 2*time.Millisecond, name)
	_, err := e.Reset(t.Context(), name, deployment)
	check(t, err)
}

// TestACancelledReservationGivesBackWhatLaterOnesDoNotRelyOn: the rule of CancelAt in golang.org/x/time/rate, in figures.
func TestACancelledReservationGivesBackWhatLaterOnesDoNotRelyOn(t *testing.T) {
	e := miniEnv(t)
	d := definition(10, 1, time.Second)
	e.install(t, d)
	e.one(t, d, 10)
	first, r := e.grab(t, d, 7, 10*time.Second)
	expect(t, "turn of the first", r.RetryAfter, 7*time.Second)
	second, r := e.grab(t, d, 2, 10*time.Second)
	expect(t, "turn of the second", r.RetryAfter, 9*time.Second)
	expect(t, "given back by the first", e.give(t, first), true)
	// 5 of 7; a µs is lost to rounding.
	_, r = e.grab(t, d, 1, 10*time.Second)
	expect(t, "turn of a third", r.RetryAfter, 5*time.Second+time.Microsecond)
	expect(t, "given back by the second", e.give(t, second), true)
	expect(t, "retry for one more", e.peek(t, d, 1).RetryAfter, 5*time.Second+2*time.Microsecond)
}

// TestALoneReservationGivesBackAll: to the µs, however often one is made and cancelled.
func TestALoneReservationGivesBackAll(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(3, 1, time.Hour)
		d.MaxWait = bucket.MaxWaitBound
		e.install(t, d)
		e.one(t, d, 3)
		for range 20 {
			g, r := e.grab(t, d, 1, bucket.MaxWaitBound)
			if r.RetryAfter < time.Hour-time.Minute {
				t.Fatalf("its turn is in %s", r.RetryAfter)
			}
			expect(t, "given", e.give(t, g), true)
		}
		expect(t, "retry", e.peek(t, d, 1).RetryAfter <= time.Hour, true)
	})
}

// TestReservationsComeInOrderAndNoDeeperThanMaxWait: whoever comes later has a later turn, and none waits longer than the
// bucket lets anyone.
func TestReservationsComeInOrderAndNoDeeperThanMaxWait(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(5, 1, time.Second)
		d.MaxWait = 4 * time.Second
		e.install(t, d)
		e.one(t, d, 5)
		turn := int64(0)
		for range 4 {
			reply := e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1, Wait: time.Hour})
			expect(t, "granted", reply.Results[0].Granted, 1)
			at := reply.Now.Add(reply.Results[0].RetryAfter).UnixMicro()
			if turn != 0 {
				expect(t, "between two turns", at-turn, 1_000_000)
			}
			turn = at
		}
		denied := e.acquire(t, d, bucket.Entry{Permits: 2, Count: 1, Wait: time.Hour}).Results[0]
		expect(t, "a fifth and sixth", denied.Code, bucket.CodeLimited)
		if denied.RetryAfter <= 4*time.Second || denied.RetryAfter > 6*time.Second {
			t.Fatalf("would wait %s", denied.RetryAfter)
		}
		expect(t, "one who has no time", e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1, Wait: 2 * time.Second}).Results[0].Granted, 0)
		d.Revision, d.MaxWait = 2, 0
		e.install(t, d)
		expect(t, "where none may wait", e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1, Wait: time.Hour}).Results[0].Granted, 0)
	})
}

// TestOnlyTokenBucketsReserve: other algorithms grant a call that would wait only what is there.
func TestOnlyTokenBucketsReserve(t *testing.T) {
	e := miniEnv(t)
	for _, algorithm := range []string{bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
		d := definition(2, 1, time.Second)
		d.Name, d.Algorithm = algorithm, algorithm
		e.install(t, d)
		entry := bucket.Entry{Permits: 2, Count: 1, Wait: 10 * time.Second}
		expect(t, algorithm, e.acquire(t, d, entry).Results[0].Granted, 1)
		result := e.acquire(t, d, entry).Results[0]
		expect(t, algorithm+" with none left", result.Granted, 0)
		if result.RetryAfter <= 0 || result.RetryAfter > 1100*time.Millisecond {
			t.Fatalf("%s: retry after %s", algorithm, result.RetryAfter)
		}
	}
}

// TestTheMarkOutlivesTheLevel: a bucket that gave back remembers so until nothing of before can be given back any more,
// even where it is full again, for what it gives once more would count on permits that are gone.
func TestTheMarkOutlivesTheLevel(t *testing.T) {
	e := miniEnv(t)
	d := definition(10, 1, time.Second)
	e.install(t, d)
	early, _ := e.grab(t, d, 5, 0)
	late, _ := e.grab(t, d, 5, 0)
	expect(t, "given", e.give(t, early), true)
	e.pass(t, 5*time.Second+2*time.Millisecond)
	e.one(t, d, 10) // it is full again
	expect(t, "given 5 s later", e.give(t, late), false)
	expect(t, "left", e.peek(t, d, 1).Remaining, 0)
}

// TestAGiveBackOutlivesAClockSetBack: what was granted before the step can be given back after it, and no more than that.
func TestAGiveBackOutlivesAClockSetBack(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.pass(t, time.Minute, d.Name)
		e.one(t, d, 4)
		g, _ := e.grab(t, d, 3, 0)
		at := g.At
		e.pass(t, -30*time.Second, d.Name)
		if e.mini == nil {
			g.At = at.Add(30 * time.Second) // as the state's instants were moved
		}
		expect(t, "given", e.give(t, g), true)
		expect(t, "left", e.peek(t, d, 1).Remaining, 6)
	})
}

// TestManyGiveBacksStarveNobody: where every second call is given back at once, the others still get the whole rate.
func TestManyGiveBacksStarveNobody(t *testing.T) {
	e := miniEnv(t)
	d := definition(20, 1000, time.Second)
	e.install(t, d)
	granted := int64(0)
	began := e.drain(t, d, &granted)
	granted = 0
	for range 2000 {
		e.pass(t, 1500*time.Microsecond)
		if e.peek(t, d, 1).Code == bucket.CodeGranted {
			g, _ := e.grab(t, d, 1, 0)
			e.pass(t, 300*time.Microsecond)
			e.drain(t, d, &granted)
			e.pass(t, 200*time.Microsecond)
			expect(t, "given", e.give(t, g), true)
		}
		e.drain(t, d, &granted)
	}
	arrived := (e.now.UnixMicro() - began) / 1000
	if granted < arrived-4 || granted > arrived {
		t.Fatalf("granted %d of %d that arrived", granted, arrived)
	}
}

// TestAGiveBackWhoseAnswerWasLostIsNotSentAgain: it would give back twice.
func TestAGiveBackWhoseAnswerWasLostIsNotSentAgain(t *testing.T) {
	e := realEnv(t)
	d := definition(10, 1, time.Hour)
	e.install(t, d)
	e.one(t, d, 4)
	g, _ := e.grab(t, d, 2, 0)
	other, _ := e.grab(t, d, 1, 0)
	expect(t, "given", e.give(t, other), true) // the script is known
	var cut atomic.Bool
	rdb := redis.NewClient(&redis.Options{
		Addr: e.rdb.Options().Addr, MaxRetries: 5, DisableIdentity: true,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return &deafConn{Conn: conn, deaf: &cut}, err
		},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	lossy := bucket.New(rdb, strings.TrimSuffix(e.IndexKey(), ":index"))
	check(t, rdb.Ping(t.Context()).Err())
	cut.Store(true)
	if err := lossy.Ask(t.Context(), &g); err == nil || g.Err == nil || g.Given {
		t.Fatalf("answered without an answer: %+v, %v", g, err)
	}
	expect(t, "left after one give-back whose answer was lost", e.peek(t, d, 1).Remaining, 6)
}

// TestAGiveBackOfUnknownFormatIsAnError: and touches nothing.
func TestAGiveBackOfUnknownFormatIsAnError(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		g, _ := e.grab(t, d, 4, 0)
		check(t, e.rdb.Set(t.Context(), e.StateKey(d.Name, d.Partition, "", ""), "3something", time.Hour).Err())
		before := e.snapshot(t, d.Name)
		check(t, e.Ask(t.Context(), &g))
		if g.Err == nil || g.Given {
			t.Fatalf("given back to what it does not know: %+v", g)
		}
		expectSame(t, before, e.snapshot(t, d.Name))
	})
}

// TestAGiveBackThatMakesNoSenseIsRefused: with the field, before Redis is asked; and by the script.
func TestAGiveBackThatMakesNoSenseIsRefused(t *testing.T) {
	e := &env{Engine: bucket.New(nil, "")}
	d := definition(10, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	good := bucket.GiveBack{Target: e.target(t, d, "checkout"), Key: "k", Permits: 1, At: time.Now(), RuleID: 1, ResetAfter: time.Second}
	unlearned, err := e.Target("b", "checkout", nil)
	check(t, err)
	leases := d
	leases.Algorithm = bucket.Concurrency
	for field, changes := range map[string][]func(g *bucket.GiveBack){
		"permits":   {func(g *bucket.GiveBack) { g.Permits = 0 }, func(g *bucket.GiveBack) { g.Permits = bucket.PermitsBound + 1 }},
		"key":       {func(g *bucket.GiveBack) { g.Key = "" }},
		"facts":     {func(g *bucket.GiveBack) { g.Target = unlearned }},
		"algorithm": {func(g *bucket.GiveBack) { g.Target = e.target(t, leases, "checkout") }},
		"decision": {
			func(g *bucket.GiveBack) { g.At = time.Time{} }, func(g *bucket.GiveBack) { g.RuleID = -1 },
			func(g *bucket.GiveBack) { g.ResetAfter = -1 }, func(g *bucket.GiveBack) { g.Mark = -1 },
			func(g *bucket.GiveBack) { g.ResetAfter, g.Mark = 1<<62, 1<<62 },
		},
	} {
		for _, change := range changes {
			g := good
			change(&g)
			check(t, e.Ask(t.Context(), &g))
			expectInvalid(t, g.Err, field)
		}
	}
}

// TestGiveBackRefusesWhatMakesNoSense: the script itself, for clients in other languages.
func TestGiveBackRefusesWhatMakesNoSense(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		g, _ := e.grab(t, d, 4, 0)
		before := e.snapshot(t, d.Name)
		keys := []string{e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "", "")}
		good := []any{bucket.ShapeOf(d.Facts()), 4, g.At.UnixMicro(), g.RuleID, g.ResetAfter.Microseconds()}
		for i := 1; i < len(good); i++ {
			for _, bad := range []any{"x", "-1", "0.5", "nan", "inf", ""} {
				args := append([]any{}, good...)
				args[i] = bad
				raw, err := e.RawGiveBack(t.Context(), d.Algorithm, keys, args...)
				if err == nil || !strings.HasPrefix(err.Error(), "HEADGATE ") {
					t.Fatalf("%v: %v, %v", args, raw, err)
				}
			}
		}
		other := append([]any{"token_bucket.key.1"}, good[1:]...)
		raw, err := e.RawGiveBack(t.Context(), d.Algorithm, keys, other...)
		check(t, err)
		expect(t, "another shape", fmt.Sprint(raw.([]any)[0]), "0")
		expectSame(t, before, e.snapshot(t, d.Name))
		raw, err = e.RawGiveBack(t.Context(), d.Algorithm, keys, good...)
		check(t, err)
		expect(t, "the good one", fmt.Sprint(raw.([]any)[0]), "1")
	})
}
