package testenv

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicaWait bounds how long a replica may take to follow its master.
const replicaWait = 20 * time.Second

// Replica starts a replica of a server for this test alone, and returns once it has all of the master's data. It
// refuses writes with READONLY.
func Replica(t testing.TB, master *RedisServer) *RedisServer {
	t.Helper()
	s, err := startReplica(master)
	if err != nil {
		t.Fatalf("testenv: start a replica: %v", err)
	}
	t.Cleanup(s.remove)
	return s
}

func startReplica(master *RedisServer) (*RedisServer, error) {
	s := &RedisServer{secured: master.secured, args: []string{"--replicaof", fmt.Sprintf("127.0.0.1 %d", master.port)}}
	if err := s.startFirst(FreePort); err != nil {
		return nil, err
	}
	rdb := adminOf(s)
	defer func() { _ = rdb.Close() }()
	err := poll(replicaWait, func(ctx context.Context) error { return replicates(ctx, rdb) })
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// replicates is nil for a master, and for a replica that has its master's data and gets what changes.
func replicates(ctx context.Context, rdb *redis.Client) error {
	info, err := rdb.Info(ctx, "replication").Result()
	if err != nil {
		return err
	}
	if facts := infoFields(info); facts["role"] == "slave" && facts["master_link_status"] != "up" {
		return fmt.Errorf("a replica that does not follow its master yet: %s", info)
	}
	return nil
}

// CutReplicas ends the replication from this server to its replicas for as long as they are paused: what the server
// takes from now on reaches none of them. Pause the replicas first, else they connect again at once.
func (s *RedisServer) CutReplicas(t testing.TB) {
	t.Helper()
	rdb := adminOf(s)
	defer func() { _ = rdb.Close() }()
	if err := rdb.Do(t.Context(), "client", "kill", "type", "replica").Err(); err != nil {
		t.Fatalf("testenv: cut the replicas off: %v", err)
	}
}
