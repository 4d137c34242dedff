package topology_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/demand"
)

// fleet is a topology that survives its master.
type fleet struct {
	w        *world
	master   func() *testenv.RedisServer // of bucket "b"
	replicas func() []*testenv.RedisServer
	near     func(name string) string // a bucket of a name that begins so, which the same master has
}

// onFleets runs a test on Sentinel and on Cluster.
func onFleets(t *testing.T, test func(t *testing.T, f fleet)) {
	t.Run("sentinel", func(t *testing.T) {
		s := testenv.Sentinel(t)
		test(t, fleet{
			w:      at(t, s.Client(t), hasty),
			master: func() *testenv.RedisServer { return s.Master(t) }, replicas: func() []*testenv.RedisServer { return s.Replicas(t) },
			near: func(name string) string { return name },
		})
	})
	t.Run("cluster", func(t *testing.T) {
		c := testenv.Cluster(t)
		slot := c.Slot(t, "{b}")
		test(t, fleet{
			w:        at(t, c.Client(t), hasty),
			master:   func() *testenv.RedisServer { return c.MasterOf(t, slot) },
			replicas: func() []*testenv.RedisServer { return c.ReplicasOf(t, c.MasterOf(t, slot)) },
			near: func(name string) string {
				for i := 0; ; i++ {
					full := fmt.Sprintf("%s-%d", name, i)
					if c.MasterOf(t, c.Slot(t, "{"+full+"}")) == c.MasterOf(t, slot) {
						return full
					}
				}
			},
		})
	})
}

// Replication is asynchronous, so a replica that takes over may not know of the last permits taken, and grants them
// once more. The bound: what is lost is at most the state of one bucket, which can never be worth more than a full one.
// So a failover lets a bucket grant at most max_permits more than its limit allows (max_permits plus the refill since),
// and with replication alive it is the permits of the last milliseconds. Policy answers meanwhile, within the deadline,
// and calls come back without anybody doing anything.
func TestAMasterKilledUnderLoadCostsAtMostMaxPermits(t *testing.T) {
	onFleets(t, func(_ *testing.T, f fleet) {
		f.failUnderLoad(func(master *testenv.RedisServer) { master.Stop() }, func(*testenv.RedisServer) {})
	})
}

// A master that hangs still has its connections, and when it goes on it may believe for a moment that it is the master,
// and runs what was sent to it meanwhile. What callers are granted stays within the same bound.
func TestAMasterThatHangsUnderLoadAndGoesOnLaterCostsAtMostMaxPermits(t *testing.T) {
	onFleets(t, func(t *testing.T, f fleet) {
		f.failUnderLoad(
			func(master *testenv.RedisServer) { master.Pause(t) },
			func(master *testenv.RedisServer) {
				master.Resume(t)
				rdb := standalone(t, master.Addr)
				testenv.Eventually(t, comeback, "the former master has become a replica", func() bool {
					return strings.Contains(rdb.Info(t.Context(), "replication").Val(), "role:slave")
				})
			})
	})
}

// failUnderLoad lets the master of a bucket under load fail, waits until Redis decides again, and lets whatever comes
// then happen under load too.
func (f fleet) failUnderLoad(fail, then func(master *testenv.RedisServer)) {
	t := f.w.t
	t.Helper()
	const maxPermits = 20_000
	f.w.install(shared("b", maxPermits, 1, time.Hour)) // hardly any refill, so that excess shows
	began := time.Now()
	load := demand.Start(t, 8, 4*time.Millisecond, func(int) (client.Decision, error) { return f.w.c.Acquire(t.Context(), "b") })
	testenv.Eventually(t, comeback, "a good part is granted", func() bool { return maxPermits-f.w.remaining("b") > 500 })
	load.Look()
	master := f.master()
	fail(master)
	testenv.Eventually(t, comeback, "policy answers", func() bool { return load.Look().Unavailable > 0 })
	t.Logf("Redis decided again %v after policy had begun to answer", load.ComesBack(t))
	then(master)
	load.ComesBack(t)
	load.GoOn(t, 1000)
	r := load.Quick(t, "b", hasty)
	granted := r.Granted + f.w.remaining("b") // as if the rest were taken too
	refill := int64(time.Since(began)/time.Hour) + 1
	excess := granted - maxPermits
	t.Logf("%d over the limit of %d; the bound is %d", max(excess, 0), maxPermits, maxPermits+refill)
	if excess > maxPermits+refill {
		t.Errorf("a failover granted %d over the limit", excess)
	}
	if lost := -excess - r.Uncertain; lost > 0 {
		t.Errorf("%d permits were taken and granted to nobody", lost)
	}
}

