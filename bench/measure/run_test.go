package measure_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/bench/measure"
)

var brief = measure.Spec{Goroutines: 4, Warmup: 5 * time.Millisecond, Window: 30 * time.Millisecond}

func TestEveryOperationIsCountedOnce(t *testing.T) {
	var calls atomic.Int64
	sample := run(t, brief, func(context.Context, int) (measure.Answer, error) {
		n := calls.Add(1)
		switch n % 4 {
		case 0:
			return measure.Answer{}, errors.New("broken")
		case 1:
			return measure.Answer{}, nil
		}
		return measure.Answer{Allowed: true}, nil
	}, nil)
	if got := sample.AllDecisions + sample.AllErrors; got != calls.Load() {
		t.Errorf("%d counted of %d", got, calls.Load())
	}
	if sample.AllErrors != calls.Load()/4 || sample.FirstError != "broken" {
		t.Errorf("%d errors of %d calls, the first %q", sample.AllErrors, calls.Load(), sample.FirstError)
	}
	inside := sample.Allowed + sample.Refused
	if want := float64(inside) / brief.Window.Seconds(); sample.Rate != want {
		t.Errorf("rate %v, want %v", sample.Rate, want)
	}
}

// Operations that are over within the warm-up, counted by the operation itself, must be missing from the count. Each
// goroutine may have one that returned just before the end of the warm-up and was timed just after it.
func TestTheWarmUpDoesNotCount(t *testing.T) {
	spec := brief
	spec.Warmup = 100 * time.Millisecond
	var early atomic.Int64
	start := time.Now()
	sample := run(t, spec, func(context.Context, int) (measure.Answer, error) {
		if time.Since(start) < spec.Warmup {
			early.Add(1)
		}
		return measure.Answer{}, nil
	}, nil)
	if inside, most := sample.Allowed+sample.Refused, sample.AllDecisions-early.Load()+int64(spec.Goroutines); inside > most {
		t.Errorf("%d decisions count of %d, though %d were early", inside, sample.AllDecisions, early.Load())
	}
}

// Two contenders must meet the same keys in the same order, and a run all of them.
func TestEqualSeedsChooseEqualKeysAndReachAll(t *testing.T) {
	choose := func(seed uint64) []int {
		ctx, cancel := context.WithCancel(t.Context())
		spec := brief
		spec.Goroutines, spec.Keys, spec.Seed, spec.Window = 1, 100, seed, time.Hour
		var keys []int
		var runner measure.Runner
		_, err := runner.Run(ctx, spec, func(ctx context.Context, key int) (measure.Answer, error) {
			if keys = append(keys, key); len(keys) == 2000 {
				cancel()
			}
			return measure.Answer{}, ctx.Err()
		}, nil)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return keys
	}
	first, second, other := choose(1), choose(1), choose(2)
	if !slices.Equal(first, second) {
		t.Error("equal seeds chose different keys")
	}
	if slices.Equal(first, other) {
		t.Error("different seeds chose equal keys")
	}
	slices.Sort(first)
	if seen := slices.Compact(first); len(seen) != 100 || seen[0] != 0 || seen[99] != 99 {
		t.Errorf("%d of 100 keys chosen, %v..%v", len(seen), seen[0], seen[len(seen)-1])
	}
}

func TestAContextThatEndsEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	spec := brief
	spec.Window = time.Hour
	var runner measure.Runner
	var calls atomic.Int64
	_, err := runner.Run(ctx, spec, func(ctx context.Context, _ int) (measure.Answer, error) {
		if calls.Add(1) == 1000 {
			cancel()
		}
		return measure.Answer{}, ctx.Err()
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The log has every grant, and every refusal that carries a time; by key, then time, grants before refusals.
func TestTheLogIsInTheOrderOfDecisions(t *testing.T) {
	base := time.UnixMicro(1_800_000_000_000_000)
	log := measure.NewLog(base)
	answers := []measure.Answer{
		{Allowed: true, At: base.UnixMicro() + 7}, {At: base.UnixMicro() + 5}, {Allowed: true, At: base.UnixMicro() + 5}, {},
	}
	var calls atomic.Int64
	spec := brief
	spec.Goroutines = 1
	run(t, spec, func(context.Context, int) (measure.Answer, error) {
		n := calls.Add(1)
		if n > int64(len(answers)) {
			return measure.Answer{}, nil
		}
		return answers[n-1], nil
	}, log)
	var got []string
	for _, e := range log.Take() {
		got = append(got, e.String())
	}
	want := []string{"key 0 granted at 5 µs", "key 0 refused at 5 µs", "key 0 granted at 7 µs"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(log.Take()) != 0 {
		t.Error("events were handed out twice")
	}
}

func run(t *testing.T, spec measure.Spec, op measure.Op, log *measure.Log) measure.Sample {
	t.Helper()
	var runner measure.Runner
	sample, err := runner.Run(t.Context(), spec, op, log)
	if err != nil {
		t.Fatal(err)
	}
	return sample
}
