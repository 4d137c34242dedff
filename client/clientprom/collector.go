package clientprom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate/headgate/client"
)

// bucketMetric is a metric with the label bucket.
type bucketMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(client.BucketStats) (value int64, known bool)
}

// clientMetric is a metric of the whole client.
type clientMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(client.Stats) int64
}

type collector struct {
	client  *client.Client
	buckets []bucketMetric
	wholes  []clientMetric
	granted *prometheus.Desc
	trips   *prometheus.Desc

	mu      sync.Mutex
	highest map[string]int64 // granted of each bucket, as shown last
}

// New makes a collector of what a client did since it was made. It may be scraped at any time, also after Close.
func New(c *client.Client) prometheus.Collector {
	labels := prometheus.Labels{"app": c.Stats().App}
	desc := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc("headgate_client_"+name, help, variable, labels)
	}
	return &collector{
		client:  c,
		buckets: bucketMetrics(desc),
		wholes:  clientMetrics(desc),
		granted: desc("permits_granted_total", "Permits granted. Permits that are given back hold up its growth.", "bucket"),
		trips:   desc("round_trip_seconds", "How long round trips to Redis took, each with the calls of many callers; those that were not over by the deadline are not in it."),
		highest: map[string]int64{},
	}
}

type describe func(name, help string, variable ...string) *prometheus.Desc

func bucketMetrics(desc describe) []bucketMetric {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	always := func(of func(client.BucketStats) int64) func(client.BucketStats) (int64, bool) {
		return func(b client.BucketStats) (int64, bool) { return of(b), true }
	}
	return []bucketMetric{
		{desc("permits_limited_total", "Permits refused.", "bucket"), counter,
			always(func(b client.BucketStats) int64 { return b.Limited })},
		{desc("permits_shadow_limited_total", "Permits that mode shadow let pass although they were limited.", "bucket"), counter,
			always(func(b client.BucketStats) int64 { return b.ShadowLimited })},
		{desc("local_denials_total", "Calls refused in this process, because Redis had just refused as much.", "bucket"), counter,
			always(func(b client.BucketStats) int64 { return b.Denied })},
		{desc("unavailable_total", "Calls that Redis gave no verdict on, answered by failure policy open or closed.", "bucket"), counter,
			always(func(b client.BucketStats) int64 { return b.Unavailable })},
		{desc("local_decisions_total", "Calls that Redis gave no verdict on, decided by this process's share.", "bucket"), counter,
			always(func(b client.BucketStats) int64 { return b.Local })},
		{desc("bucket_revision", "Revision of the definition in use.", "bucket"), gauge,
			func(b client.BucketStats) (int64, bool) { return b.Revision, b.Revision > 0 }},
		{desc("live_instances", "Processes that share the bucket's limit while Redis is away, for failure policy local.", "bucket"), gauge,
			func(b client.BucketStats) (int64, bool) { return b.Live, b.Live > 0 }},
	}
}

func clientMetrics(desc describe) []clientMetric {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	return []clientMetric{
		{desc("unlearned_total", "Calls on buckets never learned, answered without Redis by the policy for unknown buckets."), counter,
			func(s client.Stats) int64 { return s.Unlearned }},
		{desc("round_trips_given_up_total", "Round trips to Redis that were not over by the deadline."), counter,
			func(s client.Stats) int64 { return s.GivenUp }},
		{desc("waiting_calls", "Calls that wait for a round trip to take them along."), gauge,
			func(s client.Stats) int64 { return s.Waiting }},
		{desc("breakers", "Ways to Redis, each with a breaker: one, on Cluster one for each part of the slots."), gauge,
			func(s client.Stats) int64 { return int64(s.Breakers) }},
		{desc("breakers_open", "Ways on which Redis does not answer, so that buckets follow their failure policy."), gauge,
			func(s client.Stats) int64 { return int64(s.BreakersOpen) }},
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.granted
	out <- c.trips
	for _, m := range c.buckets {
		out <- m.desc
	}
	for _, m := range c.wholes {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.client.Stats()
	for _, m := range c.wholes {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(m.of(s)))
	}
	out <- c.histogram(s.RoundTripTimes)
	for name, b := range s.Buckets {
		out <- prometheus.MustNewConstMetric(c.granted, prometheus.CounterValue, float64(c.rising(name, b.Granted)), name)
		for _, m := range c.buckets {
			if value, known := m.of(b); known {
				out <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(value), name)
			}
		}
	}
}

// rising keeps the granted permits of a bucket from falling when some are given back: Prometheus would take that for a
// new start of the counter, and count all of them again.
func (c *collector) rising(name string, granted int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.highest[name] = max(c.highest[name], granted)
	return c.highest[name]
}

func (c *collector) histogram(h client.Histogram) prometheus.Metric {
	upTo, count := map[float64]uint64{}, uint64(0)
	for i, n := range h.Counts {
		count += uint64(n) //nolint:gosec // never negative
		if i < len(h.Bounds) {
			upTo[h.Bounds[i].Seconds()] = count
		}
	}
	return prometheus.MustNewConstHistogram(c.trips, count, h.Sum.Seconds(), upTo)
}
