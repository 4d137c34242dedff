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
	if until, ok := ctx.Deadline(); ok {
		r.wait = min(r.wait, time.Until(until))
	}
	limit := began.Add(r.wait)
	for {
		if r.wait = time.Until(limit); r.wait < 0 || c.isShadow(name) {
			r.wait = 0
		}
		d, g, err := c.decide(ctx, &r)
		switch {
		case err != nil || d.Shadow:
			return d, err
		case d.Outcome == Granted && g != nil && g.wait > 0:
			return c.awaitTurn(ctx, g, d, limit)
		case d.Outcome != Limited || !c.worthWaiting(name, d, began, limit):
			return d, nil
		}
		if err := sleep(ctx, d.RetryAfter); err != nil {
			return Decision{}, err
		}
	}
}

// isShadow tells whether the bucket is known to be in shadow mode.
func (c *Client) isShadow(name string) bool {
	f := c.book.find(name).facts()
	return f != nil && f.Mode == bucket.ModeShadow
}

// worthWaiting tells whether a refused call can be granted before the limit by asking again. A token bucket in Redis has
// said already that it can't.
func (c *Client) worthWaiting(name string, d Decision, began, limit time.Time) bool {
	f := c.book.find(name).facts()
	if f == nil || d.RetryAfter <= 0 || time.Until(limit) < d.RetryAfter || time.Since(began)+d.RetryAfter > f.MaxWait {
		return false
	}
	return d.Source != SourceRedis || f.Algorithm != bucket.TokenBucket
}

// awaitTurn sleeps until reserved permits are there. The time counts from the answer, when they were granted at the
// latest, so no permit is used too early.
func (c *Client) awaitTurn(ctx context.Context, g *group, d Decision, limit time.Time) (Decision, error) {
	turn := g.res.RetryAfter
	if turn > 0 && time.Now().Add(turn).After(limit) {
		g.lane.giveBack(g, g.permits)
		d.Outcome, d.Allowed, d.RetryAfter = Limited, false, turn
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
