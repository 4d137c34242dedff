package httplimit

import (
	"log/slog"
	"net/http"
	"time"
)

// Rule is one limit that requests are held to.
type Rule = RuleFor[*http.Request]

// Option says more about the middleware. Make one with the functions below.
type Option func(*options)

type options struct {
	guard   GuardOptions
	skip    func(*http.Request) bool
	refuse  func(http.ResponseWriter, *http.Request, *Verdict)
	headers bool
}

// WaitUpTo lets a request wait for its turn, at most d, instead of being limited at once. Only with a single rule. The
// bucket's max_wait bounds it too.
func WaitUpTo(d time.Duration) Option { return func(o *options) { o.guard.Wait = d } }

// Skip lets requests through without asking any rule, such as health checks.
func Skip(skip func(*http.Request) bool) Option { return func(o *options) { o.skip = skip } }

// OnRefused answers requests that were refused, in place of WriteProblem. The header fields, Retry-After among them, are
// set already; the handler chooses status and body.
func OnRefused(handler func(http.ResponseWriter, *http.Request, *Verdict)) Option {
	return func(o *options) { o.refuse = handler }
}

// WithoutHeaders leaves out RateLimit, RateLimit-Policy and X-RateLimit-*, for services that don't want to tell their
// limits. Retry-After stays.
func WithoutHeaders() Option { return func(o *options) { o.headers = false } }

// WithLogger is told of misuse, at most once a second. Default slog.Default().
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.guard.Logger = log } }

// New returns middleware that holds requests to all of the rules. The error is a *client.MisuseError that says what to do.
func New(limiter Limiter, rules []Rule, opts ...Option) (func(http.Handler) http.Handler, error) {
	o := options{headers: true, refuse: func(w http.ResponseWriter, _ *http.Request, v *Verdict) { WriteProblem(w, v) }}
	for _, set := range opts {
		set(&o)
	}
	if o.refuse == nil {
		return nil, misuse("option", "hand OnRefused a function")
	}
	guard, err := NewGuard(limiter, rules, o.guard)
	if err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if o.skip != nil && o.skip(r) {
				next.ServeHTTP(w, r)
				return
			}
			v := guard.Decide(r.Context(), r)
			if o.headers {
				v.SetHeaders(w.Header())
			}
			if v.Allowed {
				next.ServeHTTP(w, r)
				return
			}
			refused := v // a copy: v stays off the heap for all requests that go on
			refused.SetRetryAfter(w.Header())
			o.refuse(w, r, &refused)
		})
	}, nil
}
