package measure_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/bench/measure"
)

// A percentile is at most a 32nd above the true one, and never below it, over the whole range of durations.
func TestPercentilesAreTrueWithinTheWidthOfABucket(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []int{4, 8, 16, 24, 33} {
		var h measure.Histogram
		values := make([]time.Duration, 10_000)
		for i := range values {
			values[i] = time.Duration(random.Int64N(1 << bits))
			h.Add(values[i])
		}
		slices.Sort(values)
		for _, p := range []float64{0, 1, 50, 90, 99, 99.9, 100} {
			index := int(p / 100 * float64(len(values)))
			if float64(index) < p/100*float64(len(values)) || index == 0 {
				index++
			}
			want, got := values[index-1], h.Percentile(p)
			if got < want || got > want+want/32+1 {
				t.Errorf("%d bits, percentile %v: got %d, want %d or at most a 32nd more", bits, p, got, want)
			}
		}
	}
}

func TestNothingAddedHasPercentilesOfZero(t *testing.T) {
	var h measure.Histogram
	if got := h.Percentile(99); got != 0 || h.Count() != 0 {
		t.Errorf("got %v of %d", got, h.Count())
	}
}

func TestDurationsOutOfRangeCountAtTheEnds(t *testing.T) {
	var h measure.Histogram
	h.Add(-time.Second)
	h.Add(time.Hour)
	if h.Percentile(50) != 0 || h.Percentile(100) < 17*time.Second || h.Count() != 2 {
		t.Errorf("got %v, %v of %d", h.Percentile(50), h.Percentile(100), h.Count())
	}
}

func TestMergedHistogramsCountBoth(t *testing.T) {
	var a, b measure.Histogram
	a.Add(10)
	b.Add(20)
	b.Add(20)
	a.Merge(&b)
	if a.Count() != 3 || a.Percentile(33) != 10 || a.Percentile(34) != 20 {
		t.Errorf("got %d, %v, %v", a.Count(), a.Percentile(33), a.Percentile(34))
	}
	if a.Reset(); a.Count() != 0 {
		t.Errorf("%d left after a reset", a.Count())
	}
}

func TestMedianIsTheMiddleWhateverTheOrder(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5}, {[]float64{1, 1000, 1, 1000, 2}, 2},
	} {
		before := slices.Clone(c.values)
		if got := measure.Median(c.values); got != c.want || !slices.Equal(before, c.values) {
			t.Errorf("median of %v: got %v, want %v; left as %v", before, got, c.want, c.values)
		}
	}
}
