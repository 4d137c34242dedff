package client_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// usage reads what was reported of a bucket in the last quarter of an hour, by app.
func (w *world) usage(name string) map[string]bucket.Usage {
	w.t.Helper()
	now, err := w.engine.Time(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	minute := now.Unix() / 60
	rows, err := w.engine.ReadUsage(w.t.Context(), name, minute-15, minute+1)
	if err != nil {
		w.t.Fatal(err)
	}
	sums := map[string]bucket.Usage{}
	for _, row := range rows {
		sum := sums[row.App]
		sum.Granted += row.Granted
		sum.Limited += row.Limited
		sum.ShadowLimited += row.ShadowLimited
		sums[row.App] = sum
	}
	return sums
}

// reported waits until Redis has exactly this usage of an app.
func (w *world) reported(name, app string, want bucket.Usage) {
	w.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		got := w.usage(name)[app]
		if got == want {
			return
		}
		if got.Granted > want.Granted || got.Limited > want.Limited || got.ShadowLimited > want.ShadowLimited || time.Now().After(deadline) {
			w.t.Fatalf("usage of %s by %s: %+v, want %+v", name, app, got, want)
		}
		testenv.Eventually(w.t, time.Minute, "a moment passes", elapsed(20*time.Millisecond))
	}
}

// elapsed returns a condition that holds after d.
func elapsed(d time.Duration) func() bool {
	began := time.Now()
	return func() bool { return time.Since(began) >= d }
}

func TestUsageIsExactUnderConcurrency(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 100, 50, time.Second))
		shadow := definition("s", 1, 1, time.Hour)
		shadow.Mode = bucket.ModeShadow
		w.install(shadow)
		billing := w.client("billing", client.Prefix(prefix), client.WithDeadline(20*time.Second))
		const callers, each = 16, 50
		granted := map[*client.Client]*atomic.Int64{w.c: {}, billing: {}}
		var running sync.WaitGroup
		for range callers / 2 {
			for c := range granted {
				running.Go(func() {
					for range each {
						d, err := c.Acquire(t.Context(), "b")
						if err != nil || d.Source != client.SourceRedis && d.Source != client.SourceDenial {
							t.Errorf("%+v, %v", d, err)
						}
						if d.Outcome == client.Granted {
							granted[c].Add(1)
						}
						if d, err := c.Acquire(t.Context(), "s"); err != nil || !d.Allowed {
							t.Errorf("%+v, %v", d, err)
						}
					}
				})
			}
		}
		running.Wait()
		const calls = callers / 2 * each
		for app, c := range map[string]*client.Client{"checkout": w.c, "billing": billing} {
			n := granted[c].Load()
			w.reported("b", app, bucket.Usage{Granted: n, Limited: calls - n})
		}
		got := w.usage("s")
		if sum := got["checkout"].Granted + got["billing"].Granted; sum != 1 {
			t.Errorf("shadow granted %d", sum)
		}
		if sum := got["checkout"].ShadowLimited + got["billing"].ShadowLimited; sum != 2*calls-1 {
			t.Errorf("shadow limited %d of %d calls", sum, 2*calls)
		}
	})
}

func TestUsageCountsPermitsAndOnlyWhatABucketDecided(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(definition("b", 10, 1, time.Hour))
	off := definition("off", 10, 1, time.Hour)
	off.Mode = bucket.ModeOff
	w.install(off)
	w.acquire("b", client.Permits(4))
	w.acquire("b", client.Permits(7))  // limited
	w.acquire("b", client.Permits(11)) // too many
	w.acquire("off")
	w.acquire("absent")
	if _, err := w.c.Peek(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	w.reported("b", "checkout", bucket.Usage{Granted: 4, Limited: 7})
	for _, name := range []string{"off", "absent"} {
		if got := w.usage(name); len(got) != 0 {
			t.Errorf("usage of %s: %+v", name, got)
		}
	}
}

func TestCloseReportsTheRestOfTheUsage(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 10, 1, time.Hour))
		for range 15 {
			w.acquire("b")
		}
		if err := w.c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := w.usage("b")["checkout"]; got.Granted != 10 || got.Limited != 5 {
			t.Fatalf("%+v", got)
		}
	})
}

func TestCloseSaysWhenUsageIsLostAndEndsWithinABound(t *testing.T) {
	for name, fault := range map[string]func(*testenv.RedisServer){
		"stopped": func(s *testenv.RedisServer) { s.Stop() },
		"paused":  func(s *testenv.RedisServer) { s.Pause(t) },
	} {
		t.Run(name, func(t *testing.T) {
			server := testenv.OwnRedis(t)
			w := newHasty(t, server)
			w.install(definition("b", 10, 1, time.Hour))
			w.acquire("b")
			fault(server)
			began := time.Now()
			err := w.c.Close()
			if took := time.Since(began); err == nil || took > 3*time.Second {
				t.Fatalf("Close: %v after %v", err, took)
			}
		})
	}
}

