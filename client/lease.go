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
	once   sync.Once

	target *bucket.Target // nil when no slot in Redis is behind it
	key    string
	id     string
	local  localKey // of a slot that policy local gave
	held   bool     // there is one

	// Guarded by the keeper.
	ends   int64 // ns since the client's start; when Redis lets it end at the earliest
	renews int64 // when it is to be renewed
}

// Context ends when the lease is released or lost, or when the context that was given to Enter ends. context.Cause then
// says which: ErrReleased, ErrLeaseLost, or the context's own cause.
func (l *Lease) Context() context.Context { return l.ctx }

// Release gives the slot back. It does not wait for Redis; should Redis be away, the slot comes free with the end of the
// lease. A second Release does nothing.
func (l *Lease) Release() { l.finish(ErrReleased) }

func (l *Lease) finish(cause error) {
	l.once.Do(func() {
		l.client.keeper.drop(l)
		l.end(cause)
		if l.held {
			l.client.slots.leave(l.local)
		}
		if l.target != nil {
			l.client.submitLease(l.target, l.key, bucket.LeaseOp{Do: bucket.LeaseRelease, ID: l.id})
		}
	})
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
	id, began := leaseID(), time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		lease, d, err := c.enter(ctx, &r, id)
		if err != nil || d.Allowed || d.Outcome != Limited || r.wait == 0 {
			return lease, d, err
		}
		// A slot may be released long before the first lease ends, so it is asked for more often than RetryAfter says.
		wait := min(d.RetryAfter, pause)
		if f := c.book.find(name).facts(); f == nil || time.Since(began)+wait > min(r.wait, f.MaxWait) {
			return nil, d, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, Decision{}, err
		}
	}
}

const (
	firstPause   = 5 * time.Millisecond
	longestPause = 250 * time.Millisecond
)

// leaseID makes an id of 128 random bits.
func leaseID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// enter asks for a slot once.
func (c *Client) enter(ctx context.Context, r *call, id string) (*Lease, Decision, error) {
	if c.isClosed.Load() {
		return nil, Decision{}, ErrIsClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, Decision{}, err
	}
	for range attempts {
		k := c.book.find(r.bucket)
		j, err := c.askLease(ctx, k, r, bucket.LeaseOp{Do: bucket.LeaseEnter, ID: id})
		if err != nil {
			return c.enterUnasked(ctx, r, err)
		}
		reply := &j.question.Reply
		switch reply.Verdict {
		case bucket.VerdictDecided:
			return c.entered(ctx, r, j, id)
		case bucket.VerdictUnknownFormat:
			return c.enterUnasked(ctx, r, ErrUnknownFormat)
		case bucket.VerdictStale:
			c.learn(c.book.enter(r.bucket), j.question.Target, reply.Facts)
			if err := fitsLease(r, reply.Facts); err != nil {
				return nil, Decision{}, err
			}
		default:
			if f := j.question.Target.Facts; f != nil && (f.Shards > 1 || reply.Verdict == bucket.VerdictAbsent) {
				c.relearn(j.question.Target)
				if f.Shards == 1 {
					return c.enterUnasked(ctx, r, ErrLost)
				}
				continue
			}
			return c.unbacked(ctx, c.notConfigured(r, reply))
		}
	}
	return c.enterUnasked(ctx, r, ErrStale)
}

// fitsLease finds the misuse that shows only when the bucket is known.
func fitsLease(r *call, f *bucket.Facts) error {
	switch {
	case f.Algorithm != bucket.Concurrency:
		return misused(ErrNoLeases, "bucket %q, algorithm %s", r.bucket, f.Algorithm)
	case bucket.Keyed(f.Partition) && r.key == "":
		return misused(ErrNoKey, "bucket %q, partition %s", r.bucket, f.Partition)
	}
	return nil
}

// entered turns Redis's answer into a lease or a refusal.
func (c *Client) entered(ctx context.Context, r *call, j *leaseJob, id string) (*Lease, Decision, error) {
	reply, result := &j.question.Reply, j.question.Results[0]
	f := reply.Facts
	k := c.book.enter(r.bucket)
	c.learn(k, j.question.Target, f)
	d := Decision{
		Outcome: Granted, Bucket: r.bucket, Limit: f.MaxPermits, Remaining: result.Free, RetryAfter: result.RetryAfter,
		ResetAfter: result.ResetAfter, Revision: reply.Revision, At: reply.Now, Source: SourceRedis,
	}
	if result.Code == bucket.LeaseRefused {
		d.Outcome = Limited
	} else {
		d.RetryAfter = 0
	}
	d.allow(f)
	c.count(k, f, 1, d.Outcome, reply.Now.UnixMicro())
	if f.Mode == bucket.ModeOff || d.Outcome == Limited {
		return c.unbacked(ctx, d)
	}
	l := c.newLease(ctx)
	l.target, l.key, l.id = j.question.Target, j.question.Key, id
	c.keeper.hold(l, j.sent, result.Expires)
	return l, d, nil
}

// enterUnasked answers an Enter that Redis gave no verdict on. What Redis may have granted all the same is released.
func (c *Client) enterUnasked(ctx context.Context, r *call, reason error) (*Lease, Decision, error) {
	d, _, err := c.failed(ctx, r, reason)
	if err != nil {
		return nil, d, err
	}
	if d.Source != SourceLocal {
		return c.unbacked(ctx, d)
	}
	k := c.book.find(r.bucket)
	f := k.facts()
	at := localKey{bucket: r.bucket, key: r.key}
	d.Outcome, d.RetryAfter = Limited, f.Period
	if c.slots.enter(at, max(1, f.MaxPermits/c.instances(k))) {
		d.Outcome, d.RetryAfter = Granted, 0
	}
	d.allow(f)
	if d.Outcome == Limited {
		return c.unbacked(ctx, d)
	}
	l := c.newLease(ctx)
	l.local, l.held = at, true
	return l, d, nil
}

// unbacked is a lease without a slot, if the Decision allows one.
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
