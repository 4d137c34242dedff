package peers

import (
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/measure"
)

//go:embed callerclock.lua
var callerClockSource string

var callerClock = redis.NewScript(callerClockSource)

// openCallerClock makes one script call for each decision and hands its own time over, as the token buckets that many
// systems wrote for themselves do. It shows the cost of that design, not its faults.
func openCallerClock(ctx context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	if err := callerClock.Load(ctx, rdb).Err(); err != nil {
		return nil, nil, err
	}
	perMilli := float64(job.Limit.Rate) / float64(job.Limit.Period.Milliseconds())
	prefix := job.own("c") + ":"
	return job.each(func(ctx context.Context, name string) (bool, error) {
		keys := []string{prefix + name}
		code, err := callerClock.EvalSha(ctx, rdb, keys, job.Limit.Max, perMilli, time.Now().UnixMilli(), 1).Int()
		return code == 1, err
	}), nothing, nil
}
