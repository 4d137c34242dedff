package measure

import (
	"fmt"
	"slices"
	"time"
)

// Event is one decision that carries a time, in one word so that keeping it costs next to nothing: key, µs since the
// log's base, and whether it was refused. Sorted by number, events stand by key, then in order of time, and within one
// µs grants stand before refusals.
type Event uint64

const (
	keyBits   = 20
	timeBits  = 43
	maxOffset = int64(1)<<timeBits - 1

	// KeysBound is how many different keys events can tell apart.
	KeysBound = 1 << keyBits
)

func newEvent(offset int64, key int, allowed bool) Event {
	e := Event(max(key, 0))<<(timeBits+1) | Event(min(max(offset, 0), maxOffset))<<1
	if !allowed {
		e |= 1
	}
	return e
}

// Key is the key that was decided on, 0 where there was none.
func (e Event) Key() int { return int(e >> (timeBits + 1)) }

// Offset is the time of the decision in µs since the log's base.
func (e Event) Offset() int64 { return int64(e>>1) & maxOffset }

// Refused tells a refusal from a grant.
func (e Event) Refused() bool { return e&1 == 1 }

// Log collects what was decided in one run.
type Log struct {
	base   int64
	events []Event
}

// NewLog makes a log whose times count from base, which must lie before all that it will take.
func NewLog(base time.Time) *Log { return &Log{base: base.UnixMicro()} }

func (l *Log) add(events []Event) { l.events = append(l.events, events...) }

// Take returns the events since the last Take in the order of their numbers. They are valid until the next Run.
func (l *Log) Take() []Event {
	events := l.events
	l.events = l.events[:0]
	slices.Sort(events)
	return events
}

func (e Event) String() string {
	what := "granted"
	if e.Refused() {
		what = "refused"
	}
	return fmt.Sprintf("key %d %s at %d µs", e.Key(), what, e.Offset())
}
