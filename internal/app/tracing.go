package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/telemetry"
)

// tracingSettings are those of traces. What else OpenTelemetry can be told, it reads from its standard variables.
var tracingSettings = []setting{{"HEADGATE_OTLP_ENDPOINT", otlpEndpoint}}

// otlpEndpoint reads the setting of the same name.
func otlpEndpoint(c *Config, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must be the URL of a collector that speaks OTLP over HTTP, such as http://127.0.0.1:4318")
	}
	c.OTLPEndpoint = value
	return nil
}

// standardEndpoints name a collector in the words of OpenTelemetry.
var standardEndpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// wantsTraces tells whether a collector was named, here or in OpenTelemetry's own variables.
func (c *Config) wantsTraces(getenv func(string) string) bool {
	if getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	for _, name := range standardEndpoints {
		if getenv(name) != "" {
			return true
		}
	}
	return c.OTLPEndpoint != ""
}

// openTracing begins to trace, where a collector was named.
func (a *App) openTracing(ctx context.Context) (err error) {
	if !a.cfg.wantsTraces(os.Getenv) {
		return nil
	}
	a.tracing, err = telemetry.NewTracing(ctx, telemetry.TracingConfig{Endpoint: a.cfg.OTLPEndpoint, Version: a.cfg.Version, Log: a.log})
	return err
}

// traceStore is what the store tells its statements to; nil without tracing.
func (a *App) traceStore() store.Trace {
	if a.tracing == nil {
		return nil
	}
	return a.tracing.SQL
}

// traceRequest is what the API tells its requests to; nil without tracing.
func (a *App) traceRequest() func(r *http.Request, route, requestID string) (context.Context, string, func(status int)) {
	if a.tracing == nil {
		return nil
	}
	return a.tracing.Request
}

// redisSteps has every command of a client be a step of its request's trace.
type redisSteps struct{ tracing *telemetry.Tracing }

// DialHook implements redis.Hook.
func (s redisSteps) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements redis.Hook.
func (s redisSteps) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		ctx, end := s.tracing.Redis(ctx, cmd.FullName(), 1)
		err := next(ctx, cmd)
		end(redisFault(err))
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (s redisSteps) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		ctx, end := s.tracing.Redis(ctx, "pipeline", len(cmds))
		err := next(ctx, cmds)
		end(redisFault(err))
		return err
	}
}

// redisFault takes "there is no such key" for the answer that it is, and a script that was not loaded yet for what it is
// too: it is sent again as a whole.
func redisFault(err error) error {
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "NOSCRIPT") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}
