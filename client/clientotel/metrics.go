package clientotel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/headgate/headgate/client"
)

// The attributes of metrics and span events.
const (
	AppKey    = attribute.Key("headgate.app")
	BucketKey = attribute.Key("headgate.bucket")
)

// figure is one number of a client or a bucket.
type figure[T any] struct {
	name, unit, help string
	gauge            bool // of a bucket: 0 is nothing to tell
	of               func(T) int64
}

// perBucket have the attribute headgate.bucket.
var perBucket = []figure[client.BucketStats]{
	{"permits.limited", "{permit}", "Permits refused.", false,
		func(b client.BucketStats) int64 { return b.Limited }},
	{"permits.shadow_limited", "{permit}", "Permits that mode shadow let pass although they were limited.", false,
		func(b client.BucketStats) int64 { return b.ShadowLimited }},
	{"local_denials", "{call}", "Calls refused in this process, because Redis had just refused as much.", false,
		func(b client.BucketStats) int64 { return b.Denied }},
	{"unavailable", "{call}", "Calls that Redis gave no verdict on, answered by failure policy open or closed.", false,
		func(b client.BucketStats) int64 { return b.Unavailable }},
	{"local_decisions", "{call}", "Calls that Redis gave no verdict on, decided by this process's share.", false,
		func(b client.BucketStats) int64 { return b.Local }},
	{"bucket.revision", "{revision}", "Revision of the definition in use.", true,
		func(b client.BucketStats) int64 { return b.Revision }},
	{"live_instances", "{process}", "Processes that share the bucket's limit while Redis is away, for failure policy local.", true,
		func(b client.BucketStats) int64 { return b.Live }},
}

// perClient are of the whole client. OpenTelemetry has no histogram that is read when collected, so of the times of
// round trips there are number and sum; package clientprom has their spread.
var perClient = []figure[client.Stats]{
	{"unlearned", "{call}", "Calls on buckets never learned, answered without Redis by the policy for unknown buckets.", false,
		func(s client.Stats) int64 { return s.Unlearned }},
	{"round_trips", "{trip}", "Round trips to Redis, each with the calls of many callers.", false,
		func(s client.Stats) int64 { return s.RoundTrips }},
	{"round_trips.given_up", "{trip}", "Round trips to Redis that were not over by the deadline.", false,
		func(s client.Stats) int64 { return s.GivenUp }},
	{"round_trips.time", "us", "How long the round trips took in all.", false,
		func(s client.Stats) int64 { return s.RoundTripTimes.Sum.Microseconds() }},
	{"waiting_calls", "{call}", "Calls that wait for a round trip to take them along.", true,
		func(s client.Stats) int64 { return s.Waiting }},
	{"breakers", "{breaker}", "Ways to Redis, each with a breaker: one, on Cluster one for each part of the slots.", true,
		func(s client.Stats) int64 { return int64(s.Breakers) }},
	{"breakers.open", "{breaker}", "Ways on which Redis does not answer, so that buckets follow their failure policy.", true,
		func(s client.Stats) int64 { return int64(s.BreakersOpen) }},
}

const prefix = "headgate.client."

// observer reads the figures of one client for all instruments at once.
type observer struct {
	client  *client.Client
	granted metric.Int64ObservableCounter
	buckets []observed[client.BucketStats]
	wholes  []observed[client.Stats]

	mu      sync.Mutex
	highest map[string]int64 // granted of each bucket, as shown last
}

// observed is an instrument with what it shows.
type observed[T any] struct {
	instrument metric.Int64Observable
	of         func(T) int64
	gauge      bool
}

// Register makes instruments headgate.client.… on a meter that show what a client did since it was made, until the
// registration is ended. They may be read at any time, also after Close. An error is the meter's.
func Register(meter metric.Meter, c *client.Client) (metric.Registration, error) {
	o := &observer{client: c, highest: map[string]int64{}}
	all, err := o.instruments(meter)
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(o.observe, all...)
}

// instruments makes all of them.
func (o *observer) instruments(meter metric.Meter) ([]metric.Observable, error) {
	var err error
	o.granted, err = meter.Int64ObservableCounter(prefix+"permits.granted", metric.WithUnit("{permit}"),
		metric.WithDescription("Permits granted. Permits that are given back hold up its growth."))
	failed := []error{err}
	all := []metric.Observable{o.granted}
	for _, f := range perBucket {
		i, err := newInstrument(meter, f)
		failed, all = append(failed, err), append(all, i)
		o.buckets = append(o.buckets, observed[client.BucketStats]{i, f.of, f.gauge})
	}
	for _, f := range perClient {
		i, err := newInstrument(meter, f)
		failed, all = append(failed, err), append(all, i)
		o.wholes = append(o.wholes, observed[client.Stats]{i, f.of, f.gauge})
	}
	return all, errors.Join(failed...)
}

func newInstrument[T any](meter metric.Meter, f figure[T]) (metric.Int64Observable, error) {
	unit, help := metric.WithUnit(f.unit), metric.WithDescription(f.help)
	if f.gauge {
		return meter.Int64ObservableGauge(prefix+f.name, unit, help)
	}
	return meter.Int64ObservableCounter(prefix+f.name, unit, help)
}

// observe implements metric.Callback.
func (o *observer) observe(_ context.Context, out metric.Observer) error {
	s := o.client.Stats()
	app := metric.WithAttributes(AppKey.String(s.App))
	for _, w := range o.wholes {
		out.ObserveInt64(w.instrument, w.of(s), app)
	}
	for name, b := range s.Buckets {
		at := metric.WithAttributes(AppKey.String(s.App), BucketKey.String(name))
		out.ObserveInt64(o.granted, o.rising(name, b.Granted), at)
		for _, i := range o.buckets {
			if n := i.of(b); n > 0 || !i.gauge {
				out.ObserveInt64(i.instrument, n, at)
			}
		}
	}
	return nil
}

// rising keeps the granted permits of a bucket from falling when some are given back, which a counter must not.
func (o *observer) rising(name string, granted int64) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.highest[name] = max(o.highest[name], granted)
	return o.highest[name]
}
