package client_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// beating is how often clients of these tests beat.
const beating = 50 * time.Millisecond

// shared are buckets of policy local that hold 8 permits, or slots.
func shared() []bucket.Definition {
	permits, slots := definition("permits", 8, 1, time.Hour), leased("slots", 8, time.Minute)
	permits.OnFailure, slots.OnFailure = bucket.FailLocal, bucket.FailLocal
	return []bucket.Definition{permits, slots}
}

// instances are the live clients that Redis knows.
func (w *world) instances() []bucket.Instance {
	w.t.Helper()
	all, err := w.engine.Instances(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// share is what a client grants of the two buckets while Redis is away.
func (w *world) share() (permits, slots int) {
	w.t.Helper()
	for w.acquire("permits").Allowed {
		permits++
	}
	for {
		l, _ := w.enter("slots")
		if l == nil {
			return permits, slots
		}
		slots++
	}
}

func TestWhileRedisIsAwayEachLiveClientEnforcesItsShare(t *testing.T) {
	server := testenv.OwnRedis(t)
	var all []*world
	for range 4 {
		all = append(all, newHasty(t, server, client.BeatEvery(beating)))
	}
	for _, d := range shared() {
		all[0].install(d)
	}
	for _, w := range all {
		if err := w.c.Preload(t.Context(), "permits", "slots"); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Eventually(t, 10*time.Second, "all four beat", func() bool { return len(all[0].instances()) == 4 })
	// One ends, so three are left; and one more has nothing to do with these buckets.
	if err := all[3].c.Close(); err != nil {
		t.Fatal(err)
	}
	stranger := newHasty(t, server, client.BeatEvery(beating))
	stranger.install(definition("other", 1, 1, time.Hour))
	stranger.acquire("other")
	testenv.Eventually(t, 10*time.Second, "the stranger beats", func() bool { return len(all[0].instances()) == 4 })
	seen := all[0].redisNow()
	testenv.Eventually(t, 10*time.Second, "all have beaten since", func() bool {
		return !slices.ContainsFunc(all[0].instances(), func(i bucket.Instance) bool { return !i.Seen.After(seen) })
	})
	server.Stop()
	for i, w := range all[:3] {
		if permits, slots := w.share(); permits != 2 || slots != 2 {
			t.Errorf("client %d granted %d permits and %d slots of a third of 8 each", i, permits, slots)
		}
	}
}

// A client that crashed beats no more, and 15 s later the others share what it had.
func TestACrashedClientStopsCounting(t *testing.T) {
	mini := testenv.Mini(t)
	now := time.Unix(1_700_000_000, 0)
	mini.SetTime(now)
	w := connect(t, mini.Addr(), client.DefaultPrefix, []client.Option{client.BeatEvery(beating)})
	for _, d := range shared() {
		w.install(d)
	}
	if err := w.c.Preload(t.Context(), "permits", "slots"); err != nil {
		t.Fatal(err)
	}
	// What the other one told before it crashed.
	if _, err := w.engine.Beat(t.Context(), bucket.Instance{ID: "crashed", App: "checkout"}, []string{"permits", "slots"}); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "both are listed", func() bool { return len(w.instances()) == 2 })
	beats := func() {
		seen := mineOf(t, w).Uptime
		testenv.Eventually(t, 10*time.Second, "it has beaten again", func() bool { return mineOf(t, w).Uptime > seen })
	}
	beats()
	mini.SetError("away")
	if d := w.acquire("permits", client.Permits(5)); d.Outcome != client.Limited || d.Source != client.SourceLocal {
		t.Errorf("more than half while two are live: %+v", d)
	}
	mini.SetError("")
	mini.SetTime(now.Add(bucket.LiveFor + time.Second))
	beats()
	mini.SetError("away")
	if permits, slots := w.share(); permits != 8 || slots != 8 {
		t.Errorf("the only live client granted %d permits and %d slots of 8 each", permits, slots)
	}
}

// Right after an outage not everybody has beaten again. Should Redis fail once more, the limit is still divided by all.
func TestAfterAnOutageAllThatWereLiveShareUntilTheyHadTimeToBeat(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server, client.BeatEvery(beating))
	permits := shared()[0]
	w.install(permits)
	if err := w.c.Preload(t.Context(), "permits"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Beat(t.Context(), bucket.Instance{ID: "other", App: "checkout"}, []string{"permits"}); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "both are counted", func() bool { return w.c.Stats().Buckets["permits"].Live == 2 })
	server.Stop()
	openBreaker(w, "permits")
	server.Start(t)
	testenv.Eventually(t, 10*time.Second, "it beats again, alone", func() bool { return len(w.instances()) == 1 })
	seen := w.redisNow()
	testenv.Eventually(t, 10*time.Second, "and once more", func() bool { return w.instances()[0].Seen.After(seen) })
	if live := w.c.Stats().Buckets["permits"].Live; live != 2 {
		t.Errorf("%d share the limit", live)
	}
}

// mineOf is what the only client that beats told of itself last.
func mineOf(t *testing.T, w *world) bucket.Instance {
	t.Helper()
	all := w.instances()
	i := slices.IndexFunc(all, func(i bucket.Instance) bool { return i.ID != "crashed" })
	if i < 0 {
		t.Fatalf("no client is listed: %+v", all)
	}
	return all[i]
}

func TestTheConsoleSeesWhoIsThereAndByWhichRevisionsTheyDecide(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix, client.BeatEvery(beating))
		billing := w.client("billing", client.Prefix(prefix), client.BeatEvery(beating))
		idle := w.client("idle", client.Prefix(prefix), client.BeatEvery(beating))
		d := definition("a", 5, 1, time.Hour)
		w.install(d)
		w.install(definition("b", 5, 1, time.Hour))
		w.acquire("a")
		w.acquire("b")
		if _, err := billing.Acquire(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if _, err := idle.Acquire(t.Context(), "no-such-bucket"); err != nil {
			t.Fatal(err)
		}
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		d.Revision = 7
		w.install(d)
		w.acquire("a")
		testenv.Eventually(t, 10*time.Second, "both that use buckets are listed, by the latest revisions", func() bool {
			all := w.instances()
			return len(all) == 2 && all[0].App == "billing" && all[0].Buckets["b"] == 1 && len(all[0].Buckets) == 1 &&
				all[1].App == "checkout" && all[1].Buckets["a"] == 7 && all[1].Buckets["b"] == 1 &&
				all[0].Host == host && all[0].ID != all[1].ID && !all[0].Seen.IsZero() && all[1].Uptime < time.Minute
		})
		for _, c := range []*client.Client{w.c, idle} {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if all := w.instances(); len(all) != 1 || all[0].App != "billing" {
			t.Errorf("after Close: %+v", all)
		}
	})
}
