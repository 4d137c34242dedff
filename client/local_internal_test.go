package client

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// model is a token bucket in rational arithmetic.
type model struct {
	level, max, perNano *big.Rat
	at                  int64
}

func (m *model) take(n, now int64) bool {
	arrived := new(big.Rat).Mul(m.perNano, big.NewRat(now-m.at, 1))
	m.level.Add(m.level, arrived)
	if m.level.Cmp(m.max) > 0 {
		m.level.Set(m.max)
	}
	m.at = now
	want := big.NewRat(n, 1)
	if m.level.Cmp(want) < 0 {
		return false
	}
	m.level.Sub(m.level, want)
	return true
}

// The local bucket rounds the cost of a grant up to a whole ns, so it may grant less than the exact model, by what comes
// in during one ns a grant, and never more.
func TestLocalNeverGrantsMoreThanAnExactModelAndHardlyLess(t *testing.T) {
	for round := range 200 {
		rng := rand.New(rand.NewPCG(1, uint64(round)))
		maxPermits, rate := 1+rng.Int64N(1000), 1+rng.Int64N(100_000)
		period := time.Duration(1+rng.Int64N(1000)) * time.Duration([]int64{1e6, 1e9, 60e9, 86400e9}[rng.IntN(4)])
		s := shareOf(maxPermits, rate, period, 1)
		l, m := newLocals(), &model{level: big.NewRat(maxPermits, 1), max: big.NewRat(maxPermits, 1), perNano: big.NewRat(rate, int64(period))}
		var now, grants, local, exact int64
		for range 500 {
			now += rng.Int64N(int64(period)/rate*3 + 2)
			n := 1 + rng.Int64N(min(maxPermits, 5))
			v := l.take(localKey{"b", ""}, s, n, now, false)
			if v.remaining < 0 || v.remaining > maxPermits || v.retryAfter < 0 || v.resetAfter < 0 || v.granted != (v.retryAfter == 0) {
				t.Fatalf("round %d: %+v", round, v)
			}
			if v.granted {
				local += n
				grants++
			}
			if m.take(n, now) {
				exact += n
			}
		}
		lost := new(big.Rat).Mul(m.perNano, big.NewRat(grants, 1)) // a ns a grant
		bound, _ := lost.Float64()
		if local > exact+5 || float64(local) < float64(exact)-bound-5 {
			t.Fatalf("round %d: max %d, %d per %v: %d permits, exactly %d", round, maxPermits, rate, period, local, exact)
		}
	}
}

// Polling often loses no fraction: 3 per second asked every 250 ms for 100 s give 310 from a full bucket of 10.
func TestLocalLosesNoFractionsWhenPolledOften(t *testing.T) {
	l, s := newLocals(), shareOf(10, 3, time.Second, 1)
	granted := 0
	for now := int64(0); now <= 100e9; now += 250e6 {
		for l.take(localKey{"b", ""}, s, 1, now, false).granted {
			granted++
		}
	}
	// The cost of 333,333,333⅓ ns is rounded up, which over 300 grants is far less than one permit.
	if granted != 309 && granted != 310 {
		t.Fatalf("granted %d", granted)
	}
}

// Rounded down, the cost would let a little more through than the limit at every grant.
func TestTheCostOfALocalGrantIsRoundedUp(t *testing.T) {
	s := shareOf(10, 3, time.Second, 1)
	for n, want := range map[int64]int64{1: 333_333_334, 2: 666_666_667, 3: 1_000_000_000, 10: 3_333_333_334} {
		if got := s.cost(n); got != want {
			t.Errorf("%d permits cost %d ns, want %d", n, got, want)
		}
	}
}

func TestLocalRetryAfterIsWhenTheSameCallSucceeds(t *testing.T) {
	l, s, key := newLocals(), shareOf(5, 7, time.Second, 1), localKey{"b", "k"}
	now := int64(1e9)
	l.take(key, s, 5, now, false)
	v := l.take(key, s, 3, now, false)
	if v.granted || l.take(key, s, 3, now+int64(v.retryAfter)-1, true).granted || !l.take(key, s, 3, now+int64(v.retryAfter), true).granted {
		t.Fatalf("%+v", v)
	}
}

