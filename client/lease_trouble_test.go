package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// lines keeps what is logged.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// count is how many lines have all of the words.
func (l *lines) count(words ...string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		all := true
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			n++
		}
	}
	return n
}

func (l *lines) has(words ...string) bool { return l.count(words...) > 0 }

func TestShadowAndOffLetEverybodyEnter(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		shadow, off := leased("shadow", 1, time.Minute), leased("off", 1, time.Minute)
		shadow.Mode, off.Mode = bucket.ModeShadow, bucket.ModeOff
		w.install(shadow)
		w.install(off)
		for i, want := range []client.Outcome{client.Granted, client.Limited, client.Limited} {
			began := time.Now()
			l, d := w.enter("shadow", client.MaxWait(time.Minute))
			wants(t, d, want, true)
			if !d.Shadow || time.Since(began) > quick {
				t.Errorf("call %d: %+v", i, d)
			}
			goesOn(t, l)
			l, d = w.enter("off")
			wants(t, d, client.Granted, true)
			goesOn(t, l)
		}
		if used := w.c.Stats().Buckets; used["shadow"].Granted != 1 || used["shadow"].ShadowLimited != 2 || used["off"].Granted != 0 {
			t.Errorf("usage: %+v", used)
		}
	})
}

func TestEnterFollowsThePolicyWhileRedisIsAway(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server, client.WithInstances(2))
	for _, policy := range []string{bucket.FailOpen, bucket.FailClosed, bucket.FailLocal} {
		d := leased(policy, 6, time.Minute)
		d.OnFailure = policy
		w.install(d)
		if err := w.c.Preload(t.Context(), policy); err != nil {
			t.Fatal(err)
		}
	}
	held := w.hold(bucket.FailLocal) // in Redis: it counts in this process's share of 3
	server.Stop()
	for range 5 {
		l, d := w.enter(bucket.FailOpen)
		wants(t, d, client.Unavailable, true)
		goesOn(t, l)
		_, d = w.enter(bucket.FailClosed)
		wants(t, d, client.Unavailable, false)
	}
	first, d := w.enter(bucket.FailLocal, client.Key("ignored"))
	wants(t, d, client.Granted, true)
	if d.Source != client.SourceLocal || d.Remaining != 1 || d.Err == nil {
		t.Errorf("%+v", d)
	}
	w.hold(bucket.FailLocal, client.Key("as well"))
	_, d = w.enter(bucket.FailLocal)
	wants(t, d, client.Limited, false)
	first.Release()
	first.Release()
	w.hold(bucket.FailLocal)
	if !w.isFull(bucket.FailLocal) {
		t.Error("more than the share were let in")
	}
	held.Release()
	got := make(chan client.Decision, 1)
	l := w.hold(bucket.FailLocal)
	go func() {
		_, d, _ := w.c.Enter(context.Background(), bucket.FailLocal, client.MaxWait(30*time.Second))
		got <- d
	}()
	l.Release()
	wants(t, <-got, client.Granted, true)
	if used := w.c.Stats(); used.Buckets[bucket.FailLocal].Granted != 6 || used.Local == 0 || used.Unavailable != 10 {
		t.Errorf("stats: %+v", used)
	}
}

func TestEnterRefusesMisuseAndTakesNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(definition("permits", 1, 1, time.Hour))
	keyed := leased("keyed", 1, time.Minute)
	keyed.Partition = bucket.PartitionKey
	w.install(keyed)
	for range 2 { // before and after the buckets were learned
		for _, test := range []struct {
			bucket string
			opt    client.CallOption
			kind   *client.MisuseError
		}{
			{"permits", client.Permits(1), client.ErrNoLeases},
			{"keyed", client.Permits(1), client.ErrNoKey},
			{"keyed", client.Permits(2), client.ErrOneSlot},
			{"", client.Permits(1), client.ErrBucket},
			{"keyed", client.MaxWait(-1), client.ErrMaxWait},
		} {
			l, d, err := w.c.Enter(t.Context(), test.bucket, test.opt)
			misuse(t, err, test.kind)
			if l != nil || d != (client.Decision{}) {
				t.Errorf("beside the error: %v, %+v", l, d)
			}
		}
		_, err := w.c.Acquire(t.Context(), "keyed", client.Key("k"))
		misuse(t, err, client.ErrConcurrency)
	}
	_, d := w.enter("no-such-bucket")
	wants(t, d, client.NotConfigured, false)
	wants(t, w.acquire("permits"), client.Granted, true)
	for _, key := range []string{"a", "b{}*\n\x00"} {
		w.hold("keyed", client.Key(key))
		_, d := w.enter("keyed", client.Key(key))
		wants(t, d, client.Limited, false)
	}
}

