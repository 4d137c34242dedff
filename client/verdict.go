package client

import (
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Stats counts what happened while Redis gave no verdict, in calls since New.
type Stats struct {
	Unavailable int64 // answered without any count: by policy open or closed
	Unlearned   int64 // of those: bucket unknown to this client, so WithUnknownPolicy answered
	Local       int64 // decided by this process's share under policy local
}

type stats struct{ unavailable, unlearned, local atomic.Int64 }

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{Unavailable: c.stats.unavailable.Load(), Unlearned: c.stats.unlearned.Load(), Local: c.stats.local.Load()}
}

// verdict turns Redis's reply into a Decision and counts it.
func (c *Client) verdict(r call, reply *bucket.Reply) Decision {
	d := Decision{Bucket: r.bucket, Revision: reply.Revision, Source: SourceRedis}
	if reply.Verdict != bucket.VerdictDecided || len(reply.Results) != 1 {
		d.Outcome, d.Allowed = NotConfigured, c.options.notConfigured == Open
		return d
	}
	k, f := c.book.learn(r.bucket, factsOf(reply))
	result := &reply.Results[0]
	d.Limit, d.Remaining, d.ResetAfter = f.max, result.Remaining, result.ResetAfter
	switch result.Code {
	case bucket.CodeGranted:
		d.Outcome = Granted
	case bucket.CodeLimited:
		d.Outcome, d.RetryAfter = Limited, result.RetryAfter
	default:
		d.Outcome = TooMany
	}
	d.allow(f)
	now := reply.Now.UnixMicro()
	if f.onFailure == Local {
		c.locals.follow(f.partitionOf(r), c.share(f), result.Remaining, c.options.instances, c.sinceStart())
	}
	c.count(k, f, r, d.Outcome, now)
	return d
}

// allow applies the mode of the bucket to the outcome.
func (d *Decision) allow(f *facts) {
	d.Shadow = f.mode == bucket.ModeShadow
	d.Allowed = d.Outcome == Granted || d.Shadow || f.mode == bucket.ModeOff
}

// withoutVerdict answers a call that Redis gave no verdict on, for the given reason, by the failure policy of the
// bucket. The error is the misuse of not giving a key to a bucket that is known to need one.
func (c *Client) withoutVerdict(r call, reason error) (Decision, error) {
	d := Decision{Outcome: Unavailable, Bucket: r.bucket, Source: SourcePolicy, Err: reason}
	k, f := c.book.find(r.bucket)
	if f == nil {
		c.stats.unavailable.Add(1)
		c.stats.unlearned.Add(1)
		d.Allowed = c.options.unknown == Open
		return d, nil
	}
	if f.keyed() && r.key == "" {
		return Decision{}, misused(ErrNoKey, "bucket %q, partition %s", r.bucket, f.partition)
	}
	d.Limit, d.Revision = f.max, f.revision
	if f.onFailure == Local && f.mode != bucket.ModeOff {
		c.decideLocally(&d, k, f, r)
		return d, nil
	}
	if f.mode == bucket.ModeOff { // there is nothing that Redis could have refused
		d.Outcome, d.Allowed = Granted, true
		return d, nil
	}
	c.stats.unavailable.Add(1)
	d.allow(f)
	d.Allowed = d.Allowed || f.onFailure == Open
	return d, nil
}

// decideLocally lets this process's share of the limit decide.
func (c *Client) decideLocally(d *Decision, k *known, f *facts, r call) {
	c.stats.local.Add(1)
	d.Source = SourceLocal
	if r.permits > f.max {
		d.Outcome = TooMany
		d.allow(f)
		return
	}
	v := c.locals.take(f.partitionOf(r), c.share(f), r.permits, c.sinceStart(), r.peek)
	d.Remaining, d.RetryAfter, d.ResetAfter = v.remaining, v.retryAfter, v.resetAfter
	d.Outcome = Limited
	if v.granted {
		d.Outcome = Granted
	}
	d.allow(f)
	c.count(k, f, r, d.Outcome, c.clock.now())
}

// share is this process's part of a bucket's limit.
func (c *Client) share(f *facts) share { return shareOf(f.max, f.rate, f.period, c.options.instances) }

// sinceStart is the time in ns on this process's monotonic clock.
func (c *Client) sinceStart() int64 { return int64(time.Since(c.clock.start)) }

// count notes the usage of one decision, in permits, at a Redis time in µs. Peeks, mode off and calls for more than
// the bucket can hold are no usage.
func (c *Client) count(k *known, f *facts, r call, outcome Outcome, now int64) {
	if r.peek || f.mode == bucket.ModeOff {
		return
	}
	switch {
	case outcome == Granted:
		k.usage.add(now, counts{granted: r.permits})
	case outcome == Limited && f.mode == bucket.ModeShadow:
		k.usage.add(now, counts{shadowLimited: r.permits})
	case outcome == Limited:
		k.usage.add(now, counts{limited: r.permits})
	}
}
