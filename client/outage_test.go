package client_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// installPolicies defines one bucket for each failure policy, of 3 permits, and lets the client learn them.
func installPolicies(w *world) {
	w.t.Helper()
	for _, policy := range []string{bucket.FailOpen, bucket.FailClosed, bucket.FailLocal} {
		d := definition(policy, 3, 1, time.Hour)
		d.OnFailure = policy
		w.install(d)
		if err := w.c.Preload(w.t.Context(), policy); err != nil {
			w.t.Fatal(err)
		}
	}
}

// expectPolicies checks what the buckets of installPolicies answer while Redis gives no verdict; localLeft is how many
// permits the local one still has.
func expectPolicies(w *world, localLeft int) {
	w.t.Helper()
	for range 5 {
		d := w.acquire(bucket.FailOpen)
		wants(w.t, d, client.Unavailable, true)
		if d.Err == nil || d.Source != client.SourcePolicy || d.Revision != 1 || d.Limit != 3 {
			w.t.Fatalf("open: %+v", d)
		}
		d = w.acquire(bucket.FailClosed)
		wants(w.t, d, client.Unavailable, false)
		if d.Err == nil || d.Source != client.SourcePolicy {
			w.t.Fatalf("closed: %+v", d)
		}
		d = w.acquire(bucket.FailLocal)
		outcome := client.Limited
		if localLeft > 0 {
			outcome = client.Granted
		}
		wants(w.t, d, outcome, localLeft > 0)
		localLeft--
		if d.Err == nil || d.Source != client.SourceLocal || d.Remaining != int64(max(localLeft, 0)) || (outcome == client.Limited) != (d.RetryAfter > 0) {
			w.t.Fatalf("local with %d left: %+v", localLeft, d)
		}
	}
	wants(w.t, w.acquire(bucket.FailLocal, client.Permits(4)), client.TooMany, false)
	d := w.acquire("never-learned")
	wants(w.t, d, client.Unavailable, true)
	if d.Source != client.SourcePolicy || d.Revision != 0 {
		w.t.Fatalf("never learned: %+v", d)
	}
}

func TestPoliciesAnswerWhileRedisIsStoppedAndRedisDecidesAgainOnceItIsBack(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	installPolicies(w)
	wants(t, w.acquire(bucket.FailLocal), client.Granted, true) // local goes on from the 2 that are left

	server.Stop()
	expectPolicies(w, 2)
	if s := w.c.Stats(); s.Unavailable != 11 || s.Unlearned != 1 || s.Local != 6 {
		t.Fatalf("stats: %+v", s)
	}

	server.Start(t)
	testenv.Eventually(t, 10*time.Second, "Redis decides again", func() bool {
		return errors.Is(w.acquire(bucket.FailOpen).Err, client.ErrLost) // it came back empty
	})
	installPolicies(w)
	d := w.acquire(bucket.FailClosed)
	wants(t, d, client.Granted, true)
	if d.Source != client.SourceRedis {
		t.Fatalf("%+v", d)
	}
}

func TestPoliciesAnswerWhileRedisIsPaused(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	installPolicies(w)
	wants(t, w.acquire(bucket.FailLocal), client.Granted, true)
	server.Pause(t)
	expectPolicies(w, 2)
	server.Resume(t)
	testenv.Eventually(t, 10*time.Second, "Redis decides again", func() bool {
		return w.acquire(bucket.FailClosed).Source == client.SourceRedis
	})
}

func TestUnknownBucketsFollowTheOptionWhenRedisWasNeverThere(t *testing.T) {
	server := testenv.OwnRedis(t)
	server.Stop()
	w := newHasty(t, server, client.WithUnknownPolicy(client.Closed))
	wants(t, w.acquire("b"), client.Unavailable, false)
	if err := w.c.Preload(t.Context(), "b"); err == nil {
		t.Fatal("Preload says that it learned a bucket of a Redis that is away")
	}
}

func TestShadowAndOffAllowWhateverThePolicyWhileRedisIsAway(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	for _, policy := range []string{bucket.FailClosed, bucket.FailLocal} {
		for _, mode := range []string{bucket.ModeShadow, bucket.ModeOff} {
			d := definition(mode+"-"+policy, 1, 1, time.Hour)
			d.Mode, d.OnFailure = mode, policy
			w.install(d)
			w.acquire(d.Name)
		}
	}
	server.Stop()
	for range 2 {
		wants(t, w.acquire("shadow-closed"), client.Unavailable, true)
		wants(t, w.acquire("off-closed"), client.Granted, true)
		wants(t, w.acquire("off-local"), client.Granted, true)
		wants(t, w.acquire("shadow-local"), client.Limited, true) // its permit was taken before
	}
}

