package client

import (
	"container/list"
	"math/bits"
	"sync"
	"time"
)

// maxLocalStates bounds how many partitions one client remembers for the failure policy local; the least recently used
// are forgotten and start full again.
const maxLocalStates = 10_000

// locals are token buckets in this process, one a bucket and key, for the failure policy local. They follow what Redis
// replies, so that when Redis fails each goes on from the last known remaining permits.
type locals struct {
	mu     sync.Mutex
	states map[localKey]*list.Element
	recent *list.List // of *localState, the most recently used first
}

type localKey struct{ bucket, key string }

// localState is a level in time form: emptyAt is the instant (ns since the client's start) at which the bucket was or
// would be empty, so polling never loses a fraction.
type localState struct {
	key     localKey
	emptyAt int64
}

func newLocals() *locals {
	return &locals{states: map[localKey]*list.Element{}, recent: list.New()}
}

// share is the part of a limit that this process enforces by itself.
type share struct {
	max  int64 // permits
	rate int64 // permits per period
	per  int64 // ns; the period times the number of instances
	late bool  // less than one permit fell to this instance: it has one, but starts empty
}

// shareOf divides a limit among n instances.
func shareOf(maxPermits, rate int64, period time.Duration, n int64) share {
	// The bounds of a definition and of WithInstances keep period·n within an int64, but for absurd pairs.
	hi, per := bits.Mul64(uint64(period), uint64(n))
	if hi != 0 || per > maxNanos {
		per = maxNanos
	}
	s := share{max: maxPermits / n, rate: rate, per: int64(per)}
	if s.max < 1 {
		s.max, s.late = 1, true
	}
	return s
}

// maxNanos is about 146 years: more than any bucket takes to fill.
const maxNanos = 1 << 62

// cost is the time in ns, rounded up, in which n permits come in.
func (s share) cost(n int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(s.per))
	lo, carry := bits.Add64(lo, uint64(s.rate-1), 0)
	hi += carry
	if hi >= uint64(s.rate) {
		return maxNanos
	}
	q, _ := bits.Div64(hi, lo, uint64(s.rate))
	return int64(min(q, maxNanos))
}

// permits is how many whole permits come in within ns.
func (s share) permits(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(s.rate))
	if hi >= uint64(s.per) {
		return s.max
	}
	q, _ := bits.Div64(hi, lo, uint64(s.per))
	return int64(min(q, uint64(s.max)))
}

// verdict is what a local bucket says.
type verdict struct {
	granted    bool
	remaining  int64
	retryAfter time.Duration
	resetAfter time.Duration
}

// follow notes what Redis said: the whole bucket has remaining permits now.
func (l *locals) follow(key localKey, s share, remaining, instances, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state(key, s, now).emptyAt = now - s.cost(min(remaining/instances, s.max))
}

// take decides one call on the local share. With peek nothing is taken.
func (l *locals) take(key localKey, s share, n, now int64, peek bool) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state(key, s, now)
	fullAt := now - s.cost(s.max) // emptyAt of a bucket that is full now
	state.emptyAt = max(state.emptyAt, fullAt)
	after := state.emptyAt + s.cost(n)
	v := verdict{granted: after <= now}
	switch {
	case !v.granted:
		v.retryAfter = time.Duration(after - now)
	case !peek:
		state.emptyAt = after
	}
	v.remaining = s.permits(now - state.emptyAt)
	v.resetAfter = time.Duration(state.emptyAt - fullAt)
	return v
}

// putBack returns permits that were taken and not used.
func (l *locals) putBack(key localKey, s share, n, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state(key, s, now).emptyAt -= s.cost(n)
}

// state finds or makes a state; a new one is full, or empty where less than one permit falls to this instance.
func (l *locals) state(key localKey, s share, now int64) *localState {
	if e, ok := l.states[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*localState)
	}
	state := &localState{key: key, emptyAt: now - s.cost(s.max)}
	if s.late {
		state.emptyAt = now
	}
	l.states[key] = l.recent.PushFront(state)
	if l.recent.Len() > maxLocalStates {
		oldest := l.recent.Remove(l.recent.Back()).(*localState)
		delete(l.states, oldest.key)
	}
	return state
}
