package grpclimit

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/headgate/headgate/client/httplimit"
)

// Option says more about the interceptors. Make one with the functions below.
type Option func(*options)

type options struct {
	guard      httplimit.GuardOptions
	skip       func(Call) bool
	refuse     func(Call, *httplimit.Verdict) error
	perMessage bool
}

// WaitUpTo lets a call wait for its turn, at most d, instead of being limited at once. Only where every method has a
// single rule. The bucket's max_wait bounds it too.
func WaitUpTo(d time.Duration) Option { return func(o *options) { o.guard.Wait = d } }

// Skip lets calls through without asking any rule.
func Skip(skip func(Call) bool) Option { return func(o *options) { o.skip = skip } }

// OnRefused makes the error of a call that was refused, in place of Error. It must not return nil.
func OnRefused(refuse func(Call, *httplimit.Verdict) error) Option {
	return func(o *options) { o.refuse = refuse }
}

// PerMessage takes permits for each message that a stream receives, instead of once when it is opened. With WaitUpTo the
// stream is slowed down.
func PerMessage() Option { return func(o *options) { o.perMessage = true } }

// WithLogger is told of misuse, at most once a second. Default slog.Default().
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.guard.Logger = log } }

// Limit holds calls to rules. It is safe for use by many goroutines.
type Limit struct {
	guards  guards
	options options
}

// New returns a Limit with rules by method: /package.Service/Method stands for one method, /package.Service/ for all
// others of a service, / for all others. A method without an entry, or with an empty one, is not limited. The error is a
// *client.MisuseError that says what to do.
func New(limiter httplimit.Limiter, rules map[string][]Rule, opts ...Option) (*Limit, error) {
	o := options{refuse: func(_ Call, v *httplimit.Verdict) error { return Error(v) }}
	for _, set := range opts {
		set(&o)
	}
	if o.refuse == nil {
		return nil, misuse("option", "hand OnRefused a function")
	}
	all, err := newGuards(limiter, rules, o.guard)
	if err != nil {
		return nil, err
	}
	return &Limit{guards: all, options: o}, nil
}

// Unary returns the interceptor for unary calls.
func (l *Limit) Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if err := l.admit(Call{Context: ctx, Method: info.FullMethod, Message: request}); err != nil {
			return nil, err
		}
		return handler(ctx, request)
	}
}

// Stream returns the interceptor for streams.
func (l *Limit) Stream() grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if l.options.perMessage {
			return handler(server, &counted{ServerStream: stream, limit: l, method: info.FullMethod})
		}
		if err := l.admit(Call{Context: stream.Context(), Method: info.FullMethod}); err != nil {
			return err
		}
		return handler(server, stream)
	}
}

// admit returns nil for calls that may go on.
func (l *Limit) admit(c Call) error {
	guard := l.guards.of(c.Method)
	if guard == nil || l.options.skip != nil && l.options.skip(c) {
		return nil
	}
	v := guard.Decide(c.Context, c)
	if v.Allowed {
		return nil
	}
	refused := v // a copy: v stays off the heap for all calls that go on
	return l.options.refuse(c, &refused)
}

// counted is a stream whose messages take permits.
type counted struct {
	grpc.ServerStream
	limit  *Limit
	method string
}

// RecvMsg receives a message and returns the refusal, if any, after it: only then can a rule ask what it costs.
func (s *counted) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return s.limit.admit(Call{Context: s.Context(), Method: s.method, Message: message})
}
