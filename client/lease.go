package client

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Lease is a slot of a bucket of algorithm concurrency. It is renewed until it is released; if this process dies, the
// slot comes free when the lease time of the bucket has passed.
type Lease struct {
	client *Client
	ctx    context.Context
	end    context.CancelCauseFunc
	over   sync.Once

	name, key string // the bucket, and the caller's key
	id        string // in Redis

	slot localKey // that it fills in this process's own count, if it does
	fill bool
	left sync.Once

	// Guarded by the keeper, who has the leases that have a slot in Redis.
	target *bucket.Target // where it is held
	asked  *leaseJob      // the last renewal
	ends   int64          // when Redis lets it end at the earliest, ns since the client's start
	renews int64          // when it is to be renewed
	early  int64          // from when on it is renewed if others are
}

// Context ends when the lease is released or lost, or when the context that was given to Enter ends. context.Cause then
// says which: ErrReleased, ErrLeaseLost, or the context's own cause.
func (l *Lease) Context() context.Context { return l.ctx }

// Release gives the slot back. It does not wait for Redis; should Redis be away, the slot comes free with the end of the
// lease. A second Release does nothing, nor does one after Close, which has released all leases.
func (l *Lease) Release() { l.finish(ErrReleased) }

func (l *Lease) finish(cause error) {
	l.over.Do(func() {
		l.leave()
		l.client.keeper.release(l)
		l.end(cause)
	})
}

// leave takes the lease out of this process's own count.
func (l *Lease) leave() {
	if l.fill {
		l.left.Do(func() { l.client.slots.leave(l.slot) })
	}
}

// Enter takes one slot of a bucket of algorithm concurrency and holds it until the lease is released. Where no slot is
// free it waits for one, as long as MaxWait, the bucket's max_wait and the context allow; MaxWait(0), or none given, does
// not wait. The lease is nil exactly when the Decision is not Allowed or there is an error, which is as of Acquire.
//
// A lease that is allowed though no slot was taken (mode shadow or off, failure policy open) has no slot behind it, and
// its context ends only with Release and ctx.
func (c *Client) Enter(ctx context.Context, name string, opts ...CallOption) (*Lease, Decision, error) {
	r, err := newCall(name, opts)
	if err == nil && r.permits != 1 {
		err = misused(ErrOneSlot, "got %d", r.permits)
	}
	if err != nil {
		return nil, Decision{}, err
	}
	r.lease = true
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		lease, d, err := c.enter(ctx, &r)
		f := c.book.find(name).facts()
		if err != nil || d.Allowed || d.Outcome != Limited || f == nil || min(r.wait, f.MaxWait) <= time.Since(began) {
			c.countEntered(&r, &d)
			return lease, d, err
		}
		left := min(r.wait, f.MaxWait) - time.Since(began)
		if err := c.awaitSlot(ctx, localKeyOf(&r, f), min(pause, left)); err != nil {
			return nil, Decision{}, err
		}
	}
}

// How long a call that waits for a slot pauses before it asks again, unless this process releases one sooner.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// countEntered notes what an Enter came to as usage.
func (c *Client) countEntered(r *call, d *Decision) {
	k := c.book.find(d.Bucket)
	if f := k.facts(); f != nil && (d.Source == SourceRedis || d.Source == SourceLocal) {
		now := c.clock.now()
		if !d.At.IsZero() {
			now = d.At.UnixMicro()
		}
		if d.Outcome == Limited {
			c.countLimited(k, f, localKeyOf(r, f).key, 1, now)
		} else {
			c.count(k, f, 1, d.Outcome, now)
		}
	}
}

