package client_test

import (
	"fmt"
	"testing"
	"time"

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
