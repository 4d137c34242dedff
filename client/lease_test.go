package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// leased is a bucket of so many slots, with leases of a period.
func leased(name string, slots int64, period time.Duration) bucket.Definition {
	d := definition(name, slots, 1, period)
	d.Algorithm, d.MaxWait = bucket.Concurrency, time.Minute
	return d
}

// enter takes a slot, or not, and must not be misuse. What it takes is given back with the test.
func (w *world) enter(name string, opts ...client.CallOption) (*client.Lease, client.Decision) {
	w.t.Helper()
	l, d, err := w.c.Enter(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Fatalf("Enter %s: %v", name, err)
	}
	if (l != nil) != d.Allowed {
		w.t.Fatalf("lease %v beside %+v", l, d)
	}
	if l != nil {
		w.t.Cleanup(l.Release)
	}
	return l, d
}

// hold takes a slot that must be free.
func (w *world) hold(name string, opts ...client.CallOption) *client.Lease {
	w.t.Helper()
	l, d := w.enter(name, opts...)
	wants(w.t, d, client.Granted, true)
	return l
}

// isFull tells whether no slot is free.
func (w *world) isFull(name string) bool {
	w.t.Helper()
	l, d := w.enter(name)
	if l != nil {
		l.Release()
	}
	return d.Outcome == client.Limited
}

// comesFree waits until a slot can be had, and gives it back.
func (w *world) comesFree(within time.Duration, name string) {
	w.t.Helper()
	testenv.Eventually(w.t, within, "a slot of "+name+" comes free", func() bool { return !w.isFull(name) })
}

// ended checks why a lease's context ended.
func ended(t *testing.T, l *client.Lease, why error) {
	t.Helper()
	select {
	case <-l.Context().Done():
	default:
		t.Fatal("the context of the lease goes on")
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, why) {
		t.Errorf("the lease ended for %v, want %v", cause, why)
	}
}

func goesOn(t *testing.T, l *client.Lease) {
	t.Helper()
	if err := l.Context().Err(); err != nil {
		t.Fatalf("the lease ended: %v", context.Cause(l.Context()))
	}
}

func TestEnterTakesASlotUntilItIsReleased(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(leased("exports", 2, time.Minute))
		first, d := w.enter("exports")
		wants(t, d, client.Granted, true)
		if d.Limit != 2 || d.Remaining != 1 || d.Revision != 1 || d.RetryAfter != 0 || d.At.IsZero() || d.Source != client.SourceRedis || d.Bucket != "exports" {
			t.Errorf("%+v", d)
		}
		second := w.hold("exports")
		none, d := w.enter("exports")
		wants(t, d, client.Limited, false)
		if none != nil || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > time.Minute {
			t.Errorf("%+v", d)
		}
		first.Release()
		ended(t, first, client.ErrReleased)
		goesOn(t, second)
		w.comesFree(10*time.Second, "exports")
	})
}

func TestASecondReleaseFreesNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(leased("exports", 2, time.Minute))
	l := w.hold("exports")
	w.hold("exports")
	var all sync.WaitGroup
	for range 10 {
		all.Go(l.Release)
	}
	all.Wait()
	w.hold("exports", client.MaxWait(10*time.Second))
	l.Release()
	if !w.isFull("exports") {
		t.Error("a second Release freed a slot of somebody else's")
	}
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	l.Release()
}

func TestALeaseIsHeldBeyondItsPeriodAsLongAsItsHolderLives(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w, other := newWorld(t, addr, prefix), newWorld(t, addr, prefix)
	w.install(leased("exports", 1, time.Second))
	l := w.hold("exports")
	began := time.Now()
	testenv.Eventually(t, 20*time.Second, "more than three periods pass", func() bool {
		goesOn(t, l)
		if !other.isFull("exports") {
			t.Fatalf("the slot was given to another %v after it was taken", time.Since(began))
		}
		return time.Since(began) > 3200*time.Millisecond
	})
	l.Release()
	other.comesFree(900*time.Millisecond, "exports")
}

// holderOf makes this program the holder that TestTheSlotOfAKilledProcessComesFree kills.
const holderOf = "HEADGATE_TEST_HOLDS_SLOT_OF" // names Redis and prefix

