package client

import (
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// noted takes in what a group's answer tells of its bucket, once for all of its callers.
func (c *Client) noted(g *group) {
	switch g.repl.Verdict {
	case bucket.VerdictDecided:
		c.learn(g.known, g.target, g.repl.Facts)
		c.countGroup(g)
		if f := g.repl.Facts; f.OnFailure == bucket.FailLocal {
			c.locals.follow(localKey{g.known.name, g.key}, c.share(g.known, f), g.res.Remaining, c.instances(g.known), g.sent)
		}
		if g.res.Code == bucket.CodeLimited && c.options.denial && !g.peek && g.res.RetryAfter > 0 {
			c.rememberDenial(g)
		}
	case bucket.VerdictStale:
		c.learn(c.book.enter(g.target.Name), g.target, g.repl.Facts)
	case bucket.VerdictRemoved, bucket.VerdictNotListed:
		c.relearn(g.target)
	}
}

// learn notes the facts of a bucket, unless newer ones are known.
func (c *Client) learn(k *known, asked *bucket.Target, facts *bucket.Facts) {
	if asked.Facts == facts {
		return
	}
	for {
		old := k.target.Load()
		if old != nil && (old.Facts.Revision > facts.Revision || *old.Facts == *facts) {
			return
		}
		news, err := c.engine.Target(k.name, c.app, facts)
		if err != nil {
			return // a number of shards that this version does not know: the next call says so again
		}
		if k.target.CompareAndSwap(old, news) {
			return
		}
	}
}

// relearn forgets what was believed of a bucket; all that was learned if it was asked without a belief. Its usage stays,
// to be reported.
func (c *Client) relearn(believed *bucket.Target) {
	switch k := c.book.find(believed.Name); {
	case k == nil:
	case believed.Facts == nil:
		k.target.Store(nil)
	default:
		k.target.CompareAndSwap(believed, nil)
	}
}

func (c *Client) rememberDenial(g *group) {
	retryAt := g.sent + int64(g.res.RetryAfter)
	c.denials.remember(g.known, g.key, &denial{
		permits: g.permits, until: min(retryAt, g.sent+int64(longestDenial)), retryAt: retryAt,
		resetAt: g.sent + int64(g.res.ResetAfter), remaining: g.res.Remaining, facts: g.repl.Facts,
	}, g.sent)
}

// denied refuses a call for which Redis has just refused as much. It is the whole of such a call, so it allocates
// nothing, and takes no lock but, for a key, that of the bucket's list of refused keys.
func (c *Client) denied(k *known, r *call) (Decision, bool) {
	if k == nil || r.peek || r.wait > 0 || !c.options.denial {
		return Decision{}, false
	}
	t := k.target.Load()
	if t == nil {
		return Decision{}, false
	}
	held := k.denial.Load()
	if t.Keyed() {
		if r.key == "" {
			return Decision{}, false
		}
		held = c.denials.find(k, r.key)
	}
	if held == nil || r.permits > held.facts.MaxPermits {
		return Decision{}, false
	}
	now := c.sinceStart()
	if !held.covers(r.permits, now) {
		return Decision{}, false
	}
	d, at := held.decision(k.name, now, c.shadows(held.facts)), c.clock.atNanos(now)
	k.usage.deny(at, r.permits, d.Shadow)
	if t.Keyed() {
		k.top.add(r.key, r.permits, at)
	}
	return d, true
}

// verdict is the Decision of the caller with the given place in a group that was decided.
func (c *Client) verdict(r *call, g *group, place int64) Decision {
	f := g.repl.Facts
	d := Decision{
		Bucket: r.bucket, Limit: f.MaxPermits, Remaining: g.res.Remaining, ResetAfter: g.res.ResetAfter,
		Revision: g.repl.Revision, At: g.repl.Now, Source: SourceRedis,
	}
	switch {
	case g.res.Code == bucket.CodeTooMany:
		d.Outcome = TooMany
	case place <= g.res.Granted || g.peek && g.res.Code == bucket.CodeGranted:
		d.Outcome = Granted
		d.Remaining = min(f.MaxPermits, g.res.Remaining+max(0, g.res.Granted-place)*g.permits)
	default:
		d.Outcome, d.RetryAfter = Limited, g.res.RetryAfter
	}
	c.allow(&d, f)
	return d
}

func (c *Client) notConfigured(r *call, reply *bucket.Reply) Decision {
	return Decision{
		Outcome: NotConfigured, Allowed: c.options.notConfigured == Open, Bucket: r.bucket,
		Revision: reply.Revision, At: reply.Now, Source: SourceRedis,
	}
}

// allow applies the mode of the bucket to the outcome.
func (c *Client) allow(d *Decision, f *bucket.Facts) {
	d.Shadow = c.shadows(f)
	d.Allowed = d.Outcome == Granted || d.Shadow || f.Mode == bucket.ModeOff
}

// withoutVerdict answers a call that Redis gave no verdict on, for the given reason, by the failure policy of the
// bucket. The error is the misuse of a call that does not fit what is known of the bucket.
func (c *Client) withoutVerdict(r *call, reason error) (Decision, error) {
	d := Decision{Outcome: Unavailable, Bucket: r.bucket, Source: SourcePolicy, Err: reason}
	k := c.book.find(r.bucket)
	f := k.facts()
	if f == nil {
		c.stats.unavailable.Add(1)
		c.stats.unlearned.Add(1)
		d.Allowed = c.options.unknown == Open
		return d, nil
	}
	if err := fits(r, f); err != nil {
		return Decision{}, err
	}
	d.Limit, d.Revision = f.MaxPermits, f.Revision
	if f.Mode == bucket.ModeOff { // there is nothing that Redis could have refused
		d.Outcome, d.Allowed = Granted, true
		return d, nil
	}
	if f.OnFailure == bucket.FailLocal {
		c.decideLocally(&d, k, f, r)
		return d, nil
	}
	c.stats.unavailable.Add(1)
	k.counts.unavailable.Add(1)
	c.allow(&d, f)
	d.Allowed = d.Allowed || f.OnFailure == bucket.FailOpen
	return d, nil
}

// decideLocally lets this process's share of the limit decide.
func (c *Client) decideLocally(d *Decision, k *known, f *bucket.Facts, r *call) {
	c.stats.local.Add(1)
	k.counts.local.Add(1)
	d.Source = SourceLocal
	if r.permits > f.MaxPermits {
		d.Outcome = TooMany
		c.allow(d, f)
		return
	}
	if r.lease {
		c.enterLocally(d, k, f, r)
		return
	}
	v := c.locals.take(localKeyOf(r, f), c.share(k, f), r.permits, c.sinceStart(), r.peek)
	d.Remaining, d.RetryAfter, d.ResetAfter = v.remaining, v.retryAfter, v.resetAfter
	d.Outcome = Limited
	if v.granted {
		d.Outcome = Granted
	}
	c.allow(d, f)
	if r.peek {
		return
	}
	if v.granted {
		c.count(k, f, r.permits, Granted, c.clock.now())
	} else {
		c.countLimited(k, f, localKeyOf(r, f).key, r.permits, c.clock.now())
	}
}

// localKeyOf is what a call counts by in this process.
func localKeyOf(r *call, f *bucket.Facts) localKey {
	at := localKey{bucket: r.bucket}
	if bucket.Keyed(f.Partition) {
		at.key = r.key
	}
	return at
}

// putBackLocally undoes what policy local took for a call.
func (c *Client) putBackLocally(r *call) {
	k := c.book.find(r.bucket)
	f := k.facts()
	if f == nil {
		return
	}
	c.locals.putBack(localKeyOf(r, f), c.share(k, f), r.permits, c.sinceStart())
	c.count(k, f, -r.permits, Granted, c.clock.now())
}

// share is this process's part of a bucket's limit.
func (c *Client) share(k *known, f *bucket.Facts) share {
	return shareOf(f.MaxPermits, f.Rate, f.Period, c.instances(k))
}

// sinceStart is the time in ns on this process's monotonic clock.
func (c *Client) sinceStart() int64 { return int64(time.Since(c.clock.start)) }

// countGroup notes the usage of all calls of a group.
func (c *Client) countGroup(g *group) {
	f := g.repl.Facts
	if g.peek || f.Mode == bucket.ModeOff || g.res.Code == bucket.CodeTooMany {
		return
	}
	if g.res.Granted > 0 {
		c.count(g.known, f, g.res.Granted*g.permits, Granted, g.now)
	}
	if refused := g.callers - g.res.Granted; refused > 0 {
		c.countLimited(g.known, f, g.key, refused*g.permits, g.now)
	}
}

// countLimited notes refused permits at a Redis time in µs, of a key where the bucket counts by key.
func (c *Client) countLimited(k *known, f *bucket.Facts, key string, permits, now int64) {
	c.count(k, f, permits, Limited, now)
	if f.Mode != bucket.ModeOff && permits > 0 {
		k.top.add(key, permits, now)
	}
}

// count notes usage in permits at a Redis time in µs. Mode off and calls for more than the bucket can hold are no usage.
func (c *Client) count(k *known, f *bucket.Facts, permits int64, outcome Outcome, now int64) {
	switch {
	case f.Mode == bucket.ModeOff:
	case outcome == Granted:
		k.usage.add(now, counts{granted: permits})
	case outcome == Limited && c.shadows(f):
		k.usage.add(now, counts{shadowLimited: permits})
	case outcome == Limited:
		k.usage.add(now, counts{limited: permits})
	}
}
