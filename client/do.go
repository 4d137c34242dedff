package client

import (
	"context"
	"errors"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Strategy says what Do does when a bucket refuses. It is a value; make one with Reject, WaitUpTo, Fallback or Custom.
type Strategy struct {
	kind   strategyKind
	wait   time.Duration
	work   func(context.Context) error
	choose func(context.Context, Decision) error
}

type strategyKind uint8

const (
	reject strategyKind = iota + 1
	waitUpTo
	fallback
	custom
)

// Reject makes Do return a *LimitedError at once.
func Reject() Strategy { return Strategy{kind: reject} }

// WaitUpTo makes Do wait for its turn, at most d, and return a *LimitedError when it can't come by then.
func WaitUpTo(d time.Duration) Strategy { return Strategy{kind: waitUpTo, wait: d} }

// Fallback makes Do degrade: it does the other work instead, and returns what that returns.
func Fallback(work func(context.Context) error) Strategy {
	return Strategy{kind: fallback, work: work}
}

// Custom hands the refusing Decision to choose and returns what that returns.
func Custom(choose func(context.Context, Decision) error) Strategy {
	return Strategy{kind: custom, choose: choose}
}

// Do does the work if the bucket allows it, and what the strategy says if it does not. Of a bucket of algorithm
// concurrency it holds a lease while the work is done, and the work's context ends when the lease is lost.
//
// The error is what the work or the strategy returned, a *LimitedError, misuse, or that of a done context.
func (c *Client) Do(ctx context.Context, name string, work func(context.Context) error, s Strategy, opts ...CallOption) error {
	if err := s.check(work); err != nil {
		return err
	}
	if s.kind == waitUpTo {
		opts = append(opts[:len(opts):len(opts)], MaxWait(s.wait))
	}
	d, lease, err := c.enterOrAcquire(ctx, name, s, opts)
	switch {
	case err != nil:
		return err
	case !d.Allowed:
		return s.refused(ctx, d)
	case lease == nil:
		return work(ctx)
	}
	defer lease.Release()
	return work(lease.Context())
}

func (s Strategy) check(work func(context.Context) error) error {
	switch {
	case work == nil:
		return misused(ErrStrategy, "the work is nil")
	case s.kind == 0 || s.kind == fallback && s.work == nil || s.kind == custom && s.choose == nil:
		return misused(ErrStrategy, "got none, or one with a nil function")
	case s.wait < 0:
		return misused(ErrMaxWait, "got %v", s.wait)
	}
	return nil
}

// refused is what Do comes to when the bucket refuses.
func (s Strategy) refused(ctx context.Context, d Decision) error {
	switch s.kind {
	case fallback:
		return s.work(ctx)
	case custom:
		return s.choose(ctx, d)
	default:
		return &LimitedError{d}
	}
}

// enterOrAcquire takes a lease or permits, as the bucket has it.
func (c *Client) enterOrAcquire(ctx context.Context, name string, s Strategy, opts []CallOption) (Decision, *Lease, error) {
	f := c.book.find(name).facts()
	leases := f != nil && f.Algorithm == bucket.Concurrency
	for range 2 {
		d, lease, err := c.take(ctx, name, leases, s, opts)
		if !errors.Is(err, ErrConcurrency) && !errors.Is(err, ErrNoLeases) {
			return d, lease, err
		}
		leases = !leases // it was not known, or another algorithm was
	}
	return Decision{}, nil, ErrStale
}

func (c *Client) take(ctx context.Context, name string, leases bool, s Strategy, opts []CallOption) (d Decision, lease *Lease, err error) {
	switch waits := s.kind == waitUpTo; {
	case leases && !waits:
		opts = append(opts[:len(opts):len(opts)], MaxWait(0))
		fallthrough
	case leases:
		lease, d, err = c.Enter(ctx, name, opts...)
	case waits:
		d, err = c.Wait(ctx, name, opts...)
	default:
		d, err = c.Acquire(ctx, name, opts...)
	}
	return d, lease, err
}