// A failover that was planned (CLUSTER FAILOVER, as before maintenance) hands the state over: nothing is granted twice,
// and nothing is lost.
func TestAPlannedFailoverOfAClusterIsExact(t *testing.T) {
	c := testenv.Cluster(t)
	w := at(t, c.Client(t), patient)
	const maxPermits = 20_000
	w.install(shared("b", maxPermits, 1, time.Hour))
	slot := c.Slot(t, "{b}")
	load := demand.Start(t, 8, 4*time.Millisecond, func(int) (client.Decision, error) { return w.c.Acquire(t.Context(), "b") })
	load.GoOn(t, 1000)
	heir := c.ReplicasOf(t, c.MasterOf(t, slot))[0]
	if err := c.Admin(heir).ClusterFailover(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, comeback, "the replica has taken over", func() bool { return c.MasterOf(t, slot) == heir })
	testenv.Eventually(t, comeback, "the former master follows it", func() bool { return len(c.ReplicasOf(t, heir)) == 1 })
	load.GoOn(t, 1000)
	r := load.Quick(t, "b", patient)
	if sum := r.Granted + w.remaining("b"); sum > maxPermits+1 || sum < maxPermits-r.Uncertain {
		t.Errorf("%d granted and remaining of %d, %d uncertain", sum, maxPermits, r.Uncertain)
	}
}

// The worst case of the bound above, made on purpose: no replica learns of any permit taken, the master dies, and what
// takes over starts from the full bucket. Even so no more than max_permits come on top.
func TestAFailoverThatLostEveryGrantCostsExactlyMaxPermitsAtMost(t *testing.T) {
	onFleets(t, func(t *testing.T, f fleet) {
		const maxPermits = 50
		f.w.install(shared("b", maxPermits, 1, time.Hour))
		master, replicas := f.master(), f.replicas()
		for _, r := range replicas {
			testenv.Eventually(t, comeback, "the replica has the definition", func() bool {
				return standalone(t, r.Addr).DBSize(t.Context()).Val() > 0
			})
			r.Pause(t)
		}
		master.CutReplicas(t)
		granted := f.drain(2 * maxPermits)
		if granted != maxPermits {
			t.Fatalf("before the failover %d of %d were granted", granted, maxPermits)
		}
		master.Stop()
		for _, r := range replicas {
			r.Resume(t)
		}
		testenv.Eventually(t, comeback, "Redis decides again", func() bool {
			d := f.w.acquire("b")
			if d.Outcome == client.Granted {
				granted++
			}
			return d.Source == client.SourceRedis
		})
		granted += f.drain(2 * maxPermits)
		t.Logf("granted %d over the limit of %d", granted-maxPermits, maxPermits)
		if excess := granted - maxPermits; excess > maxPermits+1 {
			t.Errorf("a failover granted %d over the limit of %d", excess, maxPermits)
		}
	})
}

// drain makes so many calls one after the other and returns how many Redis granted.
func (f fleet) drain(calls int) (granted int) {
	f.w.t.Helper()
	for range calls {
		if d := f.w.acquire("b"); d.Outcome == client.Granted {
			granted++
		}
	}
	return granted
}

// While the master is gone, each bucket is answered by its own policy: open lets through, closed does not, local admits
// this process's share of what was left.
func TestPoliciesAnswerDuringAFailover(t *testing.T) {
	onFleets(t, func(t *testing.T, f fleet) {
		const maxPermits = 30
		tallies := map[string]*demand.Tally{bucket.FailOpen: {}, bucket.FailClosed: {}, bucket.FailLocal: {}}
		names := map[string]string{}
		for policy := range tallies {
			names[policy] = f.near(policy)
			d := shared(names[policy], maxPermits, 1, time.Hour)
			d.OnFailure = policy
			f.w.install(d)
			wants(t, f.w.acquire(d.Name), client.Granted, true)
		}
		f.master().Stop()
		for policy, r := range tallies {
			for range 2 * maxPermits {
				began := time.Now()
				d, err := f.w.c.Acquire(t.Context(), names[policy])
				r.Note(d, err, time.Since(began))
			}
		}
		if r := tallies[bucket.FailOpen]; r.Unavailable == 0 || r.Allowed != r.Unavailable {
			t.Errorf("open: %+v", *r)
		}
		if r := tallies[bucket.FailClosed]; r.Unavailable == 0 || r.Allowed != 0 {
			t.Errorf("closed: %+v", *r)
		}
		if r := tallies[bucket.FailLocal]; r.Local == 0 || r.Allowed > maxPermits-1 || r.Allowed == 0 {
			t.Errorf("local: %+v", *r)
		}
	})
}
