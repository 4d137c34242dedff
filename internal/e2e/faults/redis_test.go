package faults_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// A Redis that is flushed gets its definitions back, and their permits start from empty: nothing is granted twice, but of
// the bucket that is to start full.
func TestFlushedRedisGrantsNothingTwiceAndGetsEverythingBack(t *testing.T) {
	t.Parallel()
	g, _ := onOwnRedis(t)
	w := newWorld(t, g, 1)
	w.drained()
	must(t, w.own.FlushAll(t.Context()).Err())
	w.load[stream].Notices(t)
	w.goesOn()
	w.settle(excess{burst: 1})
}

// A Redis that is killed and has nothing on disk is the same. Edits made meanwhile arrive when it is back.
func TestKilledRedisWithoutPersistenceGrantsNothingTwice(t *testing.T) {
	t.Parallel()
	g, server := onOwnRedis(t)
	w := newWorld(t, g, 1)
	w.drained()
	server.Stop()
	w.load[stream].Notices(t)
	w.edits.pendingOn(t, 10, w.load[stream].Late())
	server.Start(t)
	w.goesOn()
	w.settle(excess{burst: 1})
}

// With every write on disk a kill loses no state: no bucket grants anything beyond its limit, and none loses a permit.
func TestKilledRedisWithPersistenceGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	g, server := onOwnRedis(t, testenv.RedisDurable())
	w := newWorld(t, g, 1)
	server.Stop()
	w.load[stream].Notices(t)
	w.edits.pendingOn(t, 10, w.load[stream].Late())
	server.Start(t)
	w.goesOn()
	w.drained()
	w.settle(nil)
}

// A Redis that hangs holds nobody up: calls are answered by policy, saves say pending, and when it goes on, it goes on
// where it was, with what was sent to it meanwhile.
func TestHangingRedisHoldsNobodyUpAndLosesNothing(t *testing.T) {
	t.Parallel()
	g, server := onOwnRedis(t)
	w := newWorld(t, g, 1)
	server.Pause(t)
	w.load[stream].Notices(t)
	w.edits.pendingOn(t, 3, w.load[stream].Late())
	server.Resume(t)
	w.goesOn()
	w.drained()
	w.settle(nil)
}

// A Redis that answers later than the applications' deadline takes permits for calls that were answered by policy; it
// grants none twice. Connections that are cut in the middle of a reply are no different.
func TestSlowAndTornConnectionsToRedisGrantNothingTwice(t *testing.T) {
	t.Parallel()
	server := testenv.OwnRedis(t)
	proxy := testenv.Proxy(t, server.Addr)
	w := newWorld(t, onRedis(t, testenv.MySQL(t), proxy.Addr, server.Addr), 1)
	for _, fault := range []func(){
		func() { proxy.Delay(t, 2*hasty) },
		func() { proxy.CutReplies(t, 700) },
		func() { proxy.LoseReplies(t) },
	} {
		fault()
		w.load[stream].Notices(t)
		w.edits.goOn(t, 1)
		proxy.Heal(t)
		w.goesOn()
	}
	w.drained()
	w.settle(nil)
}

// A Redis that evicts gives up what it should not. Definitions that are gone come back and start anew, as after any loss.
// Of state that was evicted alone nothing tells, so each time may cost max_permits once.
func TestEvictionCostsMaxPermitsEachTimeAtMost(t *testing.T) {
	t.Parallel()
	g, _ := onOwnRedis(t)
	w := newWorld(t, g.comparing(), 1)
	w.drained()
	evict := func(policy string) {
		before := w.evicted()
		must(t, w.own.ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
		must(t, w.own.ConfigSet(t.Context(), "maxmemory", "1").Err())
		testenv.Eventually(t, comeback, "Redis has evicted all that it may", func() bool {
			return w.evicted() > before && w.left(policy) == 0
		})
		must(t, w.own.ConfigSet(t.Context(), "maxmemory", "0").Err())
	}
	evict("volatile-random") // state, which has a time to live, and no definition
	w.goesOn()
	evict("allkeys-random")
	w.goesOn()
	// One definition alone: its bucket is begun anew, and the others' are not touched.
	before := w.generation(vault)
	must(t, w.own.Unlink(t.Context(), "headgate:{"+vault+"}").Err())
	testenv.Eventually(t, comeback, "the definition is there again", func() bool { return w.generation(vault) > before })
	w.goesOn()
	w.settle(excess{vault: 1, burst: 2, stream: 1})
}

// generation tells how often the state of a bucket began anew, 0 without a definition.
func (w *world) generation(name string) int64 {
	w.Helper()
	found, err := bucket.New(w.own, "").Read(w.Context(), name)
	must(w.T, err)
	return found[0].Generation
}

func (w *world) evicted() int64 {
	w.Helper()
	info, err := w.own.Info(w.Context(), "stats").Result()
	must(w.T, err)
	_, rest, _ := strings.Cut(info, "evicted_keys:")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	must(w.T, err)
	return n
}

// left counts the keys that a policy may evict and has not.
func (w *world) left(policy string) (n int) {
	w.Helper()
	keys, err := w.own.Keys(w.Context(), "headgate:*").Result()
	must(w.T, err)
	if policy == "allkeys-random" {
		return len(keys)
	}
	for _, key := range keys {
		if w.own.PTTL(w.Context(), key).Val() > time.Second {
			n++
		}
	}
	return n
}
