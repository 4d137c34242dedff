package reconcile_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// clusterWorld is a deployment on a Redis Cluster of three masters, with buckets spread over them.
type clusterWorld struct {
	*world
	cluster *testenv.RedisCluster
	names   []string // of buckets of one shard
}

const sharded = "sharded" // a bucket of 16 shards, which lie on all masters

func newClusterWorld(t *testing.T) *clusterWorld {
	t.Helper()
	cluster := testenv.Cluster(t, testenv.ClusterReplicas(0), testenv.ClusterPartial())
	w := &clusterWorld{world: newWorld(t, "mysql", cluster.Nodes[0].Addr, ""), cluster: cluster}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), ContextTimeoutEnabled: true, DialTimeout: time.Second})
	t.Cleanup(func() { _ = rdb.Close() })
	w.engine = newEngine(t, rdb, "")
	for i := range 12 {
		name := fmt.Sprintf("bucket-%02d", i)
		w.create(name)
		w.names = append(w.names, name)
	}
	w.create(sharded)
	w.edit(sharded, func(d *model.Definition) {
		d.Partition, d.Shards, d.AfterLoss = model.PartitionKey, 16, model.LossRefill
	})
	return w
}

// settled repairs until the marks are younger than the buckets.
func (w *clusterWorld) settled(servers ...*reconcile.Reconciler) {
	w.Helper()
	for _, r := range servers {
		w.repair(r)
		w.repair(r)
	}
	w.requireEqual()
}

func (w *clusterWorld) nodeOf(slot int) *testenv.RedisServer {
	return w.cluster.Nodes[slot*3/bucket.Slots]
}

// heads has for every copy of every bucket, by its slot, what decides there: another generation of state shows in it.
func (w *clusterWorld) heads() map[int]string {
	w.Helper()
	all := map[int]string{}
	for _, name := range append(slices.Clone(w.names), sharded) {
		shards := 1
		if name == sharded {
			shards = 16
		}
		for i, slot := range w.engine.Slots(name, shards) {
			key := "headgate:{" + name + "}"
			if name == sharded && i < shards {
				key = fmt.Sprintf("headgate:{%s/%02d}", name, i)
			}
			node := w.cluster.MasterOf(w, slot)
			all[slot] = w.cluster.Admin(node).HGet(w.Context(), key, "head").Val()
		}
	}
	return all
}

// wantRestarted compares with an earlier state: what lies on the given node began anew, everything else is untouched.
func (w *clusterWorld) wantRestarted(before map[int]string, lost *testenv.RedisServer) {
	w.Helper()
	var on, off int
	for slot, head := range w.heads() {
		if w.nodeOf(slot) == lost {
			on++
			if head == before[slot] || head == "" {
				w.Errorf("slot %d, on the lost master, was not restarted: %q", slot, head)
			}
		} else if off++; head != before[slot] {
			w.Errorf("slot %d, on another master, was restarted: %q, before %q", slot, head, before[slot])
		}
	}
	if on == 0 || off == 0 {
		w.Fatalf("%d slots on the lost master and %d elsewhere: the test shows nothing", on, off)
	}
	for _, name := range w.names {
		want := int64(0)
		if w.nodeOf(w.engine.Slots(name, 1)[0]) != lost {
			want = 4 // of 10, 6 were taken
		}
		if got := w.granted(name, 10); got != want {
			w.Errorf("%s granted %d after the loss, want %d", name, got, want)
		}
	}
}

func (w *clusterWorld) takeSix() {
	w.Helper()
	for _, name := range w.names {
		if got := w.granted(name, 6); got != 6 {
			w.Fatalf("%s granted %d of 6", name, got)
		}
	}
}

