// Package topology_test holds the SDK to its word on the Redis topologies that it is used on: standalone, Sentinel and
// Cluster, while they work, fail over, are resharded and are in trouble.
package topology_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

const (
	deployment = "topology-tests"
	app        = "checkout"

	// patient is a deadline that no busy machine misses, for tests in which Redis always answers.
	patient = 20 * time.Second
	// hasty is a deadline for tests in which Redis does not answer.
	hasty = 300 * time.Millisecond
	// comeback bounds how long a topology may take to serve again: a failover takes about 4 s here, but a Sentinel that got
	// no processor for two seconds does nothing for thirty (its TILT mode).
	comeback = 100 * time.Second
)

func TestMain(m *testing.M) {
	os.Exit(sdkenv.Main(m))
}

// world is a Redis of some topology with an engine to define buckets, and a client under test.
type world struct {
	t      *testing.T
	rdb    redis.UniversalClient
	engine *bucket.Engine
	c      *client.Client
}

// at connects a client with a deadline to a Redis.
func at(t *testing.T, rdb redis.UniversalClient, deadline time.Duration, opts ...client.Option) *world {
	t.Helper()
	opts = append([]client.Option{client.WithDeadline(deadline), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	c, err := client.New(rdb, app, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &world{t: t, rdb: rdb, engine: bucket.New(rdb, ""), c: c}
}

// standalone connects to one server. The connection is closed with the test.
func standalone(t *testing.T, addr string) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// everywhere runs a test on each topology, healthy.
func everywhere(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("standalone", func(t *testing.T) { test(t, at(t, standalone(t, testenv.OwnRedis(t).Addr), patient)) })
	t.Run("sentinel", func(t *testing.T) { test(t, at(t, testenv.Sentinel(t).Client(t), patient)) })
	t.Run("cluster", func(t *testing.T) {
		test(t, at(t, testenv.Cluster(t, testenv.ClusterReplicas(0)).Client(t), patient))
	})
}

// shared is a bucket that all apps share, which lets nothing through while Redis gives no verdict.
func shared(name string, maxPermits, rate int64, period time.Duration) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: maxPermits, Rate: rate, Period: period, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailClosed, AfterLoss: bucket.LossFull,
	}
}

// keyed is a bucket that counts each key by itself.
func keyed(name string, maxPermits, rate int64, period time.Duration) bucket.Definition {
	d := shared(name, maxPermits, rate, period)
	d.Partition = bucket.PartitionKey
	return d
}

// install puts definitions into Redis and lets the client learn them.
func (w *world) install(definitions ...bucket.Definition) {
	w.t.Helper()
	for _, d := range definitions {
		result, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: deployment})
		if err != nil || result.Status != bucket.StatusInstalled {
			w.t.Fatalf("install %s revision %d: %+v, %v", d.Name, d.Revision, result, err)
		}
		if err := w.c.Preload(w.t.Context(), d.Name); err != nil {
			w.t.Fatal(err)
		}
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

// remaining is what Redis says is left of a bucket, as soon as it says something.
func (w *world) remaining(name string) (left int64) {
	w.t.Helper()
	testenv.Eventually(w.t, comeback, "Redis tells what is left", func() bool {
		d, err := w.c.Peek(w.t.Context(), name)
		if err != nil {
			w.t.Fatalf("Peek %s: %v", name, err)
		}
		left = d.Remaining
		return d.Source == client.SourceRedis
	})
	return left
}

// wants compares outcome and permission.
func wants(t *testing.T, d client.Decision, outcome client.Outcome, allowed bool) {
	t.Helper()
	if d.Outcome != outcome || d.Allowed != allowed {
		t.Fatalf("got %+v, want outcome %s, allowed %v", d, outcome, allowed)
	}
}
