package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Read finds out how everything is. It must end soon after ctx does.
type Read func(ctx context.Context) Reading

// Reading is how everything is at one moment.
type Reading struct {
	Database, Redis Part
	Sync            Sync
	Sessions        *int64 // that have not ended; nil when not known
	Audit           *Audit // nil when not known
	UsagePassedOver int64  // readings of keys at the places of usage that held something else
}

// Part is a server that this one leans on.
type Part struct {
	Up     bool
	Answer time.Duration // how long it took to answer a ping

	Used, Idle int // connections of the pool
	Most       int // connections that it may have
	Waits      int64
	Waited     time.Duration // for a free connection, all waits together; zero for Redis, which does not tell
	TimedOut   int64         // waits that were given up; zero for the database, which does not tell
}

// Sync is how Redis and the database stand to each other, and what this process did about it.
type Sync struct {
	State    string // one of States
	Pending  int64
	Orphans  int
	Repaired time.Time // end of the last comparison of everything; zero before the first

	Installed, Reinstalled, Removed, Raised, Mended, Restarted int64
}

// States are all that Sync.State can be.
var States = []string{"starting", "ok", "redis_down", "database_down", "foreign"}

// Audit is where the history's chain stands.
type Audit struct {
	Rows         int64 // kept
	Last         int64 // number of the newest row
	Checkpoint   int64 // number of the row that the newest checkpoint signs; 0 = none
	Checkpointed time.Time
}

// reading is one metric that is read.
type reading struct {
	name, help, label string // label "" = none
	kind              prometheus.ValueType
	value             func(r *Reading, emit func(value float64, label ...string))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

type emit = func(value float64, label ...string)

// readTable is every metric that is read, in the order of docs/operations.md.
var readTable = []reading{
	{"headgate_sync_state", "1 for the state that reconcile is in.", "state", prometheus.GaugeValue, func(r *Reading, out emit) {
		for _, s := range States {
			out(truth(s == r.Sync.State), s)
		}
	}},
	{"headgate_sync_pending_buckets", "Buckets that Redis is not known to have at their present revision.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) { out(float64(r.Sync.Pending)) }},
	{"headgate_sync_orphans", "Definitions that only Redis has; they are left alone.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) { out(float64(r.Sync.Orphans)) }},
	{"headgate_sync_repaired_timestamp_seconds", "When this server last compared everything with success; absent before the first time.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) {
			if !r.Sync.Repaired.IsZero() {
				out(seconds(r.Sync.Repaired))
			}
		}},
	{"headgate_sync_buckets_total", "What passes of this server did to definitions in Redis; mended counts those that a repair found to differ without an edit.", "did", prometheus.CounterValue,
		func(r *Reading, out emit) {
			out(float64(r.Sync.Installed), "installed")
			out(float64(r.Sync.Reinstalled), "reinstalled")
			out(float64(r.Sync.Removed), "removed")
			out(float64(r.Sync.Raised), "raised")
			out(float64(r.Sync.Mended), "mended")
			out(float64(r.Sync.Restarted), "restarted")
		}},
	{"headgate_usage_keys_passed_over_total", "Readings of keys in Redis at the places of usage that held something else.", "", prometheus.CounterValue,
		func(r *Reading, out emit) { out(float64(r.UsagePassedOver)) }},
	{"headgate_redis_up", "1 when Redis answered.", "", prometheus.GaugeValue, func(r *Reading, out emit) { out(truth(r.Redis.Up)) }},
	{"headgate_redis_answer_seconds", "How long Redis took to answer a ping; absent when it did not.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) { answer(&r.Redis, out) }},
	{"headgate_redis_connections", "Connections of the pool to Redis, by state: used, idle.", "state", prometheus.GaugeValue,
		func(r *Reading, out emit) { connections(&r.Redis, out) }},
	{"headgate_redis_connection_timeouts_total", "Calls that found no free connection to Redis in time.", "", prometheus.CounterValue,
		func(r *Reading, out emit) { out(float64(r.Redis.TimedOut)) }},
	{"headgate_database_up", "1 when the database answered.", "", prometheus.GaugeValue, func(r *Reading, out emit) { out(truth(r.Database.Up)) }},
	{"headgate_database_answer_seconds", "How long the database took to answer a ping; absent when it did not.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) { answer(&r.Database, out) }},
	{"headgate_database_connections", "Connections of the pool to the database, by state: used, idle.", "state", prometheus.GaugeValue,
		func(r *Reading, out emit) { connections(&r.Database, out) }},
	{"headgate_database_connections_most", "Connections that the pool may have.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) { out(float64(r.Database.Most)) }},
	{"headgate_database_connection_waits_total", "Calls that had to wait for a free connection.", "", prometheus.CounterValue,
		func(r *Reading, out emit) { out(float64(r.Database.Waits)) }},
	{"headgate_database_connection_wait_seconds_total", "Time waited for free connections, all calls together.", "", prometheus.CounterValue,
		func(r *Reading, out emit) { out(r.Database.Waited.Seconds()) }},
	{"headgate_sessions", "Sessions that have not ended, in the database; absent when it does not answer.", "", prometheus.GaugeValue,
		func(r *Reading, out emit) {
			if r.Sessions != nil {
				out(float64(*r.Sessions))
			}
		}},
	{"headgate_audit_rows", "Rows of the history that are kept; absent when the database does not answer.", "", prometheus.GaugeValue,
		ofAudit(func(a *Audit, out emit) { out(float64(a.Rows)) })},
	{"headgate_audit_last_row", "Number of the newest row of the history.", "", prometheus.GaugeValue,
		ofAudit(func(a *Audit, out emit) { out(float64(a.Last)) })},
	{"headgate_audit_checkpoint_row", "Number of the row that the newest checkpoint signs; 0 before the first.", "", prometheus.GaugeValue,
		ofAudit(func(a *Audit, out emit) { out(float64(a.Checkpoint)) })},
	{"headgate_audit_checkpoint_timestamp_seconds", "When the newest checkpoint was made; absent before the first.", "", prometheus.GaugeValue,
		ofAudit(func(a *Audit, out emit) {
			if a.Checkpoint > 0 {
				out(seconds(a.Checkpointed))
			}
		})},
}

func answer(p *Part, out emit) {
	if p.Up {
		out(p.Answer.Seconds())
	}
}

func connections(p *Part, out emit) {
	out(float64(p.Used), "used")
	out(float64(p.Idle), "idle")
}

func ofAudit(value func(*Audit, emit)) func(*Reading, emit) {
	return func(r *Reading, out emit) {
		if r.Audit != nil {
			value(r.Audit, out)
		}
	}
}

// readTimeout bounds one reading; parts that hang are then told as down.
const readTimeout = 5 * time.Second

// readings reads everything when Prometheus asks.
type readings struct {
	read  Read
	mu    sync.Mutex // one reading at a time, however many ask
	descs []*prometheus.Desc
}

// descriptions are made once; the caller holds mu.
func (c *readings) descriptions() []*prometheus.Desc {
	if c.descs == nil {
		for _, r := range readTable {
			var labels []string
			if r.label != "" {
				labels = []string{r.label}
			}
			c.descs = append(c.descs, prometheus.NewDesc(r.name, r.help, labels, nil))
		}
	}
	return c.descs
}

// Describe implements prometheus.Collector.
func (c *readings) Describe(out chan<- *prometheus.Desc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.descriptions() {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *readings) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	now := c.read(ctx)
	for i, r := range readTable {
		desc := c.descriptions()[i]
		r.value(&now, func(value float64, label ...string) {
			out <- prometheus.MustNewConstMetric(desc, r.kind, value, label...)
		})
	}
}
