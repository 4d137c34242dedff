package client

import (
	"context"
	"slices"
	"time"
)

// arm makes the watch go off when a job or flight of the given time has had its deadline, unless it is to go off anyway.
func (l *lane) arm(since int64) {
	if l.armed {
		return
	}
	l.armed = true
	l.watch.Reset(time.Duration(since - l.client.sinceStart() + l.client.patience()))
}

// patrol gives up the flights and the queued jobs whose deadline is over. It holds for all of a lane, so that no call
// needs a timer of its own.
func (l *lane) patrol() {
	l.mu.Lock()
	l.armed = false
	limit := l.client.sinceStart() - l.client.patience()
	lost := l.giveUp(limit)
	late := l.expire(limit)
	next := l.follow()
	l.rearm()
	l.mu.Unlock()
	for _, f := range lost {
		l.client.stats.givenUp.Add(1)
		l.breaker.note(ErrDeadline)
		f.fail(ErrDeadline)
	}
	late.fail(ErrDeadline)
	if next != nil {
		go l.fly(next)
	}
}

// giveUp leaves the flights that carry jobs of before the limit to themselves.
func (l *lane) giveUp(limit int64) []*flight {
	var lost []*flight
	for f := range l.flying {
		if f.since <= limit && f.over.CompareAndSwap(false, true) {
			close(f.lost)
			delete(l.flying, f)
			l.stuck++
			lost = append(lost, f)
		}
	}
	return lost
}

// expire takes the jobs out of the queue that were queued before the limit.
func (l *lane) expire(limit int64) *flight {
	var late flight
	l.queue = slices.DeleteFunc(l.queue, func(j job) bool {
		if j.since() > limit {
			return false
		}
		l.discard(j)
		late.jobs = append(late.jobs, j)
		return true
	})
	return &late
}

// discard ends the waiting of a job that won't fly.
func (l *lane) discard(j job) {
	l.waiting -= j.waiting()
	j.seal()
	switch g := j.(type) {
	case *group:
		delete(l.keyed, g.mapKey())
	case *allGroup:
		l.openAll = slices.DeleteFunc(l.openAll, func(open *allGroup) bool { return open == g })
	}
}

func (l *lane) rearm() {
	oldest := int64(-1)
	consider := func(since int64) {
		if oldest < 0 || since < oldest {
			oldest = since
		}
	}
	for f := range l.flying {
		consider(f.since)
	}
	for _, j := range l.queue {
		consider(j.since())
	}
	if oldest >= 0 {
		l.arm(oldest)
	}
}

// shed takes everything out of the queue, to be answered because Redis is known to be away.
func (l *lane) shed() *flight {
	f := &flight{jobs: l.queue}
	for _, j := range f.jobs {
		j.seal()
	}
	l.queue = nil
	l.forget()
	return f
}

// probe asks whether the lane's part of Redis answers.
func (l *lane) probe(ctx context.Context) error { return l.client.probe(ctx, l.home.Load()) }

// drain refuses new calls and waits until none is left, or until the time is over.
func (l *lane) drain(timeout <-chan time.Time) {
	l.mu.Lock()
	l.closed = true
	idle := make(chan struct{})
	if l.isIdle() {
		close(idle)
	} else {
		l.idle = idle
	}
	l.mu.Unlock()
	select {
	case <-idle:
	case <-timeout:
	}
}

// queued is how many callers wait for a flight.
func (l *lane) queued() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.waiting)
}

func (l *lane) isIdle() bool { return len(l.queue) == 0 && len(l.flying) == 0 && l.stuck == 0 }

// fail lets all callers of a flight go without an answer.
func (f *flight) fail(reason error) {
	for _, j := range f.jobs {
		j.land(f, reason)
	}
}

// flightContext tells go-redis until when an answer is of use. It has no timer: the lane's watch ends it when it gives the
// flight up, so that nobody goes on waiting for a free or a new connection.
type flightContext struct {
	context.Context
	until time.Time
	lost  <-chan struct{}
}

func (c flightContext) Deadline() (time.Time, bool) { return c.until, true }

func (c flightContext) Done() <-chan struct{} { return c.lost }

func (c flightContext) Err() error {
	select {
	case <-c.lost:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
