package client

import (
	"context"
	"sync/atomic"
	"time"
)

// flights runs commands on Redis, each in a goroutine of its own, so that a caller can walk away at its deadline: with
// go-redis's default options a read from a stopped server returns only after seconds, whatever the context says. The
// slots bound how many goroutines are left behind like that.
type flights struct {
	slots  chan struct{}
	closed <-chan struct{} // ends the waiting for a slot; nil = never
	note   func(error)     // told once of each flight how Redis answered until the deadline: nil, its error or ErrDeadline
}

func newFlights(slots int, closed <-chan struct{}, note func(error)) *flights {
	return &flights{slots: make(chan struct{}, slots), closed: closed, note: note}
}

// landed is what a flight brought back.
type landed[T any] struct {
	value T
	err   error
}

// fly runs work and waits for it until the deadline or until ctx is done, whichever is first. Its errors are those of
// work, ctx.Err(), ErrDeadline, ErrBusy when no slot came free in time, and ErrIsClosed.
func fly[T any](ctx context.Context, f *flights, deadline time.Time, work func(context.Context) (T, error)) (T, error) {
	var none T
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case f.slots <- struct{}{}:
	default:
		if err := f.waitForSlot(ctx, timer.C); err != nil {
			return none, err
		}
	}
	done := make(chan landed[T], 1)
	noted := new(atomic.Bool)
	note := func(err error) {
		if noted.CompareAndSwap(false, true) {
			f.note(err)
		}
	}
	go func() {
		// The caller's cancellation is kept away: where go-redis honours it, it closes the connection.
		ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
		value, err := work(ctx)
		cancel()
		if time.Now().Before(deadline) {
			note(err)
		}
		<-f.slots
		done <- landed[T]{value, err}
	}()
	select {
	case l := <-done:
		return l.value, l.err
	case <-ctx.Done():
		// Whether Redis is there must be noticed also where all callers are less patient than the deadline.
		time.AfterFunc(time.Until(deadline), func() { note(ErrDeadline) })
		return none, ctx.Err()
	case <-timer.C:
		note(ErrDeadline)
		return none, ErrDeadline
	}
}

func (f *flights) waitForSlot(ctx context.Context, deadline <-chan time.Time) error {
	select {
	case f.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-deadline:
		return ErrBusy
	case <-f.closed:
		return ErrIsClosed
	}
}

// drain waits until no flight is left, by taking every slot for good, or until the time is over.
func (f *flights) drain(timeout <-chan time.Time) {
	for range cap(f.slots) {
		select {
		case f.slots <- struct{}{}:
		case <-timeout:
			return
		}
	}
}
