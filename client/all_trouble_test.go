package client_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestAcquireAllFollowsThePolicyOfEachBucketWhileRedisIsAway(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	installPolicies(w)
	single := definition("single", 1, 1, time.Hour)
	single.OnFailure = bucket.FailLocal
	w.install(single)
	w.all("GGGG", of("open", "closed", "local", "single")...) // local has 2 left, single none
	server.Stop()
	for _, d := range w.all("uG", of("open", "local")...) {
		if source := map[string]client.Source{"open": client.SourcePolicy, "local": client.SourceLocal}[d.Bucket]; d.Err == nil || d.Source != source {
			t.Errorf("%+v", d)
		}
	}
	// One is left, and stays, as long as another bucket refuses.
	for range 5 {
		w.all("GU", of("local", "closed")...)
		w.all("GL", of("local", "single")...)
		w.all("LG", of("single", "local")...)
		w.all("TGu", client.Request{Bucket: "single", Permits: 2}, client.Request{Bucket: "local"}, client.Request{Bucket: "open"})
	}
	w.all("uGu", of("open", "local", "never-learned")...)
	w.all("uL", of("open", "local")...)
	if used := w.c.Stats().Buckets["local"]; used.Granted != 3 || used.Limited != 1 {
		t.Errorf("usage: %+v", used)
	}
}

// What policy local enforces goes on from what Redis told last, also where only AcquireAll took of the bucket.
func TestLocalGoesOnFromWhatAcquireAllWasToldLast(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newHasty(t, server)
	for _, name := range []string{"a", "b"} {
		d := definition(name, 10, 1, time.Hour)
		d.OnFailure = bucket.FailLocal
		w.install(d)
	}
	w.all("GG", client.Request{Bucket: "a", Permits: 8}, client.Request{Bucket: "b", Permits: 1})
	server.Stop()
	w.all("GG", client.Request{Bucket: "a", Permits: 2}, client.Request{Bucket: "b"})
	w.all("LG", of("a", "b")...)
}

// A bucket on which Redis has no verdict follows its own policy; the others still decide and take.
func TestABucketWithoutAVerdictLeavesTheOthersEnforced(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		spoil := map[string]func(w *world, name string) error{
			"lost": func(w *world, name string) error {
				return w.rdb.Del(t.Context(), prefix+":{"+name+"}").Err()
			},
			"of an unknown format": func(w *world, name string) error {
				return errors.Join(w.rdb.HSet(t.Context(), prefix+":{"+name+"}", "fmt", "999", "head", "999 x").Err(),
					w.rdb.HDel(t.Context(), prefix+":{"+name+"}", "fast").Err())
			},
		}
		for how, reason := range map[string]error{"lost": client.ErrLost, "of an unknown format": client.ErrUnknownFormat} {
			for _, option := range []client.Policy{client.Closed, client.Open} {
				w := newWorld(t, addr, prefix, client.WithNotConfigured(option))
				name := func(s string) string { return fmt.Sprintf("%s-%s-%s", s, strings.Fields(how)[0], option) }
				w.install(definition(name("well"), 3, 1, time.Hour))
				for _, policy := range []string{bucket.FailOpen, bucket.FailClosed} {
					d := definition(name(policy), 3, 1, time.Hour)
					d.OnFailure = policy
					w.install(d)
					w.all("GG", of(name(policy), name("well"))...)
					if err := spoil[how](w, d.Name); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					ds := w.all("UG", of(name("closed"), name("well"))...)
					if !errors.Is(ds[0].Err, reason) || ds[0].Source != client.SourcePolicy {
						t.Fatalf("%s: %+v", how, ds[0])
					}
				}
				w.all("uG", of(name("open"), name("well"))...)
				w.all("uL", of(name("open"), name("well"))...)
				w.hasLeft([]int64{0}, name("well"))
				if d := w.acquire(name("open")); !errors.Is(d.Err, reason) || !d.Allowed {
					t.Errorf("its policy was forgotten: %+v", d)
				}
			}
		}
	})
}

// onCluster is a client of a Cluster of three masters.
func onCluster(t *testing.T, opts ...testenv.ClusterOption) (*world, *testenv.RedisCluster) {
	t.Helper()
	cluster := testenv.Cluster(t, append([]testenv.ClusterOption{testenv.ClusterReplicas(0)}, opts...)...)
	return ofCluster(t, cluster), cluster
}

