package client

import (
	"context"
	"slices"

	"github.com/headgate/headgate/internal/bucket"
)

// Request is what AcquireAll asks of one bucket.
type Request struct {
	Bucket  string
	Permits int64  // at least 1; 0 stands for 1
	Key     string // as the option Key
}

// MaxRequests is the most buckets of one AcquireAll.
const MaxRequests = 100

// AllAllowed tells whether the permits of an AcquireAll were taken: whether every Decision is allowed.
func AllAllowed(all []Decision) bool {
	return !slices.ContainsFunc(all, func(d Decision) bool { return !d.Allowed })
}

// AcquireAll takes permits from several buckets, or from none: if every Decision is Allowed they were taken, else
// nothing was. Each Decision is its own bucket's verdict with its own figures, in the order of the requests: where
// another bucket refused, one that had enough says Granted although nothing was taken from it. A bucket in shadow mode
// that refuses stops nobody. The error is as of Acquire.
//
// On one Redis all buckets decide in one instant. On Redis Cluster buckets of different slots are asked in turn, and
// what was taken is given back at a refusal: never too much is granted, but permits held for that instant may refuse
// others.
func (c *Client) AcquireAll(ctx context.Context, requests ...Request) ([]Decision, error) {
	calls, err := callsOf(requests)
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	if c.isClosed.Load() {
		return nil, ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for range attempts {
		ds, again, err := c.tryAll(ctx, calls)
		if err != nil || !again {
			return ds, err
		}
	}
	return c.allFailed(ctx, calls, ErrStale)
}

func callsOf(requests []Request) ([]call, error) {
	if len(requests) > MaxRequests {
		return nil, misused(ErrRequests, "got %d", len(requests))
	}
	calls := make([]call, len(requests))
	for i, q := range requests {
		calls[i] = call{bucket: q.Bucket, key: q.Key, permits: q.Permits}
		if q.Permits == 0 {
			calls[i].permits = 1
		}
		if err := calls[i].check(); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// leg is the part of an AcquireAll that one script call decides.
type leg struct {
	lane    *lane
	slot    int
	indexes []int // in calls
	parts   []bucket.Part
	group   *allGroup
	place   int64 // of this caller in the group
}

// tryAll asks once. again says that something was learned, so that another try is worth it.
func (c *Client) tryAll(ctx context.Context, calls []call) (ds []Decision, again bool, err error) {
	legs, err := c.legsOf(calls)
	if err != nil {
		return nil, false, err
	}
	ds = make([]Decision, len(calls))
	for n, l := range legs {
		if err = c.goLeg(ctx, l); err == nil && l.group.reply.Stale {
			again, err = true, c.missingKey(calls)
		}
		if err == nil && !again {
			c.legDecisions(l, calls, ds)
			if l.taken() {
				continue
			}
		}
		for _, before := range legs[:n] {
			before.giveBack(1)
		}
		switch {
		case again && err == nil:
			return nil, true, nil
		case err != nil:
			ds, err = c.allFailed(ctx, calls, err)
			return ds, false, err
		}
		return c.refused(ctx, legs[n+1:], calls, ds)
	}
	return ds, false, nil
}

// refused completes the Decisions of an AcquireAll that one bucket refused by peeking into those not asked yet.
func (c *Client) refused(ctx context.Context, rest []*leg, calls []call, ds []Decision) ([]Decision, bool, error) {
	for _, l := range rest {
		for _, i := range l.indexes {
			r := calls[i]
			r.peek = true
			d, _, err := c.decide(ctx, &r)
			if err != nil {
				return nil, false, err
			}
			ds[i] = d
		}
	}
	return ds, false, nil
}

// legsOf sorts the calls by where they are decided, in an order that is the same for all callers.
func (c *Client) legsOf(calls []call) ([]*leg, error) {
	var legs []*leg
	for i := range calls {
		r := &calls[i]
		target, err := c.targetOf(c.book.find(r.bucket), r)
		if err != nil {
			return nil, err
		}
		key := ""
		if target.Keyed() {
			key = r.key
		}
		slot := 0
		if len(c.lanes) > 1 {
			slot = target.Slot(target.Shard(key))
		}
		at := slices.IndexFunc(legs, func(l *leg) bool { return l.slot == slot })
		if at < 0 {
			at = len(legs)
			legs = append(legs, &leg{lane: c.lanes.of(target, target.Shard(key)), slot: slot})
		}
		legs[at].indexes = append(legs[at].indexes, i)
		legs[at].parts = append(legs[at].parts, bucket.Part{Target: target, Permits: r.permits, Key: key})
	}
	slices.SortFunc(legs, func(a, b *leg) int { return a.slot - b.slot })
	return legs, nil
}

// goLeg puts one leg to Redis and waits for the answer.
func (c *Client) goLeg(ctx context.Context, l *leg) error {
	if !l.lane.breaker.allows() {
		return ErrBreakerOpen
	}
	g, err := l.lane.joinAll(l.parts, c.patient(ctx))
	if err != nil {
		return err
	}
	if stop := ctx.Done(); stop == nil {
		<-g.done
	} else {
		select {
		case <-g.done:
		case <-stop:
			l.lane.leaveAll(g)
			return ctx.Err()
		}
	}
	l.group, l.place = g, g.ticket()
	return g.err
}

// missingKey finds the misuse of not giving a key to a bucket that, as was just learned, needs one.
func (c *Client) missingKey(calls []call) error {
	for i := range calls {
		if f := c.book.find(calls[i].bucket).facts(); f != nil && bucket.Keyed(f.Partition) && calls[i].key == "" {
			return misused(ErrNoKey, "bucket %q, partition %s", calls[i].bucket, f.Partition)
		}
	}
	return nil
}

// taken tells whether the permits of this caller's leg were taken.
func (l *leg) taken() bool { return l.place <= l.group.result.Granted }

// giveBack gives back what calls of the leg took.
func (l *leg) giveBack(calls int64) { l.lane.giveBackAll(l.group, calls) }

// legDecisions are the verdicts of one leg.
func (c *Client) legDecisions(l *leg, calls []call, ds []Decision) {
	for n, i := range l.indexes {
		ds[i] = c.partDecision(&calls[i], l.group, n, l.place)
	}
}

func (c *Client) partDecision(r *call, g *allGroup, n int, place int64) Decision {
	p := &g.result.Parts[n]
	d := Decision{Bucket: r.bucket, Revision: p.Revision, At: g.reply.Now, Source: SourceRedis}
	switch p.Verdict {
	case bucket.VerdictDecided:
	case bucket.VerdictUnknownFormat:
		failed, err := c.withoutVerdict(r, ErrUnknownFormat)
		if err == nil {
			return failed
		}
		return Decision{Outcome: Unavailable, Bucket: r.bucket, Source: SourcePolicy, Err: err}
	default:
		d.Outcome, d.Allowed = NotConfigured, c.options.notConfigured == Open
		return d
	}
	d.Limit, d.Remaining, d.ResetAfter = p.Facts.MaxPermits, p.Remaining, p.ResetAfter
	switch {
	case p.TooMany:
		d.Outcome = TooMany
	case p.Refuses(place, g.result.Granted):
		d.Outcome, d.RetryAfter = Limited, p.RetryAfter
	default:
		d.Outcome = Granted
		d.Remaining = min(d.Limit, p.Remaining+max(0, g.result.Granted-place)*g.parts[n].Permits)
	}
	d.allow(p.Facts)
	return d
}

// allFailed answers every bucket by its failure policy. Permits that policy local took are put back when another bucket
// refuses.
func (c *Client) allFailed(ctx context.Context, calls []call, reason error) ([]Decision, error) {
	ds := make([]Decision, len(calls))
	for i := range calls {
		d, _, err := c.failed(ctx, &calls[i], reason)
		if err != nil {
			return nil, err
		}
		ds[i] = d
	}
	if !AllAllowed(ds) {
		for i := range ds {
			if ds[i].Source == SourceLocal && ds[i].Outcome == Granted {
				c.putBackLocally(&calls[i])
			}
		}
	}
	return ds, nil
}
