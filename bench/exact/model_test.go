package exact_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate/headgate/bench/exact"
	"github.com/headgate/headgate/bench/measure"
)

// decision makes an event as a run would log it.
func decision(key int, at int64, granted bool) measure.Event {
	e := measure.Event(key)<<44 | measure.Event(at)<<1
	if !granted {
		e |= 1
	}
	return e
}

func check(t *testing.T, maxPermits, rate int64, period time.Duration, events ...measure.Event) exact.Verdict {
	t.Helper()
	m, err := exact.New(maxPermits, rate, period, 4)
	if err != nil {
		t.Fatal(err)
	}
	m.Check(events)
	return m.Verdict()
}

func TestOneGrantTooManyIsCaught(t *testing.T) {
	// 5 at once, 1,000/s: a permit each 1,000 µs.
	events := []measure.Event{}
	for range 5 {
		events = append(events, decision(0, 1_000_000, true))
	}
	if v := check(t, 5, 1000, time.Second, events...); !v.Exact() || v.Grants != 5 {
		t.Fatalf("a full bucket's permits: %+v", v)
	}
	if v := check(t, 5, 1000, time.Second, append(events, decision(0, 1_000_999, true))...); v.TooMany != 1 {
		t.Errorf("a permit 1 µs early was not caught: %+v", v)
	}
	if v := check(t, 5, 1000, time.Second, append(events, decision(0, 1_001_000, true))...); !v.Exact() {
		t.Errorf("a permit at its µs was called one too many: %+v", v)
	}
}

func TestARefusalWithAPermitLeftIsCaught(t *testing.T) {
	taken := decision(0, 1_000_000, true)
	if v := check(t, 1, 3, time.Second, taken, decision(0, 1_333_333, false)); !v.Exact() || v.Refusals != 1 {
		t.Errorf("refused before a third of a second: %+v", v)
	}
	if v := check(t, 1, 3, time.Second, taken, decision(0, 1_333_334, false)); v.Lost != 1 || v.First == "" {
		t.Errorf("refused after a third of a second: %+v", v)
	}
}

func TestCallsWithoutAnAnswerMayHaveTakenPermits(t *testing.T) {
	m, err := exact.New(3, 1, time.Hour, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Forgive(2)
	m.Check([]measure.Event{decision(0, 1, true), decision(0, 2, false)})
	if v := m.Verdict(); !v.Exact() {
		t.Errorf("two unanswered calls were not forgiven: %+v", v)
	}
	m2, _ := exact.New(3, 1, time.Hour, 1)
	m2.Forgive(1)
	m2.Check([]measure.Event{decision(0, 1, true), decision(0, 2, false)})
	if v := m2.Verdict(); v.Lost != 1 {
		t.Errorf("one unanswered call hid the loss of two permits: %+v", v)
	}
}

func TestKeysAreHeldApartAndChecksGoOnWhereTheLastEnded(t *testing.T) {
	m, err := exact.New(1, 1, time.Second, 2)
	if err != nil {
		t.Fatal(err)
	}
	m.Check([]measure.Event{decision(0, 10, true), decision(1, 10, true)})
	if v := m.Verdict(); !v.Exact() {
		t.Fatalf("one permit of each key: %+v", v)
	}
	m.Check([]measure.Event{decision(0, 11, true)})
	if v := m.Verdict(); v.TooMany != 1 {
		t.Errorf("the second permit of key 0 in the next round: %+v", v)
	}
}

func TestAClockThatGoesBackNeitherRefillsNorTakes(t *testing.T) {
	m, err := exact.New(2, 1, time.Second, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Check([]measure.Event{decision(0, 5_000_000, true)})
	m.Check([]measure.Event{decision(0, 1_000_000, true), decision(0, 1_000_001, false), decision(0, 5_999_999, false), decision(0, 6_000_000, true)})
	if v := m.Verdict(); !v.Exact() {
		t.Errorf("%+v", v)
	}
}

// The model in whole numbers equals one in rational arithmetic, whatever the figures.
func TestTheModelEqualsRationalArithmetic(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		maxPermits, rate := 1+random.Int64N(50), 1+random.Int64N(5000)
		period := time.Duration(1+random.Int64N(100_000)) * time.Millisecond
		m, err := exact.New(maxPermits, rate, period, 1)
		if err != nil {
			t.Fatal(err)
		}
		one, full := big.NewRat(1, 1), big.NewRat(maxPermits, 1)
		level, last := new(big.Rat).Set(full), int64(0)
		var tooMany, lost int64
		for range 300 {
			at := last + random.Int64N(2*period.Microseconds()/rate+2)
			level.Add(level, big.NewRat((at-last)*rate, period.Microseconds()))
			if level.Cmp(full) > 0 {
				level.Set(full)
			}
			last = at
			granted, has := random.Int64N(3) > 0, level.Cmp(one) >= 0
			switch {
			case granted && has:
				level.Sub(level, one)
			case granted:
				tooMany++
			case has:
				lost++
			}
			m.Check([]measure.Event{decision(0, at, granted)})
		}
		if v := m.Verdict(); v.TooMany != tooMany || v.Lost != lost {
			t.Fatalf("max %d, %d per %v: got %+v, want %d too many and %d lost", maxPermits, rate, period, v, tooMany, lost)
		}
	}
}

func TestLimitsThatWouldOverflowAreRefused(t *testing.T) {
	for _, c := range []struct {
		maxPermits, rate int64
		period           time.Duration
		keys             int
	}{
		{0, 1, time.Second, 1}, {1, 0, time.Second, 1}, {1, 1, 0, 1}, {1, 1, time.Second, 0}, {1, 1, time.Second, measure.KeysBound + 1},
		{1 << 60, 1, time.Second, 1},
	} {
		if _, err := exact.New(c.maxPermits, c.rate, c.period, c.keys); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	if _, err := exact.New(1_000_000_000, 1_000_000_000, time.Second, 1); err != nil {
		t.Error(err)
	}
}

func ExampleModel() {
	m, _ := exact.New(2, 1, time.Second, 1)
	m.Check([]measure.Event{decision(0, 0, true), decision(0, 0, true), decision(0, 0, false), decision(0, 999_999, true)})
	fmt.Printf("%d granted, %d too many, first: %s", m.Verdict().Grants, m.Verdict().TooMany, m.Verdict().First)
	// Output: 3 granted, 1 too many, first: key 0 granted at 999999 µs, with 0+999999/1000000 permits in the model
}