// leaseID makes an id of 128 random bits.
func leaseID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// enter asks for a slot once. Each time under an id of its own, since what an earlier one may have got is released
// behind the caller's back.
func (c *Client) enter(ctx context.Context, r *call) (*Lease, Decision, error) {
	if c.isClosed.Load() {
		return nil, Decision{}, ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, Decision{}, err
	}
	op := bucket.LeaseOp{Do: bucket.LeaseEnter, ID: leaseID()}
	k := c.book.find(r.bucket)
	for i := range attempts {
		j, err := c.askLease(ctx, k, r, op)
		if movesNow(err) && i < attempts-1 && sleep(ctx, movePause) == nil {
			continue
		}
		if err != nil {
			return c.enterUnasked(ctx, r, err)
		}
		believed, reply := j.question.Target, &j.question.Reply
		k = c.book.find(r.bucket)
		switch reply.Verdict {
		case bucket.VerdictDecided:
			return c.entered(ctx, r, j)
		case bucket.VerdictUnknownFormat:
			return c.enterUnasked(ctx, r, ErrUnknownFormat)
		case bucket.VerdictStale:
			k = c.book.enter(r.bucket)
			c.learn(k, believed, reply.Facts)
			if err := fits(r, reply.Facts); err != nil {
				return nil, Decision{}, err
			}
			continue
		}
		if believed.Facts != nil && believed.Facts.Shards > 1 && reply.Verdict != bucket.VerdictNotListed {
			k = nil // the copy of one shard is gone: perhaps the shards are others now
			continue
		}
		if reply.Verdict == bucket.VerdictAbsent && k.facts() != nil {
			return c.enterUnasked(ctx, r, ErrLost)
		}
		c.relearn(believed)
		return c.unbacked(ctx, c.notConfigured(r, reply))
	}
	return c.enterUnasked(ctx, r, ErrStale)
}

// entered turns Redis's answer into a lease or a refusal.
func (c *Client) entered(ctx context.Context, r *call, j *leaseJob) (*Lease, Decision, error) {
	reply, result := &j.question.Reply, j.question.Results[0]
	f := reply.Facts
	c.learn(c.book.enter(r.bucket), j.question.Target, f)
	d := Decision{
		Outcome: Granted, Bucket: r.bucket, Limit: f.MaxPermits, Remaining: result.Free,
		ResetAfter: result.ResetAfter, Revision: reply.Revision, At: reply.Now, Source: SourceRedis,
	}
	if result.Code == bucket.LeaseRefused {
		d.Outcome, d.RetryAfter = Limited, result.RetryAfter
	}
	c.allow(&d, f)
	if f.Mode == bucket.ModeOff || d.Outcome == Limited {
		return c.unbacked(ctx, d)
	}
	l := c.newLease(ctx)
	l.name, l.key, l.id, l.target = r.bucket, r.key, j.question.Ops[0].ID, j.question.Target
	l.slot, l.fill = localKeyOf(r, f), true
	c.slots.add(l.slot)
	if !c.keeper.hold(l, j.sent, result.Expires) {
		l.finish(ErrIsClosed)
		return nil, Decision{}, ErrIsClosed
	}
	return l, d, nil
}

// enterUnasked answers an Enter that Redis gave no verdict on.
func (c *Client) enterUnasked(ctx context.Context, r *call, reason error) (*Lease, Decision, error) {
	d, _, err := c.failed(ctx, r, reason)
	if err != nil {
		return nil, d, err
	}
	l, d, err := c.unbacked(ctx, d)
	if l != nil && d.Source == SourceLocal && d.Outcome == Granted {
		l.slot, l.fill = localKeyOf(r, c.book.find(r.bucket).facts()), true
	}
	return l, d, err
}

// enterLocally takes one of this process's share of the slots. Those that it holds in Redis count.
func (c *Client) enterLocally(d *Decision, k *known, f *bucket.Facts, r *call) {
	share := max(1, f.MaxPermits/c.instances(k))
	used, entered := c.slots.enter(localKeyOf(r, f), share)
	d.Outcome, d.Remaining = Granted, max(0, share-used)
	if !entered {
		d.Outcome, d.RetryAfter = Limited, f.Period // unless one is released before
	}
	c.allow(d, f)
}

// unbacked is a lease without a slot in Redis, if the Decision allows one.
func (c *Client) unbacked(ctx context.Context, d Decision) (*Lease, Decision, error) {
	if !d.Allowed {
		return nil, d, nil
	}
	return c.newLease(ctx), d, nil
}

func (c *Client) newLease(ctx context.Context) *Lease {
	l := &Lease{client: c}
	l.ctx, l.end = context.WithCancelCause(ctx)
	return l
}
