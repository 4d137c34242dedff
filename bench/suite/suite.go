package suite

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/exact"
	"github.com/headgate/headgate/bench/measure"
)

// Options say what to run and how.
type Options struct {
	Addr       string        // of the Redis
	Owned      bool          // the Redis was started for this run, so it may be emptied
	Round      time.Duration // window of one contender in one round
	Rounds     int
	Pool       int      // connections of each contender
	Only       []string // beginnings of ids; none = everything
	Contenders []string // names; none = all
	Progress   func(Step)
}

// Step is where a run stands.
type Step struct {
	ID            string
	Round, Rounds int
	Contender     string
	Done, Total   int // runs of one contender in one round, of the whole benchmark
}

// Result is all that was measured, oldest first.
type Result struct {
	Workloads []WorkloadResult `json:"workloads"`
	Refusal   *RefusalResult   `json:"local_refusal,omitempty"`
	Memory    *MemoryResult    `json:"memory,omitempty"`
	Bars      []Bar            `json:"bars"`
}

// WorkloadResult is what the contenders did in one workload.
type WorkloadResult struct {
	Workload
	Contenders []ContenderResult `json:"contenders"`
}

// ContenderResult is what one contender did in all rounds of a workload.
type ContenderResult struct {
	Name      string           `json:"name"`
	Rounds    []measure.Sample `json:"rounds"`
	RedisCPU  []float64        `json:"redis_us_per_decision,omitempty"` // in each round
	Exactness *exact.Verdict   `json:"exactness,omitempty"`             // of Headgate alone, over all rounds
}

// runner is the state of a whole run.
type runner struct {
	Options
	id      string // random, in all names and keys of this run
	admin   *redis.Client
	measure measure.Runner
	base    time.Time
	done    int
	total   int
}

// Run runs everything that the options select. On an error, such as that of a context that ended, the result holds the
// workloads that were finished.
func Run(ctx context.Context, o Options) (result Result, err error) {
	r := &runner{Options: o, id: randomID(), admin: redis.NewClient(&redis.Options{Addr: o.Addr})}
	defer func() { _ = r.admin.Close() }()
	now, err := r.admin.Time(ctx).Result()
	if err != nil {
		return result, err
	}
	r.base = now.Add(-time.Minute)
	r.total = r.countSteps()
	defer func() {
		if cleaned := r.clean(context.WithoutCancel(ctx)); err == nil {
			err = cleaned
		}
		result.Bars = judge(&result)
	}()
	for _, w := range Workloads() {
		if !selected(w.ID, o.Only) {
			continue
		}
		done, err := r.run(ctx, w)
		if err != nil {
			return result, fmt.Errorf("%s: %w", w.ID, err)
		}
		result.Workloads = append(result.Workloads, done)
	}
	if selected(refusal, o.Only) {
		if result.Refusal, err = r.refusal(ctx); err != nil {
			return result, fmt.Errorf("%s: %w", refusal, err)
		}
	}
	if selected(memory, o.Only) {
		result.Memory = &MemoryResult{}
		if err = r.memory(ctx, result.Memory); err != nil {
			return result, fmt.Errorf("%s: %w", memory, err)
		}
	}
	return result, nil
}

func (r *runner) countSteps() int {
	total := 0
	for _, w := range Workloads() {
		if selected(w.ID, r.Only) {
			total += len(w.contenders(r.Contenders)) * r.Rounds
		}
	}
	if selected(refusal, r.Only) {
		total += r.Rounds
	}
	if selected(memory, r.Only) {
		total++
	}
	return total
}

// step tells where the run stands, before the work.
func (r *runner) step(id string, round int, contender string) {
	if r.Progress != nil {
		rounds := r.Rounds
		if id == memory {
			rounds = 1
		}
		r.Progress(Step{ID: id, Round: round + 1, Rounds: rounds, Contender: contender, Done: r.done, Total: r.total})
	}
	r.done++
}

// prefix is of all Redis keys of this run, as long as the product's default.
func (r *runner) prefix() string { return "hgb" + r.id }

// bucketName is of 11 characters.
func (r *runner) bucketName(n int) string { return fmt.Sprintf("b%s%05d", r.id, n) }

func (r *runner) connect() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: r.Addr, PoolSize: r.Pool})
}

// clean empties the Redis of this run, or removes this run's keys from another's. redis_rate's keys begin with "rate:".
func (r *runner) clean(ctx context.Context) error {
	if r.Owned {
		return r.admin.FlushAll(ctx).Err()
	}
	prefix := r.prefix()
	return removeKeys(ctx, r.admin, prefix[:len(prefix)-1]+"*", "rate:b"+r.id+"*")
}

func randomID() string {
	b := make([]byte, 3)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)[:5]
}
