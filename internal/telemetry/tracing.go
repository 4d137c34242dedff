package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing sends the traces of one server over OTLP/HTTP. There is one only where traces are wanted: who holds none makes
// no span, so that tracing which is off costs nothing.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// TracingConfig is what NewTracing needs.
type TracingConfig struct {
	Endpoint string // http(s) URL of the collector, to which /v1/traces is added; "": what the OTEL_EXPORTER_OTLP_… variables say
	Version  string // of this program
	Log      *slog.Logger
}

// Bounds of tracing.
const (
	stopTracing    = 2 * time.Second // for the last spans, at the end
	statementBytes = 2000            // kept of an SQL statement: a list of ids may have thousands of places
	faultBytes     = 300             // kept of an error's text
	troubleEvery   = time.Minute     // a collector that is away is told of once in this time
)

// NewTracing makes what sends traces; a collector that does not answer is no error, its spans are lost. The standard
// variables OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and OTEL_EXPORTER_OTLP_… count.
func NewTracing(ctx context.Context, c TracingConfig) (*Tracing, error) {
	var options []otlptracehttp.Option
	if c.Endpoint != "" {
		to, err := url.JoinPath(c.Endpoint, "v1", "traces")
		if err != nil {
			return nil, fmt.Errorf("the endpoint of traces: %w", err)
		}
		options = append(options, otlptracehttp.WithEndpointURL(to))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("prepare the sending of traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "headgate-admin"), attribute.String("service.version", c.Version)),
		resource.WithFromEnv()) // last, so that it counts
	if err != nil {
		c.Log.Warn("OTEL_RESOURCE_ATTRIBUTES can't be read as a whole", "error", err)
	}
	otel.SetErrorHandler(&trouble{log: c.Log})
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracing{provider: provider, tracer: provider.Tracer("github.com/headgate/headgate")}, nil
}

// Close sends what is left, for a bounded time.
func (t *Tracing) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTracing)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what could not be sent was told to the log
}

// trouble takes what the exporter complains of into our log, seldom enough for a collector that is away for hours.
type trouble struct {
	log  *slog.Logger
	told atomic.Int64 // ns
}

// Handle implements otel.ErrorHandler.
func (h *trouble) Handle(err error) {
	now, last := time.Now().UnixNano(), h.told.Load()
	if now-last > int64(troubleEvery) && h.told.CompareAndSwap(last, now) {
		h.log.Warn("traces could not be sent", "error", err)
	}
}

// fromCaller reads the W3C traceparent and tracestate of a request.
var fromCaller propagation.TraceContext

// Request begins the trace of a request, or takes over its caller's. route is the template that it matched. The caller
// ends it with the status that was answered.
func (t *Tracing) Request(r *http.Request, route, requestID string) (ctx context.Context, traceID string, end func(status int)) {
	ctx = fromCaller.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	method := knownMethod(r.Method)
	ctx, span := t.tracer.Start(ctx, method+" "+route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method), attribute.String("http.route", route), attribute.String("headgate.request_id", requestID)))
	return ctx, span.SpanContext().TraceID().String(), func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Push begins the step of bringing one bucket to Redis.
func (t *Tracing) Push(ctx context.Context, bucket string) (context.Context, func(error)) {
	ctx, span := t.step(ctx, "push to Redis", trace.SpanKindInternal, attribute.String("headgate.bucket", bucket))
	return ctx, func(err error) { finish(span, err) }
}

// SQL begins the step of one statement or one transaction. end is handed the statement with ? for its values, "" for a
// transaction.
func (t *Tracing) SQL(ctx context.Context, system string) (context.Context, func(name, statement string, err error)) {
	ctx, span := t.step(ctx, "sql", trace.SpanKindClient, attribute.String("db.system.name", system))
	return ctx, func(name, statement string, err error) {
		span.SetName(name)
		if statement != "" {
			span.SetAttributes(attribute.String("db.query.text", clip(statement, statementBytes)))
		}
		finish(span, err)
	}
}

// Redis begins the step of one command, or of a pipeline of several. Keys and values are not told.
func (t *Tracing) Redis(ctx context.Context, command string, count int) (context.Context, func(error)) {
	about := []attribute.KeyValue{attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", command)}
	if count > 1 {
		about = append(about, attribute.Int("db.operation.batch.size", count))
	}
	ctx, span := t.step(ctx, command, trace.SpanKindClient, about...)
	return ctx, func(err error) { finish(span, err) }
}

// step begins a span of a request's trace. What the server does by itself, some of it every second, belongs to no
// request and makes none.
func (t *Tracing) step(ctx context.Context, name string, kind trace.SpanKind, about ...attribute.KeyValue) (context.Context, trace.Span) {
	if parent := trace.SpanFromContext(ctx); !parent.SpanContext().IsValid() {
		return ctx, parent // which does nothing
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(about...))
}

func finish(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, clip(err.Error(), faultBytes))
	}
	span.End()
}

// clip cuts a text to so many bytes, and makes it UTF-8, without which the exporter would drop a whole batch.
func clip(s string, most int) string { return strings.ToValidUTF8(s[:min(len(s), most)], "") }
