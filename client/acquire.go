package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// Acquire takes permits from a bucket, all that the call asks for or none, and never waits for more to come in.
//
// The error is for misuse (a *MisuseError that says what to do) and for a context that is done, and then nothing is
// allowed; a limit, a bucket that is not configured and an absent Redis are Decisions. Permits that Redis grants after
// the context has ended are given back. Without permits to ask for one; buckets that count by key need Key.
func (c *Client) Acquire(ctx context.Context, name string, opts ...CallOption) (Decision, error) {
	r, err := newCall(name, opts)
	if err != nil {
		return Decision{}, err
	}
	r.wait = 0
	d, _, err := c.decide(ctx, &r)
	return d, err
}

// Peek says what an Acquire with the same arguments would be told now, and takes nothing. Nothing is counted as usage.
func (c *Client) Peek(ctx context.Context, name string, opts ...CallOption) (Decision, error) {
	r, err := newCall(name, opts)
	if err != nil {
		return Decision{}, err
	}
	r.peek, r.wait = true, 0
	d, _, err := c.decide(ctx, &r)
	return d, err
}

// Preload learns the definitions of buckets ahead of the first calls, so that should Redis fail early, their own
// failure policies hold and not the one for unknown buckets. Besides misuse and a done context it returns an error for
// every bucket that could not be learned; the client works all the same, and learns them later.
func (c *Client) Preload(ctx context.Context, buckets ...string) error {
	failed := make([]error, len(buckets))
	var all sync.WaitGroup
	for i, name := range buckets {
		all.Go(func() { failed[i] = c.preload(ctx, name) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// attempts is how often one call may ask: once with what is believed, once to learn what holds, once with that.
const attempts = 3

// decide answers one call. The group is the one that brought the answer, nil where no answer came from Redis.
func (c *Client) decide(ctx context.Context, r *call) (Decision, *group, error) {
	if c.isClosed.Load() {
		return Decision{}, nil, ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, nil, err
	}
	k := c.book.find(r.bucket)
	if d, ok := c.denied(k, r); ok {
		return d, nil, nil
	}
	for i := range attempts {
		g, err := c.travel(ctx, k, r)
		if movesNow(err) && i < attempts-1 && sleep(ctx, movePause) == nil {
			continue
		}
		if err != nil {
			return c.failed(ctx, r, err)
		}
		switch v := g.repl.Verdict; {
		case v == bucket.VerdictDecided:
			return c.verdict(r, g, g.ticket()), g, nil
		case v == bucket.VerdictUnknownFormat:
			return c.failed(ctx, r, ErrUnknownFormat)
		case v == bucket.VerdictStale:
			if err := fits(r, g.repl.Facts); err != nil {
				return Decision{}, nil, err
			}
		case g.target.Facts != nil && g.target.Facts.Shards > 1 && v != bucket.VerdictNotListed:
			// The copy of one shard is gone: perhaps the shards are others now. What was learned stays, for its policy.
			k = nil
			continue
		case v == bucket.VerdictAbsent && c.book.find(r.bucket).facts() != nil:
			return c.failed(ctx, r, ErrLost)
		default:
			return c.notConfigured(r, g.repl), g, nil
		}
		k = c.book.find(r.bucket)
	}
	return c.failed(ctx, r, ErrStale)
}

// movePause is how long a call waits for keys that are just moving to another node.
const movePause = 10 * time.Millisecond

// movesNow tells whether Redis Cluster refused a call because its keys are being moved: nothing ran.
func movesNow(err error) bool { return err != nil && redis.HasErrorPrefix(err, "TRYAGAIN") }

// travel puts a call to Redis and waits for the answer.
func (c *Client) travel(ctx context.Context, k *known, r *call) (*group, error) {
	target, err := c.targetOf(k, r)
	if err != nil {
		return nil, err
	}
	key := r.key
	if !target.Keyed() {
		key = ""
	}
	l := c.lanes.of(target, target.Shard(key))
	if !l.breaker.allows() {
		return nil, ErrBreakerOpen
	}
	stop := ctx.Done()
	g, err := l.join(ctx, k, target, key, r)
	if err != nil {
		return nil, err
	}
	if stop == nil {
		<-g.done
	} else {
		select {
		case <-g.done:
		case <-stop:
			l.leave(g)
			return nil, ctx.Err()
		}
	}
	return g, g.err
}

// patient tells whether a caller may be held until the deadline: whether its context ends no sooner by itself. One that
// is cancelled while it makes the trip itself finds out when Redis has answered.
func (c *Client) patient(ctx context.Context) bool {
	until, ok := ctx.Deadline()
	return !ok || time.Until(until) >= c.options.deadline
}

// targetOf is what a call is made with: what was learned of the bucket, or nothing where nothing was, or where the call
// does not fit it, since that may have changed.
func (c *Client) targetOf(k *known, r *call) (*bucket.Target, error) {
	if k != nil {
		t := k.target.Load()
		if t != nil && (r.key != "" || !t.Keyed()) && r.lease == (t.Facts.Algorithm == bucket.Concurrency) {
			return t, nil
		}
	}
	return c.engine.Target(r.bucket, c.app, nil)
}

// failed answers a call that Redis gave no verdict on.
func (c *Client) failed(ctx context.Context, r *call, err error) (Decision, *group, error) {
	var misuse *MisuseError
	if errors.As(err, &misuse) {
		return Decision{}, nil, err
	}
	var refused *bucket.InvalidError
	if errors.As(err, &refused) {
		return Decision{}, nil, misusedCall(r, c.book.find(r.bucket).facts(), refused)
	}
	if ctx.Err() != nil {
		return Decision{}, nil, ctx.Err()
	}
	d, err := c.withoutVerdict(r, err)
	return d, nil, err
}

// preload learns one bucket: asked without a belief, the script takes nothing and tells the definition.
func (c *Client) preload(ctx context.Context, name string) error {
	r, err := newCall(name, nil)
	if err != nil {
		return err
	}
	if c.isClosed.Load() {
		return ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g, err := c.travel(ctx, nil, &r)
	switch {
	case errors.Is(err, ErrIsClosed):
		return err
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("bucket %q: %w", name, err)
	case g.repl.Verdict == bucket.VerdictStale:
		return nil
	case g.repl.Verdict == bucket.VerdictUnknownFormat:
		return fmt.Errorf("bucket %q: %w", name, ErrUnknownFormat)
	default:
		return fmt.Errorf("bucket %q: %w (app %q)", name, ErrNotConfigured, c.app)
	}
}
