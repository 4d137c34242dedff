package model

import "time"

// Algorithm is the way in which a bucket counts.
type Algorithm string

// The algorithms.
const (
	TokenBucket   Algorithm = "token_bucket"   // rate permits arrive per period, up to max_permits
	FixedWindow   Algorithm = "fixed_window"   // max_permits in each period, which begin together with the UTC epoch's
	SlidingWindow Algorithm = "sliding_window" // at most max_permits in any period; capacity returns up to period/60 late
	SlidingLog    Algorithm = "sliding_log"    // at most max_permits in any period, exactly; an entry a permit
	Concurrency   Algorithm = "concurrency"    // max_permits slots, held under leases of one period
)

// Algorithms lists all algorithms, in the order in which people read them.
var Algorithms = []Algorithm{TokenBucket, FixedWindow, SlidingWindow, SlidingLog, Concurrency}

// HasRate tells whether the algorithm has a rate beside max_permits. Those without one carry rate 0.
func (a Algorithm) HasRate() bool { return a.bounds().hasRate }

// DefaultPeriod is the period of a definition that names none: 1 s, or a lease of 30 s, which outlives the pauses of a
// healthy holder and frees a dead one's slot before long.
func (a Algorithm) DefaultPeriod() time.Duration {
	if a == Concurrency {
		return 30 * time.Second
	}
	return time.Second
}

// algorithmBounds is what an algorithm asks of a definition's numbers.
type algorithmBounds struct {
	maxPermits int64
	periodMin  time.Duration
	hasRate    bool
	of         string // for messages, where a bound is this algorithm's alone
}

// bounds returns those of token_bucket for an algorithm that is none, which is refused for itself.
func (a Algorithm) bounds() algorithmBounds {
	switch a {
	case FixedWindow, SlidingWindow:
		return algorithmBounds{maxPermits: MaxPermitsBound, periodMin: PeriodMin}
	case SlidingLog:
		return algorithmBounds{maxPermits: EntriesBound, periodMin: PeriodMin, of: " for sliding_log"}
	case Concurrency:
		return algorithmBounds{maxPermits: EntriesBound, periodMin: LeaseMin, of: " for concurrency"}
	default:
		return algorithmBounds{maxPermits: MaxPermitsBound, periodMin: PeriodMin, hasRate: true}
	}
}
