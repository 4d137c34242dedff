package client_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// waiting is a bucket on which one may wait up to maxWait.
func waiting(name string, maxPermits int64, period, maxWait time.Duration) bucket.Definition {
	d := definition(name, maxPermits, 1, period)
	d.MaxWait = maxWait
	return d
}

// wait makes a call that must not be misuse, nor too late for its context.
func (w *world) wait(name string, opts ...client.CallOption) client.Decision {
	w.t.Helper()
	d, err := w.c.Wait(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Errorf("Wait %s: %v", name, err)
	}
	return d
}

// retryOf is in how long the bucket would grant one permit.
func (w *world) retryOf(name string, opts ...client.CallOption) time.Duration {
	w.t.Helper()
	d, err := w.c.Peek(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Fatalf("Peek %s: %v", name, err)
	}
	return d.RetryAfter
}

// fullAt is when, by Redis's clock, the bucket would be full if nobody took from it.
func (w *world) fullAt(name string) time.Time {
	w.t.Helper()
	d, err := w.c.Peek(w.t.Context(), name)
	if err != nil {
		w.t.Fatalf("Peek %s: %v", name, err)
	}
	return d.At.Add(d.ResetAfter)
}

// redisNow is the time of Redis.
func (w *world) redisNow() time.Time {
	now, err := w.rdb.Time(context.Background()).Result()
	if err != nil {
		w.t.Errorf("TIME: %v", err)
	}
	return now
}

// turn is what a waiter was told and when, by Redis's clock, it went on.
type turn struct {
	client.Decision
	back time.Time
}

// onTime checks that nobody went on before its turn: decided in the order of At, each one's permit of a bucket of one
// comes a period after that of the one before.
func onTime(t *testing.T, turns []turn, period time.Duration) {
	t.Helper()
	slices.SortFunc(turns, func(a, b turn) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ResetAfter, b.ResetAfter)) // some were decided in one script call
	})
	var due time.Time
	for i, one := range turns {
		if one.At.After(due) {
			due = one.At
		}
		if one.Outcome != client.Granted || one.back.Before(due) {
			t.Errorf("caller %d went on at %v, %v before its turn: %+v", i, one.back, due.Sub(one.back), one.Decision)
		}
		due = due.Add(period)
	}
}

func TestTurnsComeInTheOrderOfTheCallsAndNotBeforeTheirTime(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		const period, callers = 400 * time.Millisecond, 4
		w.install(waiting("b", 1, period, time.Minute))
		var back sync.Mutex
		var order []int
		var turns []turn
		var all sync.WaitGroup
		full := w.fullAt("b")
		for i := range callers {
			all.Go(func() {
				d := w.wait("b")
				back.Lock()
				defer back.Unlock()
				order = append(order, i)
				turns = append(turns, turn{d, w.redisNow()})
			})
			testenv.Eventually(t, 10*time.Second, "the call has its turn", func() bool { return !w.fullAt("b").Before(full.Add(period)) })
			full = w.fullAt("b")
		}
		all.Wait()
		if !slices.IsSorted(order) || len(order) != callers {
			t.Errorf("the callers went on in the order %v", order)
		}
		onTime(t, turns, period)
	})
}

// The leaky bucket of the earlier systems: with max_permits 1 what goes on does so at a constant rate, however many come
// at once.
func TestABucketOfOnePermitLetsWaitersOutAtAConstantRate(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	other := newWorld(t, addr, prefix)
	const period, callers = 20 * time.Millisecond, 40
	w.install(waiting("b", 1, period, time.Minute))
	turns := make([]turn, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			from := w
			if i%2 == 0 {
				from = other
			}
			turns[i] = turn{from.wait("b"), w.redisNow()}
		})
	}
	all.Wait()
	onTime(t, turns, period)
	if waited := turns[callers-1].back.Sub(turns[0].At); waited < (callers-1)*period {
		t.Errorf("%d callers went through within %v", callers, waited)
	}
}