// A master that loses its state alone, whichever way, has exactly its own buckets restarted, and of a bucket of several
// shards exactly its own: everybody else keeps the permits taken.
func TestLossOfOneMasterRestartsItsBucketsAlone(t *testing.T) {
	for how, lose := range map[string]func(w *clusterWorld, node *testenv.RedisServer){
		"flushed": func(w *clusterWorld, node *testenv.RedisServer) {
			must(w.T, w.cluster.Admin(node).FlushAll(w.Context()).Err())
		},
		"killed": func(w *clusterWorld, node *testenv.RedisServer) {
			node.Stop()
			node.Start(w)
		},
		"back to an old snapshot": func(w *clusterWorld, node *testenv.RedisServer) {
			node.Stop()
			node.Start(w) // with the dump of before
		},
	} {
		for i := range 3 {
			if how == "killed" && i != 1 {
				continue // one is enough
			}
			t.Run(fmt.Sprintf("%s/%d", how, i), func(t *testing.T) {
				w := newClusterWorld(t)
				r, other := w.server(), w.server(func(c *reconcile.Config) { c.Store = w.again() })
				w.settled(r, other)
				lost := w.cluster.Nodes[i]
				if how == "back to an old snapshot" {
					must(t, w.cluster.Admin(lost).Save(t.Context()).Err())
					w.ageMarks(time.Minute)
					w.settled(r)
				}
				w.takeSix()
				before := w.heads()
				lose(w, lost)
				var both sync.WaitGroup
				for _, r := range []*reconcile.Reconciler{r, other} {
					both.Go(func() {
						testenv.Eventually(t, 20*time.Second, "the cluster is whole and repaired", func() bool { return r.Repair(t.Context()) == nil })
					})
				}
				both.Wait()
				testenv.Eventually(t, 20*time.Second, "all is equal again", func() bool { return r.Repair(t.Context()) == nil && w.unequal() == "" })
				w.wantRestarted(before, lost)
				if r.Status().LastLoss.IsZero() && other.Status().LastLoss.IsZero() {
					t.Error("no loss was found")
				}
			})
		}
	}
}

// ageMarks moves all marks on both sides, which makes every snapshot taken before an old one.
func (w *clusterWorld) ageMarks(by time.Duration) {
	w.Helper()
	remembered, err := w.store.Marks(w.Context())
	must(w.T, err)
	var slots []int
	for i := range remembered {
		remembered[i].At = remembered[i].At.Add(by)
		slots = append(slots, remembered[i].Slot)
	}
	must(w.T, w.store.SetMarks(w.Context(), remembered[1:], nil))
	marks, err := w.engine.ReadMarks(w.Context(), slots...)
	must(w.T, err)
	for i := range marks {
		_, err := w.engine.MoveMark(w.Context(), &marks[i], marks[i].At.Add(by))
		must(w.T, err)
	}
}

// Slots that move to another master take their buckets and state along: no loss is found, on the way there, there, or
// when they come back together.
func TestReshardingIsNoLoss(t *testing.T) {
	w := newClusterWorld(t)
	r, other := w.server(), w.server(func(c *reconcile.Config) { c.Store = w.again() })
	w.settled(r, other)
	w.takeSix()
	before := w.heads()
	slot := w.engine.Slots(w.names[0], 1)[0]
	from := w.nodeOf(slot)
	to := w.cluster.Nodes[(slices.Index(w.cluster.Nodes, from)+1)%3]
	first := slices.Index(w.cluster.Nodes, from) * bucket.Slots / 3 // where the mark of the range lies
	check := func(when string, ranges int) {
		t.Helper()
		testenv.Eventually(t, 20*time.Second, when+": every node knows the ranges, and each has its mark", func() bool {
			w.settled(r, other)
			marks, err := w.store.Marks(t.Context())
			must(t, err)
			return len(marks)-1 == ranges // the first one is of a Redis that is no Cluster
		})
		for _, r := range []*reconcile.Reconciler{r, other} {
			if s := r.Status(); !s.LastLoss.IsZero() || s.Restarted != 0 {
				t.Errorf("%s: status %+v", when, s)
			}
		}
		for slot, head := range w.heads() {
			if head != before[slot] {
				t.Errorf("%s: slot %d was restarted", when, slot)
			}
		}
	}
	check("before", 3)
	for _, s := range []int{slot, first} {
		w.cluster.MigrateSlot(t, s, from, to)
	}
	check("there", 6)
	for _, s := range []int{slot, first} {
		w.cluster.MigrateSlot(t, s, to, from)
	}
	check("back", 3)
}