func TestAClientThatCloses(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w, other := newWorld(t, addr, prefix), newWorld(t, addr, prefix)
	w.install(leased("exports", 3, time.Hour))
	leases := []*client.Lease{w.hold("exports"), w.hold("exports"), w.hold("exports")}
	waiting := make(chan error, 1)
	go func() {
		_, _, err := w.c.Enter(context.Background(), "exports", client.MaxWait(time.Minute))
		waiting <- err
	}()
	trips := w.c.Stats().RoundTrips
	testenv.Eventually(t, 10*time.Second, "a call waits for a slot", func() bool { return w.c.Stats().RoundTrips > trips+3 })
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	misuse(t, <-waiting, client.ErrIsClosed)
	for _, l := range leases {
		ended(t, l, client.ErrReleased)
		l.Release()
	}
	if _, d := other.enter("exports"); d.Remaining != 2 {
		t.Errorf("Close left slots taken: %+v", d)
	}
	_, _, err := w.c.Enter(t.Context(), "exports")
	misuse(t, err, client.ErrIsClosed)
}

func TestEditsWhileLeasesAreHeld(t *testing.T) {
	const period = 2 * time.Second // long enough for a busy machine to renew in time
	hold := func(t *testing.T) (w, other *world, d bucket.Definition, l []*client.Lease) {
		addr, prefix := testenv.Redis(t)
		w, other = newWorld(t, addr, prefix), newWorld(t, addr, prefix)
		d = leased("exports", 2, period)
		w.install(d)
		l = []*client.Lease{w.hold("exports", client.Key("k")), w.hold("exports", client.Key("k"))}
		d.Revision = 2
		return w, other, d, l
	}
	// holds checks that the leases go on for more than two periods and nobody else gets in.
	holds := func(t *testing.T, other *world, l []*client.Lease) {
		t.Helper()
		began := time.Now()
		testenv.Eventually(t, 20*time.Second, "two periods pass", func() bool {
			for _, one := range l {
				goesOn(t, one)
			}
			_, d := other.enter("exports", client.Key("k"))
			wants(t, d, client.Limited, false)
			return time.Since(began) > 5*period/2
		})
	}
	t.Run("max_permits lowered: holders stay, and nobody enters until enough have left", func(t *testing.T) {
		w, other, d, l := hold(t)
		d.MaxPermits = 1
		w.install(d)
		holds(t, other, l)
		l[0].Release()
		holds(t, other, l[1:])
		l[1].Release()
		other.comesFree(period, "exports")
	})
	t.Run("another period: it counts from the next renewal on", func(t *testing.T) {
		w, other, d, l := hold(t)
		d.Period = time.Minute
		w.install(d)
		holds(t, other, l)
		_, got := other.enter("exports")
		if got.RetryAfter < 30*time.Second {
			t.Errorf("%+v", got)
		}
	})
	t.Run("mode off: the work goes on", func(t *testing.T) {
		w, _, d, l := hold(t)
		d.Mode = bucket.ModeOff
		w.install(d)
		began := time.Now()
		testenv.Eventually(t, 20*time.Second, "two periods pass", func() bool {
			goesOn(t, l[0])
			goesOn(t, l[1])
			return time.Since(began) > 2*period
		})
	})
	t.Run("another partition: the leases move if there is room", func(t *testing.T) {
		w, other, d, l := hold(t)
		d.Partition = bucket.PartitionKey
		w.install(d)
		testenv.Eventually(t, 10*time.Second, "both have moved", func() bool {
			_, got := other.enter("exports", client.Key("k"))
			if got.Outcome == client.Granted {
				t.Log("a newcomer was in first") // then one of the two is lost, which is no less right
			}
			return got.Outcome == client.Limited
		})
		_ = l
	})
	t.Run("another algorithm: the leases end", func(t *testing.T) {
		w, _, d, l := hold(t)
		d.Algorithm = bucket.TokenBucket
		w.install(d)
		began := time.Now()
		testenv.Eventually(t, 10*time.Second, "both are lost", func() bool { return l[0].Context().Err() != nil && l[1].Context().Err() != nil })
		ended(t, l[0], client.ErrLeaseLost)
		if took := time.Since(began); took > period+scheduling {
			t.Errorf("only after %v", took)
		}
		w.c.Stats()
		wants(t, w.acquire("exports"), client.Granted, true)
	})
	t.Run("deleted: the leases end", func(t *testing.T) {
		w, _, _, l := hold(t)
		if _, err := w.engine.Remove(t.Context(), "exports", 2, deployment); err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, 10*time.Second, "both are lost", func() bool { return l[0].Context().Err() != nil && l[1].Context().Err() != nil })
		ended(t, l[1], client.ErrLeaseLost)
		_, d := w.enter("exports")
		wants(t, d, client.NotConfigured, false)
	})
}

