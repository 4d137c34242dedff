package client

import (
	"sync"
	"sync/atomic"
)

// tally counts one bucket's usage by the Redis second of each decision, so that a report holds whole seconds. Counting
// takes no lock but at the turn of a second. A count that comes in just while its second is turned goes to the next one:
// none is ever lost.
type tally struct {
	ring [tallySeconds]second

	mu      sync.Mutex
	earlier map[int64]counts // by minute: seconds that are over
	settled counts           // all that ever was in earlier
}

const tallySeconds = 4 // counts of replies this much apart don't meet

type second struct {
	at                       atomic.Int64 // since 1970, Redis time
	granted, limited, shadow atomic.Int64
	denied                   atomic.Int64 // calls, ever; here because it is counted together with limited
	_                        [3]int64     // keeps neighbours off this cache line
}

// add counts usage at the Redis time now (µs).
func (t *tally) add(now int64, c counts) {
	s := t.slot(now / microsPerSecond)
	if c.granted != 0 {
		s.granted.Add(c.granted)
	}
	if c.limited != 0 {
		s.limited.Add(c.limited)
	}
	if c.shadowLimited != 0 {
		s.shadow.Add(c.shadowLimited)
	}
}

func (t *tally) slot(at int64) *second {
	s := &t.ring[at&(tallySeconds-1)]
	if s.at.Load() != at {
		t.turn(s, at)
	}
	return s
}

// turn gives a slot to a newer second. A straggler of a second long over stays with what the slot has now.
func (t *tally) turn(s *second, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.at.Load() < at {
		t.settle(s)
		s.at.Store(at)
	}
}

// settle moves what a slot counted to the earlier seconds.
func (t *tally) settle(s *second) {
	c := counts{s.granted.Swap(0), s.limited.Swap(0), s.shadow.Swap(0)}
	if c.zero() {
		return
	}
	t.settled.add(c)
	if t.earlier == nil {
		t.earlier = map[int64]counts{}
	}
	minute := s.at.Load() / secondsPerMinute
	sum := t.earlier[minute]
	sum.add(c)
	t.earlier[minute] = sum
}

// collect hands over, by minute, what was counted before the given second.
func (t *tally) collect(before int64) map[int64]counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.ring {
		if s := &t.ring[i]; s.at.Load() < before {
			t.settle(s)
		}
	}
	done := t.earlier
	t.earlier = nil
	return done
}

// deny counts a call that this process refused by itself at the Redis time now (µs).
func (t *tally) deny(now, permits int64, shadow bool) {
	s := t.slot(now / microsPerSecond)
	s.denied.Add(1)
	if shadow {
		s.shadow.Add(permits)
	} else {
		s.limited.Add(permits)
	}
}

// denials is how many calls this process refused by itself.
func (t *tally) denials() int64 {
	var sum int64
	for i := range t.ring {
		sum += t.ring[i].denied.Load()
	}
	return sum
}

// total is all that was ever counted.
func (t *tally) total() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.settled
	for i := range t.ring {
		s := &t.ring[i]
		sum.add(counts{s.granted.Load(), s.limited.Load(), s.shadow.Load()})
	}
	return sum
}
