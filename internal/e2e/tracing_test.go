package e2e_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	span "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/headgate/headgate/internal/testenv"
)

// traces is a collector that keeps what it is sent.
type traces struct {
	t     *testing.T
	url   string
	mu    sync.Mutex
	spans []*span.Span
	about string // the attributes of what sent them
}

func newTraces(t *testing.T) *traces {
	t.Helper()
	c := &traces{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// ServeHTTP takes one batch over OTLP/HTTP.
func (c *traces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var batch collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &batch)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("not OTLP over HTTP: %s %s, %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range batch.ResourceSpans {
		c.about = from.Resource.String()
		for _, scope := range from.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// of returns the spans of one trace that have arrived.
func (c *traces) of(trace string) []*span.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*span.Span
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == trace {
			found = append(found, s)
		}
	}
	return found
}

// under returns the first span of the name below another, at any depth.
func under(t *testing.T, all []*span.Span, above *span.Span, name string) *span.Span {
	t.Helper()
	parents := map[string]string{}
	for _, s := range all {
		parents[string(s.SpanId)] = string(s.ParentSpanId)
	}
	for _, s := range all {
		for id := string(s.ParentSpanId); s.Name == name && id != ""; id = parents[id] {
			if id == string(above.SpanId) {
				return s
			}
		}
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	t.Fatalf("no %q below %q; there are %v", name, above.Name, names)
	return nil
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
)

// A save is one trace: the caller's, with the transaction, its statements, and the push with its commands to Redis; the
// log line names it. No value of a statement and no key of Redis is told.
func TestASaveIsOneTraceFromTheCallerToRedis(t *testing.T) {
	sink, g := newTraces(t), newGround(t, nil)
	a := startAdmin(t, append(g.settings, "HEADGATE_OTLP_ENDPOINT="+sink.url, "OTEL_BSP_SCHEDULE_DELAY=100"), "serve")
	root := a.login("admin", adminPassword)
	root.people()
	header := map[string]string{"Traceparent": "00-" + callersTrace + "-" + callersSpan + "-01"}
	root.must(http.StatusCreated, http.MethodPost, "/buckets", header, withName(definition(1, 5, "a reason that is nobody's business"), "traced"))

	const name = "POST /api/v1/buckets"
	var all []*span.Span
	testenv.Eventually(t, 20*time.Second, "the trace arrives", func() bool {
		all = sink.of(callersTrace)
		return slices.ContainsFunc(all, func(s *span.Span) bool { return s.Name == name })
	})
	request := all[slices.IndexFunc(all, func(s *span.Span) bool { return s.Name == name })]
	if got := hex.EncodeToString(request.ParentSpanId); got != callersSpan || request.Kind != span.Span_SPAN_KIND_SERVER {
		t.Errorf("the request's parent is %s and its kind %s", got, request.Kind)
	}
	under(t, all, request, "INSERT buckets")
	under(t, all, under(t, all, request, "transaction"), "INSERT changes")
	push := under(t, all, request, "push to Redis")
	if !slices.ContainsFunc(all, func(s *span.Span) bool {
		return string(s.ParentSpanId) == string(push.SpanId) && strings.Contains(s.String(), `"redis"`)
	}) {
		t.Errorf("the push has no command to Redis: %v", all)
	}
	if !strings.Contains(sink.about, "headgate-admin") {
		t.Errorf("what sent it is %s", sink.about)
	}
	for _, s := range all {
		if text := s.String(); strings.Contains(text, "nobody's business") || strings.Contains(text, g.prefix+":") {
			t.Errorf("a span tells a value: %s", text)
		}
	}
	a.WaitFor("trace_id=" + callersTrace)
}

// Without a collector nothing is traced: no id in the log, whatever a caller sends.
func TestWithoutACollectorNothingIsTraced(t *testing.T) {
	a := startAdmin(t, newGround(t, nil).settings, "serve")
	header := map[string]string{"Traceparent": "00-" + callersTrace + "-" + callersSpan + "-01"}
	a.login("admin", adminPassword).must(http.StatusCreated, http.MethodPost, "/apps", header, map[string]any{"name": "one", "description": ""})
	a.WaitFor("path=/api/v1/apps")
	if strings.Contains(a.Out.String(), "trace_id") {
		t.Errorf("the log names a trace:\n%s", a.Out)
	}
}

// A collector that is away costs its traces and a line in the log, and holds up neither requests nor the end.
func TestACollectorThatIsAwayHoldsUpNothing(t *testing.T) {
	port, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	away := fmt.Sprintf("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:%d", port)
	a := startAdmin(t, append(newGround(t, nil).settings, away, "OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_EXPORTER_OTLP_TIMEOUT=500"), "serve")
	root := a.login("admin", adminPassword)
	root.people()
	a.WaitFor("traces could not be sent")
	root.must(http.StatusOK, http.MethodGet, "/apps", nil, nil)
	if err := a.interrupt(); err != nil {
		t.Errorf("the end: %v", err)
	}
}
