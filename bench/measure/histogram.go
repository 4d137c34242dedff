package measure

import (
	"math/bits"
	"time"
)

// A histogram keeps durations of 0 ns to about 17 s (longer ones count as that) in buckets whose width is at most a
// 32nd of their value, so that a percentile read from it is off by at most about 3 %. Adding costs a few ns whatever the
// value, and the same for every contender.
const (
	subBits  = 5
	octaves  = 34
	slots    = (octaves - subBits + 1) << subBits
	longest  = uint64(1)<<octaves - 1
	subCount = 1 << subBits
)

// Histogram counts durations. The zero value is ready; it is for one goroutine at a time.
type Histogram struct {
	counts [slots]uint32
}

// Add counts one duration; a negative one counts as 0.
func (h *Histogram) Add(d time.Duration) {
	h.counts[slotOf(uint64(max(d, 0)))]++
}

// Merge adds the counts of another histogram to this one.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
}

// Reset forgets all counts.
func (h *Histogram) Reset() { h.counts = [slots]uint32{} }

// Count is how many durations were added.
func (h *Histogram) Count() int64 {
	var n int64
	for _, c := range h.counts {
		n += int64(c)
	}
	return n
}

// Percentile is the least upper edge of a bucket that at least p percent of the durations do not exceed; p is 0..100.
// It is 0 when nothing was added.
func (h *Histogram) Percentile(p float64) time.Duration {
	total := h.Count()
	if total == 0 {
		return 0
	}
	need := int64(p / 100 * float64(total))
	if float64(need) < p/100*float64(total) || need == 0 {
		need++
	}
	var seen int64
	for i, c := range h.counts {
		seen += int64(c)
		if seen >= need {
			return time.Duration(upperEdge(i))
		}
	}
	return time.Duration(longest)
}

// slotOf finds the bucket of a value: below 32 each value has its own, above it the five bits after the leading one
// choose among the 32 buckets of its octave.
func slotOf(v uint64) int {
	v = min(v, longest)
	if v < subCount {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return (shift+1)<<subBits + int(v>>shift) - subCount
}

// upperEdge is the greatest value that falls into a bucket.
func upperEdge(slot int) uint64 {
	if slot < subCount {
		return uint64(slot)
	}
	shift := slot>>subBits - 1
	return uint64(slot&(subCount-1)+subCount+1)<<shift - 1
}
