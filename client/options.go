package client

import (
	"log/slog"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Bounds and defaults of the options of New.
const (
	DefaultPrefix   = "headgate"
	DefaultDeadline = 100 * time.Millisecond
	MinDeadline     = time.Millisecond
	MaxDeadline     = time.Minute
	MaxInstances    = 1_000_000
	maxPrefix       = 128

	DefaultQueue = 100_000
	MaxQueue     = 10_000_000
)

// Option sets something for the whole client. Make one with the functions below.
type Option func(*options)

type options struct {
	prefix        string
	deadline      time.Duration
	unknown       Policy
	notConfigured Policy
	instances     int64
	queue         int
	denial        bool
	hooked        bool
	log           *slog.Logger
	beat          time.Duration // between two heartbeats
}

func defaults() options {
	return options{prefix: DefaultPrefix, deadline: DefaultDeadline, unknown: Open, notConfigured: Closed, instances: 1, queue: DefaultQueue, denial: true, log: slog.Default(), beat: bucket.BeatEvery}
}

// Prefix is what every Redis key begins with. It must equal HEADGATE_REDIS_PREFIX of the admin server.
// Default DefaultPrefix; 1..128 bytes without braces.
func Prefix(prefix string) Option { return func(o *options) { o.prefix = prefix } }

// WithDeadline is the longest that one call may take, whatever the options of the Redis client are; a call that Redis
// has not answered by then is Unavailable. Default 100 ms; 1 ms..1 min. A context that ends sooner ends the call sooner.
func WithDeadline(d time.Duration) Option { return func(o *options) { o.deadline = d } }

// WithUnknownPolicy is the failure policy for a bucket of which this client had learned nothing when Redis failed:
// Open (default) or Closed. Preload avoids the case.
func WithUnknownPolicy(p Policy) Option { return func(o *options) { o.unknown = p } }

// WithNotConfigured says whether a call on a bucket that is not configured for this app is allowed: Open or Closed
// (default). The outcome is NotConfigured either way.
func WithNotConfigured(p Policy) Option { return func(o *options) { o.notConfigured = p } }

// WithInstances is how many processes share the buckets at least: under the failure policy local each enforces one n-th
// of the limit, n being the processes that were live when Redis was last there, which each learns by heartbeats every
// 5 s, or this number if it is larger. Default 1; 1..1,000,000.
func WithInstances(n int) Option { return func(o *options) { o.instances = int64(n) } }

// WithQueue is how many calls may wait for Redis at a time, for each of its parts; more are answered at once by the
// failure policy, with ErrBusy. Default DefaultQueue; 1..MaxQueue.
func WithQueue(calls int) Option { return func(o *options) { o.queue = calls } }

// WithLocalDenial says whether this process refuses by itself what Redis has just refused, until permits can have come
// in and for 250 ms at most. Default true. Without it every call is put to Redis.
func WithLocalDenial(on bool) Option { return func(o *options) { o.denial = on } }

// WithHooks makes every call visible to the hooks (redis.Hook) of the Redis client. Without it a lone caller's call goes
// past them on a standalone or Sentinel client, which spares it a change of goroutines: go-redis gives its hooks to no
// client with timeouts of its own.
func WithHooks() Option { return func(o *options) { o.hooked = true } }

// WithLogger is where the client tells operators that Redis stopped answering, that it is back, that usage could not be
// reported or was dropped, that leases were lost and that heartbeats fail. Default slog.Default(). It logs changes, never single calls.
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.log = log } }

func (o *options) check() error {
	switch {
	case o.prefix == "" || len(o.prefix) > maxPrefix || strings.ContainsAny(o.prefix, "{}"):
		return misused(ErrPrefix, "got %q", clip(o.prefix))
	case o.deadline < MinDeadline || o.deadline > MaxDeadline:
		return misused(ErrOption, "WithDeadline takes %v..%v, got %v", MinDeadline, MaxDeadline, o.deadline)
	case o.unknown != Open && o.unknown != Closed:
		return misused(ErrOption, "WithUnknownPolicy takes Open or Closed, got %q", o.unknown)
	case o.notConfigured != Open && o.notConfigured != Closed:
		return misused(ErrOption, "WithNotConfigured takes Open or Closed, got %q", o.notConfigured)
	case o.instances < 1 || o.instances > MaxInstances:
		return misused(ErrOption, "WithInstances takes 1..%d, got %d", MaxInstances, o.instances)
	case o.queue < 1 || o.queue > MaxQueue:
		return misused(ErrOption, "WithQueue takes 1..%d, got %d", MaxQueue, o.queue)
	case o.log == nil:
		return misused(ErrOption, "WithLogger takes a logger, got nil; use slog.New(slog.DiscardHandler) for silence")
	}
	return nil
}

// clip keeps a hostile or mistaken argument from filling a log line.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
