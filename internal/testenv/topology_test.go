package testenv_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/testenv"
)

// A cluster is whole when Cluster returns, spreads its slots, and replaces a master that was killed.
func TestClusterServesAllSlotsAndReplacesADeadMaster(t *testing.T) {
	began := time.Now()
	c := testenv.Cluster(t)
	t.Logf("up after %v", time.Since(began))
	rdb := c.Client(t)
	masters := c.Masters(t)
	if len(masters) != 3 {
		t.Fatalf("%d masters", len(masters))
	}
	slot := c.Slot(t, "{a}1")
	if slot != c.Slot(t, "{a}2") {
		t.Error("a hash tag does not decide the slot")
	}
	if err := rdb.Set(t.Context(), "{a}1", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	master := c.MasterOf(t, slot)
	replicas := c.ReplicasOf(t, master)
	if len(replicas) != 1 {
		t.Fatalf("%d replicas", len(replicas))
	}
	if err := rdb.Eval(t.Context(), "return 1", []string{"{a}1"}).Err(); err != nil {
		t.Fatal(err)
	}
	if counts := c.CommandCounts(t); len(counts) != 3 || counts[master.Addr] != 1 {
		t.Errorf("script calls by master: %v", counts)
	}
	began = time.Now()
	master.Stop()
	testenv.Eventually(t, 30*time.Second, "the replica serves the slot", func() bool { return c.MasterOf(t, slot) == replicas[0] })
	t.Logf("failed over after %v", time.Since(began))
	testenv.Eventually(t, 30*time.Second, "the value is served", func() bool {
		rdb.ReloadState(t.Context()) // by itself go-redis may go on asking the dead node for a minute
		return rdb.Get(t.Context(), "{a}1").Val() == "v"
	})
	master.Start(t)
	testenv.Eventually(t, 30*time.Second, "the former master follows", func() bool {
		followers := c.ReplicasOf(t, replicas[0])
		return len(followers) == 1 && followers[0] == master
	})
}

// A slot on its way answers ASK and TRYAGAIN, and MOVED once it is assigned.
func TestMigrationShowsEveryRedirection(t *testing.T) {
	c := testenv.Cluster(t, testenv.ClusterReplicas(0))
	slot := c.Slot(t, "{a}")
	from := c.MasterOf(t, slot)
	to := c.Masters(t)[0]
	if to == from {
		to = c.Masters(t)[1]
	}
	rdb := c.Client(t)
	for _, key := range []string{"{a}1", "{a}2"} {
		if err := rdb.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	source := c.Admin(from)
	m := c.BeginMigration(t, slot, from, to)
	if err := source.Get(t.Context(), "{a}3").Err(); !redis.HasErrorPrefix(err, "ASK") {
		t.Errorf("a key that is not there: %v", err)
	}
	if n := m.MoveKeys(t, 1); n != 1 {
		t.Fatalf("%d keys moved", n)
	}
	if err := rdb.MGet(t.Context(), "{a}1", "{a}2").Err(); !redis.HasErrorPrefix(err, "TRYAGAIN") {
		t.Errorf("keys at both ends: %v", err)
	}
	for m.MoveKeys(t, 1) > 0 {
	}
	m.Finish(t)
	if err := source.Get(t.Context(), "{a}1").Err(); !redis.HasErrorPrefix(err, "MOVED") {
		t.Errorf("a slot that was assigned to another: %v", err)
	}
	if v := rdb.MGet(t.Context(), "{a}1", "{a}2").Val(); len(v) != 2 || v[0] != "{a}1" || v[1] != "{a}2" {
		t.Errorf("after the migration: %v", v)
	}
}

// The sentinels promote a replica when the master is killed, and a client finds it by itself.
func TestSentinelsPromoteAReplicaOfADeadMaster(t *testing.T) {
	began := time.Now()
	s := testenv.Sentinel(t)
	t.Logf("up after %v", time.Since(began))
	rdb := s.Client(t)
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if len(s.Replicas(t)) != 2 {
		t.Fatalf("replicas: %v", s.Replicas(t))
	}
	began = time.Now()
	dead := s.KillMaster(t)
	testenv.Eventually(t, 30*time.Second, "another master", func() bool { return s.Master(t) != dead })
	t.Logf("failed over after %v", time.Since(began))
	testenv.Eventually(t, 30*time.Second, "writes again", func() bool { return rdb.Set(t.Context(), "k", "w", 0).Err() == nil })
}

func TestReplicaRefusesWrites(t *testing.T) {
	master := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: testenv.Replica(t, master).Addr})
	defer func() { _ = rdb.Close() }()
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); !redis.HasErrorPrefix(err, "READONLY") {
		t.Errorf("a replica answers a write with %v", err)
	}
}

// A server that loads a dump says LOADING until it is let go on.
func TestServerLoadsForAsLongAsTheTestWants(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	defer func() { _ = rdb.Close() }()
	server.Fill(t, 5000)
	if err := rdb.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	server.StartLoading(t)
	if err := rdb.Get(t.Context(), "filler:1").Err(); !redis.HasErrorPrefix(err, "LOADING") {
		t.Errorf("a server that loads answers %v", err)
	}
	server.FinishLoading(t)
	if n, err := rdb.DBSize(t.Context()).Result(); n != 5000 || err != nil {
		t.Errorf("%d keys after loading, %v", n, err)
	}
}

// Each fault of the network shows at the client as it should, and ends with Heal.
func TestProxyHarmsTheTraffic(t *testing.T) {
	server := testenv.OwnRedis(t)
	proxy := testenv.Proxy(t, server.Addr)
	direct := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer func() { _ = direct.Close() }()
	rdb := redis.NewClient(&redis.Options{Addr: proxy.Addr, MaxRetries: -1, ReadTimeout: 300 * time.Millisecond})
	defer func() { _ = rdb.Close() }()
	incr := func() error { return rdb.Incr(t.Context(), "n").Err() }
	healed := func(want int64) {
		t.Helper()
		proxy.Heal(t)
		testenv.Eventually(t, 10*time.Second, "the proxy is healed", func() bool { return rdb.Ping(t.Context()).Err() == nil })
		if n, _ := direct.Get(t.Context(), "n").Int64(); n != want {
			t.Errorf("%d requests arrived, want %d", n, want)
		}
	}
	if err := incr(); err != nil {
		t.Fatal(err)
	}
	proxy.Delay(t, 100*time.Millisecond)
	began := time.Now()
	if err := incr(); err != nil || time.Since(began) < 90*time.Millisecond {
		t.Errorf("delayed: %v after %v", err, time.Since(began))
	}
	healed(2)
	proxy.LoseReplies(t)
	if err := incr(); err == nil {
		t.Error("a reply came although replies are lost")
	}
	healed(3)
	proxy.LoseRequests(t)
	if err := incr(); err == nil {
		t.Error("a reply came although requests are lost")
	}
	healed(3)
	proxy.CutReplies(t, 2)
	if err := incr(); err == nil {
		t.Error("a reply came whole although it was cut")
	}
	healed(4)
	proxy.Close()
	if err := incr(); err == nil {
		t.Error("a closed proxy answers")
	}
	proxy.Reopen(t)
	healed(4)
}
