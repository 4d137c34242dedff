package clientprom_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// What is scraped is what the client counted.
func TestMetricsShowWhatTheClientCounted(t *testing.T) {
	w := onShared(t)
	w.install(definition("api"))
	for range 5 {
		w.acquire("api")
	}
	stats := w.client.Stats()
	for name, want := range map[string]int64{
		"headgate_client_permits_granted_total":        3,
		"headgate_client_permits_limited_total":        2,
		"headgate_client_permits_shadow_limited_total": 0,
		"headgate_client_local_denials_total":          stats.Buckets["api"].Denied,
		"headgate_client_unavailable_total":            0,
		"headgate_client_local_decisions_total":        0,
		"headgate_client_bucket_revision":              7,
		"headgate_client_unlearned_total":              0,
		"headgate_client_round_trip_seconds":           stats.RoundTrips,
		"headgate_client_round_trips_given_up_total":   0,
		"headgate_client_waiting_calls":                0,
		"headgate_client_breakers":                     1,
		"headgate_client_breakers_open":                0,
	} {
		if got := w.value(name); got != float64(want) {
			t.Errorf("%s is %v, want %d", name, got, want)
		}
	}
	if stats.RoundTrips < 4 {
		t.Errorf("%d round trips, want at least those of the permits granted and of the first refusal", stats.RoundTrips)
	}
}

// The spread of the round trips adds up: each bound counts all those below, and the sum is of all.
func TestRoundTripTimesAddUp(t *testing.T) {
	w := onShared(t)
	w.install(definition("api"))
	for range 3 {
		w.acquire("api")
	}
	h := w.scrape()["headgate_client_round_trip_seconds"].GetMetric()[0].GetHistogram()
	var last uint64
	for _, b := range h.GetBucket() {
		if b.GetCumulativeCount() < last || b.GetCumulativeCount() > h.GetSampleCount() {
			t.Errorf("up to %v s: %d, after %d and of %d", b.GetUpperBound(), b.GetCumulativeCount(), last, h.GetSampleCount())
		}
		last = b.GetCumulativeCount()
	}
	if h.GetSampleSum() <= 0 || len(h.GetBucket()) < 10 {
		t.Errorf("sum %v s over %d bounds", h.GetSampleSum(), len(h.GetBucket()))
	}
}

// However many keys callers use, and whatever names they ask for in vain, there are as many series as buckets.
func TestKeysAndUnknownNamesMakeNoSeries(t *testing.T) {
	w := onShared(t)
	d := definition("login")
	d.Partition = bucket.PartitionKey
	w.install(d)
	for i := range 50 {
		key := fmt.Sprintf("user-%d", i)
		w.acquire("login", client.Key(key), client.Permits(3))
		w.acquire("login", client.Key(key))
		w.acquire(fmt.Sprintf("nonsense-%d", i))
	}
	for name, f := range w.scrape() {
		if len(f.GetMetric()) != 1 {
			t.Errorf("%s has %d series, want 1", name, len(f.GetMetric()))
		}
		for _, l := range f.GetMetric()[0].GetLabel() {
			if label := l.GetName() + "=" + l.GetValue(); label != "app=checkout" && label != "bucket=login" {
				t.Errorf("%s has the label %s", name, label)
			}
		}
	}
}

// A counter that falls counts for Prometheus as begun anew, and all of it would be added once more.
func TestGrantedNeverFallsWhenPermitsAreGivenBack(t *testing.T) {
	w := onShared(t)
	w.install(definition("api"))
	w.acquire("api", client.Permits(3))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = w.client.Wait(ctx, "api") // 20 minutes, but for the cancelling
	}()
	const granted = "headgate_client_permits_granted_total"
	testenv.Eventually(t, 20*time.Second, "the reservation is counted", func() bool { return w.value(granted) == 4 })
	cancel()
	<-done
	testenv.Eventually(t, 20*time.Second, "the permit is given back", func() bool { return w.client.Stats().Buckets["api"].Granted == 3 })
	if got := w.value(granted); got != 4 {
		t.Errorf("granted fell to %v", got)
	}
}

// An operator sees that Redis is away, that calls are answered without it, and that it is back.
func TestAnAbsentRedisShows(t *testing.T) {
	server := testenv.OwnRedis(t)
	w := newWorld(t, server.Addr, client.DefaultPrefix, client.WithDeadline(100*time.Millisecond))
	w.install(definition("api"))
	testenv.Eventually(t, 20*time.Second, "Redis decides", func() bool { return w.acquire("api").Source == client.SourceRedis })
	server.Stop()
	testenv.Eventually(t, 20*time.Second, "the breaker opens", func() bool {
		w.acquire("api")
		return w.value("headgate_client_breakers_open") == 1
	})
	if w.value("headgate_client_unavailable_total") == 0 {
		t.Error("no call was unavailable")
	}
	server.Start(t)
	testenv.Eventually(t, 20*time.Second, "the breaker closes", func() bool { return w.value("headgate_client_breakers_open") == 0 })
	if got := w.scrape()["headgate_client_permits_granted_total"].GetType(); got != dto.MetricType_COUNTER {
		t.Errorf("granted is a %v", got)
	}
}
