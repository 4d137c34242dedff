package suite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
)

// RefusalResult is the cost of one refusal by Headgate while Redis has just said that permits come later, from one
// goroutine, by testing.Benchmark.
type RefusalResult struct {
	Nanoseconds []float64 `json:"ns"` // each round
	Allocations int64     `json:"allocations"`
	Bytes       int64     `json:"bytes"`
}

// refusal empties a bucket that gets its next permit in an hour and asks it again and again.
func (r *runner) refusal(ctx context.Context) (*RefusalResult, error) {
	job := peers.Job{Prefix: r.prefix(), Buckets: []string{r.bucketName(80)}, Limit: peers.Limit{Max: 1, Rate: 1, Period: time.Hour}}
	result := &RefusalResult{}
	err := r.with(ctx, peers.Headgate, job, func(op measure.Op) error {
		if answer, err := op(ctx, -1); err != nil || !answer.Allowed {
			return errors.Join(errors.New("a full bucket refused"), err)
		}
		for round := range r.Rounds {
			r.step(refusal, round, peers.Headgate)
			var failed error
			b := testing.Benchmark(func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if answer, err := op(ctx, -1); err != nil || answer.Allowed {
						failed = errors.Join(errors.New("an empty bucket did not refuse"), err)
						return
					}
				}
			})
			if failed != nil {
				return failed
			}
			result.Nanoseconds = append(result.Nanoseconds, float64(b.T.Nanoseconds())/float64(b.N))
			result.Allocations = max(result.Allocations, b.AllocsPerOp())
			result.Bytes = max(result.Bytes, b.AllocedBytesPerOp())
		}
		return nil
	})
	return result, err
}
