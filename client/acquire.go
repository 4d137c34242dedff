package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Acquire takes permits from a bucket, all that the call asks for or none, and never waits for more to come in.
//
// The error is for misuse (a *MisuseError that says what to do) and for a context that is done, and then nothing is
// allowed; a limit, a bucket that is not configured and an absent Redis are Decisions. A call whose context ends while
// Redis decides may have taken its permits. Without permits to ask for one; buckets that count by key need Key.
func (c *Client) Acquire(ctx context.Context, name string, opts ...CallOption) (Decision, error) {
	r, err := newCall(name, opts)
	if err != nil {
		return Decision{}, err
	}
	return c.decide(ctx, r)
}

// Peek says what an Acquire with the same arguments would be told now, and takes nothing. Nothing is counted as usage.
func (c *Client) Peek(ctx context.Context, name string, opts ...CallOption) (Decision, error) {
	r, err := newCall(name, opts)
	if err != nil {
		return Decision{}, err
	}
	r.peek = true
	return c.decide(ctx, r)
}

// Preload learns the definitions of buckets ahead of the first calls, so that should Redis fail early, their own
// failure policies hold and not the one for unknown buckets. Besides misuse and a done context it returns an error for
// every bucket that could not be learned; the client works all the same, and learns them later.
func (c *Client) Preload(ctx context.Context, buckets ...string) error {
	var failed []error
	for _, name := range buckets {
		if err := c.preload(ctx, name); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// decide answers one call.
func (c *Client) decide(ctx context.Context, r call) (Decision, error) {
	c.life.RLock()
	defer c.life.RUnlock()
	if c.isClosed {
		return Decision{}, ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	reply, err := c.ask(ctx, r)
	if err == nil {
		return c.verdict(r, &reply), nil
	}
	var misuse *MisuseError
	switch {
	case errors.As(err, &misuse):
		return Decision{}, err
	case ctx.Err() != nil:
		return Decision{}, ctx.Err()
	default:
		return c.withoutVerdict(r, err)
	}
}

// ask puts a call to Redis, at most twice: the second time when this client did not know the bucket's partition, or
// knew a former one. Without an error the reply is decided, or says that the bucket is not configured.
func (c *Client) ask(ctx context.Context, r call) (bucket.Reply, error) {
	deadline := time.Now().Add(c.options.deadline)
	for range 2 {
		_, f := c.book.find(r.bucket)
		reply, err := c.send(ctx, r, f, deadline)
		if err != nil {
			return bucket.Reply{}, err
		}
		switch reply.Verdict {
		case bucket.VerdictDecided:
			return reply, nil
		case bucket.VerdictStale:
			if _, truth := c.book.learn(r.bucket, factsOf(&reply)); truth.keyed() && r.key == "" {
				return bucket.Reply{}, misused(ErrNoKey, "bucket %q, partition %s", r.bucket, truth.partition)
			}
		case bucket.VerdictAbsent:
			if f != nil {
				return bucket.Reply{}, ErrLost
			}
			return reply, nil
		case bucket.VerdictRemoved, bucket.VerdictNotListed:
			c.book.forget(r.bucket)
			return reply, nil
		default:
			return bucket.Reply{}, ErrUnknownFormat
		}
	}
	return bucket.Reply{}, ErrStale
}

// send makes one round trip, unless the breaker is open.
func (c *Client) send(ctx context.Context, r call, f *facts, deadline time.Time) (bucket.Reply, error) {
	if !c.breaker.allows() {
		return bucket.Reply{}, ErrBreakerOpen
	}
	var believed *bucket.Facts
	if f != nil && (!f.keyed() || r.key != "") {
		believed = &f.all
	}
	target, err := c.engine.Target(r.bucket, c.app, believed)
	if err != nil {
		return bucket.Reply{}, err
	}
	entry := bucket.Entry{Permits: min(r.permits, bucket.PermitsBound+1), Count: 1, Key: r.key}
	if r.peek {
		entry.Count = 0
	}
	question := bucket.Call{Target: target, Shard: target.Shard(r.key), Entries: []bucket.Entry{entry}}
	sent := time.Now()
	reply, err := fly(ctx, c.calls, deadline, func(ctx context.Context) (bucket.Reply, error) {
		return c.engine.Acquire(ctx, question)
	})
	switch {
	case err == nil:
		c.clock.observe(sent, time.Now(), reply.Now.UnixMicro())
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		err = ErrDeadline // go-redis was set to honour contexts, and was a moment earlier
	}
	return reply, err
}

// preload learns one bucket: asked without a partition, the script takes nothing and tells the definition.
func (c *Client) preload(ctx context.Context, name string) error {
	r, err := newCall(name, nil)
	if err != nil {
		return err
	}
	c.life.RLock()
	defer c.life.RUnlock()
	if c.isClosed {
		return ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.peek = true
	reply, err := c.send(ctx, r, nil, time.Now().Add(c.options.deadline))
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("bucket %q: %w", name, err)
	case reply.Verdict == bucket.VerdictStale || reply.Verdict == bucket.VerdictDecided:
		c.book.learn(name, factsOf(&reply))
		return nil
	case reply.Verdict == bucket.VerdictUnknownFormat:
		return fmt.Errorf("bucket %q: %w", name, ErrUnknownFormat)
	default:
		return fmt.Errorf("bucket %q: %w (app %q)", name, ErrNotConfigured, c.app)
	}
}
