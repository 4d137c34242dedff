// Package sdkenv is what the tests of the SDK's middlewares share: a real Redis with buckets defined in it, a client, and
// what an HTTP request got.
package sdkenv

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// Main runs the tests of a package without go-redis's lines on failing connections, which they cause. It returns the
// code to exit with.
func Main(m *testing.M) int {
	redis.SetLogger(silent{})
	return testenv.Main(m)
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// World is a real Redis with an engine to define buckets, and a client of the SDK.
type World struct {
	T      *testing.T
	Engine *bucket.Engine
	Client *client.Client
}

// New connects to the Redis that the tests share. It is patient, so that a busy machine changes no outcome.
func New(t *testing.T) *World {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	return Connect(t, addr, prefix, client.WithDeadline(20*time.Second))
}

// Connect connects to a Redis as the app shop.
func Connect(t *testing.T, addr, prefix string, opts ...client.Option) *World {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	opts = append([]client.Option{client.Prefix(prefix), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	c, err := client.New(rdb, "shop", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = rdb.Close()
	})
	return &World{T: t, Engine: bucket.New(rdb, prefix), Client: c}
}

// Definition is a bucket of max permits that gets one more an hour, so that nothing comes in during a test.
func Definition(name string, maxPermits int64) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: maxPermits, Rate: 1, Period: time.Hour, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}
}

// Keyed is a Definition that counts by key.
func Keyed(name string, maxPermits int64) bucket.Definition {
	d := Definition(name, maxPermits)
	d.Partition = bucket.PartitionKey
	return d
}

// Install brings definitions to Redis.
func (w *World) Install(definitions ...bucket.Definition) {
	w.T.Helper()
	for _, d := range definitions {
		result, err := w.Engine.Install(w.T.Context(), d, bucket.InstallOptions{Deployment: "sdk-tests"})
		if err != nil || result.Status != bucket.StatusInstalled {
			w.T.Fatalf("install %s: %+v, %v", d.Name, result, err)
		}
	}
}

// Remaining is how many permits a bucket has.
func (w *World) Remaining(name string, opts ...client.CallOption) int64 {
	w.T.Helper()
	d, err := w.Client.Peek(w.T.Context(), name, opts...)
	if err != nil {
		w.T.Fatal(err)
	}
	return d.Remaining
}
