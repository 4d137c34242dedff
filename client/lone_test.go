package client_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// soon is how long a call may take beyond its deadline on a busy machine; go-redis would hold it for several seconds.
const soon = time.Second

// lone makes a client that alone uses rdb, and lets it ask once, so that the next caller makes the trip itself.
func lone(t *testing.T, rdb *redis.Client, prefix string) *client.Client {
	t.Helper()
	w := &world{t: t, rdb: rdb, engine: bucket.New(rdb, prefix)}
	w.install(definition("b", 10, 1, time.Hour))
	c := w.client("checkout", client.Prefix(prefix), client.WithDeadline(200*time.Millisecond))
	for range 2 {
		if d, err := c.Acquire(t.Context(), "b"); err != nil || d.Source != client.SourceRedis {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	return c
}

func inTime(t *testing.T, c *client.Client) {
	t.Helper()
	began := time.Now()
	d, err := c.Acquire(t.Context(), "b")
	if took := time.Since(began); took > 200*time.Millisecond+soon {
		t.Fatalf("a call with a deadline of 200 ms took %v", took)
	}
	if err != nil || d.Outcome != client.Unavailable || !errors.Is(d.Err, client.ErrDeadline) {
		t.Fatalf("%+v, %v", d, err)
	}
}

// The application itself uses up the pool of connections.
func TestALoneCallIsInTimeWhileNoConnectionIsFree(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	c := lone(t, rdb, prefix)
	ctx, cancel := context.WithCancel(t.Context())
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		_ = rdb.BLPop(ctx, 2*time.Second, prefix+":nothing").Err()
	}()
	defer func() {
		cancel()
		<-blocked
	}()
	testenv.Eventually(t, 10*time.Second, "the only connection is taken", func() bool { return rdb.PoolStats().IdleConns == 0 })
	inTime(t, c)
}

// The connection is lost, and making a new one hangs, as behind a firewall that drops packets.
func TestALoneCallIsInTimeWhileDialingHangs(t *testing.T) {
	server := testenv.OwnRedis(t)
	d := newDialer(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, Dialer: d.dial})
	t.Cleanup(func() { _ = rdb.Close() })
	c := lone(t, rdb, client.DefaultPrefix)
	d.takes.Store(int64(time.Hour))
	cutAll(t, server)
	inTime(t, c)
}

// Connecting takes longer than a call may: the calls meanwhile are answered by policy, and then Redis is there.
func TestADialThatTakesLongerThanTheDeadlineIsNotInVain(t *testing.T) {
	server := testenv.OwnRedis(t)
	d := newDialer(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, Dialer: d.dial})
	t.Cleanup(func() { _ = rdb.Close() })
	c := lone(t, rdb, client.DefaultPrefix)
	d.takes.Store(int64(500 * time.Millisecond))
	cutAll(t, server)
	inTime(t, c)
	testenv.Eventually(t, 30*time.Second, "Redis decides again", func() bool {
		d, err := c.Acquire(t.Context(), "b")
		return err == nil && d.Source == client.SourceRedis
	})
}

// dialer makes connections as slowly as it is told.
type dialer struct {
	takes atomic.Int64 // ns
	over  chan struct{}
}

func newDialer(t *testing.T) *dialer {
	d := &dialer{over: make(chan struct{})}
	t.Cleanup(func() { close(d.over) })
	return d
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if takes := d.takes.Load(); takes > 0 {
		select {
		case <-time.After(time.Duration(takes)):
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-d.over:
			return nil, net.ErrClosed
		}
	}
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

// cutAll ends all connections to a server.
func cutAll(t *testing.T, server *testenv.RedisServer) {
	t.Helper()
	admin := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer func() { _ = admin.Close() }()
	if err := admin.ClientKillByFilter(t.Context(), "skipme", "yes").Err(); err != nil {
		t.Fatal(err)
	}
}
