package main

import (
	"maps"
	"math/bits"
	"sync"
	"time"

	"github.com/headgate/headgate/client"
)

// meter counts calls by outcome and keeps their latencies in a histogram.
type meter struct {
	mu     sync.Mutex
	totals totals
}

// totals are the counts so far; take two and subtract to see an interval.
type totals struct {
	outcomes  map[client.Outcome]int64
	latencies histogram
}

func (m *meter) add(outcome client.Outcome, latency time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.totals.outcomes == nil {
		m.totals.outcomes = map[client.Outcome]int64{}
	}
	m.totals.outcomes[outcome]++
	m.totals.latencies.add(latency)
}

func (m *meter) read() totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return totals{maps.Clone(m.totals.outcomes), m.totals.latencies}
}

func (t totals) since(earlier totals) totals {
	d := totals{map[client.Outcome]int64{}, t.latencies}
	for outcome, n := range t.outcomes {
		d.outcomes[outcome] = n - earlier.outcomes[outcome]
	}
	for i := range d.latencies {
		d.latencies[i] -= earlier.latencies[i]
	}
	return d
}

func (t totals) calls() int64 {
	var sum int64
	for _, n := range t.outcomes {
		sum += n
	}
	return sum
}

// other is what was neither granted nor limited.
func (t totals) other() int64 {
	return t.calls() - t.outcomes[client.Granted] - t.outcomes[client.Limited]
}

const subBits = 4 // 16 steps for each doubling, so a quantile is at most 6.25 % high

// histogram counts durations in steps that grow with them.
type histogram [(64 - subBits + 1) << subBits]int64

func (h *histogram) add(d time.Duration) { h[step(d)]++ }

// step is the number of the step that a duration falls in.
func step(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 1<<subBits {
		return int(n)
	}
	shift := bits.Len64(n) - 1 - subBits
	return (shift+1)<<subBits + int(n>>shift) - 1<<subBits
}

// top is the longest duration of a step.
func top(step int) time.Duration {
	if step < 1<<subBits {
		return time.Duration(step)
	}
	shift := step>>subBits - 1
	return time.Duration((uint64(step&(1<<subBits-1)+1<<subBits)+1)<<shift - 1)
}

// quantile is the latency that the given part of the calls did not exceed; 0 when there were none.
func (h *histogram) quantile(part float64) time.Duration {
	var total, sum int64
	for _, n := range h {
		total += n
	}
	for i, n := range h {
		sum += n
		if n > 0 && float64(sum) >= part*float64(total) {
			return top(i)
		}
	}
	return 0
}
