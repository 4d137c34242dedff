// Package exact checks what a token bucket decided against the model that it promises to equal: rational arithmetic on
// the times of Redis that came with the decisions. It uses whole numbers only, so the check itself rounds nothing.
package exact

import (
	"errors"
	"fmt"
	"time"

	"github.com/headgate/headgate/bench/measure"
)

// Model is a token bucket for each of a number of keys, each full at first. A permit is den units and num units come in
// each µs, num/den being rate/period in lowest terms, so every level is a whole number of units.
//
// "Every grant found its permit in the model" says the same as "in every interval of length T at most
// max + rate·T/period were granted"; "no refusal found a permit in the model" says that nothing was lost, which in a
// backlogged interval means more than rate·T/period − 1 granted.
type Model struct {
	num, den, full int64
	states         []state
	unknown        int64
	verdict        Verdict
}

// state is the level at a time; its units are counted from full downwards, so that the zero value is a full bucket.
type state struct{ missing, at int64 }

// Verdict is what a check came to.
type Verdict struct {
	Grants   int64  `json:"grants"`
	Refusals int64  `json:"refusals"` // by Redis; refusals in the client's process carry no time and are not checked
	TooMany  int64  `json:"granted_too_many"`
	Lost     int64  `json:"refused_with_a_permit_left"`
	First    string `json:"first_fault,omitempty"`
}

// Add puts two verdicts together.
func (v Verdict) Add(other Verdict) Verdict {
	first := v.First
	if first == "" {
		first = other.First
	}
	return Verdict{
		Grants: v.Grants + other.Grants, Refusals: v.Refusals + other.Refusals,
		TooMany: v.TooMany + other.TooMany, Lost: v.Lost + other.Lost, First: first,
	}
}

// Exact tells whether all decisions equalled the model's.
func (v Verdict) Exact() bool { return v.TooMany == 0 && v.Lost == 0 }

var errRange = errors.New("exact: limits must be positive, and max·period must stay under 2^62 units")

// New makes a model for limits of maxPermits at once and rate permits per period, and keys keys (at least 1).
func New(maxPermits, rate int64, period time.Duration, keys int) (*Model, error) {
	if maxPermits < 1 || rate < 1 || period < time.Microsecond || keys < 1 || keys > measure.KeysBound {
		return nil, errRange
	}
	num, den := rate, period.Microseconds()
	for g, r := num, den; ; g, r = r, g%r {
		if r == 0 {
			num, den = num/g, den/g
			break
		}
	}
	if maxPermits > (1<<62)/den {
		return nil, errRange
	}
	return &Model{num: num, den: den, full: maxPermits * den, states: make([]state, keys)}, nil
}

// Forgive tells the model that n calls ended without an answer: each may or may not have taken a permit, so a refusal
// proves a loss only beyond them.
func (m *Model) Forgive(n int64) { m.unknown += n }

// Check takes decisions for one permit each, in the order of their numbers, and later than all that it took before.
func (m *Model) Check(events []measure.Event) {
	for _, e := range events {
		s := &m.states[e.Key()]
		m.refill(s, e.Offset())
		left := m.full - s.missing
		switch {
		case !e.Refused() && left >= m.den:
			m.verdict.Grants++
			s.missing += m.den
		case !e.Refused():
			m.verdict.Grants++
			m.verdict.TooMany++
			m.fault(e, left)
		case left/m.den > m.unknown:
			m.verdict.Refusals++
			m.verdict.Lost++
			m.fault(e, left)
		default:
			m.verdict.Refusals++
		}
	}
}

// Verdict is what all checks so far came to.
func (m *Model) Verdict() Verdict { return m.verdict }

// refill moves a state to a time; where the clock of Redis stands or goes back, it holds.
func (m *Model) refill(s *state, at int64) {
	passed := at - s.at
	if passed <= 0 {
		return
	}
	s.at = at
	if passed > s.missing/m.num { // so the product below can't pass what is missing
		s.missing = 0
		return
	}
	s.missing -= passed * m.num
}

func (m *Model) fault(e measure.Event, left int64) {
	if m.verdict.First == "" {
		m.verdict.First = fmt.Sprintf("%v, with %d+%d/%d permits in the model", e, left/m.den, left%m.den, m.den)
	}
}