func init() {
	if addr := os.Getenv(holderOf); addr != "" {
		c, err := client.New(redis.NewClient(&redis.Options{Addr: addr}), "holder", client.Prefix(os.Getenv(holderOf+"_PREFIX")), client.WithDeadline(20*time.Second))
		if err == nil {
			var d client.Decision
			if _, d, err = c.Enter(context.Background(), "exports"); err == nil {
				fmt.Println(d.Outcome)
			}
		}
		if err != nil {
			fmt.Println(err)
		}
		_, _ = io.Copy(io.Discard, os.Stdin) // until its parent ends, if it is not killed
		os.Exit(0)
	}
}

func TestTheSlotOfAKilledProcessComesFree(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(leased("exports", 1, 2*time.Second))
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), holderOf+"="+addr, holderOf+"_PREFIX="+prefix)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "granted\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	held := time.Now()
	testenv.Eventually(t, 20*time.Second, "it holds its slot beyond a period", func() bool {
		if !w.isFull("exports") {
			t.Fatalf("the slot was free %v after it was taken", time.Since(held))
		}
		return time.Since(held) > 2500*time.Millisecond
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	killed := time.Now()
	w.comesFree(10*time.Second, "exports")
	t.Logf("the slot came free %v after its holder was killed", time.Since(killed))
}

func TestALeaseIsLostWhenRedisIsAwayLongerThanItLasts(t *testing.T) {
	server := testenv.OwnRedis(t)
	log := &lines{}
	w := newHasty(t, server, client.WithLogger(log.logger()))
	w.install(leased("exports", 3, time.Second))
	l, released := w.hold("exports"), w.hold("exports")
	server.Pause(t)
	began := time.Now()
	released.Release()
	testenv.Eventually(t, 10*time.Second, "the lease is lost", func() bool { return l.Context().Err() != nil })
	ended(t, l, client.ErrLeaseLost)
	ended(t, released, client.ErrReleased)
	if took := time.Since(began); took > time.Second+scheduling {
		t.Errorf("it was lost only after %v", took)
	}
	server.Resume(t)
	l.Release()
	w.comesFree(10*time.Second, "exports")
	if !log.has("leases were lost", "bucket=exports") {
		t.Errorf("nobody was told: %s", log)
	}
}

// A short outage loses nothing: renewals are tried again several times before a lease ends.
func TestALeaseSurvivesAnOutageShorterThanItLasts(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	w.install(leased("exports", 1, 4*time.Second))
	l := w.hold("exports")
	for range 2 {
		began := time.Now()
		testenv.Eventually(t, 10*time.Second, "a renewal is near", func() bool { return time.Since(began) > 1200*time.Millisecond })
		server.Pause(t)
		began = time.Now()
		testenv.Eventually(t, 10*time.Second, "an outage passes", func() bool { return time.Since(began) > 800*time.Millisecond })
		server.Resume(t)
		testenv.Eventually(t, 10*time.Second, "Redis answers again", func() bool {
			_, d := w.enter("exports")
			goesOn(t, l)
			return d.Outcome == client.Limited && d.RetryAfter > 3*time.Second // so it was renewed
		})
	}
	goesOn(t, l)
}

func TestACancelledEnterFreesItsSlot(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	proxy := testenv.Proxy(t, addr)
	w, other := newWorld(t, proxy.Addr, prefix), newWorld(t, addr, prefix)
	w.install(leased("exports", 4, time.Hour))
	w.hold("exports").Release()
	proxy.Delay(t, 200*time.Millisecond)
	for i := range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+30*i)*time.Millisecond)
		l, _, err := w.c.Enter(ctx, "exports")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || l != nil {
			t.Fatalf("%v, %v", l, err)
		}
	}
	testenv.Eventually(t, 10*time.Second, "all slots are free", func() bool {
		l, d := other.enter("exports")
		if l != nil {
			l.Release()
		}
		return d.Remaining == 3 // but for its own
	})
}

