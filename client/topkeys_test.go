package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// keyed is a bucket of one permit an hour for each key.
func keyed(name string) bucket.Definition {
	d := definition(name, 1, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	return d
}

// Whoever is refused, by Redis or in this process, alone or among others, shows with exactly what was refused as long as
// the keys are few.
func TestTopLimitedNamesTheKeysThatWereRefusedMost(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(keyed("login"))
		for key, calls := range map[string]int{"noisy": 31, "loud": 11, "quiet": 1} { // the first call is granted
			for range calls {
				w.acquire("login", client.Key(key))
			}
		}
		for range 5 {
			if _, err := w.c.AcquireAll(t.Context(), client.Request{Bucket: "login", Key: "loud"}); err != nil {
				t.Fatal(err)
			}
		}
		const want = "[{noisy 30 0} {loud 15 0}]"
		if got := fmt.Sprint(w.c.TopLimited("login", 10)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := fmt.Sprint(w.c.TopLimited("login", 1)); got != "[{noisy 30 0}]" {
			t.Errorf("the first one: %s", got)
		}
	})
}

// Memory stays bounded, and the one that matters is found among thousands that don't.
func TestTopLimitedStaysBoundedAndFindsTheHeavyKey(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(keyed("login"))
	w.acquire("login", client.Key("heavy"))
	for i := range 2000 {
		key := client.Key(fmt.Sprint("k", i))
		w.acquire("login", key)
		w.acquire("login", key)
		w.acquire("login", client.Key("heavy"))
	}
	top := w.c.TopLimited("login", 1000)
	if len(top) > 200 || len(top) < 100 {
		t.Errorf("%d keys", len(top))
	}
	if len(top) == 0 || top[0].Key != "heavy" || top[0].Limited < 2000 || top[0].Limited-top[0].Excess > 2000 {
		t.Errorf("the first is %+v, want heavy with 2000", top[:1])
	}
}

// Leases and the share of policy local count too, shadow mode shows who would be refused, and mode off nobody.
func TestTopLimitedCountsLeasesShadowAndLocalDecisions(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	slots, shadow, off, local := keyed("slots"), keyed("shadow"), keyed("off"), keyed("local")
	slots.Algorithm, slots.Period = bucket.Concurrency, time.Minute
	shadow.Mode, off.Mode, local.OnFailure = bucket.ModeShadow, bucket.ModeOff, bucket.FailLocal
	for _, d := range []bucket.Definition{slots, shadow, off, local, definition("common", 1, 1, time.Hour)} {
		w.install(d)
	}
	for range 3 {
		if _, _, err := w.c.Enter(t.Context(), "slots", client.Key("k")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"shadow", "off", "local", "common"} {
			w.acquire(name, client.Key("k"))
		}
	}
	server.Stop()
	for w.acquire("local", client.Key("k")).Source != client.SourceLocal {
		continue // refused in this process, since Redis just had
	}
	for name, want := range map[string]string{"slots": "[{k 2 0}]", "shadow": "[{k 2 0}]", "off": "[]", "common": "[]", "nowhere": "[]"} {
		if got := fmt.Sprint(w.c.TopLimited(name, 10)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	stats := w.c.Stats().Buckets["local"]
	if got := w.c.TopLimited("local", 10); len(got) != 1 || got[0].Limited != stats.Limited || stats.Local == 0 {
		t.Errorf("local: %+v of %+v", got, stats)
	}
}

// What several processes were refused is summed in Redis, where the console reads it; a report that failed is made again.
func TestRedisIsToldOfTheKeysThatWereLimitedMost(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	one, other := newWorld(t, addr, prefix, client.BeatEvery(50*time.Millisecond)), newWorld(t, addr, prefix, client.BeatEvery(50*time.Millisecond))
	var failed atomic.Bool
	one.rdb.AddHook(limitedHook{&failed})
	one.install(keyed("login"))
	for _, w := range []*world{one, other} {
		for key, calls := range map[string]int{"noisy": 31, "a:b 7:\x00": 11} {
			for range calls {
				w.acquire("login", client.Key(key))
			}
		}
	}
	var got string
	testenv.Eventually(t, 20*time.Second, "Redis has the sums", func() bool {
		now, err := one.engine.Time(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last := now.Unix() / 60
		top, err := one.engine.ReadLimited(t.Context(), "login", last-2, last)
		if err != nil {
			t.Fatal(err)
		}
		got = fmt.Sprintf("%+v", top)
		return len(top) == 2 && top[0].Limited+top[1].Limited == 31+31+11+11-2
	})
	if want := "[{Key:noisy Limited:61 Excess:0} {Key:a:b 7:\x00 Limited:21 Excess:0}]"; got != want || !failed.Load() {
		t.Errorf("got %s, want %s; one report has failed: %v", got, want, failed.Load())
	}
}

// limitedHook lets the first report of limited keys fail.
type limitedHook struct{ failed *atomic.Bool }

func (h limitedHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (h limitedHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h limitedHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "hset" && h.failed.CompareAndSwap(false, true) {
			return errors.New("refused by the test")
		}
		return next(ctx, cmds)
	}
}
