package client_test

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/headgate/headgate/client"
)

// windowModel is a fixed window that decides call after call.
type windowModel struct {
	maxes  []int64 // by revision, from 1 on
	period int64   // µs
	begun  int64   // µs
}

// windowUnsure bounds the calls without an answer in one history of windows.
const windowUnsure = 8

// windowState is what was granted in the window of the last decision.
type windowState struct {
	window   int64 // since 1970
	count    int64
	done     int   // decisions so far
	now      int64 // µs: Redis time of the last one
	revision int64
	placed   uint32              // unsure calls so far
	took     [windowUnsure]int64 // the window in which each took its permits; 0 = it did not, or gave them back
	refused  refusals
}

func (m *windowModel) model() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any {
			return one(windowState{window: m.begun / m.period, now: m.begun, revision: 1})
		},
		Step:          func(state, input, _ any) []any { return m.step(state.(windowState), input.(*happened)) },
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
	return nondeterministic.ToModel()
}

// step returns the states that the bucket may be in after something happened; none where it can't have happened now.
func (m *windowModel) step(s windowState, h *happened) []any {
	switch {
	case h.kind == edited:
		if s.revision != h.decision.Revision-1 {
			return nil
		}
		s.revision++
		return one(s)
	case h.kind == unsure:
		return m.perhaps(s, h)
	case h.kind == gaveBack:
		return m.give(s, h)
	case h.decision.Source == client.SourceDenial:
		if !s.refused.allow(h, func(int64) int64 { return (h.call/1000/m.period + 1) * m.period }) {
			return nil
		}
		return one(s)
	case h.place > s.done || s.done >= h.place+h.peers || h.decision.Revision != s.revision:
		return nil
	}
	s.done, s.now = s.done+1, h.at()
	if !s.enter(s.now / m.period) {
		return nil
	}
	return m.decide(s, h)
}

// enter begins a window if it is a new one; one that is over can't come again.
func (s *windowState) enter(window int64) bool {
	if window > s.window {
		s.window, s.count = window, 0
	}
	return window == s.window
}

// decide holds that a decision is right and tells the state that it leaves.
func (m *windowModel) decide(s windowState, h *happened) []any {
	d, most := &h.decision, m.maxes[s.revision-1]
	ends := (s.window+1)*m.period - s.now
	retry := int64(0)
	switch {
	case h.permits > most:
		if d.Outcome != client.TooMany {
			return nil
		}
	case s.count+h.permits <= most:
		if d.Outcome != client.Granted {
			return nil
		}
		if h.kind != peeked {
			s.count += h.permits
		}
	default:
		if d.Outcome != client.Limited {
			return nil
		}
		retry = ends
		s.refused.note(h)
	}
	reset := ends
	if s.count == 0 {
		reset = 0
	}
	if d.Limit != most || d.Remaining != max(0, most-s.count) || d.RetryAfter.Microseconds() != retry ||
		d.ResetAfter.Microseconds() != reset || d.Allowed != (d.Outcome == client.Granted) {
		return nil
	}
	return one(s)
}

// perhaps has a call without an answer take its permits, in this window or a later one, or nothing.
func (m *windowModel) perhaps(s windowState, h *happened) []any {
	s.placed |= 1 << h.id
	states := one(s)
	for window := s.now / m.period; window <= h.until/m.period; window++ {
		took := s
		if !took.enter(window) || took.count+h.permits > m.maxes[s.revision-1] {
			continue
		}
		took.count += h.permits
		took.took[h.id] = window
		states = append(states, took)
	}
	return states
}

// give has an unsure call that took its permits give them back, unless their window is over by then.
func (m *windowModel) give(s windowState, h *happened) []any {
	if s.placed&(1<<h.id) == 0 {
		return nil
	}
	window := s.took[h.id]
	if window == 0 {
		return one(s)
	}
	s.took[h.id] = 0
	var states []any
	if h.until/m.period > window {
		states = one(s)
	}
	if s.window == window {
		s.count -= h.permits
		states = append(states, s)
	}
	return states
}
