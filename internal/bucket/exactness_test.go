package bucket_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// TestGrantedStaysWithinTheExactBounds: in every interval T, granted <= max + rate·T/period; and as demand is backlogged
// and the bucket never full after the first call, granted > rate·T/period − n, n the most that one call asks.
func TestGrantedStaysWithinTheExactBounds(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 11)
		for i := range max(5, *rounds/4) {
			d := definition(1, 1, time.Second)
			d.Name = "b" + time.Duration(i).String()
			s := &story{env: e, t: t, r: r, d: d}
			s.startClock()
			s.randomLimit()
			d = s.d
			e.install(t, d)
			checkBounds(t, d, backlogged(t, e, r, d))
		}
	})
}

type grant struct{ at, permits, asked int64 }

// backlogged asks for more than there is at random instants, so that what is left never suffices for one more call.
func backlogged(t *testing.T, e *env, r *rand.Rand, d bucket.Definition) []grant {
	t.Helper()
	most := spread(r, 1, min(d.MaxPermits, 1000))
	fill := float64(d.MaxPermits) * float64(d.Period) / float64(d.Rate)
	step := int64(min(fill/2, 100*float64(most)*float64(d.Period)/float64(d.Rate), 1e15))
	var grants []grant
	for range 60 {
		n := spread(r, 1, most)
		reply := e.acquire(t, d, bucket.Entry{Permits: n, Count: bucket.PermitsBound})
		grants = append(grants, grant{e.micros(reply.Now), n * reply.Results[0].Granted, n})
		pause := time.Duration(spread(r, int64(time.Microsecond), max(int64(2*time.Microsecond), step)))
		if e.mini == nil {
			pause = min(pause, time.Duration(step)).Truncate(time.Millisecond)
		}
		if pause > 0 {
			e.pass(t, pause, d.Name)
		}
	}
	return grants
}

func checkBounds(t *testing.T, d bucket.Definition, grants []grant) {
	t.Helper()
	rate := big.NewRat(d.Rate, d.Period.Microseconds())
	largest := int64(0)
	for _, g := range grants {
		largest = max(largest, g.asked)
	}
	for i := range grants {
		sum := int64(0)
		full := false
		for j := i; j < len(grants); j++ {
			sum += grants[j].permits
			arrived := new(big.Rat).Mul(rate, rat(grants[j].at-grants[i].at))
			if upper := new(big.Rat).Add(arrived, rat(d.MaxPermits)); rat(sum).Cmp(upper) > 0 {
				t.Fatalf("%+v: granted %d from %d to %d, more than %s", d, sum, grants[i].at, grants[j].at, upper.FloatString(6))
			}
			if j > i { // refill between two calls that could have filled the bucket is lost rightly
				gap := new(big.Rat).Mul(rate, rat(grants[j].at-grants[j-1].at))
				full = full || gap.Cmp(rat(d.MaxPermits-largest)) >= 0
			}
			if j > i && !full {
				// The calls after the first of the interval.
				lower := new(big.Rat).Sub(arrived, rat(largest))
				if rat(sum-grants[i].permits).Cmp(lower) <= 0 {
					t.Fatalf("%+v: granted %d after %d up to %d, not more than %s", d, sum-grants[i].permits, grants[i].at, grants[j].at, lower.FloatString(6))
				}
			}
		}
	}
}
