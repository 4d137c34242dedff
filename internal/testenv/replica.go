package testenv

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicaWait bounds how long a replica may take to follow its master.
const replicaWait = 20 * time.Second

// Replica starts a replica of a server for this test alone, and returns once it has all of the master's data
// and gets what the master writes. It refuses writes with READONLY.
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
	of := adminOf(master)
	defer func() { _ = of.Close() }()
	err := poll(replicaWait, func(ctx context.Context) error { return replicates(ctx, rdb) })
	if err == nil {
		err = poll(replicaWait, func(ctx context.Context) error { return streams(ctx, of) })
	}
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

// streams is nil once all replicas of a master have what it writes now, and for a replica. One whose link is up may get
// nothing for another second, until its master has its first acknowledgement.
func streams(ctx context.Context, rdb *redis.Client) error {
	info, err := rdb.Info(ctx, "replication").Result()
	if err != nil {
		return err
	}
	facts := infoFields(info)
	replicas, err := strconv.Atoi(facts["connected_slaves"])
	if err != nil || facts["role"] == "slave" || replicas == 0 {
		return err
	}
	conn := rdb.Conn() // WAIT is for what was written over its own connection
	defer func() { _ = conn.Close() }()
	if err := writeSomething(ctx, conn); err != nil {
		return err
	}
	switch have, err := conn.Wait(ctx, replicas, time.Second).Result(); {
	case err != nil:
		return err
	case have < int64(replicas):
		return fmt.Errorf("%d of %d replicas have what their master writes", have, replicas)
	}
	return nil
}

// writeSomething leaves nothing behind. In a cluster most keys are another master's.
func writeSomething(ctx context.Context, conn *redis.Conn) error {
	for i := 0; ; i++ {
		key := fmt.Sprintf("testenv:written:%d", i)
		err := conn.Set(ctx, key, "", 0).Err()
		if redis.HasErrorPrefix(err, "MOVED") {
			continue
		}
		if err != nil {
			return err
		}
		return conn.Del(ctx, key).Err()
	}
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
