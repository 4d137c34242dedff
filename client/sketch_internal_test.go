package client

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Against a count of everything: no key is counted too low, none too high by more than it says and than a hundredth of
// all, and none that has more than a hundredth is missing. That is what Space-Saving guarantees, whatever the order.
func TestTheSketchErrsByAHundredthOfAllAtMost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a repeatable test
	zipf := rand.NewZipf(random, 1.2, 1, 100_000)
	for name, next := range map[string]func(i int) (key int, n int64){
		"a few heavy keys":          func(int) (int, int64) { return int(zipf.Uint64()), 1 }, //nolint:gosec // small
		"all keys alike":            func(int) (int, int64) { return random.IntN(1000), 1 },
		"each key once":             func(i int) (int, int64) { return i, 1 },
		"fewer keys than room":      func(int) (int, int64) { return random.IntN(sketchKeys), 1 + random.Int64N(9) },
		"different weights":         func(int) (int, int64) { return int(zipf.Uint64()), 1 + random.Int64N(1000) }, //nolint:gosec // small
		"one key between strangers": func(i int) (int, int64) { return i * min(1, i%20), 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s, exact, total := newSketch(), map[string]int64{}, int64(0)
			for i := range 50_000 {
				number, n := next(i)
				key := fmt.Sprint(number)
				s.add(key, n)
				exact[key] += n
				total += n
			}
			compare(t, s, exact, total)
		})
	}
}

func compare(t *testing.T, s *sketch, exact map[string]int64, total int64) {
	t.Helper()
	bound := total / sketchKeys
	kept := map[string]bool{}
	var sum int64
	for i, one := range s.heap {
		kept[one.Key] = true
		sum += one.Limited
		truth := exact[one.Key]
		if one.Limited < truth || one.Limited-truth > one.Excess || one.Excess > bound {
			t.Errorf("%s: %d with an excess of %d at most, is %d; the bound is %d", one.Key, one.Limited, one.Excess, truth, bound)
		}
		if i > 0 && s.heap[(i-1)/2].Limited > one.Limited || s.at[one.Key] != i {
			t.Fatalf("the heap is out of order at %d", i)
		}
	}
	if sum != total {
		t.Errorf("the counts add up to %d, not %d", sum, total)
	}
	for key, n := range exact {
		if n > bound && !kept[key] {
			t.Errorf("%s is missing with %d of %d", key, n, total)
		}
	}
	if len(s.heap) > sketchKeys || len(s.at) != len(s.heap) {
		t.Errorf("%d counts, %d places", len(s.heap), len(s.at))
	}
}

// A refused call must stay cheap, also where each comes with a key of its own.
func TestTheSketchAllocatesNothing(t *testing.T) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	s, i := newSketch(), 0
	for _, key := range keys {
		s.add(key, 1)
	}
	if n := testing.AllocsPerRun(10_000, func() { s.add(keys[i%len(keys)], 1); i++ }); n > 0 {
		t.Errorf("%v allocations a count", n)
	}
}

// What was limited shows for the present minute and the last one, and is then forgotten.
func TestLimitedKeysAreForgottenAfterTwoMinutes(t *testing.T) {
	const minute = 60 * microsPerSecond
	var top limitedKeys
	top.add("early", 3, 10*minute)
	top.add("late", 2, 11*minute)
	top.add("early", 1, 10*minute) // comes late
	steps := []struct {
		minute int64
		want   string
	}{{11, "[{early 4 0} {late 2 0}]"}, {12, "[{late 2 0} {early 1 0}]"}, {13, "[]"}}
	for _, step := range steps {
		if got := fmt.Sprint(top.counts(step.minute)); got != step.want {
			t.Errorf("in minute %d: %s, want %s", step.minute, got, step.want)
		}
	}
	top.add("", 5, 13*minute)
	top.add("later", 1, 13*minute)
	if got := fmt.Sprint(top.counts(20)); got != "[]" {
		t.Errorf("long after: %s", got)
	}
}