func TestLocalEnforcesTheShareOfThisInstance(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server, client.WithInstances(4))
	for name, maxPermits := range map[string]int64{"big": 40, "small": 3} {
		d := definition(name, maxPermits, 1, time.Hour)
		d.OnFailure = bucket.FailLocal
		w.install(d)
		if err := w.c.Preload(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	server.Stop()
	for range 10 {
		wants(t, w.acquire("big"), client.Granted, true)
	}
	wants(t, w.acquire("big"), client.Limited, false)
	// Less than one permit falls to this instance: it may have one, but only after the time in which one comes in.
	wants(t, w.acquire("small"), client.Limited, false)
}

func TestLocalKeepsKeysApart(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	d := definition("b", 2, 1, time.Hour)
	d.Partition, d.OnFailure = bucket.PartitionKey, bucket.FailLocal
	w.install(d)
	wants(t, w.acquire("b", client.Key("seen")), client.Granted, true)
	server.Stop()
	wants(t, w.acquire("b", client.Key("seen")), client.Granted, true)
	wants(t, w.acquire("b", client.Key("seen")), client.Limited, false)
	wants(t, w.acquire("b", client.Key("new"), client.Permits(2)), client.Granted, true)
	if _, err := w.c.Acquire(t.Context(), "b"); !errors.Is(err, client.ErrNoKey) {
		t.Fatalf("without a key: %v", err)
	}
}

// scheduling is how much later than the deadline a call may return on a busy machine.
const scheduling = 150 * time.Millisecond

// With go-redis's default options a stopped Redis holds a call for seconds; the SDK's deadline must not depend on them.
func TestTheDeadlineHoldsWhileRedisIsPausedWhateverGoRedisIsSetTo(t *testing.T) {
	for name, options := range map[string]redis.Options{
		"default options":   {},
		"contexts honoured": {ContextTimeoutEnabled: true},
		"one connection":    {PoolSize: 1},
		"patient":           {ReadTimeout: 5 * time.Second, MaxRetries: 10},
	} {
		t.Run(name, func(t *testing.T) {
			server := testenv.OwnRedis(t)
			options.Addr = server.Addr
			rdb := redis.NewClient(&options)
			t.Cleanup(func() { _ = rdb.Close() })
			w := &world{t: t, rdb: rdb, engine: bucket.New(rdb, "")}
			w.install(definition("b", 1000, 1, time.Hour))
			w.c = w.client("checkout")
			testenv.Eventually(t, 10*time.Second, "Redis decides", func() bool { return w.acquire("b").Source == client.SourceRedis })
			server.Pause(t)
			var callers sync.WaitGroup
			for range 20 {
				callers.Go(func() {
					began := time.Now()
					d, err := w.c.Acquire(t.Context(), "b")
					if took := time.Since(began); took > client.DefaultDeadline+scheduling {
						t.Errorf("a call took %v", took)
					}
					if err != nil || d.Outcome != client.Unavailable || !d.Allowed {
						t.Errorf("%+v, %v", d, err)
					}
				})
			}
			callers.Wait()
			server.Resume(t)
			testenv.Eventually(t, 10*time.Second, "Redis decides again", func() bool {
				return w.acquire("b").Source == client.SourceRedis
			})
		})
	}
}

func TestACallersOwnContextEndsItsCallWhileRedisIsPaused(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server, client.WithDeadline(5*time.Second))
	w.install(definition("b", 1, 1, time.Hour))
	w.acquire("b")
	server.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := w.c.Acquire(ctx, "b")
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Millisecond+scheduling {
		t.Fatalf("%v after %v", err, took)
	}
	server.Resume(t)
}

// openBreaker calls until the breaker is open.
func openBreaker(w *world, name string) {
	w.t.Helper()
	testenv.Eventually(w.t, 10*time.Second, "the breaker opens", func() bool {
		return errors.Is(w.acquire(name).Err, client.ErrBreakerOpen)
	})
}

