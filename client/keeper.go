package client

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// keeper renews the leases that this process holds: each when a third of its time has passed, and those of one partition
// in one call. One goroutine does it, which lives as long as there are leases.
type keeper struct {
	client *Client

	mu      sync.Mutex
	leases  map[*Lease]struct{}
	running bool
	wake    chan struct{}
}

func newKeeper(c *Client) *keeper {
	return &keeper{client: c, leases: map[*Lease]struct{}{}, wake: make(chan struct{}, 1)}
}

// hold takes a lease that was granted for the given time, in answer to a call sent at sent.
func (k *keeper) hold(l *Lease, sent int64, lasts time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.ends, l.renews = sent+int64(lasts), sent+int64(lasts/3)
	k.leases[l] = struct{}{}
	if !k.running {
		k.running = true
		k.client.spawn(k.run)
	}
	k.poke()
}

func (k *keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) drop(l *Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.leases, l)
	k.poke()
}

func (k *keeper) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, lost, next := k.sort()
		for _, l := range lost {
			l.finish(ErrLeaseLost)
		}
		for at, ids := range due {
			k.renew(at, ids)
		}
		if next < 0 && k.stop() {
			return
		}
		timer.Reset(time.Duration(next))
		select {
		case <-timer.C:
		case <-k.wake:
		case <-k.client.life.Done():
			return
		}
	}
}

// releaseAll ends every lease.
func (k *keeper) releaseAll() {
	k.mu.Lock()
	all := slices.Collect(maps.Keys(k.leases))
	k.mu.Unlock()
	for _, l := range all {
		l.Release()
	}
}

// stop ends the keeping unless a lease came in meanwhile.
func (k *keeper) stop() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = len(k.leases) > 0
	return !k.running
}

// partition is where leases are renewed together.
type partition struct {
	target *bucket.Target
	key    string
}

// sort finds the leases to renew, those that ended, and in how many ns the next thing is to be done; -1 = nothing is.
// Leases that are to be renewed soon go along.
func (k *keeper) sort() (due map[partition][]*Lease, lost []*Lease, next int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.client.sinceStart()
	due, next = map[partition][]*Lease{}, -1
	for l := range k.leases {
		at := l.renews
		if l.ends <= now {
			lost = append(lost, l)
			continue
		}
		if soon := (l.ends - l.renews) / 4; l.renews-soon <= now {
			p := partition{l.target, l.key}
			due[p] = append(due[p], l)
			// Should no answer come, it is tried again several times before the end.
			l.renews = now + max(int64(retryRenewal), (l.ends-now)/5)
			at = l.renews
		}
		if wait := max(0, min(at, l.ends)-now); next < 0 || wait < next {
			next = wait
		}
	}
	return due, lost, next
}

// retryRenewal is the least time between two attempts to renew a lease.
const retryRenewal = 50 * time.Millisecond

// renew asks for the leases of one partition without waiting for the answer.
func (k *keeper) renew(at partition, leases []*Lease) {
	for len(leases) > 0 {
		n := min(len(leases), bucket.EntriesBound)
		some := leases[:n]
		leases = leases[n:]
		ops := make([]bucket.LeaseOp, n)
		for i, l := range some {
			ops[i] = bucket.LeaseOp{Do: bucket.LeaseRenew, ID: l.id}
		}
		j := k.client.newLeaseJob(at.target, at.key, 0, ops...)
		lane := k.client.lanes.of(at.target, at.target.Shard(at.key))
		if !lane.submit(j) {
			return
		}
		k.client.spawn(func() {
			<-j.done
			k.renewed(j, some)
		})
	}
}

// renewed takes in the answer: leases that go on, and those that are lost. Without an answer each lives until its end.
func (k *keeper) renewed(j *leaseJob, leases []*Lease) {
	if j.err != nil {
		return
	}
	reply := &j.question.Reply
	switch reply.Verdict {
	case bucket.VerdictDecided:
	case bucket.VerdictStale:
		k.moved(j, leases)
		return
	default:
		return // removed, or lost and soon to be installed again: the leases live until their end
	}
	for i, l := range leases {
		if r := j.question.Results[i]; r.Code == bucket.LeaseRefused {
			l.finish(ErrLeaseLost)
		} else if reply.Facts.Mode != bucket.ModeOff {
			k.prolong(l, j.sent, r.Expires)
		}
	}
}

// prolong notes a new end, if the lease was not released meanwhile.
func (k *keeper) prolong(l *Lease, sent int64, lasts time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, held := k.leases[l]; held {
		l.ends, l.renews = sent+int64(lasts), sent+int64(lasts/3)
		k.poke()
	}
}

// moved follows an edit that keeps the state where it is. A bucket whose leases are kept elsewhere now, or that has none
// any more, has begun anew: these leases enter there if there is room.
func (k *keeper) moved(j *leaseJob, leases []*Lease) {
	c := k.client
	known := c.book.enter(j.question.Target.Name)
	c.learn(known, j.question.Target, j.question.Reply.Facts)
	target := known.target.Load()
	if target == nil || target.Facts.Algorithm != bucket.Concurrency || target.Keyed() && j.question.Key == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range leases {
		l.target = target
		l.renews = c.sinceStart()
	}
	k.poke()
}

// slots are the leases that policy local gave, by bucket and key.
type slots struct {
	mu   sync.Mutex
	used map[localKey]int64
}

func (s *slots) enter(at localKey, most int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[at] >= most {
		return false
	}
	if s.used == nil {
		s.used = map[localKey]int64{}
	}
	s.used[at]++
	return true
}

func (s *slots) leave(at localKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[at]--; s.used[at] <= 0 {
		delete(s.used, at)
	}
}
