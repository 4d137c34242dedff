// Package peers holds the contenders of the benchmark: Headgate's SDK, other limiters over Redis, and two commands that
// decide nothing and show what a round trip costs.
package peers

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/measure"
)

// App is the app that acquires in all jobs.
const App = "bench"

// The contenders' names.
const (
	Headgate    = "headgate"
	RedisRate   = "redis_rate"
	Ulule       = "ulule/limiter"
	Throttled   = "throttled"
	CallerClock = "caller's clock"
	Incr        = "INCR"
	NoOp        = "no-op EVALSHA"
)

// Limit is what every contender enforces as far as it can: Rate permits per Period, and at most Max at once. Those that
// know no burst apart from the rate (ulule/limiter) take Rate per Period.
type Limit struct {
	Max, Rate int64
	Period    time.Duration
}

// Job says what a contender is to decide.
type Job struct {
	Prefix  string   // of the Redis keys, where a contender lets one choose it; 8 characters
	Buckets []string // names of 11 characters; with more than one, a call takes a permit of each
	Keys    []string // callers' keys of 12 characters; none = one state for all
	Joined  []string // "NAME:KEY" of the first bucket for each key, for contenders that know no buckets
	Limit   Limit
	// Of Headgate alone; "" stands for token_bucket, and for key or shared as the job has keys or not.
	Algorithm, Partition string
}

// Contender opens operations for jobs.
type Contender struct {
	Name string
	// Commands are the Redis commands that decide, whose time includes what they call in turn; none where a decision is
	// not one command.
	Commands []string
	// Open prepares a job on a connection: an operation, and what ends it, which reports what was lost.
	Open func(ctx context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error)
}

// All returns the contenders, in the order in which each round runs them: those that are compared most run next to each
// other, so that they meet the machine in the same mood.
func All() []Contender {
	script := []string{"evalsha", "eval"}
	return []Contender{
		{NoOp, script, openNoOp},
		{Headgate, script, openHeadgate},
		{RedisRate, script, openRedisRate},
		{Ulule, script, openUlule},
		{CallerClock, script, openCallerClock},
		{Throttled, nil, openThrottled},
		{Incr, []string{"incr"}, openIncr},
	}
}

func nothing() error { return nil }

// own is a prefix of one contender's own, as long as the job's, so that no two of them share a Redis key.
func (j Job) own(tag string) string { return j.Prefix[:len(j.Prefix)-len(tag)] + tag }

// each calls one name for a job with one state, the key's for a job with keys, and all buckets of a job with several
// until one refuses.
func (j Job) each(one func(ctx context.Context, name string) (bool, error)) measure.Op {
	switch {
	case len(j.Keys) > 0:
		return func(ctx context.Context, key int) (measure.Answer, error) {
			ok, err := one(ctx, j.Joined[key])
			return measure.Answer{Allowed: ok}, err
		}
	case len(j.Buckets) == 1:
		name := j.Buckets[0]
		return func(ctx context.Context, _ int) (measure.Answer, error) {
			ok, err := one(ctx, name)
			return measure.Answer{Allowed: ok}, err
		}
	}
	return func(ctx context.Context, _ int) (measure.Answer, error) {
		for _, name := range j.Buckets {
			if ok, err := one(ctx, name); err != nil || !ok {
				return measure.Answer{}, err
			}
		}
		return measure.Answer{Allowed: true}, nil
	}
}
