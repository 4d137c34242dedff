package client_test

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/headgate/headgate/client"
)

// unit is how many units of the models make a µs, such that the time in which a permit comes in is a whole number.
const unit = 84

// limit is max permits, num of which come in every den µs; num divides 84.
type limit struct{ max, num, den int64 }

// cost is the time in units in which n permits come in.
func (l limit) cost(n int64) int64 { return n * l.den * unit / l.num }

// tokenModel is a token bucket that decides call after call.
type tokenModel struct {
	limits   []limit       // by revision, from 1 on
	maxWait  time.Duration // of the bucket
	begun    int64         // µs: full then
	reserves bool          // some calls reserve, so what is given back depends on who relies on it
}

// tokenState is the instant at which the bucket was or will be empty, in units. Where the instant at which a call took its
// permits is not known, the state is a range, which the decisions after it narrow down.
type tokenState struct {
	lo, hi   int64
	done     int   // decisions so far
	now      int64 // µs: Redis time of the last one
	revision int64
	placed   uint32 // unsure calls so far
	took     uint32 // those that took their permits and did not give them back
	spilled  uint32 // those but for which, and all give-backs, the bucket might have been full: not all comes back
	refused  refusals
	peak     int64 // the largest hi so far
}

func (m *tokenModel) model() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any {
			full := m.begun*unit - m.limits[0].cost(m.limits[0].max)
			return one(tokenState{lo: full, hi: full, now: m.begun, revision: 1})
		},
		Step:          func(state, input, _ any) []any { return m.step(state.(tokenState), input.(*happened)) },
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
	return nondeterministic.ToModel()
}

// step returns the states that the bucket may be in after something happened; none where it can't have happened now.
func (m *tokenModel) step(s tokenState, h *happened) []any {
	switch {
	case h.kind == edited:
		return m.edit(s, h)
	case h.kind == unsure:
		return m.perhaps(s, h)
	case h.kind == gaveBack:
		return m.give(s, h)
	case h.decision.Source == client.SourceDenial:
		if !s.refused.allow(h, func(n int64) int64 { return (s.peak+m.longest(n))/unit + 1 }) {
			return nil
		}
		return one(s)
	case h.place > s.done || s.done >= h.place+h.peers || h.decision.Revision != s.revision:
		return nil
	}
	s.done, s.now = s.done+1, h.at()
	l := m.limits[s.revision-1]
	full := s.now*unit - l.cost(l.max)
	s.lo, s.hi = max(s.lo, full), max(s.hi, full)
	switch h.decision.Outcome {
	case client.Granted:
		return m.grant(s, h, l)
	case client.Limited:
		return m.refuse(s, h, l)
	case client.TooMany:
		if h.permits > l.max {
			return one(s)
		}
	}
	return nil
}

// longest is the time in units in which n permits come in under the slowest limit.
func (m *tokenModel) longest(n int64) int64 {
	longest := int64(0)
	for _, l := range m.limits {
		longest = max(longest, l.cost(n))
	}
	return longest
}

// grant takes the permits of a call if they are there, or there in time.
func (m *tokenModel) grant(s tokenState, h *happened, l limit) []any {
	now := s.now * unit
	taken := l.cost(h.permits)
	s.lo, s.hi = s.lo+taken, s.hi+taken
	if h.kind == waited {
		longest := min(h.wait, m.maxWait).Microseconds()
		s.hi = min(s.hi, now+longest*unit, h.there*unit) // a permit counts at the instant from which it may be used
	} else {
		s.hi = min(s.hi, now)
	}
	if h.kind == peeked {
		s.lo, s.hi = s.lo-taken, s.hi-taken
	}
	return s.figures(h, l)
}

