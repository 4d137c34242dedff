package client

import (
	"slices"
	"sync/atomic"
	"time"
)

// Histogram says how many durations fell where.
type Histogram struct {
	Bounds []time.Duration // ascending
	Counts []int64         // of the durations up to each bound that are above the one before; last, those above all
	Sum    time.Duration
}

// Count is how many durations there were.
func (h Histogram) Count() int64 {
	var all int64
	for _, n := range h.Counts {
		all += n
	}
	return all
}

// tripBounds are from a local Redis at rest to the longest deadline that makes sense.
var tripBounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, time.Second,
}

// tripTimes counts how long round trips took.
type tripTimes struct {
	counts [len(tripBounds) + 1]atomic.Int64
	sum    atomic.Int64 // ns
}

func (t *tripTimes) add(ns int64) {
	at := 0
	for at < len(tripBounds) && ns > int64(tripBounds[at]) {
		at++
	}
	t.counts[at].Add(1)
	t.sum.Add(ns)
}

func (t *tripTimes) histogram() Histogram {
	h := Histogram{Bounds: slices.Clone(tripBounds[:]), Counts: make([]int64, len(t.counts)), Sum: time.Duration(t.sum.Load())}
	for i := range t.counts {
		h.Counts[i] = t.counts[i].Load()
	}
	return h
}
