package ginlimit

import (
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
)

// Rule is one limit that requests are held to.
type Rule = httplimit.RuleFor[*gin.Context]

// Option says more about the middleware. Make one with the functions below.
type Option func(*options)

type options struct {
	guard   httplimit.GuardOptions
	skip    func(*gin.Context) bool
	refuse  func(*gin.Context, *httplimit.Verdict)
	headers bool
}

// WaitUpTo lets a request wait for its turn, at most d, instead of being limited at once. Only with a single rule. The
// bucket's max_wait bounds it too.
func WaitUpTo(d time.Duration) Option { return func(o *options) { o.guard.Wait = d } }

// Skip lets requests through without asking any rule, such as health checks.
func Skip(skip func(*gin.Context) bool) Option { return func(o *options) { o.skip = skip } }

// OnRefused answers requests that were refused, in place of httplimit.WriteProblem. The header fields, Retry-After among
// them, are set already and the context is aborted; the handler chooses status and body.
func OnRefused(handler func(*gin.Context, *httplimit.Verdict)) Option {
	return func(o *options) { o.refuse = handler }
}

// WithoutHeaders leaves out RateLimit, RateLimit-Policy and X-RateLimit-*, for services that don't want to tell their
// limits. Retry-After stays.
func WithoutHeaders() Option { return func(o *options) { o.headers = false } }

// WithLogger is told of misuse, at most once a second. Default slog.Default().
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.guard.Logger = log } }

// New returns middleware that holds requests to all of the rules. The error is a *client.MisuseError that says what to do.
func New(limiter httplimit.Limiter, rules []Rule, opts ...Option) (gin.HandlerFunc, error) {
	o := options{headers: true, refuse: func(c *gin.Context, v *httplimit.Verdict) { httplimit.WriteProblem(c.Writer, v) }}
	for _, set := range opts {
		set(&o)
	}
	if o.refuse == nil {
		return nil, &client.MisuseError{Argument: "option", Advice: "hand OnRefused a function"}
	}
	guard, err := httplimit.NewGuard(limiter, rules, o.guard)
	if err != nil {
		return nil, err
	}
	return func(c *gin.Context) {
		if o.skip != nil && o.skip(c) {
			return
		}
		v := guard.Decide(c.Request.Context(), c)
		if o.headers {
			v.SetHeaders(c.Writer.Header())
		}
		if v.Allowed {
			return
		}
		refused := v // a copy: v stays off the heap for all requests that go on
		c.Abort()
		refused.SetRetryAfter(c.Writer.Header())
		o.refuse(c, &refused)
	}, nil
}