// In shadow mode nobody is stopped, so the work goes on also when the lease behind it is gone.
func TestInShadowModeALostLeaseStopsNobody(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	shadow := leased("shadow", 1, time.Second)
	shadow.Mode = bucket.ModeShadow
	w.install(shadow)
	w.install(leased("enforce", 1, time.Second))
	inShadow, enforced := w.hold("shadow"), w.hold("enforce")
	server.Stop()
	testenv.Eventually(t, 10*time.Second, "the enforced lease is lost", func() bool { return enforced.Context().Err() != nil })
	began := time.Now()
	testenv.Eventually(t, 10*time.Second, "more time passes", func() bool { return time.Since(began) > 300*time.Millisecond })
	goesOn(t, inShadow)
	inShadow.Release()
	ended(t, inShadow, client.ErrReleased)
}

// A lease whose state Redis lost is there again with the next renewal; newcomers wait until then.
func TestHoldersEnterAgainAfterALossOfData(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	d := leased("exports", 2, 2*time.Second)
	d.AfterLoss = bucket.LossRefill
	w.install(d)
	l := []*client.Lease{w.hold("exports"), w.hold("exports")}
	if err := w.rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	_, lost := w.enter("exports")
	if wants(t, lost, client.Unavailable, true); !errors.Is(lost.Err, client.ErrLost) {
		t.Errorf("%+v", lost)
	}
	if _, err := w.engine.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	testenv.Eventually(t, 20*time.Second, "two lease times pass", func() bool {
		goesOn(t, l[0])
		goesOn(t, l[1])
		if _, d := w.enter("exports"); !errors.Is(d.Err, client.ErrDeadline) { // a busy machine may be late for a hasty client
			wants(t, d, client.Limited, false)
		}
		return time.Since(began) > 4200*time.Millisecond
	})
}

func TestManyLeasesAreRenewedInFewCommands(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := connect(t, server.Addr, client.DefaultPrefix, []client.Option{client.WithDeadline(20 * time.Second)})
	const slots, period = 2000, 3 * time.Second
	w.install(leased("exports", slots, period))
	leases := make([]*client.Lease, slots-300)
	var all sync.WaitGroup
	for i := range leases {
		all.Go(func() {
			var err error
			if leases[i], _, err = w.c.Enter(t.Context(), "exports"); err != nil {
				t.Errorf("Enter: %v", err)
			}
		})
	}
	all.Wait()
	for range 300 { // and some that are entered one after the other, so that their times differ
		leases = append(leases, w.hold("exports"))
	}
	before, began := testenv.ScriptCalls(t, w.rdb), time.Now()
	testenv.Eventually(t, 30*time.Second, "two periods pass", func() bool { return time.Since(began) > 2*period })
	for i, l := range leases {
		if l == nil {
			t.Fatalf("lease %d was refused", i)
		}
		goesOn(t, l)
	}
	if calls := testenv.ScriptCalls(t, w.rdb) - before; calls > 80 {
		t.Errorf("%d leases took %d script calls in two periods", slots, calls)
	}
}

