package client

import (
	"context"
	"slices"
	"sync"
	"time"
)

// slots counts the leases of this process, by bucket and key, so that policy local can hold to its share, and wakes those
// who wait for one.
type slots struct {
	mu      sync.Mutex
	used    map[localKey]int64
	waiting map[localKey][]chan struct{} // in order of arrival
}

// enter takes a slot if fewer than most are used, and says how many then are.
func (s *slots) enter(at localKey, most int64) (used int64, entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[at] >= most {
		return s.used[at], false
	}
	return s.fill(at), true
}

// add counts a slot that Redis gave.
func (s *slots) add(at localKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill(at)
}

func (s *slots) fill(at localKey) int64 {
	if s.used == nil {
		s.used = map[localKey]int64{}
	}
	s.used[at]++
	return s.used[at]
}

// leave takes a slot out of the count.
func (s *slots) leave(at localKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[at]--; s.used[at] <= 0 {
		delete(s.used, at)
	}
}

// queue makes a channel that receives when it is one's turn to ask again. Whoever made it must quit.
func (s *slots) queue(at localKey) chan struct{} {
	turn := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[localKey][]chan struct{}{}
	}
	s.waiting[at] = append(s.waiting[at], turn)
	return turn
}

// quit ends the waiting. A turn that was not used is passed on.
func (s *slots) quit(at localKey, turn chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[at] = slices.DeleteFunc(s.waiting[at], func(one chan struct{}) bool { return one == turn })
	if len(s.waiting[at]) == 0 {
		delete(s.waiting, at)
	}
	if len(turn) > 0 {
		s.wakeOne(at)
	}
}

// wake lets the first who waits ask again.
func (s *slots) wake(at localKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakeOne(at)
}

func (s *slots) wakeOne(at localKey) {
	if all := s.waiting[at]; len(all) > 0 {
		all[0] <- struct{}{} // has room: each is woken once
		s.waiting[at] = all[1:]
	}
}

// awaitSlot pauses until a slot may have come free, or the context ends.
func (c *Client) awaitSlot(ctx context.Context, at localKey, pause time.Duration) error {
	turn := c.slots.queue(at)
	defer c.slots.quit(at, turn)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-turn:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.life.Done():
		return ErrIsClosed
	}
}
