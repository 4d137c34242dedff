package httplimit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/client"
)

// GuardOptions says more about a Guard; the zero value is ready to use.
type GuardOptions struct {
	// Wait is how long a request may wait for its turn instead of being limited, 0 for not at all. Only a Guard with a
	// single rule can wait.
	Wait time.Duration
	// Logger is told of misuse, at most once a second. Default slog.Default().
	Logger *slog.Logger
}

// Guard holds requests of type R to rules. The middlewares are thin layers over it; use it to write one for another
// router. It is safe for use by many goroutines.
type Guard[R any] struct {
	limiter Limiter
	rules   []RuleFor[R]
	names   []string
	wait    time.Duration
	log     *slog.Logger
	logged  atomic.Int64 // Unix time in s of the last line
}

// NewGuard checks the rules and returns a Guard for them. The error is a *client.MisuseError that says what to do.
func NewGuard[R any](limiter Limiter, rules []RuleFor[R], o GuardOptions) (*Guard[R], error) {
	names, err := checkRules(rules)
	switch {
	case err != nil:
		return nil, err
	case limiter == nil:
		return nil, misuse("limiter", "hand over a client made by client.New")
	case o.Wait < 0:
		return nil, misuse("wait", "wait for 0 or longer")
	case o.Wait > 0 && len(rules) > 1:
		return nil, misuse("wait", "wait with a single rule only; with several, none can keep its turn while another refuses")
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Guard[R]{limiter: limiter, rules: slices.Clone(rules), names: names, wait: o.Wait, log: o.Logger}, nil
}

// few is the number of rules whose requests are gathered on the stack.
const few = 4

// Decide asks the buckets of all rules that apply to r: of all, or of none when one refuses. A request that no rule
// applies to is allowed. ctx ends the asking, and the waiting.
func (g *Guard[R]) Decide(ctx context.Context, r R) Verdict {
	var room [few]client.Request
	requests, names := room[:0], g.names
	for i := range g.rules {
		request, standing := g.rules[i].request(r)
		switch standing {
		case keyless:
			return refusal(CodeNoKey, g.names[i:i+1], nil)
		case exempt:
			names = slices.Delete(slices.Clone(names), len(requests), len(requests)+1)
		case held:
			requests = append(requests, request)
		}
	}
	switch len(requests) {
	case 0:
		return Verdict{Allowed: true}
	case 1:
		d, err := g.one(ctx, requests[0])
		if err != nil {
			return g.failed(err)
		}
		return judge(names, []client.Decision{d})
	default:
		decisions, err := g.limiter.AcquireAll(ctx, slices.Clone(requests)...) // a clone, so that room stays on the stack
		if err != nil {
			return g.failed(err)
		}
		return judge(names, decisions)
	}
}

// one asks a single bucket.
func (g *Guard[R]) one(ctx context.Context, r client.Request) (client.Decision, error) {
	switch {
	case g.wait > 0:
		return g.limiter.Wait(ctx, r.Bucket, client.Permits(r.Permits), client.Key(r.Key), client.MaxWait(g.wait))
	case r.Key == "" && r.Permits == 1:
		return g.limiter.Acquire(ctx, r.Bucket)
	default:
		return g.limiter.Acquire(ctx, r.Bucket, client.Permits(r.Permits), client.Key(r.Key))
	}
}

// failed is the verdict when the SDK returned an error. Misuse is a bug, which the operator must hear of and the caller
// must not.
func (g *Guard[R]) failed(err error) Verdict {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return refusal(CodeCancelled, nil, err)
	}
	now := time.Now().Unix()
	if last := g.logged.Load(); last != now && g.logged.CompareAndSwap(last, now) {
		g.log.Error("a rate limit can't be asked", "rules", g.names, "error", err)
	}
	return refusal(CodeInternal, nil, err)
}
