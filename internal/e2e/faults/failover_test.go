package faults_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// A master dies under load and its replica takes over: servers and applications find it by themselves, edits made meanwhile
// arrive there, and each bucket grants max_permits more than its limit at most: what the replica had not seen yet.
func TestFailoverLosesNoSaveAndCostsMaxPermitsAtMost(t *testing.T) {
	t.Parallel()
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		s := testenv.Sentinel(t)
		failOver(t, "master_name="+testenv.SentinelMaster, s.SentinelAddrs(),
			func() redis.UniversalClient { return s.Client(t) },
			func() { s.KillMaster(t) })
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := testenv.Cluster(t)
		failOver(t, "", c.Addrs(),
			func() redis.UniversalClient { return c.Client(t) },
			func() { c.MasterOf(t, c.Slot(t, "{"+stream+"}")).Stop() })
	})
}

// failOver builds a world on a topology and has the master of stream die in it.
func failOver(t *testing.T, option string, addrs []string, connect func() redis.UniversalClient, kill func()) {
	t.Helper()
	dsn := testenv.MySQL(t)
	url := "redis://" + addrs[0] + "?addr=" + strings.Join(addrs[1:], "&addr=")
	if option != "" {
		url += "&" + option
	}
	w := newWorld(t, ground{
		database: store.Config{MySQLDSN: dsn}, settings: onServers(dsn, url), connect: connect, own: connect(), deadline: hasty,
	}.comparing(), 1)
	before := w.generation(stream)
	kill()
	w.load[stream].Notices(t)
	w.edits.goOn(t, 3)
	w.goesOn()
	w.drained()
	w.settle(excess{vault: 1, burst: 1, stream: 1})
	if after := w.generation(stream); after != before {
		t.Errorf("the failover counted as a loss of data: generation %d after %d", after, before)
	}
}
