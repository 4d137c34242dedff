package topology_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/demand"
)

// throughProxy connects a client to a server of the test's own over a network that can be harmed, and puts it under
// load on bucket "b".
func throughProxy(t *testing.T, maxPermits int64) (w *world, proxy *testenv.NetProxy, load *demand.Demand) {
	t.Helper()
	server := testenv.OwnRedis(t)
	proxy = testenv.Proxy(t, server.Addr)
	w = at(t, standalone(t, proxy.Addr), hasty)
	w.install(shared("b", maxPermits, 1, time.Hour))
	load = demand.Start(t, 10, 2*time.Millisecond, func(int) (client.Decision, error) { return w.c.Acquire(t.Context(), "b") })
	testenv.Eventually(t, comeback, "Redis decides", func() bool { return load.Look().Granted > 0 })
	return w, proxy, load
}

// A slow network is no failure as long as replies come within the deadline.
func TestASlowNetworkWithinTheDeadlineChangesNoDecision(t *testing.T) {
	w, proxy, load := throughProxy(t, 50_000)
	proxy.Delay(t, hasty/6)
	load.Look()
	var slow demand.Tally
	testenv.Eventually(t, comeback, "calls over the slow network", func() bool {
		r := load.Look()
		slow.Granted += r.Granted
		slow.Unavailable += r.Unavailable
		return slow.Granted > 300
	})
	if slow.Unavailable > slow.Granted/20 { // a busy machine may hold some up
		t.Errorf("%d calls were unavailable beside %d granted: %v", slow.Unavailable, slow.Granted, load.Stop().Reasons)
	}
	load.Quick(t, "b", hasty)
	proxy.Heal(t)
	w.remaining("b")
}

// Whatever the network does, no call outlasts the deadline, policy answers, and calls come back by themselves once it
// is healed. A call that was cut off may have taken its permits or not, but no permit is ever granted twice.
func TestNetworkFaultsNeitherHoldCallsNorDoublePermits(t *testing.T) {
	faults := map[string]struct {
		begin, end func(*testing.T, *testenv.NetProxy)
	}{
		"replies come too late": {func(t *testing.T, p *testenv.NetProxy) { p.Delay(t, 3*hasty) }, heal},
		"replies are lost":      {func(t *testing.T, p *testenv.NetProxy) { p.LoseReplies(t) }, heal},
		"requests are lost":     {func(t *testing.T, p *testenv.NetProxy) { p.LoseRequests(t) }, heal},
		"replies are cut":       {func(t *testing.T, p *testenv.NetProxy) { p.CutReplies(t, 1000) }, heal}, // after some whole ones
		"connections are refused": {
			func(_ *testing.T, p *testenv.NetProxy) { p.Close() },
			func(t *testing.T, p *testenv.NetProxy) { p.Reopen(t) },
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			const maxPermits = 50_000
			w, proxy, load := throughProxy(t, maxPermits)
			fault.begin(t, proxy)
			var harmed int64 // enough that every caller met the fault more than once
			testenv.Eventually(t, comeback, "policy answers", func() bool {
				harmed += load.Look().Unavailable
				return harmed > 100
			})
			fault.end(t, proxy)
			t.Logf("back after %v", load.ComesBack(t))
			r := load.Quick(t, "b", hasty)
			if sum := r.Granted + w.remaining("b"); sum > maxPermits+1 || sum < maxPermits-r.Uncertain {
				t.Errorf("%d granted and remaining of %d, %d uncertain", sum, maxPermits, r.Uncertain)
			}
		})
	}
}

func heal(t *testing.T, p *testenv.NetProxy) { p.Heal(t) }

// A master that dies or hangs takes the buckets of its slots with it, and no others: where the cluster is set to go on
// with what is left, calls on the other masters are decided all along, though most of the demand is for the one that is
// away.
func TestOneMasterAwayFromAClusterTakesOnlyItsBucketsWithIt(t *testing.T) {
	for name, fail := range map[string]func(*testing.T, *testenv.RedisServer){
		"dead":    func(_ *testing.T, s *testenv.RedisServer) { s.Stop() },
		"hanging": func(t *testing.T, s *testenv.RedisServer) { s.Pause(t) },
	} {
		t.Run(name, func(t *testing.T) {
			c := testenv.Cluster(t, testenv.ClusterReplicas(0), testenv.ClusterPartial())
			w := at(t, c.Client(t), hasty)
			away := c.Masters(t)[0]
			lost, kept := onAndOff(t, c, away)
			w.install(shared(lost, 1_000_000, 1000, time.Second), shared(kept, 1_000_000, 1000, time.Second))
			onLost := demand.Start(t, 20, 4*time.Millisecond, func(int) (client.Decision, error) { return w.c.Acquire(t.Context(), lost) })
			onKept := demand.Start(t, 4, 4*time.Millisecond, func(int) (client.Decision, error) { return w.c.Acquire(t.Context(), kept) })
			fail(t, away)
			testenv.Eventually(t, comeback, "policy answers for the master that is away", func() bool { return onLost.Look().Unavailable > 0 })
			onKept.Look()
			onKept.GoOn(t, 1500)
			r := onKept.Look()
			onLost.Quick(t, "lost", hasty)
			onKept.Quick(t, "kept", hasty)
			if r.Unavailable > r.Granted/20 {
				t.Errorf("with one of three masters away, %d calls on the others were unavailable and %d granted", r.Unavailable, r.Granted)
			}
		})
	}
}

// onAndOff names a bucket that a master has, and one that it has not.
func onAndOff(t *testing.T, c *testenv.RedisCluster, master *testenv.RedisServer) (on, off string) {
	t.Helper()
	for i := 0; on == "" || off == ""; i++ {
		name := fmt.Sprint("b", i)
		if c.MasterOf(t, c.Slot(t, "{"+name+"}")) == master {
			on = name
		} else {
			off = name
		}
	}
	return on, off
}