func TestTheBreakerAnswersInMicrosecondsWhileRedisIsDeadAndClosesByItself(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	w.install(definition("b", 1_000_000, 1000, time.Second))
	w.acquire("b")
	for name, fault := range map[string]struct{ begin, end func() }{
		"paused":  {func() { server.Pause(t) }, func() { server.Resume(t) }},
		"stopped": {server.Stop, func() { server.Start(t) }},
	} {
		t.Run(name, func(t *testing.T) {
			fault.begin()
			w.t = t
			openBreaker(w, "b")
			const calls = 1001
			took := make([]time.Duration, calls)
			for i := range took {
				began := time.Now()
				d, err := w.c.Acquire(t.Context(), "b")
				took[i] = time.Since(began)
				if err != nil || !d.Allowed || d.Outcome != client.Unavailable {
					t.Fatalf("%+v, %v", d, err)
				}
			}
			slices.Sort(took)
			if median := took[calls/2]; median > 100*time.Microsecond {
				t.Errorf("the median answer took %v", median)
			}
			fault.end()
			began := time.Now()
			testenv.Eventually(t, 5*time.Second, "Redis is asked again", func() bool {
				return !errors.Is(w.acquire("b").Err, client.ErrBreakerOpen)
			})
			t.Logf("asked again %v after it came back", time.Since(began))
		})
	}
}

// Callers whose contexts end before the deadline must not keep the breaker from noticing.
func TestTheBreakerOpensAlsoWhereCallersAreLessPatientThanTheDeadline(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	w.install(definition("b", 1_000_000, 1000, time.Second))
	w.acquire("b")
	server.Pause(t)
	testenv.Eventually(t, 10*time.Second, "the breaker opens", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		d, err := w.c.Acquire(ctx, "b")
		return err == nil && errors.Is(d.Err, client.ErrBreakerOpen)
	})
	server.Resume(t)
}

// What a paused Redis leaves behind is bounded, however many calls give up on it.
func TestGoroutinesLeftBehindAreBounded(t *testing.T) {
	server := testenv.OwnRedis(t)
	// With connections enough for all callers, go-redis itself holds none of them back.
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, PoolSize: 4000})
	t.Cleanup(func() { _ = rdb.Close() })
	w := &world{t: t, rdb: rdb, engine: bucket.New(rdb, "")}
	w.install(definition("b", 1_000_000, 1000, time.Second))
	w.c = w.client("checkout", client.WithDeadline(300*time.Millisecond))
	w.acquire("b")
	before := runtime.NumGoroutine()
	server.Pause(t)
	for range 3 {
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() {
				if d, err := w.c.Acquire(t.Context(), "b"); err != nil || !d.Allowed {
					t.Errorf("%+v, %v", d, err)
				}
			})
		}
		callers.Wait()
	}
	if left := runtime.NumGoroutine() - before; left > 800 {
		t.Errorf("%d goroutines were left behind", left)
	}
	server.Resume(t)
}

// An error that Redis replies is no verdict, but it is an answer: Redis is asked again at the next call.
func TestAnErrorOfRedisIsUnavailableWithoutOpeningTheBreaker(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	d := definition("b", 1_000_000, 1000, time.Second)
	d.OnFailure = bucket.FailClosed
	w.install(d)
	w.acquire("b")
	if err := w.rdb.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got := w.acquire("b")
		wants(t, got, client.Unavailable, false)
		if errors.Is(got.Err, client.ErrBreakerOpen) {
			t.Fatal("the breaker opened although Redis answers")
		}
	}
	if err := w.rdb.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
		t.Fatal(err)
	}
	wants(t, w.acquire("b"), client.Granted, true)
}

// A script whose answer was lost may have run, so it must reach Redis once, even with go-redis told to retry.
func TestACallWithoutAnAnswerIsNeverSentAgain(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, ReadTimeout: 30 * time.Millisecond, MaxRetries: 10, MinRetryBackoff: time.Millisecond, MaxRetryBackoff: time.Millisecond})
	t.Cleanup(func() { _ = rdb.Close() })
	w := &world{t: t, rdb: rdb, engine: bucket.New(rdb, "")}
	w.install(definition("b", 100, 1, time.Hour))
	w.c = w.client("checkout", client.WithDeadline(500*time.Millisecond))
	wants(t, w.acquire("b"), client.Granted, true)
	server.Pause(t)
	wants(t, w.acquire("b"), client.Unavailable, true)
	server.Resume(t)
	testenv.Eventually(t, 10*time.Second, "the call that was given up has run", func() bool {
		d, err := w.c.Peek(t.Context(), "b")
		if err == nil && d.Source == client.SourceRedis && d.Remaining < 98 {
			t.Fatalf("it ran more than once: %d of 100 are left", d.Remaining)
		}
		return err == nil && d.Source == client.SourceRedis && d.Remaining == 98
	})
}
