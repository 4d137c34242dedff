package client

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Wait takes permits from a bucket like Acquire, and if they are not there yet waits for its turn: no longer than
// MaxWait, the bucket's max_wait, nor until the context's deadline. When its turn can't come in time it says so at once,
// with the outcome Limited, and takes nothing.
//
// A token bucket reserves the permits, so that turns come in the order of the calls; a call whose context ends while it
// waits gives its turn back, as far as no later one relies on it, and returns the context's error. Of the other
// algorithms it waits until capacity returns and asks again. A bucket in shadow mode never makes anybody wait.
func (c *Client) Wait(ctx context.Context, name string, opts ...CallOption) (Decision, error) {
	r, err := newCall(name, opts)
	if err != nil {
		return Decision{}, err
	}
	began := time.Now()
	if !r.hasMaxWait {
		r.wait = bucket.MaxWaitBound
	}
	limit := began.Add(min(r.wait, bucket.MaxWaitBound))
	if until, ok := ctx.Deadline(); ok {
		limit = earlier(limit, until)
	}
	for {
		r.wait = max(0, time.Until(limit))
		if f := c.book.find(name).facts(); f != nil && c.shadows(f) {
			r.wait = 0
		}
		d, g, err := c.decide(ctx, &r)
		if err != nil {
			return d, err
		}
		if d.Outcome == Granted && g != nil && g.wait > 0 {
			return c.awaitTurn(ctx, g, d, limit)
		}
		f := c.book.find(name).facts()
		if d.Outcome != Limited || d.Shadow || f == nil || !isWorthAsking(&d, f) {
			return d, nil
		}
		limit = earlier(limit, began.Add(f.MaxWait))
		if time.Until(limit) < d.RetryAfter {
			return d, nil
		}
		if err := sleep(ctx, d.RetryAfter); err != nil {
			return Decision{}, err
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// isWorthAsking tells whether a refused call can be granted by asking again later. A token bucket in Redis has said
// already that it won't be in time.
func isWorthAsking(d *Decision, f *bucket.Facts) bool {
	return d.RetryAfter > 0 && (d.Source == SourceLocal || f.Algorithm != bucket.TokenBucket)
}

// awaitTurn sleeps until reserved permits are there. The time counts from the answer, when they were granted at the
// latest, so no permit is used too early.
func (c *Client) awaitTurn(ctx context.Context, g *group, d Decision, limit time.Time) (Decision, error) {
	turn := g.res.RetryAfter
	if turn > 0 && (d.Shadow || time.Now().Add(turn).After(limit)) {
		g.lane.giveBack(g, g.permits)
		c.countLimited(g.known, g.repl.Facts, g.key, g.permits, g.now)
		d.Outcome, d.RetryAfter = Limited, turn
		c.allow(&d, g.repl.Facts)
		return d, nil
	}
	if err := sleep(ctx, turn); err != nil {
		g.lane.giveBack(g, g.permits)
		return Decision{}, err
	}
	return d, nil
}

// sleep returns the context's error if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
