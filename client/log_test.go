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

const (
	logAway       = "Redis does not answer"
	logBack       = "Redis answers again"
	logUnreported = "usage could not be reported"
	logReported   = "usage is reported again"
	logLeaseLost  = "leases were lost"
	logNoBeat     = "heartbeats fail"
	logBeats      = "heartbeats arrive again"
)

// However many calls are made meanwhile, an outage is a line when it begins and one when it ends, and a lost lease is one.
func TestEachChangeOfStateIsLoggedOnceAndCallsNever(t *testing.T) {
	server, log := testenv.OwnRedis(t), &lines{}
	w := newHasty(t, server, client.WithLogger(log.logger()))
	slots := definition("slots", 1, 1, time.Second)
	slots.Algorithm = bucket.Concurrency
	for _, d := range []bucket.Definition{definition("b", 1000, 1, time.Hour), definition("small", 1, 1, time.Hour), slots} {
		w.install(d)
	}
	testenv.Eventually(t, 20*time.Second, "Redis decides", func() bool { return w.acquire("b").Source == client.SourceRedis })
	lease, _, err := w.c.Enter(t.Context(), "slots")
	if err != nil || lease == nil {
		t.Fatalf("Enter: %v", err)
	}
	for range 100 {
		w.acquire("b")
		w.acquire("small")
		w.acquire("nowhere")
	}
	if log.String() != "" {
		t.Errorf("calls are logged: %s", log)
	}
	server.Stop()
	testenv.Eventually(t, 20*time.Second, "the outage is logged", func() bool { w.acquire("b"); return log.count(logAway) > 0 })
	for range 1000 {
		w.acquire("b")
	}
	testenv.Eventually(t, 20*time.Second, "the lost lease is logged", func() bool { return log.count(logLeaseLost) > 0 })
	server.Start(t)
	testenv.Eventually(t, 20*time.Second, "the end of the outage is logged", func() bool { w.acquire("b"); return log.count(logBack) > 0 })
	for part, most := range map[string]int{logAway: 1, logBack: 1, logLeaseLost: 1, logUnreported: 1, logReported: 1, logNoBeat: 1, logBeats: 1} {
		if n := log.count(part); n > most {
			t.Errorf("%q is logged %d times", part, n)
		}
	}
	if n := log.count(); n > 7 {
		t.Errorf("%d lines:\n%s", n, log)
	}
}

// Where Redis answers but takes neither usage nor heartbeats, as for want of rights, operators are told of each once,
// and once when it does again.
func TestRefusedReportsAndHeartbeatsAreLoggedOnce(t *testing.T) {
	server, log := testenv.OwnRedis(t), &lines{}
	root := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = root.Close() })
	may := func(rules ...any) {
		if err := root.Do(t.Context(), append([]any{"acl", "setuser", "app", "on", ">secret", "~*", "+@all"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	may("-hincrby", "-hset")
	w := newHasty(t, server)
	w.install(definition("b", 1000, 1, time.Hour))
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, Username: "app", Password: "secret"})
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := client.New(rdb, "checkout", client.WithLogger(log.logger()), client.BeatEvery(50*time.Millisecond), client.WithDeadline(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	acquire := func() {
		if d, err := c.Acquire(context.Background(), "b"); err != nil || d.Source != client.SourceRedis {
			t.Errorf("%+v, %v", d, err)
		}
	}
	acquire()
	testenv.Eventually(t, 20*time.Second, "both are logged", func() bool { return log.count(logUnreported) > 0 && log.count(logNoBeat) > 0 })
	refused := func(command string) (times int64) {
		entries, err := root.ACLLog(t.Context(), 100).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Object == command {
				times += e.Count
			}
		}
		return times
	}
	testenv.Eventually(t, 20*time.Second, "more are tried", func() bool {
		acquire()
		return refused("hset") > 3 && refused("hincrby") > 3
	})
	may()
	testenv.Eventually(t, 20*time.Second, "the end of both is logged", func() bool { return log.count(logReported) > 0 && log.count(logBeats) > 0 })
	for _, part := range []string{logUnreported, logNoBeat, logReported, logBeats} {
		if n := log.count(part); n != 1 {
			t.Errorf("%q is logged %d times", part, n)
		}
	}
}