// A renewal that is under way when its lease is released must not take the slot again.
func TestAReleaseDuringARenewalFreesTheSlot(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	proxy := testenv.Proxy(t, addr)
	w, other := newWorld(t, proxy.Addr, prefix), newWorld(t, addr, prefix)
	const slots, period = 30, 6 * time.Second
	w.install(leased("exports", slots, period))
	leases := make([]*client.Lease, slots)
	for i := range leases {
		leases[i] = w.hold("exports", client.Key(fmt.Sprint(i)))
	}
	proxy.Delay(t, 300*time.Millisecond)
	began := time.Now()
	next := 0
	testenv.Eventually(t, 20*time.Second, "all are released, some of them during a renewal", func() bool {
		for next < slots && time.Since(began) > time.Duration(next)*50*time.Millisecond {
			leases[next].Release()
			next++
		}
		return next == slots
	})
	last := time.Now()
	testenv.Eventually(t, 10*time.Second, "all slots are free", func() bool {
		l, d := other.enter("exports")
		if l != nil {
			l.Release()
		}
		return d.Remaining == slots-1
	})
	if took := time.Since(last); took > period*2/3 {
		t.Errorf("all were free only after %v, by the end of a lease", took)
	}
}

func TestEnterWaitsForASlotAndIsWokenSoonAfterARelease(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w, other := newWorld(t, addr, prefix), newWorld(t, addr, prefix)
	w.install(leased("exports", 1, time.Hour))
	for name, from := range map[string]*world{"of this process": w, "of another process": other} {
		held := from.hold("exports", client.MaxWait(10*time.Second))
		type entered struct {
			l   *client.Lease
			d   client.Decision
			err error
		}
		got := make(chan entered, 1)
		began := w.c.Stats().RoundTrips
		go func() {
			l, d, err := w.c.Enter(t.Context(), "exports", client.MaxWait(time.Minute))
			got <- entered{l, d, err}
		}()
		testenv.Eventually(t, 10*time.Second, "it has asked often enough to pause long", func() bool { return w.c.Stats().RoundTrips > began+7 })
		released := time.Now()
		held.Release()
		one := <-got
		if took := time.Since(released); one.err != nil || one.d.Outcome != client.Granted || took > time.Second {
			t.Errorf("%s: %+v, %v after %v", name, one.d, one.err, took)
		}
		one.l.Release()
	}
}

func TestEnterWaitsNoLongerThanItMay(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	for name, maxWait := range map[string]time.Duration{"long": time.Minute, "short": 300 * time.Millisecond, "none": 0} {
		d := leased(name, 1, time.Hour)
		d.MaxWait = maxWait
		w.install(d)
		w.hold(name)
	}
	for _, test := range []struct {
		bucket string
		opts   []client.CallOption
		least  time.Duration
	}{
		{"long", nil, 0},
		{"long", []client.CallOption{client.MaxWait(0)}, 0},
		{"long", []client.CallOption{client.MaxWait(300 * time.Millisecond)}, 300 * time.Millisecond},
		{"short", []client.CallOption{client.MaxWait(time.Hour)}, 300 * time.Millisecond},
		{"none", []client.CallOption{client.MaxWait(time.Hour)}, 0},
	} {
		began, limited := time.Now(), w.c.Stats().Buckets[test.bucket].Limited
		_, d := w.enter(test.bucket, test.opts...)
		wants(t, d, client.Limited, false)
		if took := time.Since(began); took < test.least || took > test.least+quick {
			t.Errorf("%s, at least %v: after %v", test.bucket, test.least, took)
		}
		if n := w.c.Stats().Buckets[test.bucket].Limited - limited; n != 1 {
			t.Errorf("%s: one refused call counts as %d", test.bucket, n)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := w.c.Enter(ctx, "long", client.MaxWait(time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v", err)
	}
}

// TestMistake16NoSlotIsLostAndNoneIsMissing: never more than max_permits work at once and all of them can (the earlier
// system let one fewer in), and the slots of holders that died do not block for ever.
func TestMistake16NoSlotIsLostAndNoneIsMissing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	const slots, callers, each = 5, 20, 5
	w.install(leased("exports", slots, time.Minute))
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range callers {
		from := w
		if i%4 == 0 {
			from = newWorld(t, addr, prefix)
		}
		all.Go(func() {
			for range each {
				l, d, err := from.c.Enter(t.Context(), "exports", client.MaxWait(time.Minute))
				if err != nil || d.Outcome != client.Granted {
					t.Errorf("%+v, %v", d, err)
					return
				}
				n := inside.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				inside.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	if most.Load() > slots {
		t.Errorf("%d worked at once in %d slots", most.Load(), slots)
	}
	for range slots {
		w.hold("exports", client.MaxWait(10*time.Second))
	}
	if !w.isFull("exports") {
		t.Error("one more than there are slots was let in")
	}
}
