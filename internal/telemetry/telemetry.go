// Package telemetry is what the admin server tells Prometheus about itself, and the traces of requests that it sends over
// OTLP (tracing.go). What happens is counted when it happens (requests, logins, pushes, passes); what is the case is read
// when Prometheus asks (readings.go). No label takes a value that a caller chooses.
package telemetry

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// The paths that get figures of their own.
const (
	loginRoute  = "/api/v1/auth/login"
	streamRoute = "/api/v1/stream"
)

// Metrics counts what happens. Its methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry

	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	working   prometheus.Gauge
	streaming prometheus.Gauge
	logins    *prometheus.CounterVec
	pushes    *prometheus.HistogramVec
	passes    *prometheus.HistogramVec
	tampering prometheus.Counter
}

// quick suits what usually takes milliseconds: 1 ms to 10 s.
var quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// New makes the metrics of one server. read is asked whenever Prometheus asks, at most once at a time.
func New(version string, read Read) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headgate_api_requests_total", Help: "Requests answered, by route template, method and class of the status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "headgate_api_request_seconds", Help: "Time from a request's head to the end of its answer; live streams are not in it.", Buckets: quick,
		}, []string{"route", "method"}),
		working: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "headgate_api_requests_in_work", Help: "Requests being answered now, live streams not counted.",
		}),
		streaming: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "headgate_api_streams", Help: "Live streams (server-sent events) that are open now.",
		}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headgate_logins_total", Help: "Attempts to log in with a password, by outcome: ok, refused, held_off, failed.",
		}, []string{"outcome"}),
		pushes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "headgate_sync_push_seconds", Help: "Pushes of one bucket to Redis right after a save, by outcome: ok, failed.", Buckets: quick,
		}, []string{"outcome"}),
		passes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "headgate_sync_pass_seconds", Help: "Passes over the outbox (kind drain) or over everything (kind repair), by outcome: ok, failed.", Buckets: quick,
		}, []string{"kind", "outcome"}),
		tampering: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "headgate_audit_tampering_total", Help: "Times that the history was found not to follow from itself; the log says where.",
		}),
	}
	m.begin()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "headgate_build_info", Help: "Always 1; the label has the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.requests, m.seconds, m.working, m.streaming, m.logins, m.pushes, m.passes, m.tampering,
		&readings{read: read}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// begin makes the series whose labels are known beforehand, so that a rate over the first event is not lost.
func (m *Metrics) begin() {
	for _, outcome := range []string{"ok", "refused", "held_off", "failed"} {
		m.logins.WithLabelValues(outcome)
	}
	for _, outcome := range []string{"ok", "failed"} {
		m.pushes.WithLabelValues(outcome)
		for _, kind := range []string{"drain", "repair"} {
			m.passes.WithLabelValues(kind, outcome)
		}
	}
}

// Handler answers Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// Watch counts the requests that next is at work on.
func (m *Metrics) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gauge := m.working
		if r.URL.Path == streamRoute {
			gauge = m.streaming
		}
		gauge.Inc()
		defer gauge.Dec()
		next.ServeHTTP(w, r)
	})
}

// Request counts an answered request. route is the template that it matched, "" for none.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	method, route = knownMethod(method), knownRoute(route)
	m.requests.WithLabelValues(route, method, class(status)).Inc()
	if route != streamRoute {
		m.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	}
	if route == loginRoute && method == http.MethodPost {
		m.logins.WithLabelValues(loginOutcome(status)).Inc()
	}
}

// Push counts a push of one bucket after its save.
func (m *Metrics) Push(took time.Duration, err error) {
	m.pushes.WithLabelValues(outcome(err)).Observe(took.Seconds())
}

// Pass counts a pass of reconcile; deep ones compare everything.
func (m *Metrics) Pass(deep bool, took time.Duration, err error) {
	kind := "drain"
	if deep {
		kind = "repair"
	}
	m.passes.WithLabelValues(kind, outcome(err)).Observe(took.Seconds())
}

// Tampering counts a fault in the history's chain.
func (m *Metrics) Tampering() { m.tampering.Inc() }

func outcome(err error) string {
	if err != nil {
		return "failed"
	}
	return "ok"
}

// knownMethod keeps invented methods from making series.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete:
		return method
	}
	return "other"
}

// knownRoute names what matched no route: the console's files, and paths that are not there.
func knownRoute(route string) string {
	if route == "" {
		return "other"
	}
	return route
}

func class(status int) string {
	switch {
	case status >= 500:
		return "5xx"
	case status >= 400:
		return "4xx"
	case status >= 300:
		return "3xx"
	}
	return "2xx"
}

func loginOutcome(status int) string {
	switch {
	case status < 300:
		return "ok"
	case status == http.StatusTooManyRequests:
		return "held_off"
	case status >= 500:
		return "failed"
	}
	return "refused"
}
