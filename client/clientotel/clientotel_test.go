package clientotel_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/clientotel"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// newClient makes a client of a Redis that has a bucket of three permits, counted by key, that come back in an hour.
func newClient(t *testing.T, name string) *client.Client {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := client.New(rdb, "checkout", client.Prefix(prefix), client.WithDeadline(20*time.Second), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, err = bucket.New(rdb, prefix).Install(t.Context(), bucket.Definition{
		Name: name, Revision: 7, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: 3, Rate: 3, Period: time.Hour, Partition: bucket.PartitionKey, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}, bucket.InstallOptions{Deployment: "tests"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func acquire(t *testing.T, c *client.Client, name, key string) client.Decision {
	t.Helper()
	d, err := c.Acquire(t.Context(), name, client.Key(key))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// collect returns the points of all instruments by name.
func collect(t *testing.T, reader *metric.ManualReader) map[string][]metricdata.DataPoint[int64] {
	t.Helper()
	var found metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &found); err != nil {
		t.Fatal(err)
	}
	all := map[string][]metricdata.DataPoint[int64]{}
	for _, scope := range found.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				if !data.IsMonotonic {
					t.Errorf("%s is a sum that may fall", m.Name)
				}
				all[m.Name] = data.DataPoints
			case metricdata.Gauge[int64]:
				all[m.Name] = data.DataPoints
			}
		}
	}
	return all
}

// What is collected is what the client counted, under attributes that no key reaches.
func TestMetricsShowWhatTheClientCounted(t *testing.T) {
	c := newClient(t, "login")
	reader := metric.NewManualReader()
	registration, err := clientotel.Register(metric.NewMeterProvider(metric.WithReader(reader)).Meter("test"), c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		for range 5 {
			acquire(t, c, "login", fmt.Sprintf("user-%d", i))
		}
	}
	stats := c.Stats()
	found := collect(t, reader)
	for name, want := range map[string]int64{
		"permits.granted": 60, "permits.limited": 40, "permits.shadow_limited": 0, "local_denials": stats.Buckets["login"].Denied,
		"unavailable": 0, "local_decisions": 0, "bucket.revision": 7, "unlearned": 0, "round_trips": stats.RoundTrips,
		"round_trips.given_up": 0, "waiting_calls": 0, "breakers": 1, "breakers.open": 0,
	} {
		points := found["headgate.client."+name]
		if len(points) != 1 || points[0].Value != want {
			t.Errorf("%s: got %v, want one point of %d", name, points, want)
			continue
		}
		for _, a := range points[0].Attributes.ToSlice() {
			if a != clientotel.AppKey.String("checkout") && a != clientotel.BucketKey.String("login") {
				t.Errorf("%s has the attribute %s=%s", name, a.Key, a.Value.String())
			}
		}
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if left := collect(t, reader); len(left["headgate.client.round_trips"]) != 0 {
		t.Error("an ended registration goes on showing")
	}
}

// A span tells what was decided, and never by which key.
func TestAnnotateTellsTheDecisionWithoutTheKey(t *testing.T) {
	c := newClient(t, "login")
	spans := tracetest.NewSpanRecorder()
	ctx, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test").Start(t.Context(), "request")
	clientotel.Annotate(ctx, acquire(t, c, "login", "secret-user"), client.Decision{})
	span.End()
	events := spans.Ended()[0].Events()
	if len(events) != 1 || events[0].Name != "headgate.decision" {
		t.Fatalf("events: %+v", events)
	}
	told := attribute.NewSet(events[0].Attributes...)
	for key, want := range map[attribute.Key]string{
		"headgate.bucket": "login", "headgate.outcome": "granted", "headgate.allowed": "true", "headgate.remaining": "2", "headgate.source": "redis",
	} {
		if got, _ := told.Value(key); got.String() != want {
			t.Errorf("%s is %q, want %q", key, got.String(), want)
		}
	}
	for _, a := range events[0].Attributes {
		if strings.Contains(a.Value.String(), "secret-user") {
			t.Errorf("%s tells the key", a.Key)
		}
	}
}

// Where nobody records a span nothing happens.
func TestAnnotateWithoutASpanDoesNothing(t *testing.T) {
	clientotel.Annotate(t.Context(), client.Decision{Outcome: client.Granted})
}
