package testenv

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Migration is one slot on its way from a master to another, as `redis-cli --cluster reshard` moves it: keys that are
// still at the source are served there, others are asked for at the target (ASK), and commands on keys at both are
// refused (TRYAGAIN) until the slot is assigned to the target (MOVED).
type Migration struct {
	c        *RedisCluster
	slot     int
	from, to *RedisServer
}

// MigrateSlot moves a slot with all its keys from one master to another, while both serve clients.
func (c *RedisCluster) MigrateSlot(t testing.TB, slot int, from, to *RedisServer) {
	t.Helper()
	m := c.BeginMigration(t, slot, from, to)
	for m.MoveKeys(t, 1) > 0 {
	}
	m.Finish(t)
}

// BeginMigration opens a slot at both ends; no key has moved yet.
func (c *RedisCluster) BeginMigration(t testing.TB, slot int, from, to *RedisServer) *Migration {
	t.Helper()
	m := &Migration{c: c, slot: slot, from: from, to: to}
	m.must(t, to, "cluster", "setslot", slot, "importing", m.id(t, from))
	m.must(t, from, "cluster", "setslot", slot, "migrating", m.id(t, to))
	return m
}

// MoveKeys moves up to so many of the slot's keys, and returns how many it moved.
func (m *Migration) MoveKeys(t testing.TB, most int) int {
	t.Helper()
	keys, err := m.c.admins[m.from].ClusterGetKeysInSlot(t.Context(), m.slot, most).Result()
	if err != nil {
		t.Fatalf("testenv: keys of slot %d: %v", m.slot, err)
	}
	if len(keys) == 0 {
		return 0
	}
	args := []any{"migrate", "127.0.0.1", m.to.port, "", 0, 5000, "keys"}
	for _, key := range keys {
		args = append(args, key)
	}
	m.must(t, m.from, args...)
	return len(keys)
}

// Finish assigns the slot to the target, target first, and waits until every node knows. Move all keys before.
func (m *Migration) Finish(t testing.TB) {
	t.Helper()
	id := m.id(t, m.to)
	m.must(t, m.to, "cluster", "setslot", m.slot, "node", id)
	m.must(t, m.from, "cluster", "setslot", m.slot, "node", id)
	err := poll(clusterUpWait, func(ctx context.Context) error { return m.isKnown(ctx, id) })
	if err != nil {
		t.Fatalf("testenv: slot %d: %v", m.slot, err)
	}
}

// isKnown is nil once every node that answers names the target when it is asked who serves the slot. The other nodes hear of
// it from the target, on Redis 6.0 only when it happens to ask them.
func (m *Migration) isKnown(ctx context.Context, target string) error {
	for _, node := range m.c.Nodes {
		if _, err := m.c.view(node); err != nil {
			continue // it is stopped or paused
		}
		served, err := m.c.admins[node].ClusterSlots(ctx).Result() //nolint:staticcheck // CLUSTER SHARDS came with Redis 7
		if err != nil {
			return err
		}
		has := func(r redis.ClusterSlot) bool {
			return r.Start <= m.slot && m.slot <= r.End && len(r.Nodes) > 0 && r.Nodes[0].ID == target
		}
		if !slices.ContainsFunc(served, has) {
			return fmt.Errorf("%s does not know the new master of the slot yet", node.Addr)
		}
	}
	return nil
}

func (m *Migration) id(t testing.TB, node *RedisServer) string {
	t.Helper()
	v, err := m.c.view(node)
	if err != nil {
		t.Fatalf("testenv: ask a node of the cluster: %v", err)
	}
	return v.id
}

func (m *Migration) must(t testing.TB, node *RedisServer, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := m.c.admins[node].Do(ctx, args...).Err(); err != nil {
		t.Fatalf("testenv: %v at %s: %v", args[:2], node.Addr, err)
	}
}