// refuse holds that the permits of a call are not there, nor will be in time.
func (m *tokenModel) refuse(s tokenState, h *happened, l limit) []any {
	now, taken := s.now*unit, l.cost(h.permits)
	retry := h.decision.RetryAfter.Microseconds() * unit
	s.lo, s.hi = max(s.lo, now-taken+1, now+retry-unit-taken+1), min(s.hi, now+retry-taken)
	s.refused.note(h)
	if h.kind != waited {
		return s.figures(h, l)
	}
	// It asked for what was left of its wait when it was sent. Or it got its turn, which had become too late when the
	// answer came, so that it gave it back.
	longest := min(h.wait, m.maxWait)
	asked := (longest - time.Duration(h.ret-h.call)).Microseconds() * unit
	refused, late := s, s
	refused.lo = max(refused.lo, now+asked-taken+1)
	late.hi = min(late.hi, now+longest.Microseconds()*unit-taken)
	late.lo, late.hi = late.lo+taken, late.hi+taken
	if h.late {
		bit := uint32(1) << h.id
		refused.placed, late.placed, late.took = s.placed|bit, s.placed|bit, s.took|bit
		return append(late.figures(h, l), refused.figures(h, l)...)
	}
	return refused.figures(h, l)
}

// figures holds that a decision tells the state that it leaves.
func (s tokenState) figures(h *happened, l limit) []any {
	d, now, permit := &h.decision, s.now*unit, l.cost(1)
	s.lo = max(s.lo, now-(d.Remaining+1)*permit+1)
	if d.Remaining > 0 {
		s.hi = min(s.hi, now-d.Remaining*permit)
	}
	full := now - l.cost(l.max) + d.ResetAfter.Microseconds()*unit
	s.hi = min(s.hi, full)
	if d.Outcome != client.Granted || h.kind == peeked || h.kind == waited {
		s.lo = max(s.lo, full-unit+1) // calls that were granted in one row are told the reset of the whole row
	}
	s.peak = max(s.peak, s.hi)
	if s.lo > s.hi || d.Limit != l.max || d.Allowed != (d.Outcome == client.Granted) {
		return nil
	}
	return one(s)
}

// perhaps has a call without an answer take its permits, or nothing.
func (m *tokenModel) perhaps(s tokenState, h *happened) []any {
	l, bit := m.limits[s.revision-1], uint32(1)<<h.id
	s.placed |= bit
	taken, fill := l.cost(h.permits), l.cost(l.max)
	took := s
	took.took |= bit
	took.lo = max(s.lo, s.now*unit-fill) + taken
	took.hi = min(max(s.hi, h.until*unit-fill)+taken, (h.until+min(h.wait, m.maxWait).Microseconds())*unit)
	if h.permits > l.max || took.lo > took.hi {
		return one(s)
	}
	if s.lo-l.cost(h.returns) <= h.until*unit-fill+unit {
		took.spilled |= bit
	}
	return []any{s, took}
}

// give has an unsure call that took its permits give them back: all of them, but where a bucket that would have been full
// meanwhile, an edit or a reservation stands against it.
func (m *tokenModel) give(s tokenState, h *happened) []any {
	bit := uint32(1) << h.id
	switch {
	case s.placed&bit == 0:
		return nil
	case s.took&bit == 0:
		return one(s)
	}
	s.took &^= bit
	l := m.limits[s.revision-1]
	back := l.cost(h.permits)
	s.lo -= back
	if exact := !m.reserves && len(m.limits) == 1 && s.spilled&bit == 0; exact {
		s.hi -= back
	}
	return one(s)
}

// edit puts the next limit in force, at some instant while the edit was under way. Nobody gains or loses a permit by it,
// but what is over the new maximum.
func (m *tokenModel) edit(s tokenState, h *happened) []any {
	if s.revision != h.decision.Revision-1 {
		return nil
	}
	from, to := m.limits[s.revision-1], m.limits[s.revision]
	first, last := max(h.call/1000, s.now)*unit, (h.ret/1000+1)*unit
	carry := func(empty, at int64) int64 {
		return at - min(scaled(min(at-empty, from.cost(from.max)), to.cost(1), from.cost(1)), to.cost(to.max))
	}
	s.revision++
	lo, hi := s.lo, s.hi
	s.lo = min(carry(lo, first), carry(lo, last)) - scaled(last-first, to.cost(1), from.cost(1))
	s.hi = max(carry(hi, first), carry(hi, last)) + unit + 1
	return one(s)
}

// scaled is x·by/of, rounded down.
func scaled(x, by, of int64) int64 {
	if x < 0 {
		return -scaled(-x, by, of) - 1
	}
	hi, lo := bits.Mul64(uint64(x), uint64(by))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(q)
}
