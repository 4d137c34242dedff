package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// clusterNodeTimeout is how long a node of a cluster may be silent before the others count it as failed. Shorter ones
// make failovers quicker, and make a busy machine cause some that no test asked for.
const clusterNodeTimeout = 2 * time.Second

// RedisCluster is a Redis Cluster of one test's own: real redis-server processes on loopback, each of which can be
// stopped, paused and started again by itself. It needs the binary of the distribution, as OwnRedis does.
type RedisCluster struct {
	Nodes []*RedisServer // first the masters at the start, then their replicas; a failover changes who is what

	admins map[*RedisServer]*redis.Client
}

// ClusterOption changes how a cluster is made.
type ClusterOption func(*clusterOptions)

type clusterOptions struct {
	masters, replicas int
	args              []string
	secured           *redisTLS
}

// ClusterMasters sets how many masters share the slots; 3 unless set, which is the fewest of which one may die.
func ClusterMasters(n int) ClusterOption { return func(o *clusterOptions) { o.masters = n } }

// ClusterReplicas sets how many replicas each master has; 1 unless set. Without any the cluster is up sooner.
func ClusterReplicas(n int) ClusterOption { return func(o *clusterOptions) { o.replicas = n } }

// ClusterPartial lets the masters that are left go on when another one's slots have no master. As Redis comes, all
// refuse then.
func ClusterPartial() ClusterOption {
	return func(o *clusterOptions) { o.args = append(o.args, "--cluster-require-full-coverage", "no") }
}

// Cluster starts a Redis Cluster for this test alone and returns once every node says that it is whole.
func Cluster(t testing.TB, opts ...ClusterOption) *RedisCluster {
	t.Helper()
	o := clusterOptions{masters: 3, replicas: 1}
	for _, set := range opts {
		set(&o)
	}
	c := &RedisCluster{admins: map[*RedisServer]*redis.Client{}}
	t.Cleanup(c.remove)
	for range o.masters * (1 + o.replicas) {
		if err := c.add(o); err != nil {
			t.Fatalf("testenv: start a node of a cluster: %v", err)
		}
	}
	if err := c.form(o.masters); err != nil {
		t.Fatalf("testenv: form a cluster: %v", err)
	}
	return c
}

// add starts one more node, that knows no other yet.
func (c *RedisCluster) add(o clusterOptions) error {
	s := &RedisServer{secured: o.secured, args: append([]string{
		"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
		"--cluster-node-timeout", fmt.Sprint(clusterNodeTimeout.Milliseconds()),
		// A replica takes over however old its data are, so that tests can show what that costs.
		"--cluster-replica-validity-factor", "0",
	}, o.args...)}
	if err := s.startFirst(freeBusPort); err != nil {
		return err
	}
	c.Nodes = append(c.Nodes, s)
	c.admins[s] = adminOf(s)
	return nil
}

// adminOf is a connection to one node itself, for orders and questions; it follows no redirection.
func adminOf(s *RedisServer) *redis.Client {
	o := s.secured.options(s.Addr)
	o.ContextTimeoutEnabled, o.ReadTimeout = true, 10*time.Second
	return redis.NewClient(o)
}

// freeBusPort is FreePort for a node of a cluster, which also listens on the port 10000 above.
func freeBusPort() (int, error) {
	for range 100 {
		port, err := FreePort()
		if err != nil {
			return 0, err
		}
		if port+10000 > 65535 {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+10000))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no free port with a free one 10000 above it")
}

func (c *RedisCluster) remove() {
	for _, s := range c.Nodes {
		_ = c.admins[s].Close()
		s.remove()
	}
}

// Addrs returns the addresses of all nodes, also of those that were stopped.
func (c *RedisCluster) Addrs() []string {
	addrs := make([]string, len(c.Nodes))
	for i, s := range c.Nodes {
		addrs[i] = s.Addr
	}
	return addrs
}

// Client connects to the cluster with go-redis's default options. The connection is closed with the test.
func (c *RedisCluster) Client(t testing.TB) *redis.ClusterClient {
	t.Helper()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), TLSConfig: c.Nodes[0].secured.options("").TLSConfig})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// Admin is a connection to one node itself, that follows no redirection. It is closed with the test.
func (c *RedisCluster) Admin(node *RedisServer) *redis.Client { return c.admins[node] }

// poll asks again and again until ok answers nil, and returns its last error when the time is over.
func poll(within time.Duration, ok func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		err := ok(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %w", within, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
