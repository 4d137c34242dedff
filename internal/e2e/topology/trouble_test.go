package topology_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/demand"
)

// installPolicies defines a bucket of each failure policy, with a limit that these tests don't reach.
func (w *world) installPolicies() {
	w.t.Helper()
	for _, policy := range []string{bucket.FailOpen, bucket.FailClosed, bucket.FailLocal} {
		d := shared(policy, 1000, 1, time.Hour)
		d.OnFailure = policy
		w.install(d)
	}
}

// followPolicies checks that all three are answered by policy, for a reason that Redis gave in so many words or the
// breaker after it.
func (w *world) followPolicies(reason string) {
	w.t.Helper()
	for range 5 {
		for policy, outcome := range map[string]client.Outcome{
			bucket.FailOpen: client.Unavailable, bucket.FailClosed: client.Unavailable, bucket.FailLocal: client.Granted,
		} {
			d := w.acquire(policy)
			wants(w.t, d, outcome, policy != bucket.FailClosed)
			if d.Err == nil || !strings.Contains(d.Err.Error(), reason) && !strings.Contains(d.Err.Error(), client.ErrBreakerOpen.Error()) {
				w.t.Fatalf("%s: %v, want %s", policy, d.Err, reason)
			}
		}
	}
}

// decidesAgain waits until Redis decides on all three.
func (w *world) decidesAgain() {
	w.t.Helper()
	for _, policy := range []string{bucket.FailOpen, bucket.FailClosed, bucket.FailLocal} {
		testenv.Eventually(w.t, comeback, "Redis decides on "+policy, func() bool {
			return w.acquire(policy).Source == client.SourceRedis
		})
	}
}

// A client that is connected to what became a replica follows the policies, and takes no permit, until the replica is a
// master again.
func TestPoliciesAnswerOnAReadOnlyReplica(t *testing.T) {
	master, server := testenv.OwnRedis(t), testenv.OwnRedis(t)
	rdb := standalone(t, server.Addr)
	w := at(t, rdb, patient)
	w.installPolicies()
	host, port, _ := strings.Cut(master.Addr, ":")
	source := at(t, standalone(t, master.Addr), patient)
	source.installPolicies()
	if err := rdb.ReplicaOf(t.Context(), host, port).Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, comeback, "the replica refuses writes", func() bool {
		d := w.acquire(bucket.FailClosed)
		return d.Err != nil && strings.Contains(d.Err.Error(), "READONLY")
	})
	w.followPolicies("READONLY")
	if left := source.remaining(bucket.FailClosed); left != 1000 {
		t.Errorf("%d left at the master", left)
	}
	if err := rdb.ReplicaOf(t.Context(), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	w.decidesAgain()
}

// While Redis loads its data it has no verdict; it decides again by itself, on the state that was saved.
func TestPoliciesAnswerWhileRedisLoadsItsData(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := standalone(t, server.Addr)
	w := at(t, rdb, hasty)
	w.installPolicies()
	for range 10 {
		wants(t, w.acquire(bucket.FailClosed), client.Granted, true)
	}
	server.Fill(t, 20_000)
	if err := rdb.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	server.StartLoading(t)
	testenv.Eventually(t, comeback, "the client sees LOADING", func() bool {
		d := w.acquire(bucket.FailClosed)
		return d.Err != nil && strings.Contains(d.Err.Error(), "LOADING")
	})
	w.followPolicies("LOADING")
	server.FinishLoading(t)
	w.decidesAgain()
	if left := w.remaining(bucket.FailClosed); left > 990 {
		t.Errorf("%d left after ten were taken before", left)
	}
}

// Out of memory, Redis can't note what it grants, so it grants nothing; once there is memory it goes on where it was.
func TestPoliciesAnswerWhileRedisIsOutOfMemory(t *testing.T) {
	rdb := standalone(t, testenv.OwnRedis(t).Addr)
	w := at(t, rdb, patient)
	w.installPolicies()
	wants(t, w.acquire(bucket.FailClosed), client.Granted, true)
	if err := rdb.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	w.followPolicies("OOM")
	if err := rdb.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
		t.Fatal(err)
	}
	w.decidesAgain()
	if left := w.remaining(bucket.FailClosed); left != 998 {
		t.Errorf("%d left after two were taken", left)
	}
}

// A server that forgets the scripts, again and again and under load, gets them again: no call notices.
func TestForgottenScriptsAreLoadedAgainUnderLoad(t *testing.T) {
	t.Run("standalone", func(t *testing.T) {
		rdb := standalone(t, testenv.OwnRedis(t).Addr)
		forgetScripts(t, at(t, rdb, patient), rdb)
	})
	t.Run("cluster", func(t *testing.T) {
		c := testenv.Cluster(t, testenv.ClusterReplicas(0))
		var masters []*redis.Client
		for _, s := range c.Masters(t) {
			masters = append(masters, c.Admin(s))
		}
		forgetScripts(t, at(t, c.Client(t), patient), masters...)
	})
}

func forgetScripts(t *testing.T, w *world, servers ...*redis.Client) {
	const buckets, callers, maxPermits = 30, 60, 100_000
	for i := range buckets {
		w.install(shared(fmt.Sprint("b", i), maxPermits, 1, time.Minute))
	}
	load := demand.Start(t, callers, 5*time.Millisecond, func(caller int) (client.Decision, error) {
		return w.c.Acquire(t.Context(), fmt.Sprint("b", caller%buckets))
	})
	for range 40 {
		for _, s := range servers {
			if err := s.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		load.GoOn(t, 50)
	}
	r := load.Quick(t, "b", patient)
	if r.Granted != r.Calls {
		t.Errorf("%d of %d calls were granted: %v", r.Granted, r.Calls, r.Reasons)
	}
	var left int64
	for i := range buckets {
		left += w.remaining(fmt.Sprint("b", i))
	}
	if taken := buckets*maxPermits - left; taken > r.Granted || taken < r.Granted-buckets {
		t.Errorf("%d granted, but %d taken", r.Granted, taken)
	}
}
