package clientprom_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/clientprom"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // some of these tests stop Redis
	os.Exit(testenv.Main(m))
}

// world is a client on a Redis, with its collector in a registry of its own.
type world struct {
	t        *testing.T
	engine   *bucket.Engine
	client   *client.Client
	registry *prometheus.Registry
}

func newWorld(t *testing.T, addr, prefix string, opts ...client.Option) *world {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := client.New(rdb, "checkout", append([]client.Option{client.Prefix(prefix), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	w := &world{t: t, engine: bucket.New(rdb, prefix), client: c, registry: prometheus.NewPedanticRegistry()}
	w.registry.MustRegister(clientprom.New(c))
	return w
}

// patient is a deadline that a busy machine does not reach.
var patient = client.WithDeadline(20 * time.Second)

// definition is a bucket of three permits that come back in an hour.
func definition(name string) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 7, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: 3, Rate: 3, Period: time.Hour, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, MaxWait: time.Hour, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}
}

func (w *world) install(d bucket.Definition) {
	w.t.Helper()
	if _, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: "tests"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) acquire(name string, opts ...client.CallOption) client.Decision {
	w.t.Helper()
	d, err := w.client.Acquire(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// scrape returns the metrics by name.
func (w *world) scrape() map[string]*dto.MetricFamily {
	w.t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]*dto.MetricFamily{}
	for _, f := range families {
		all[f.GetName()] = f
	}
	return all
}

// value is that of the only series of a metric.
func (w *world) value(name string) float64 {
	w.t.Helper()
	f := w.scrape()[name]
	if f == nil || len(f.GetMetric()) != 1 {
		w.t.Fatalf("%s: want one series, got %v", name, f)
	}
	m := f.GetMetric()[0]
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		return m.GetCounter().GetValue()
	case dto.MetricType_HISTOGRAM:
		return float64(m.GetHistogram().GetSampleCount())
	default:
		return m.GetGauge().GetValue()
	}
}

// onShared is a world on the Redis that all tests share.
func onShared(t *testing.T) *world {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	return newWorld(t, addr, prefix, patient)
}
