package topology_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

// trips runs work and returns how many script calls and how many round trips the servers saw meanwhile. What the client
// reports on the side is among the round trips: a few a second.
func trips(t *testing.T, servers []*redis.Client, work func()) (scripts, reads int64) {
	t.Helper()
	for _, s := range servers {
		scripts -= testenv.ScriptCalls(t, s)
		reads -= testenv.Reads(t, s) + 2 // the two questions themselves
	}
	work()
	for _, s := range servers {
		scripts += testenv.ScriptCalls(t, s)
		reads += testenv.Reads(t, s)
	}
	return scripts, reads
}

// onServers runs a test on one server and on a cluster, with a connection to each master.
func onServers(t *testing.T, test func(t *testing.T, w *world, masters []*redis.Client)) {
	t.Run("standalone", func(t *testing.T) {
		server := testenv.OwnRedis(t)
		test(t, at(t, standalone(t, server.Addr), patient), []*redis.Client{standalone(t, server.Addr)})
	})
	t.Run("cluster", func(t *testing.T) {
		c := testenv.Cluster(t, testenv.ClusterReplicas(0))
		var masters []*redis.Client
		for _, s := range c.Masters(t) {
			masters = append(masters, c.Admin(s))
		}
		test(t, at(t, c.Client(t), patient), masters)
	})
}

// together makes calls from many goroutines, each a few in a row, and checks that every one is granted.
func together(w *world, callers, rounds int, call func(caller, round int) (client.Decision, error)) {
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for round := range rounds {
				if d, err := call(caller, round); err != nil || d.Outcome != client.Granted || d.Source != client.SourceRedis {
					w.t.Errorf("%+v, %v", d, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// Concurrent callers with a key each travel together: a thousand at a time cost far fewer script calls, and fewer round
// trips still, than one each.
func TestDistinctKeysTravelInFewRoundTrips(t *testing.T) {
	onServers(t, func(t *testing.T, w *world, masters []*redis.Client) {
		const callers, rounds = 1000, 10
		d := keyed("each", 1, 1, time.Hour)
		d.Shards = len(masters)
		w.install(d)
		scripts, reads := trips(t, masters, func() {
			together(w, callers, rounds, func(caller, round int) (client.Decision, error) {
				return w.c.Acquire(t.Context(), "each", client.Key(fmt.Sprintf("user:%d:%d", caller, round)))
			})
		})
		t.Logf("%d calls, %d script calls, %d round trips", callers*rounds, scripts, reads)
		if scripts > callers*rounds/10 || reads > callers*rounds/10 {
			t.Errorf("%d calls took %d script calls and %d round trips", callers*rounds, scripts, reads)
		}
	})
}

// Calls on thousands of buckets at once, each with keys of its own in Redis, still travel in few round trips.
func TestThousandsOfBucketsTravelInFewRoundTrips(t *testing.T) {
	onServers(t, func(t *testing.T, w *world, masters []*redis.Client) {
		const buckets, rounds = 2000, 5
		for i := range buckets {
			w.install(shared(fmt.Sprint("b", i), rounds, 1, time.Hour))
		}
		scripts, reads := trips(t, masters, func() {
			together(w, buckets, rounds, func(caller, _ int) (client.Decision, error) {
				return w.c.Acquire(t.Context(), fmt.Sprint("b", caller))
			})
		})
		t.Logf("%d calls, %d script calls, %d round trips", buckets*rounds, scripts, reads)
		if reads > buckets*rounds/10 {
			t.Errorf("%d calls took %d round trips (%d script calls)", buckets*rounds, reads, scripts)
		}
	})
}
