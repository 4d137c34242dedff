package client

import (
	"context"

	"github.com/headgate/headgate/internal/bucket"
)

// leaseJob carries one question about leases of one partition.
type leaseJob struct {
	opened   int64
	question *bucket.LeaseCall
	callers  int
	sent     int64
	err      error
	done     chan struct{}
}

func (j *leaseJob) board(f *flight) { f.questions = append(f.questions, j.question) }

func (j *leaseJob) land(f *flight, err error) {
	if err == nil {
		err = j.question.Err
	}
	j.sent, j.err = f.sent, err
	close(j.done)
}

func (j *leaseJob) waiting() int { return j.callers }
func (j *leaseJob) since() int64 { return j.opened }
func (j *leaseJob) seal()        {}

func (c *Client) newLeaseJob(target *bucket.Target, key string, callers int, ops ...bucket.LeaseOp) *leaseJob {
	return &leaseJob{
		opened: c.sinceStart(), callers: callers, done: make(chan struct{}),
		question: &bucket.LeaseCall{Target: target, Shard: target.Shard(key), Key: key, Ops: ops},
	}
}

// askLease puts an enter to Redis and waits for the answer. A caller that leaves, or is left without an answer, releases
// what it may have got; the lane keeps the order.
func (c *Client) askLease(ctx context.Context, k *known, r *call, op bucket.LeaseOp) (*leaseJob, error) {
	target, err := c.targetOf(k, r)
	if err != nil {
		return nil, err
	}
	if target.Facts != nil {
		if err := fitsLease(r, target.Facts); err != nil {
			// The definition may have changed since: ask without a belief.
			if target, err = c.engine.Target(r.bucket, c.app, nil); err != nil {
				return nil, err
			}
		}
	}
	key := ""
	if target.Keyed() {
		key = r.key
	}
	l := c.lanes.of(target, target.Shard(key))
	if !l.breaker.allows() {
		return nil, ErrBreakerOpen
	}
	j := c.newLeaseJob(target, key, 1, op)
	l.mu.Lock()
	if err := l.admit(1); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	l.launch(j, c.patient(ctx))
	select {
	case <-j.done:
		err = j.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && target.Facts != nil {
		c.spawn(func() {
			<-j.done
			c.submitLease(target, key, bucket.LeaseOp{Do: bucket.LeaseRelease, ID: op.ID})
		})
	}
	return j, err
}

// submitLease sends something about a lease that nobody waits for.
func (c *Client) submitLease(target *bucket.Target, key string, ops ...bucket.LeaseOp) *leaseJob {
	j := c.newLeaseJob(target, key, 0, ops...)
	c.lanes.of(target, target.Shard(key)).submit(j)
	return j
}