// quick is how long a call that must not wait may take on a busy machine; the waits that it must not make are longer.
const quick = 5 * time.Second

// atOnce makes a Wait that must be answered without waiting.
func (w *world) atOnce(ctx context.Context, name string, opts ...client.CallOption) client.Decision {
	w.t.Helper()
	began := time.Now()
	d, err := w.c.Wait(ctx, name, opts...)
	if took := time.Since(began); err != nil || took > quick {
		w.t.Fatalf("Wait %s: %+v, %v after %v", name, d, err, took)
	}
	return d
}

func TestWaitSaysLimitedAtOnceWhenItsTurnCanNotComeInTime(t *testing.T) {
	soon, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	for name, test := range map[string]struct {
		ctx       context.Context
		algorithm string
		maxWait   time.Duration
		opts      []client.CallOption
	}{
		"MaxWait":                   {t.Context(), bucket.TokenBucket, time.Hour, []client.CallOption{client.MaxWait(30 * time.Minute)}},
		"MaxWait 0":                 {t.Context(), bucket.TokenBucket, time.Hour, []client.CallOption{client.MaxWait(0)}},
		"max_wait":                  {t.Context(), bucket.TokenBucket, 30 * time.Minute, nil},
		"max_wait 0":                {t.Context(), bucket.TokenBucket, 0, []client.CallOption{client.MaxWait(time.Hour)}},
		"the context's deadline":    {soon, bucket.TokenBucket, time.Hour, nil},
		"MaxWait, log":              {t.Context(), bucket.SlidingLog, time.Hour, []client.CallOption{client.MaxWait(30 * time.Minute)}},
		"max_wait, log":             {t.Context(), bucket.SlidingLog, 30 * time.Minute, nil},
		"max_wait 0, log":           {t.Context(), bucket.SlidingLog, 0, nil},
		"the context, log":          {soon, bucket.SlidingLog, time.Hour, nil},
		"max_wait, sliding windows": {t.Context(), bucket.SlidingWindow, 30 * time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			addr, prefix := testenv.Redis(t)
			w := newWorld(t, addr, prefix)
			d := waiting("b", 1, 55*time.Minute, test.maxWait)
			d.Algorithm = test.algorithm
			w.install(d)
			wants(t, w.atOnce(test.ctx, "b", test.opts...), client.Granted, true)
			for range 3 {
				got := w.atOnce(test.ctx, "b", test.opts...)
				wants(t, got, client.Limited, false)
				if got.RetryAfter <= 50*time.Minute || got.RetryAfter > 56*time.Minute {
					t.Errorf("took something, or does not say when to come back: %+v", got)
				}
			}
		})
	}
}

// Of many that wait for at most five turns, five get one and nobody waits for a later one.
func TestNobodyIsGivenATurnPastItsMaxWait(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	const period, turns = 100 * time.Millisecond, 5
	w.install(waiting("b", 1, period, time.Minute))
	wants(t, w.wait("b"), client.Granted, true)
	began := w.redisNow()
	outcomes := make(chan turn, 60)
	for range cap(outcomes) {
		go func() { outcomes <- turn{w.wait("b", client.MaxWait(turns*period)), w.redisNow()} }()
	}
	granted := 0
	var last time.Time
	for range cap(outcomes) {
		one := <-outcomes
		if one.At.After(last) {
			last = one.At
		}
		if one.Outcome == client.Granted {
			granted++
		} else if one.Outcome != client.Limited || one.RetryAfter <= 0 {
			t.Errorf("%+v", one.Decision)
		}
	}
	if most := turns + 1 + int(last.Sub(began)/period); granted < 1 || granted > most {
		t.Errorf("%d got a turn, want 1 to %d", granted, most)
	}
}

