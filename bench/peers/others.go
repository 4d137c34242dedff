package peers

import (
	"context"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	goredisstore "github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"

	"github.com/headgate/headgate/bench/measure"
)

func openRedisRate(_ context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	limiter := redis_rate.NewLimiter(rdb)
	limit := redis_rate.Limit{Rate: int(job.Limit.Rate), Burst: int(job.Limit.Max), Period: job.Limit.Period}
	return job.each(func(ctx context.Context, name string) (bool, error) {
		result, err := limiter.Allow(ctx, name, limit)
		if err != nil {
			return false, err
		}
		return result.Allowed > 0, nil
	}), nothing, nil
}

func openUlule(_ context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	store, err := ululeredis.NewStoreWithOptions(rdb, limiter.StoreOptions{Prefix: job.own("u")})
	if err != nil {
		return nil, nil, err
	}
	l := limiter.New(store, limiter.Rate{Period: job.Limit.Period, Limit: job.Limit.Rate})
	return job.each(func(ctx context.Context, name string) (bool, error) {
		result, err := l.Get(ctx, name)
		return !result.Reached, err
	}), nothing, nil
}

func openThrottled(_ context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	store, err := goredisstore.NewCtx(rdb, job.own("t")+":")
	if err != nil {
		return nil, nil, err
	}
	l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate: throttled.PerDuration(int(job.Limit.Rate), job.Limit.Period), MaxBurst: int(job.Limit.Max) - 1,
	})
	if err != nil {
		return nil, nil, err
	}
	return job.each(func(ctx context.Context, name string) (bool, error) {
		limited, _, err := l.RateLimitCtx(ctx, name, 1)
		return !limited, err
	}), nothing, nil
}

func openIncr(_ context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	prefix := job.own("i") + ":"
	return job.each(func(ctx context.Context, name string) (bool, error) {
		return true, rdb.Incr(ctx, prefix+name).Err()
	}), nothing, nil
}

var noOp = redis.NewScript("return 1")

func openNoOp(ctx context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	if err := noOp.Load(ctx, rdb).Err(); err != nil {
		return nil, nil, err
	}
	return job.each(func(ctx context.Context, name string) (bool, error) {
		return true, noOp.EvalSha(ctx, rdb, []string{name}).Err()
	}), nothing, nil
}
