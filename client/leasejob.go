package client

import (
	"context"
	"sync"

	"github.com/headgate/headgate/internal/bucket"
)

// leaseJob carries one question about leases of one partition.
type leaseJob struct {
	opened   int64
	question *bucket.LeaseCall
	callers  int
	sealed   bool // guarded by the lane

	mu     sync.Mutex
	landed bool
	after  []func() // called when it has landed

	sent int64
	err  error
	done chan struct{} // closed when all of the above is done
}

// then has f called when the job has landed, or at once if it has.
func (j *leaseJob) then(f func()) {
	j.mu.Lock()
	landed := j.landed
	if !landed {
		j.after = append(j.after, f)
	}
	j.mu.Unlock()
	if landed {
		f()
	}
}

func (j *leaseJob) board(f *flight) { f.questions = append(f.questions, j.question) }

func (j *leaseJob) land(f *flight, err error) {
	if err == nil {
		err = j.question.Err
	}
	j.sent = f.sent
	j.over(err)
}

// over says that there is an answer, or why there is none.
func (j *leaseJob) over(err error) {
	j.err = err
	j.mu.Lock()
	j.landed = true
	j.mu.Unlock()
	for _, f := range j.after {
		f()
	}
	close(j.done)
}

func (j *leaseJob) waiting() int { return j.callers }
func (j *leaseJob) since() int64 { return j.opened }
func (j *leaseJob) seal()        { j.sealed = true }

func (c *Client) newLeaseJob(target *bucket.Target, key string, callers int, ops ...bucket.LeaseOp) *leaseJob {
	if !target.Keyed() {
		key = ""
	}
	return &leaseJob{
		opened: c.sinceStart(), callers: callers, done: make(chan struct{}),
		question: &bucket.LeaseCall{Target: target, Shard: target.Shard(key), Key: key, Ops: ops},
	}
}

// laneOf is the lane that a lease job travels by.
func (c *Client) laneOf(j *leaseJob) *lane { return c.lanes.of(j.question.Target, j.question.Shard) }

// askLease puts an enter to Redis and waits for the answer. What a caller may have got that leaves, or is left without an
// answer, is released.
func (c *Client) askLease(ctx context.Context, k *known, r *call, op bucket.LeaseOp) (*leaseJob, error) {
	target, err := c.targetOf(k, r)
	if err != nil {
		return nil, err
	}
	j := c.newLeaseJob(target, r.key, 1, op)
	l := c.laneOf(j)
	if !l.breaker.allows() {
		return nil, ErrBreakerOpen
	}
	l.mu.Lock()
	if err := l.admit(1); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	l.launch(ctx, j)
	select {
	case <-j.done:
		err = j.err
	case <-ctx.Done():
		if err = ctx.Err(); l.recall(j) {
			return j, err
		}
	}
	if err != nil && target.Facts != nil {
		j.then(func() { c.keeper.submitRelease(target, r.key, op.ID) })
	}
	return j, err
}

// recall takes a job out of the queue, if it has not left yet.
func (l *lane) recall(j *leaseJob) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.sealed {
		return false
	}
	l.drop(j)
	return true
}
