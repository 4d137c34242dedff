package client_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

const deployment = "client-tests"

// silent keeps go-redis's lines on failing connections, which these tests cause, out of the output.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	code := testenv.Main(m)
	if examples != nil {
		examples.Close()
	}
	if code == 0 {
		// The servers that the tests shared were stopped just now; nothing of the client may be left.
		if err := goleak.Find(goleak.IgnoreTopFunction("github.com/headgate/headgate/internal/testenv.startProcess.func1")); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// examples is the embedded Redis of the runnable examples, which have no *testing.T.
var examples *miniredis.Miniredis

// exampleRedis returns a Redis that has one of the examples' buckets, full.
func exampleRedis(name string) string {
	if examples == nil {
		examples = miniredis.NewMiniRedis()
		if err := examples.Start(); err != nil {
			panic(err)
		}
	}
	examples.FlushAll()
	d := definition(name, 2, 1, time.Hour)
	if name == "login" {
		d.Partition = bucket.PartitionKey
	}
	rdb := redis.NewClient(&redis.Options{Addr: examples.Addr()})
	defer func() { _ = rdb.Close() }()
	if _, err := bucket.New(rdb, "").Install(context.Background(), d, bucket.InstallOptions{Deployment: deployment}); err != nil {
		panic(err)
	}
	return examples.Addr()
}

// definition is a shared bucket for all apps that enforces max permits, rate a period.
func definition(name string, maxPermits, rate int64, period time.Duration) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: maxPermits, Rate: rate, Period: period, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}
}

// world is a Redis with an engine to define buckets, and a client under test.
type world struct {
	t      *testing.T
	rdb    *redis.Client
	engine *bucket.Engine
	c      *client.Client
}

// newWorld connects a client to the Redis at addr. It is patient, so that a busy machine changes no outcome.
func newWorld(t *testing.T, addr, prefix string, opts ...client.Option) *world {
	t.Helper()
	return connect(t, addr, prefix, append([]client.Option{client.WithDeadline(20 * time.Second)}, opts...))
}

// newHasty connects a client for tests in which Redis does not answer.
func newHasty(t *testing.T, server *testenv.RedisServer, opts ...client.Option) *world {
	t.Helper()
	return connect(t, server.Addr, client.DefaultPrefix, append([]client.Option{client.WithDeadline(300 * time.Millisecond)}, opts...))
}

func connect(t *testing.T, addr, prefix string, opts []client.Option) *world {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = rdb.Close() })
	w := &world{t: t, rdb: rdb, engine: bucket.New(rdb, prefix)}
	w.c = w.client("checkout", append([]client.Option{client.Prefix(prefix)}, opts...)...)
	return w
}

// client makes a further client that is closed with the test.
func (w *world) client(app string, opts ...client.Option) *client.Client {
	w.t.Helper()
	c, err := client.New(w.rdb, app, append([]client.Option{client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// onEach runs a test against a real Redis and against the embedded one.
func onEach(t *testing.T, test func(t *testing.T, addr, prefix string)) {
	t.Run("redis", func(t *testing.T) {
		addr, prefix := testenv.Redis(t)
		test(t, addr, prefix)
	})
	t.Run("miniredis", func(t *testing.T) { test(t, testenv.Mini(t).Addr(), client.DefaultPrefix) })
}

// install puts a definition into Redis.
func (w *world) install(d bucket.Definition) {
	w.t.Helper()
	result, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: deployment})
	if err != nil || result.Status != bucket.StatusInstalled {
		w.t.Fatalf("install %s revision %d: %+v, %v", d.Name, d.Revision, result, err)
	}
}

// acquire makes a call that must not be misuse.
func (w *world) acquire(name string, opts ...client.CallOption) client.Decision {
	w.t.Helper()
	d, err := w.c.Acquire(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Fatalf("Acquire %s: %v", name, err)
	}
	return d
}

// wants compares outcome and permission.
func wants(t *testing.T, d client.Decision, outcome client.Outcome, allowed bool) {
	t.Helper()
	if d.Outcome != outcome || d.Allowed != allowed {
		t.Fatalf("got %+v, want outcome %s, allowed %v", d, outcome, allowed)
	}
}