func TestNoGoroutineKeepsLeasesThatAreReleased(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(leased("exports", 30, time.Minute)) // enough for all rounds: a release reaches Redis in its own time
	keeping := func() int {
		stacks := make([]byte, 1<<22)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*keeper).run(")
	}
	testenv.Eventually(t, 10*time.Second, "the clients of earlier tests are gone", func() bool { return keeping() == 0 })
	for range 3 {
		var leases []*client.Lease
		for range 10 {
			leases = append(leases, w.hold("exports"))
		}
		testenv.Eventually(t, 10*time.Second, "one goroutine keeps them", func() bool { return keeping() == 1 })
		for _, l := range leases {
			l.Release()
		}
		testenv.Eventually(t, 10*time.Second, "none is left", func() bool { return keeping() == 0 })
	}
}

// TestMistake18AnOutageStallsNobodyMultipliesNoLimitAndIsTold: while Redis is away no call of any kind takes longer than
// the deadline (and what a busy machine adds; the earlier systems took 1 to 10 s), the processes of a bucket of policy local share its limit, and operators are told, once.
func TestMistake18AnOutageStallsNobodyMultipliesNoLimitAndIsTold(t *testing.T) {
	for name, fault := range map[string]func(*testing.T, *testenv.RedisServer){
		"stopped": func(_ *testing.T, s *testenv.RedisServer) { s.Stop() },
		"hanging": func(t *testing.T, s *testenv.RedisServer) { s.Pause(t); t.Cleanup(func() { s.Resume(t) }) },
	} {
		t.Run(name, func(t *testing.T) {
			server, log := testenv.OwnRedis(t), &lines{}
			w := newHasty(t, server, client.WithLogger(log.logger()), client.WithInstances(4))
			permits, slots := waiting("permits", 40, time.Hour, 0), leased("slots", 8, time.Minute)
			permits.OnFailure, slots.OnFailure = bucket.FailLocal, bucket.FailLocal
			w.install(permits)
			w.install(slots)
			if err := w.c.Preload(t.Context(), "permits", "slots"); err != nil {
				t.Fatal(err)
			}
			fault(t, server)
			granted := map[string]int{}
			calls := map[string]func() (bool, error){
				"permits": func() (bool, error) { d, err := w.c.Acquire(t.Context(), "permits"); return d.Allowed, err },
				"waits":   func() (bool, error) { d, err := w.c.Wait(t.Context(), "permits"); return d.Allowed, err },
				"all": func() (bool, error) {
					ds, err := w.c.AcquireAll(t.Context(), of("permits")...)
					return client.AllAllowed(ds), err
				},
				"slots": func() (bool, error) { l, _, err := w.c.Enter(t.Context(), "slots"); return l != nil, err },
			}
			for range 20 {
				for kind, call := range calls {
					began := time.Now()
					ok, err := call()
					if took := time.Since(began); err != nil || took > time.Second {
						t.Errorf("%s: %v after %v", kind, err, took)
					}
					if ok {
						granted[kind]++
					}
				}
			}
			if n := granted["permits"] + granted["waits"] + granted["all"]; n != 10 || granted["slots"] != 2 {
				t.Errorf("a quarter of 40 permits and of 8 slots was to be had, but got %v", granted)
			}
			if stats := w.c.Stats(); stats.Local != 80 || stats.Buckets["permits"].Local != 60 {
				t.Errorf("stats: %+v", stats)
			}
			if n := log.count("level=WARN", "Redis does not answer"); n != 1 {
				t.Errorf("operators were told %d times:\n%s", n, fmt.Sprint(log))
			}
		})
	}
}
