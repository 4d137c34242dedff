package client

import (
	"context"
	"slices"
	"sync"
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
// that refuses stops nobody, and one on which Redis gives no verdict follows its failure policy, while the others decide.
// Requests for the same permits of a bucket count together. The error is as of Acquire.
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
	c.learnAll(ctx, calls)
	for range attempts {
		a := composite{client: c, calls: calls, ds: make([]Decision, len(calls))}
		again, err := a.try(ctx)
		if err != nil {
			return nil, err
		}
		if !again {
			return a.ds, nil
		}
	}
	a := composite{client: c, calls: calls, ds: make([]Decision, len(calls))}
	if err := a.byPolicy(ctx, a.everything(), ErrStale); err != nil {
		return nil, err
	}
	if !AllAllowed(a.ds) {
		a.putBack()
	}
	return a.ds, nil
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

// learnAll learns the buckets of which nothing is known yet. On one Redis the first try does so by itself; on Cluster
// each part of it would have to be tried in vain.
func (c *Client) learnAll(ctx context.Context, calls []call) {
	if len(c.lanes) == 1 {
		return
	}
	var all sync.WaitGroup
	for i := range calls {
		if r := calls[i]; c.book.find(r.bucket).facts() == nil {
			all.Go(func() { _, _ = c.travel(ctx, nil, &r) })
		}
	}
	all.Wait()
}

// composite is one try of an AcquireAll.
type composite struct {
	client *Client
	calls  []call
	ds     []Decision // one for each call
}

func (a *composite) everything() []int {
	all := make([]int, len(a.calls))
	for i := range all {
		all[i] = i
	}
	return all
}

// try asks once, one leg after the other. again says that nothing was taken and something learned, so that another try
// is worth it.
func (a *composite) try(ctx context.Context) (again bool, err error) {
	legs, err := a.legs()
	if err != nil {
		return false, err
	}
	for n, l := range legs {
		if again, err = a.ask(ctx, l); err == nil && !again && a.passed(l.indexes) {
			continue
		}
		for _, before := range legs[:n+1] {
			before.giveBack()
		}
		a.putBack()
		if err == nil && !again {
			err = a.peek(ctx, legs[n+1:])
		}
		return again, err
	}
	return false, a.takeApart(ctx, legs)
}

// takeApart takes what the scripts did not: under break-glass everything is let pass, though Redis, which knows nothing of
// it, took from no bucket where one refused. Each bucket with enough is then asked alone, as in mode shadow.
func (a *composite) takeApart(ctx context.Context, legs []*leg) error {
	for _, l := range legs {
		if l.took {
			continue
		}
		for _, i := range l.asked {
			if a.ds[i].Outcome != Granted || a.ds[i].Source != SourceRedis {
				continue
			}
			d, _, err := a.client.decide(ctx, &a.calls[i])
			if err != nil {
				return err
			}
			a.ds[i] = d
		}
	}
	return nil
}

// passed tells whether the buckets of some calls allow them.
func (a *composite) passed(indexes []int) bool {
	return !slices.ContainsFunc(indexes, func(i int) bool { return !a.ds[i].Allowed })
}

// ask lets one leg decide. Buckets that can't are decided by their failure policies; where those let the call through,
// the others are asked without them.
func (a *composite) ask(ctx context.Context, l *leg) (again bool, err error) {
	for len(l.parts) > 0 {
		if err := l.travel(ctx); err != nil {
			return false, a.byPolicy(ctx, l.asked, err)
		}
		if l.group.reply.Stale {
			return true, a.misuse()
		}
		l.took = l.place <= l.group.result.Granted
		undecided, again, err := a.decided(ctx, l)
		if again || err != nil {
			return again, err
		}
		if l.took || len(undecided) == 0 || !a.passed(undecided) {
			return false, nil
		}
		l.leaveOut(undecided)
	}
	return false, nil
}

// decided enters the verdicts of one leg, and returns the calls whose buckets had none.
func (a *composite) decided(ctx context.Context, l *leg) (undecided []int, again bool, err error) {
	for n, i := range l.asked {
		if l.isElsewhere(ctx, a.client, n, &a.calls[i]) {
			return nil, true, nil
		}
		reason := l.noVerdict(n)
		if reason == nil {
			a.ds[i] = a.client.partDecision(&a.calls[i], l.group, n, l.place)
			continue
		}
		undecided = append(undecided, i)
		if err := a.byPolicy(ctx, []int{i}, reason); err != nil {
			return nil, false, err
		}
	}
	return undecided, false, nil
}

// byPolicy answers calls that Redis gave no verdict on.
func (a *composite) byPolicy(ctx context.Context, indexes []int, reason error) error {
	for _, i := range indexes {
		d, _, err := a.client.failed(ctx, &a.calls[i], reason)
		if err != nil {
			if other := a.misuse(); other != nil {
				err = other // of another bucket than the one at hand
			}
			return err
		}
		a.ds[i] = d
	}
	return nil
}

// misuse finds the request that does not fit what is known of its bucket.
func (a *composite) misuse() error {
	for i := range a.calls {
		if f := a.client.book.find(a.calls[i].bucket).facts(); f != nil {
			if err := fits(&a.calls[i], f); err != nil {
				return err
			}
		}
	}
	return nil
}

// putBack returns what policy local took.
func (a *composite) putBack() {
	for i := range a.ds {
		if a.ds[i].Source == SourceLocal && a.ds[i].Outcome == Granted {
			a.client.putBackLocally(&a.calls[i])
		}
	}
}

// peek completes the Decisions of a call that was refused before the buckets of the given legs were asked.
func (a *composite) peek(ctx context.Context, legs []*leg) error {
	for _, l := range legs {
		for _, i := range l.indexes {
			r := a.calls[i]
			r.peek = true
			d, _, err := a.client.decide(ctx, &r)
			if err != nil {
				return err
			}
			a.ds[i] = d
		}
	}
	return nil
}
