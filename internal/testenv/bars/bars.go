// Package bars has benchmarks print each figure beside the bar that it is to keep. A missed bar is said, and fails nothing:
// on a busy machine it tells of the machine.
package bars

import (
	"testing"
	"time"
)

// Most prints a figure that may be so much at most.
func Most(b testing.TB, what string, value, most float64, unit string) {
	b.Helper()
	b.Logf("%-45s %9.1f %-3s bar %6.0f %-3s %s", what, value, unit, most, unit, Verdict(value <= most))
}

// Took is Most for a time, in milliseconds.
func Took(b testing.TB, what string, took, most time.Duration) {
	b.Helper()
	Most(b, what, Milliseconds(took), Milliseconds(most), "ms")
}

// Told prints a figure that has no bar.
func Told(b testing.TB, what string, value float64, unit string) {
	b.Helper()
	b.Logf("%-45s %9.1f %s", what, value, unit)
}

// Verdict says whether a bar was kept.
func Verdict(kept bool) string {
	if kept {
		return "kept"
	}
	return "MISSED"
}

// Milliseconds is a time to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Percentile is the time below which so many of a hundred are; 0 of none. The times are sorted already.
func Percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)*percent/100]
}