func ofCluster(t *testing.T, cluster *testenv.RedisCluster) *world {
	t.Helper()
	rdb := cluster.Client(t)
	c, err := client.New(rdb, "checkout", client.WithDeadline(5*time.Second), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &world{t: t, engine: bucket.New(rdb, ""), c: c}
}

// names are n buckets whose slots differ, some of them on the same master.
func bucketNames(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("bucket-%d", i)
	}
	return all
}

func TestAcquireAllOnClusterTakesOfEveryBucketOrOfNone(t *testing.T) {
	w, cluster := onCluster(t)
	names := bucketNames(6)
	for i, name := range names {
		w.install(counting(name, algorithms[i%len(algorithms)], 10))
	}
	w.install(definition("one", 1, 1, time.Hour))
	w.all("GGGGGG", of(names...)...) // the first call of all, and none was known
	w.all("GGGGGGG", of(append(names[:6:6], "one")...)...)
	for place := range len(names) + 1 {
		ds, err := w.c.AcquireAll(t.Context(), slices.Insert(of(names...), place, client.Request{Bucket: "one"})...)
		if err != nil || ds[place].Outcome != client.Limited || ds[place].RetryAfter <= 0 {
			t.Fatalf("%+v, %v", ds, err)
		}
		for i, d := range ds {
			if i != place && (d.Outcome != client.Granted || d.Limit != 10 || d.Source != client.SourceRedis) {
				t.Errorf("decision %d: %+v", i, d)
			}
		}
	}
	if err := w.c.Close(); err != nil { // what is given back has arrived then
		t.Fatal(err)
	}
	ofCluster(t, cluster).hasLeft([]int64{8, 8, 8, 8, 8, 8}, names...)
}

// Many callers want pairs of buckets whose slots differ, in whatever order, through one client: calls of different slots
// travel together but never in one script call, no bucket grants more than it has, and nothing that a refused call held
// is lost.
func TestAcquireAllOnClusterNeverGrantsTooMuch(t *testing.T) {
	w, cluster := onCluster(t)
	const most = 40
	names := bucketNames(12)
	for _, name := range names {
		w.install(definition(name, most, 1, time.Hour))
	}
	var mu sync.Mutex
	taken := map[string]int64{}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			for j := range 25 {
				pair := []string{names[(i+j)%len(names)], names[(i*5+j*7+1)%len(names)]}
				ds, err := w.c.AcquireAll(t.Context(), of(pair...)...)
				if err != nil {
					t.Errorf("AcquireAll: %v", err)
					return
				}
				mu.Lock()
				for _, d := range ds {
					if d.Source != client.SourceRedis {
						t.Errorf("%+v", d)
					}
					if client.AllAllowed(ds) {
						taken[d.Bucket]++
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	stats := w.c.Stats().Buckets
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	reader := ofCluster(t, cluster)
	for i, left := range reader.left(names...) {
		if name := names[i]; taken[name] > most || left != most-taken[name] || stats[name].Granted != taken[name] {
			t.Errorf("%s: %d were taken, %d are left, usage %+v", name, taken[name], left, stats[name])
		}
	}
}

// While one master is away its buckets follow their policies, and those of the others are enforced as ever.
func TestAcquireAllOnClusterWithoutOneMasterEnforcesTheOthers(t *testing.T) {
	w, cluster := onCluster(t, testenv.ClusterPartial())
	w.c = hastyOn(t, cluster)
	names := bucketNames(12)
	for _, name := range names {
		w.install(definition(name, 3, 1, time.Hour))
	}
	if err := w.c.Preload(t.Context(), names...); err != nil {
		t.Fatal(err)
	}
	masterOf := func(name string) *testenv.RedisServer {
		return cluster.MasterOf(t, cluster.Slot(t, "{"+name+"}"))
	}
	gone, there := names[0], names[1]
	for _, name := range names {
		if masterOf(name) != masterOf(gone) {
			there = name
		}
	}
	masterOf(gone).Stop()
	testenv.Eventually(t, 20*time.Second, "the cluster goes on without it", func() bool {
		ds, err := w.c.AcquireAll(t.Context(), of(there)...)
		return err == nil && ds[0].Source == client.SourceRedis && ds[0].Outcome == client.Limited
	})
	w.all("uL", of(gone, there)...)
	w.hasLeft([]int64{0}, there)
}

func hastyOn(t *testing.T, cluster *testenv.RedisCluster) *client.Client {
	t.Helper()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), DialTimeout: time.Second})
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := client.New(rdb, "checkout", client.WithDeadline(300*time.Millisecond), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
