package testenv

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// SentinelMaster is the name under which the sentinels of a test know its master.
const SentinelMaster = "headgate"

const (
	sentinelDownAfter = time.Second
	sentinelUpWait    = 40 * time.Second // seen: 1 s
)

// RedisSentinel is a master with two replicas, and three sentinels that promote a replica when the master is gone. It
// needs the binary of the distribution, as OwnRedis does.
type RedisSentinel struct {
	Nodes []*RedisServer // the master at the start, then the replicas; a failover changes who is what

	sentinels []*sentinel
}

// sentinel is one redis-server that watches.
type sentinel struct {
	addr, dir, id string
	port          int
	secured       *redisTLS
	process       *process
}

// Sentinel starts them for this test alone, and returns once the sentinels agree and the replicas follow. With RedisTLS the
// sentinels speak TLS alone too.
func Sentinel(t testing.TB, opts ...RedisOption) *RedisSentinel {
	t.Helper()
	r := &RedisSentinel{}
	t.Cleanup(r.remove)
	r.Nodes = append(r.Nodes, OwnRedis(t, opts...))
	for range 2 {
		r.Nodes = append(r.Nodes, Replica(t, r.Nodes[0]))
	}
	if err := r.watch(3); err != nil {
		t.Fatalf("testenv: start the sentinels: %v", err)
	}
	return r
}

// watch starts sentinels that know each other and the replicas from the start: finding out takes them 10 s.
func (r *RedisSentinel) watch(n int) error {
	for range n {
		port, err := FreePort()
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "headgate-sentinel-")
		if err != nil {
			return err
		}
		id := make([]byte, 20)
		if _, err := rand.Read(id); err != nil {
			return err
		}
		r.sentinels = append(r.sentinels, &sentinel{addr: fmt.Sprintf("127.0.0.1:%d", port), dir: dir, id: hex.EncodeToString(id), port: port, secured: r.Nodes[0].secured})
	}
	for _, s := range r.sentinels {
		if err := r.start(s); err != nil {
			return err
		}
	}
	for _, s := range r.sentinels {
		if err := poll(sentinelUpWait, func(ctx context.Context) error { return s.agrees(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *RedisSentinel) start(s *sentinel) error {
	path, ok := lookPath("redis-server", "valkey-server")
	if !ok {
		return errors.New(redisMissing)
	}
	var conf strings.Builder
	for _, setting := range s.secured.settings(fmt.Sprint(s.port)) {
		fmt.Fprintf(&conf, "%s %s\n", setting[0], setting[1])
	}
	fmt.Fprintf(&conf, "bind 127.0.0.1\ndir %s\nsentinel myid %s\n", s.dir, s.id)
	fmt.Fprintf(&conf, "sentinel monitor %s 127.0.0.1 %d 2\n", SentinelMaster, r.Nodes[0].port)
	fmt.Fprintf(&conf, "sentinel down-after-milliseconds %s %d\n", SentinelMaster, sentinelDownAfter.Milliseconds())
	fmt.Fprintf(&conf, "sentinel failover-timeout %s 3000\nsentinel parallel-syncs %s 2\n", SentinelMaster, SentinelMaster)
	for _, replica := range r.Nodes[1:] {
		fmt.Fprintf(&conf, "sentinel known-replica %s 127.0.0.1 %d\n", SentinelMaster, replica.port)
	}
	for _, other := range r.sentinels {
		if other != s {
			fmt.Fprintf(&conf, "sentinel known-sentinel %s 127.0.0.1 %d %s\n", SentinelMaster, other.port, other.id)
		}
	}
	file := filepath.Join(s.dir, "sentinel.conf")
	if err := os.WriteFile(file, []byte(conf.String()), 0o600); err != nil {
		return err
	}
	p, err := startProcess(path, file, "--sentinel")
	if err != nil {
		return err
	}
	s.process = p
	return p.waitReady(20*time.Second, func() error { return ping(s.secured.options(s.addr)) })
}

// agrees is nil once this sentinel sees enough of the others, and all replicas following the master.
func (s *sentinel) agrees(ctx context.Context) error {
	rdb := redis.NewSentinelClient(s.secured.options(s.addr))
	defer func() { _ = rdb.Close() }()
	if err := rdb.CkQuorum(ctx, SentinelMaster).Err(); err != nil {
		return err
	}
	replicas, err := rdb.Replicas(ctx, SentinelMaster).Result()
	if err != nil {
		return err
	}
	for _, replica := range replicas {
		if replica["master-link-status"] != "ok" || replica["flags"] != "slave" {
			return fmt.Errorf("a replica that the sentinel does not count on yet: %v", replica)
		}
	}
	if len(replicas) < 2 {
		return fmt.Errorf("the sentinel knows %d replicas", len(replicas))
	}
	return nil
}

func (r *RedisSentinel) remove() {
	for _, s := range r.sentinels {
		if s.process != nil {
			s.process.kill()
		}
		_ = os.RemoveAll(s.dir)
	}
}

// SentinelAddrs returns the addresses of the sentinels, which is what an application is configured with.
func (r *RedisSentinel) SentinelAddrs() []string {
	addrs := make([]string, len(r.sentinels))
	for i, s := range r.sentinels {
		addrs[i] = s.addr
	}
	return addrs
}

// Client connects to whatever the sentinels say is the master, with go-redis's default options. The connection is
// closed with the test.
func (r *RedisSentinel) Client(t testing.TB) *redis.Client {
	t.Helper()
	rdb := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: SentinelMaster, SentinelAddrs: r.SentinelAddrs(), TLSConfig: r.Nodes[0].secured.options("").TLSConfig,
	})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// Master returns the node that the first sentinel calls the master; after a failure it is the old one until another is
// promoted.
func (r *RedisSentinel) Master(t testing.TB) *RedisServer {
	t.Helper()
	rdb := redis.NewSentinelClient(r.sentinels[0].secured.options(r.sentinels[0].addr))
	defer func() { _ = rdb.Close() }()
	addr, err := rdb.GetMasterAddrByName(t.Context(), SentinelMaster).Result()
	if err != nil || len(addr) != 2 {
		t.Fatalf("testenv: ask a sentinel for the master: %v, %v", addr, err)
	}
	for _, s := range r.Nodes {
		if fmt.Sprint(s.port) == addr[1] {
			return s
		}
	}
	t.Fatalf("testenv: the sentinel names %v, which is none of ours", addr)
	return nil
}

// KillMaster kills the master as a crash would, and returns it.
func (r *RedisSentinel) KillMaster(t testing.TB) *RedisServer {
	t.Helper()
	master := r.Master(t)
	master.Stop()
	return master
}

// Replicas returns the nodes other than the master, also those that were stopped.
func (r *RedisSentinel) Replicas(t testing.TB) []*RedisServer {
	t.Helper()
	master := r.Master(t)
	var replicas []*RedisServer
	for _, s := range r.Nodes {
		if s != master {
			replicas = append(replicas, s)
		}
	}
	return replicas
}