// reserve makes a caller of its own client wait for its turn, which is the n-th, and returns what ends its waiting: after
// that everything that it gives back has arrived.
func (w *world) reserve(prefix, name string, n int, period time.Duration) (cancel func()) {
	w.t.Helper()
	c := w.client("checkout", client.Prefix(prefix), client.WithDeadline(20*time.Second))
	ctx, stop := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Wait(ctx, name)
		ended <- err
	}()
	testenv.Eventually(w.t, 10*time.Second, "the call has its turn", func() bool { return w.retryOf(name) > time.Duration(n)*period })
	return func() {
		w.t.Helper()
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.t.Errorf("a cancelled Wait: %v", err)
		}
		if err := c.Close(); err != nil {
			w.t.Errorf("Close: %v", err)
		}
	}
}

func TestACancelledWaitGivesItsTurnBack(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		const period = 10 * time.Minute
		w.install(waiting("b", 1, period, time.Hour))
		wants(t, w.wait("b"), client.Granted, true)
		w.reserve(prefix, "b", 1, period)()
		if retry := w.retryOf("b"); retry > period {
			t.Errorf("the only turn was not given back: the next one comes in %v", retry)
		}
		first, second := w.reserve(prefix, "b", 1, period), w.reserve(prefix, "b", 2, period)
		second()
		if retry := w.retryOf("b"); retry > 2*period || retry <= period {
			t.Errorf("the last turn was not given back: the next one comes in %v", retry)
		}
		first()
	})
}

// What later callers were promised rests on the turns before theirs: those are not given to others (the rule of CancelAt
// in golang.org/x/time/rate), or a bucket would let two out at once.
func TestATurnThatLaterOnesRelyOnIsNotGivenBack(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		const period = 10 * time.Minute
		w.install(waiting("b", 1, period, time.Hour))
		wants(t, w.wait("b"), client.Granted, true)
		first, second := w.reserve(prefix, "b", 1, period), w.reserve(prefix, "b", 2, period)
		first()
		if retry := w.retryOf("b"); retry <= 2*period {
			t.Errorf("a turn was given back that another relies on: the next one comes in %v", retry)
		}
		second()
		if retry := w.retryOf("b"); retry > 2*period || retry <= period {
			t.Errorf("after both are gone the next turn comes in %v", retry)
		}
	})
}

func TestAContextThatIsDoneTakesNoTurn(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(waiting("b", 1, time.Hour, time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.c.Wait(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	wants(t, w.acquire("b"), client.Granted, true)
}

func TestShadowAndOffNeverMakeAnybodyWait(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
			w := newWorld(t, addr, prefix, client.WithLocalDenial(false))
			d := waiting("shadow-"+algorithm, 1, 50*time.Minute, time.Hour)
			d.Algorithm, d.Mode = algorithm, bucket.ModeShadow
			w.install(d)
			wants(t, w.atOnce(t.Context(), d.Name), client.Granted, true)
			retry := w.retryOf(d.Name)
			// One client knows that the mode is shadow, the other learns it by this very call.
			for _, from := range []*world{w, newWorld(t, addr, prefix)} {
				got := from.atOnce(t.Context(), d.Name)
				wants(t, got, client.Limited, true)
				if !got.Shadow || got.RetryAfter <= 0 {
					t.Errorf("%s: %+v", algorithm, got)
				}
			}
			testenv.Eventually(t, 10*time.Second, "what refused callers took in shadow is back", func() bool { return w.retryOf(d.Name) <= retry })

			d.Name, d.Mode = "off-"+algorithm, bucket.ModeOff
			w.install(d)
			for range 3 {
				wants(t, w.atOnce(t.Context(), d.Name), client.Granted, true)
			}
		}
	})
}

// A bucket that was edited to shadow while callers did not look must not make the next one wait.
func TestABucketThatWasJustPutInShadowMakesNobodyWait(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	d := waiting("b", 1, 50*time.Minute, time.Hour)
	w.install(d)
	wants(t, w.wait("b"), client.Granted, true)
	d.Revision, d.Mode = 2, bucket.ModeShadow
	w.install(d)
	got := w.atOnce(t.Context(), "b")
	wants(t, got, client.Limited, true)
	if !got.Shadow {
		t.Errorf("%+v", got)
	}
	testenv.Eventually(t, 10*time.Second, "its turn is given back", func() bool { return w.retryOf("b") <= 50*time.Minute })
	if used := w.c.Stats().Buckets["b"]; used.Granted != 1 || used.ShadowLimited != 1 {
		t.Errorf("usage: %+v", used)
	}
}

