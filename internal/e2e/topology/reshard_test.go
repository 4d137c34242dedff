package topology_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/demand"
)

// other returns a master that a slot is not on.
func other(t *testing.T, c *testenv.RedisCluster, slot int) (from, to *testenv.RedisServer) {
	t.Helper()
	from = c.MasterOf(t, slot)
	for _, s := range c.Masters(t) {
		if s != from {
			return from, s
		}
	}
	t.Fatal("a cluster of one master")
	return nil, nil
}

// While the slots of two buckets move to another master and back under load, every permit that Redis takes is granted
// to exactly one caller: in the end granted and remaining make up the limit, for the bucket and for each key. Where keys
// of one call are at both ends nothing is taken, and the caller is told Unavailable.
func TestReshardingUnderLoadLosesAndDoublesNothing(t *testing.T) {
	c := testenv.Cluster(t, testenv.ClusterReplicas(0))
	w := at(t, c.Client(t), patient)
	const maxPermits, keys, perKey = 20_000, 200, 100
	w.install(shared("all", maxPermits, 1, time.Hour), keyed("each", perKey, 1, time.Hour))

	all := demand.Start(t, 4, 2*time.Millisecond, func(int) (client.Decision, error) { return w.c.Acquire(t.Context(), "all") })
	const callers = 4
	byKey := make([][]int64, callers) // of each caller
	turn := make([]int, callers)
	for i := range byKey {
		byKey[i] = make([]int64, keys)
	}
	each := demand.Start(t, callers, 2*time.Millisecond, func(caller int) (client.Decision, error) {
		key := turn[caller] % keys
		turn[caller]++
		d, err := w.c.Acquire(t.Context(), "each", client.Key(fmt.Sprint("user:", key)))
		if d.Outcome == client.Granted {
			byKey[caller][key]++
		}
		return d, err
	})
	testenv.Eventually(t, comeback, "every key was used", func() bool { return each.Look().Granted > 0 && w.peekKey(keys-1) < perKey })
	for range 2 {
		for _, name := range []string{"{all}", "{each}"} {
			slot := c.Slot(t, name)
			from, to := other(t, c, slot)
			c.MigrateSlot(t, slot, from, to)
		}
	}
	all.GoOn(t, 500)
	each.GoOn(t, 500)
	r := all.Quick(t, "all", patient)
	uncertain := each.Quick(t, "each", patient).Uncertain
	if sum := r.Granted + w.remaining("all"); sum > maxPermits+1 || sum < maxPermits-r.Uncertain {
		t.Errorf("%d granted and remaining of %d, %d uncertain", sum, maxPermits, r.Uncertain)
	}
	for key := range keys {
		sum := w.peekKey(key)
		for caller := range callers {
			sum += byKey[caller][key]
		}
		if sum > perKey+1 || sum < perKey-uncertain {
			t.Errorf("key %d: %d granted and remaining of %d, %d uncertain", key, sum, perKey, uncertain)
		}
	}
}

// peekKey is what is left of one key of bucket "each".
func (w *world) peekKey(key int) int64 {
	d, err := w.c.Peek(w.t.Context(), "each", client.Key(fmt.Sprint("user:", key)))
	if err != nil || d.Source != client.SourceRedis {
		w.t.Fatalf("Peek: %+v, %v", d, err)
	}
	return d.Remaining
}

// A bucket that is half moved, with its definition and its states at different masters, takes nothing where a call
// needs both ends, and never mistakes the half that it sees for the whole: no full bucket for a state that is elsewhere,
// no "not configured" for a definition that is. Once everything has moved, calls are decided at the new master though
// the slot is not assigned yet.
func TestAHalfMovedBucketNeverDecidesOnHalfOfItsKeys(t *testing.T) {
	c := testenv.Cluster(t, testenv.ClusterReplicas(0))
	w := at(t, c.Client(t), patient)
	const keys, perKey = 12, 4
	w.install(keyed("each", perKey, 1, time.Hour))
	var r demand.Tally
	granted := make([]int, keys)
	round := func() (decided int) {
		for key := range keys {
			began := time.Now()
			d, err := w.c.Acquire(t.Context(), "each", client.Key(fmt.Sprint("user:", key)))
			r.Note(d, err, time.Since(began))
			if d.Outcome != client.Unavailable {
				decided++
			}
			if d.Outcome == client.Granted {
				granted[key]++
			}
		}
		return decided
	}
	if round() != keys {
		t.Fatalf("before: %+v", r)
	}
	slot := c.Slot(t, "{each}")
	from, to := other(t, c, slot)
	m := c.BeginMigration(t, slot, from, to)
	refused := 0
	for m.MoveKeys(t, 1) > 0 {
		refused += keys - round()
	}
	if decided := round(); decided != keys {
		t.Errorf("with all keys at the new master %d of %d calls were decided: %v", decided, keys, r.Reasons)
	}
	m.Finish(t)
	if decided := round(); decided != keys {
		t.Errorf("after the migration %d of %d calls were decided: %v", decided, keys, r.Reasons)
	}
	t.Logf("%d calls were refused half way, %v", refused, r.Reasons)
	if refused == 0 || len(r.Wrong) > 0 {
		t.Errorf("%d refused, wrong: %v", refused, r.Wrong)
	}
	for reason := range r.Reasons {
		if !strings.Contains(reason, "TRYAGAIN") {
			t.Errorf("a call was unavailable because of %s", reason)
		}
	}
	for key, n := range granted {
		if n != perKey {
			t.Errorf("key %d: %d granted of %d", key, n, perKey)
		}
	}
}