// What was used before an outage and could not be reported then, and what policy local decides meanwhile, arrives
// when Redis is back, under its own minute.
func TestUsageIsKeptOverAnOutage(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	d := definition("b", 10, 1, time.Hour)
	d.OnFailure = bucket.FailLocal
	w.install(d)
	for range 4 {
		wants(t, w.acquire("b"), client.Granted, true)
	}
	server.Stop()
	for range 8 {
		w.acquire("b") // locally: 6 are granted, 2 are not
	}
	// Let two reports go by.
	testenv.Eventually(t, time.Minute, "the outage lasts", elapsed(2200*time.Millisecond))
	server.Start(t)
	// What was reported before the outage went with the server, so a report may hold less, but what was decided locally
	// came after it and must be whole.
	testenv.Eventually(t, 10*time.Second, "the usage arrives", func() bool {
		got := w.usage("b")["checkout"]
		return got.Limited == 2 && (got.Granted == 10 || got.Granted == 6)
	})
}

// A paused Redis carries out later whatever was put to it, so a report must not be put to it again and again. One may
// count twice: it can't be known whether a report whose answer was lost was carried out.
func TestAPauseOfRedisCountsAtMostOneReportTwice(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, ReadTimeout: 50 * time.Millisecond, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	w := &world{t: t, rdb: rdb, engine: bucket.New(rdb, "")}
	w.install(definition("b", 10, 1, time.Hour))
	w.c = w.client("checkout", client.WithDeadline(20*time.Second))
	// Commands on connections that stand before the pause wait in Redis's buffers; on a new one nothing gets through.
	var standing []*redis.Conn
	for range 8 {
		conn := rdb.Conn()
		if err := conn.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		standing = append(standing, conn)
	}
	for _, conn := range standing {
		_ = conn.Close()
	}
	w.acquire("b")
	server.Pause(t)
	testenv.Eventually(t, time.Minute, "four reports are due", elapsed(4500*time.Millisecond))
	server.Resume(t)
	testenv.Eventually(t, 10*time.Second, "Redis answers again", func() bool { return rdb.Ping(t.Context()).Err() == nil })
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.usage("b")["checkout"]; got.Granted < 1 || got.Granted > 2 {
		t.Fatalf("one permit was granted, %d were reported", got.Granted)
	}
}

// hooks lets a test see and spoil what go-redis sends.
type hooks struct {
	reply  func(redis.Cmder)              // after each single command
	report func(cmds []redis.Cmder) error // before each pipeline; an error is answered instead
}

func (h hooks) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hooks) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if h.reply != nil {
			h.reply(cmd)
		}
		return err
	}
}

func (h hooks) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if !reports(cmds) {
			return next(ctx, cmds)
		}
		if err := h.report(cmds); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(ctx, cmds)
	}
}

// reports says whether a pipeline tells Redis of usage, and not of the heartbeat.
func reports(cmds []redis.Cmder) bool {
	return slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return cmd.Name() == "hincrby" })
}

func TestAFailedReportIsAddedToTheNextOne(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	reader := newWorld(t, addr, prefix)
	w.install(definition("b", 10, 1, time.Hour))
	var sent atomic.Int32
	w.rdb.AddHook(hooks{report: func([]redis.Cmder) error {
		if sent.Add(1) <= 2 {
			return errors.New("refused by the test")
		}
		return nil
	}})
	for range 3 {
		w.acquire("b")
	}
	testenv.Eventually(t, 10*time.Second, "a report fails", func() bool { return sent.Load() == 1 })
	for range 9 {
		w.acquire("b")
	}
	reader.reported("b", "checkout", bucket.Usage{Granted: 10, Limited: 2})
	if sent.Load() < 3 {
		t.Fatalf("only %d reports were sent", sent.Load())
	}
}

// Whoever reads the usage once a second sees what was used in whole seconds of Redis time, so no second shows more than
// its own figures. The hook sees the times of Redis in the replies, and each report before it is sent.
func TestAReportHoldsWholeSecondsOfRedisTime(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix, client.WithHooks())
	w.install(definition("b", 1_000_000, 1_000_000, time.Second))
	var mu sync.Mutex
	var decided []int64 // Redis times in µs
	var sent, reported int64
	var over bool             // what Close reports are not whole seconds
	const straggling = 50_000 // µs before the end of a second in which a reply may be too late for its report
	w.rdb.AddHook(hooks{
		reply: func(cmd redis.Cmder) {
			script, ok := cmd.(interface{ Val() any })
			if !ok {
				return
			}
			if reply, ok := script.Val().([]any); ok && len(reply) == 9 {
				mu.Lock()
				defer mu.Unlock()
				decided = append(decided, reply[1].(int64))
			}
		},
		report: func(cmds []redis.Cmder) error {
			mu.Lock()
			defer mu.Unlock()
			if over {
				return nil
			}
			for _, cmd := range cmds {
				if args := cmd.Args(); args[0] == "hincrby" {
					reported += args[3].(int64)
				}
			}
			second := decided[len(decided)-1] / 1e6
			var atMost, atLeast int64
			for _, now := range decided {
				if now/1e6 < second {
					atMost++
				}
				if now < second*1e6-straggling {
					atLeast++
				}
			}
			if reported < atLeast || reported > atMost {
				t.Errorf("reported %d in second %d, of which %d..%d were used before it", reported, second, atLeast, atMost)
			}
			sent++
			return nil
		},
	})
	testenv.Eventually(t, 30*time.Second, "four reports were sent", func() bool {
		w.acquire("b")
		mu.Lock()
		defer mu.Unlock()
		over = sent >= 4
		return over
	})
}