func TestLocalStatesAreBounded(t *testing.T) {
	l, s := newLocals(), shareOf(2, 1, time.Hour, 1)
	l.take(localKey{"b", "first"}, s, 2, 0, false)
	for i := range maxLocalStates + 100 {
		l.take(localKey{"b", strconv.Itoa(i)}, s, 1, 0, false)
		if i%1000 == 0 && l.take(localKey{"b", "first"}, s, 1, 0, false).granted {
			t.Fatal("a state in use was forgotten")
		}
	}
	if len(l.states) != maxLocalStates || l.recent.Len() != maxLocalStates {
		t.Fatalf("%d states, %d in order", len(l.states), l.recent.Len())
	}
}

func TestSharesOfExtremeDefinitionsStayWithinBounds(t *testing.T) {
	const month = 31 * 24 * time.Hour
	for _, s := range []share{
		shareOf(1, 1, month, MaxInstances), shareOf(1e9, 1e9, time.Millisecond, 1),
		shareOf(1e9, 1e9, month, MaxInstances), shareOf(1e9, 1e9, time.Millisecond, MaxInstances),
	} {
		l := newLocals()
		for _, now := range []int64{0, 1, 1e9, 1 << 61} {
			v := l.take(localKey{}, s, s.max, now, false)
			if v.remaining < 0 || v.remaining > s.max || v.retryAfter < 0 || v.resetAfter < 0 {
				t.Fatalf("%+v at %d: %+v", s, now, v)
			}
		}
	}
}

func TestTheClockStaysWithinWhatEveryReplyAllows(t *testing.T) {
	c := newRedisClock()
	at := func(ms int) int64 { return int64(ms) * 1e6 }
	const redis0 = int64(1_700_000_000_000_000) // Redis's time when c started, far from the local clock
	for i, r := range []struct{ sent, ran, received int }{{0, 90, 100}, {200, 201, 240}, {300, 302, 304}, {400, 470, 480}} {
		c.observe(at(r.sent), at(r.received), redis0+int64(r.ran)*1000)
		off := c.atNanos(at(r.received)) - (redis0 + int64(r.received)*1000)
		if most := int64(r.received-r.sent) * 1000; off > most || off < -most {
			t.Fatalf("reply %d: %d µs off", i, off)
		}
	}
	// The fastest reply bounds the error for the rest.
	if off := c.atNanos(at(1000)) - (redis0 + 1_000_000); off > 4000 || off < -4000 {
		t.Fatalf("%d µs off", off)
	}
	c.observe(at(2000), at(2001), redis0-3600e6) // Redis's clock was set back by an hour
	if off := c.atNanos(at(2001)) - (redis0 - 3600e6); off < -1000 || off > 1000 {
		t.Fatalf("after the step %d µs off", off)
	}
}

func TestATallyHandsOverOnlySecondsThatAreOver(t *testing.T) {
	var u tally
	one := counts{granted: 1}
	u.add(59_999_999, one) // the last second of minute 0
	u.add(60_000_000, one)
	u.add(59_500_000, one) // overtaken by the one before
	u.add(61_000_000, one)
	u.add(61_200_000, counts{limited: 2, shadowLimited: 3})
	first := u.collect(61)
	if len(first) != 2 || first[0].granted != 2 || first[1].granted != 1 {
		t.Fatalf("%+v", first)
	}
	if rest := u.collect(62); len(rest) != 1 || rest[1] != (counts{1, 2, 3}) {
		t.Fatalf("%+v", rest)
	}
	if again := u.collect(1 << 62); len(again) != 0 {
		t.Fatalf("counted twice: %+v", again)
	}
}

func TestPendingUsageIsBoundedAndSaysWhatItLost(t *testing.T) {
	var p pending
	for i := range int64(maxPendingUsage + 5) {
		p.add(usageKey{"b", 1000 + i}, counts{granted: 1})
	}
	if len(p.rows) != maxPendingUsage || p.lost.granted != 5 {
		t.Fatalf("%d rows, lost %+v", len(p.rows), p.lost)
	}
	if _, ok := p.rows[usageKey{"b", 1004}]; ok {
		t.Fatal("a newer minute was dropped before an older one")
	}
}
