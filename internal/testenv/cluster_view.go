package testenv

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// clusterView is what a node says of itself.
type clusterView struct {
	id     string
	master string // of a replica: its master's id; "-" for a master
	epoch  int64
	slots  []slotRange
}

type slotRange struct{ from, to int }

func (v *clusterView) has(slot int) bool {
	return slices.ContainsFunc(v.slots, func(r slotRange) bool { return r.from <= slot && slot <= r.to })
}

// view asks a node what it is. Nodes that are stopped or paused give an error.
func (c *RedisCluster) view(node *RedisServer) (clusterView, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	text, err := c.admins[node].ClusterNodes(ctx).Result()
	if err != nil {
		return clusterView{}, err
	}
	for line := range strings.Lines(text) {
		// id address flags master ping pong epoch link slot...
		f := strings.Fields(line)
		if len(f) < 8 || !strings.Contains(f[2], "myself") {
			continue
		}
		v := clusterView{id: f[0], master: f[3]}
		if v.epoch, err = strconv.ParseInt(f[6], 10, 64); err != nil {
			return clusterView{}, err
		}
		for _, r := range f[8:] {
			if strings.HasPrefix(r, "[") {
				continue // a slot on its way
			}
			var s slotRange
			if n, _ := fmt.Sscanf(r, "%d-%d", &s.from, &s.to); n == 1 {
				s.to = s.from
			}
			v.slots = append(v.slots, s)
		}
		return v, nil
	}
	return clusterView{}, fmt.Errorf("a node that does not know itself: %q", text)
}

// Masters returns the nodes that answer and say that they are a master with slots. For a moment after a failover that
// may include a former one.
func (c *RedisCluster) Masters(t testing.TB) []*RedisServer {
	t.Helper()
	var masters []*RedisServer
	for _, s := range c.Nodes {
		if v, err := c.view(s); err == nil && v.master == "-" && len(v.slots) > 0 {
			masters = append(masters, s)
		}
	}
	return masters
}

// Slot is the slot of a key, hash tag and all. It fails the test when no node answers.
func (c *RedisCluster) Slot(t testing.TB, key string) int {
	t.Helper()
	for _, s := range c.Nodes {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		slot, err := c.admins[s].ClusterKeySlot(ctx, key).Result()
		cancel()
		if err == nil {
			return int(slot)
		}
	}
	t.Fatalf("testenv: no node of the cluster answers")
	return 0
}

// MasterOf returns the node that serves a slot now, the one of the latest epoch where two think so, or nil while none
// that answers does.
func (c *RedisCluster) MasterOf(t testing.TB, slot int) *RedisServer {
	t.Helper()
	var found *RedisServer
	latest := int64(-1)
	for _, s := range c.Nodes {
		if v, err := c.view(s); err == nil && v.master == "-" && v.has(slot) && v.epoch > latest {
			found, latest = s, v.epoch
		}
	}
	return found
}

// ReplicasOf returns the nodes that answer and follow a master that answers.
func (c *RedisCluster) ReplicasOf(t testing.TB, master *RedisServer) []*RedisServer {
	t.Helper()
	of, err := c.view(master)
	if err != nil {
		t.Fatalf("testenv: ask a master of the cluster: %v", err)
	}
	var replicas []*RedisServer
	for _, s := range c.Nodes {
		if v, err := c.view(s); err == nil && v.master == of.id {
			replicas = append(replicas, s)
		}
	}
	return replicas
}

// CommandCounts returns how many script calls (EVALSHA, EVAL, FCALL) each master has run since it started, by address.
func (c *RedisCluster) CommandCounts(t testing.TB) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, s := range c.Masters(t) {
		counts[s.Addr] = ScriptCalls(t, c.admins[s])
	}
	return counts
}

// ScriptCalls returns how many script calls (EVALSHA, EVAL, FCALL) one server has run since it started.
func ScriptCalls(t testing.TB, rdb *redis.Client) int64 {
	t.Helper()
	facts := serverInfo(t, rdb, "commandstats")
	var total int64
	for _, command := range []string{"evalsha", "eval", "fcall"} {
		stats, ok := facts["cmdstat_"+command]
		if !ok {
			continue
		}
		var calls int64
		if _, err := fmt.Sscanf(stats, "calls=%d,", &calls); err != nil {
			t.Fatalf("testenv: INFO commandstats says %q", stats)
		}
		total += calls
	}
	return total
}

// Reads returns how often one server has read from a connection since it started: a command or a whole pipeline that
// arrives in one piece is one, so it counts the round trips that were asked of it. Asking is one itself.
func Reads(t testing.TB, rdb *redis.Client) int64 {
	t.Helper()
	n, err := strconv.ParseInt(serverInfo(t, rdb, "stats")["total_reads_processed"], 10, 64)
	if err != nil {
		t.Fatalf("testenv: INFO stats has no total_reads_processed: %v", err)
	}
	return n
}

func serverInfo(t testing.TB, rdb *redis.Client, section string) map[string]string {
	t.Helper()
	info, err := rdb.Info(context.Background(), section).Result()
	if err != nil {
		t.Fatalf("testenv: INFO %s: %v", section, err)
	}
	return infoFields(info)
}