func TestWindowsLetWaitersOnWhenTheyResetAndNeverTooMany(t *testing.T) {
	for _, algorithm := range []string{bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
		t.Run(algorithm, func(t *testing.T) {
			addr, prefix := testenv.Redis(t)
			w := newWorld(t, addr, prefix)
			const period, most, callers = 300 * time.Millisecond, 3, 9
			d := waiting("b", most, period, time.Minute)
			d.Algorithm = algorithm
			w.install(d)
			turns := make([]turn, callers)
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() { turns[i] = turn{w.wait("b"), w.redisNow()} })
			}
			all.Wait()
			at := make([]int64, callers)
			for i, one := range turns {
				wants(t, one.Decision, client.Granted, true)
				at[i] = one.At.UnixMicro()
			}
			slices.Sort(at)
			span := period.Microseconds()
			for i := most; i < callers; i++ {
				first, last := at[i-most], at[i]
				if algorithm == bucket.FixedWindow && first/span == last/span || algorithm != bucket.FixedWindow && last-first < span {
					t.Errorf("%d were let on within one period, from %d to %d µs", most+1, first, last)
				}
			}
		})
	}
}

func TestWaitTakesAnyMaxWait(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(waiting("b", 1, 50*time.Millisecond, time.Minute))
	for _, longest := range []time.Duration{math.MaxInt64, time.Hour, time.Minute} {
		for range 2 {
			d := w.wait("b", client.MaxWait(longest))
			wants(t, d, client.Granted, true)
			if d.Source != client.SourceRedis {
				t.Errorf("MaxWait %v: %+v", longest, d)
			}
		}
	}
	_, err := w.c.Wait(t.Context(), "b", client.MaxWait(-1))
	misuse(t, err, client.ErrMaxWait)
}

func TestWaitReturnsAtOnceWhatWaitingDoesNotHelp(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(waiting("b", 2, time.Second, time.Minute))
	exports := waiting("exports", 2, time.Second, time.Minute)
	exports.Algorithm = bucket.Concurrency
	w.install(exports)
	wants(t, w.atOnce(t.Context(), "b", client.Permits(3)), client.TooMany, false)
	wants(t, w.atOnce(t.Context(), "no-such-bucket"), client.NotConfigured, false)
	for range 2 {
		_, err := w.c.Wait(t.Context(), "exports")
		misuse(t, err, client.ErrConcurrency)
	}
}

func TestWaitFollowsThePolicyWhileRedisIsAway(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	const period = 300 * time.Millisecond
	for _, policy := range []string{bucket.FailOpen, bucket.FailClosed, bucket.FailLocal} {
		d := waiting(policy, 1, period, time.Minute)
		d.OnFailure = policy
		w.install(d)
		if err := w.c.Preload(t.Context(), policy); err != nil {
			t.Fatal(err)
		}
	}
	server.Stop()
	for range 2 {
		wants(t, w.atOnce(t.Context(), bucket.FailOpen), client.Unavailable, true)
		wants(t, w.atOnce(t.Context(), bucket.FailClosed), client.Unavailable, false)
	}
	wants(t, w.wait(bucket.FailLocal), client.Granted, true)
	began := time.Now()
	for range 2 {
		d := w.wait(bucket.FailLocal)
		wants(t, d, client.Granted, true)
		if d.Source != client.SourceLocal {
			t.Errorf("%+v", d)
		}
	}
	if waited := time.Since(began); waited < 2*period-50*time.Millisecond {
		t.Errorf("two that came too early went on after %v", waited)
	}
	wants(t, w.wait(bucket.FailLocal, client.MaxWait(0)), client.Limited, false)
}
