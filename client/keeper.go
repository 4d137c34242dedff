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
	closed  bool
	next    int64 // when the goroutine looks next, ns since the client's start
	wake    chan struct{}
}

// retryRenewal is the least time between two attempts to renew a lease.
const retryRenewal = 50 * time.Millisecond

func newKeeper(c *Client) *keeper {
	return &keeper{client: c, leases: map[*Lease]struct{}{}, wake: make(chan struct{}, 1)}
}

// hold takes a lease that was granted for the given time, in answer to a call sent at sent; not any more when closed.
func (k *keeper) hold(l *Lease, sent int64, lasts time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	l.lasts(sent, lasts)
	k.leases[l] = struct{}{}
	switch {
	case !k.running:
		k.running = true
		k.client.spawn(k.run)
	case l.renews < k.next:
		k.poke()
	}
	return true
}

// lasts notes that the lease was granted or renewed.
func (l *Lease) lasts(sent int64, d time.Duration) {
	l.ends, l.renews, l.early = sent+int64(d), sent+int64(d/3), sent+int64(d/6)
}

func (k *keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// drop forgets a lease, and tells whether it was there.
func (k *keeper) drop(l *Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, held := k.leases[l]
	delete(k.leases, l)
	if len(k.leases) == 0 {
		k.poke() // so that the goroutine ends
	}
	return held
}

// release gives back the slot of a lease that has one: when a renewal that is under way has been answered, which else
// could take the slot again.
func (k *keeper) release(l *Lease) {
	switch {
	case !k.drop(l):
		k.client.slots.wake(l.slot)
	case l.asked == nil:
		k.submitRelease(l.target, l.key, l.id)
	default:
		l.asked.then(func() { k.submitRelease(l.target, l.key, l.id) })
	}
}

func (k *keeper) submitRelease(target *bucket.Target, key, id string) {
	j := k.client.newLeaseJob(target, key, 0, bucket.LeaseOp{Do: bucket.LeaseRelease, ID: id})
	j.then(func() { k.client.slots.wake(localKey{target.Name, j.question.Key}) })
	if !k.client.laneOf(j).submit(j) {
		j.over(ErrBreakerOpen)
	}
}

// releaseAll ends every lease, and takes no more.
func (k *keeper) releaseAll() {
	k.mu.Lock()
	k.closed = true
	all := slices.Collect(maps.Keys(k.leases))
	k.mu.Unlock()
	for _, l := range all {
		l.Release()
		if l.asked != nil {
			<-l.asked.done // at most the deadline
		}
	}
}

func (k *keeper) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, lost, wait := k.sort()
		k.lose(lost)
		for at, leases := range due {
			k.renew(at, leases)
		}
		if wait < 0 && k.stop() {
			return
		}
		timer.Reset(time.Duration(wait))
		select {
		case <-timer.C:
		case <-k.wake:
		case <-k.client.life.Done():
			return
		}
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
func (k *keeper) sort() (due map[partition][]*Lease, lost []*Lease, wait int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.client.sinceStart()
	due, wait = map[partition][]*Lease{}, -1
	for l := range k.leases {
		if l.ends <= now {
			lost = append(lost, l)
			continue
		}
		if l.early <= now {
			at := k.place(l)
			due[at] = append(due[at], l)
			// Should no answer come, it is tried again several times before the end.
			l.renews = now + max(int64(retryRenewal), (l.ends-now)/5)
			l.early = l.renews
		}
		if next := max(0, min(l.renews, l.ends)-now); wait < 0 || next < wait {
			wait = next
		}
	}
	k.next = now + max(0, wait)
	return due, lost, wait
}

// place is where a lease is to be renewed: where the bucket keeps its leases now. If that is not where the lease was
// entered, the bucket has begun anew, and the lease enters there if there is room.
func (k *keeper) place(l *Lease) partition {
	if known := k.client.book.find(l.name); known != nil {
		t := known.target.Load()
		if t != nil && t.Facts.Algorithm == bucket.Concurrency && (l.key != "" || !t.Keyed()) {
			l.target = t
		}
	}
	if l.target.Keyed() {
		return partition{l.target, l.key}
	}
	return partition{target: l.target}
}

// renew asks for the leases of one partition without waiting for the answer.
func (k *keeper) renew(at partition, leases []*Lease) {
	for some := range slices.Chunk(leases, bucket.EntriesBound) {
		j := k.client.newLeaseJob(at.target, at.key, 0)
		some = k.asking(j, some)
		if len(some) == 0 {
			continue
		}
		j.then(func() { k.renewed(j, some) })
		if !k.client.laneOf(j).submit(j) {
			j.over(ErrBreakerOpen)
		}
	}
}

// asking makes a job ask for those of the leases that were not released meanwhile: a renewal after a release would take
// the slot again. From then on a release waits for the job.
func (k *keeper) asking(j *leaseJob, leases []*Lease) []*Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	leases = slices.DeleteFunc(leases, func(l *Lease) bool {
		_, held := k.leases[l]
		return !held
	})
	for _, l := range leases {
		l.asked = j
		j.question.Ops = append(j.question.Ops, bucket.LeaseOp{Do: bucket.LeaseRenew, ID: l.id})
	}
	return leases
}

// renewed takes in the answer: leases that go on, and those that are lost. Without an answer each lives until its end,
// also where the bucket was removed, or was lost and will soon be there again.
func (k *keeper) renewed(j *leaseJob, leases []*Lease) {
	reply := &j.question.Reply
	if j.err != nil || reply.Verdict != bucket.VerdictDecided && reply.Verdict != bucket.VerdictStale {
		return
	}
	known := k.client.book.enter(j.question.Target.Name)
	k.client.learn(known, j.question.Target, reply.Facts)
	if reply.Verdict == bucket.VerdictStale {
		k.again(j, leases)
		return
	}
	var lost []*Lease
	k.mu.Lock()
	for i, l := range leases {
		if _, held := k.leases[l]; !held {
			continue
		}
		if r := j.question.Results[i]; r.Code == bucket.LeaseRefused {
			lost = append(lost, l)
		} else {
			l.lasts(j.sent, r.Expires)
			if l.renews < k.next {
				k.poke()
			}
		}
	}
	k.mu.Unlock()
	k.lose(lost)
}

// again has leases renewed at once if their bucket has moved.
func (k *keeper) again(j *leaseJob, leases []*Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range leases {
		if _, held := k.leases[l]; held && k.place(l).target != j.question.Target {
			l.early = k.client.sinceStart()
			k.poke()
		}
	}
}

// lose ends leases that are held no more. Mode shadow and off stop nobody: there the work goes on without a slot.
func (k *keeper) lose(leases []*Lease) {
	count := map[string]int{}
	for _, l := range leases {
		if f := k.client.book.find(l.name).facts(); f != nil && (f.Mode == bucket.ModeOff || k.client.shadows(f)) {
			k.drop(l)
			l.leave()
			continue
		}
		count[l.name]++
		l.finish(ErrLeaseLost)
	}
	for name, n := range count {
		k.client.options.log.Warn("headgate: leases were lost; their contexts have ended", "bucket", name, "leases", n)
	}
}
