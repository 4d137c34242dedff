package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
)

// deadline is the SDK's own, as long as the time that go-redis gives the other contenders: a call that takes long is to
// show in the latencies and not as an error.
const deadline = 3 * time.Second

func openHeadgate(ctx context.Context, rdb *redis.Client, job Job) (measure.Op, func() error, error) {
	for _, name := range job.Buckets {
		if err := install(ctx, rdb, job, name); err != nil {
			return nil, nil, err
		}
	}
	c, err := client.New(rdb, App, client.Prefix(job.Prefix), client.WithDeadline(deadline), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, nil, err
	}
	if err := c.Preload(ctx, job.Buckets...); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return operation(c, job), c.Close, nil
}

func operation(c *client.Client, job Job) measure.Op {
	name := job.Buckets[0]
	if len(job.Buckets) > 1 {
		return composite(c, job.Buckets)
	}
	if len(job.Keys) > 0 {
		return func(ctx context.Context, key int) (measure.Answer, error) {
			return answer(c.Acquire(ctx, name, client.Key(job.Keys[key])))
		}
	}
	return func(ctx context.Context, _ int) (measure.Answer, error) {
		return answer(c.Acquire(ctx, name))
	}
}

// composite takes from all buckets or none. The buckets are equal and always taken from together, so their decisions are
// equal too, at the same time of Redis, and one of them stands for all in the check of exactness.
func composite(c *client.Client, buckets []string) measure.Op {
	requests := make([]client.Request, len(buckets))
	for i, name := range buckets {
		requests[i].Bucket = name
	}
	return func(ctx context.Context, _ int) (measure.Answer, error) {
		ds, err := c.AcquireAll(ctx, requests...)
		if err != nil {
			return measure.Answer{}, err
		}
		first := &ds[0]
		for i := range ds {
			if d := &ds[i]; d.Outcome != first.Outcome || d.Source != first.Source || !d.At.Equal(first.At) {
				return measure.Answer{}, fmt.Errorf("equal buckets were decided differently: %+v, %+v", *first, *d)
			}
		}
		return answer(*first, nil)
	}
}

// answer takes a decision of Redis or of the local denial for what it is, and anything else for an error, since a
// contender must not gain from calls that nobody decided.
func answer(d client.Decision, err error) (measure.Answer, error) {
	switch {
	case err != nil:
		return measure.Answer{}, err
	case d.Source == client.SourceRedis && d.Outcome == client.Granted && !d.At.IsZero():
		return measure.Answer{Allowed: true, At: d.At.UnixMicro()}, nil
	case d.Source == client.SourceRedis && d.Outcome == client.Limited && !d.At.IsZero():
		return measure.Answer{At: d.At.UnixMicro()}, nil
	case d.Source == client.SourceDenial && d.Outcome == client.Limited:
		return measure.Answer{}, nil
	}
	return measure.Answer{}, fmt.Errorf("outcome %s, source %s, at %v: %w", d.Outcome, d.Source, d.At, cmp.Or(d.Err, errOdd))
}

// errOdd is of a decision that should not be.
var errOdd = errors.New("not a decision of Redis")

// install puts a bucket of the job into Redis as the admin server would, for all apps.
func install(ctx context.Context, rdb *redis.Client, job Job, name string) error {
	partition := bucket.PartitionShared
	if len(job.Keys) > 0 {
		partition = bucket.PartitionKey
	}
	result, err := bucket.New(rdb, job.Prefix).Install(ctx, bucket.Definition{
		Name: name, Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: cmp.Or(job.Algorithm, bucket.TokenBucket),
		MaxPermits: job.Limit.Max, Rate: job.Limit.Rate, Period: job.Limit.Period,
		Partition: cmp.Or(job.Partition, partition), Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailClosed, AfterLoss: bucket.LossFull,
	}, bucket.InstallOptions{Deployment: "benchmark"})
	if err != nil {
		return err
	}
	if result.Status != bucket.StatusInstalled {
		return fmt.Errorf("bucket %s was not installed: status %d", name, result.Status)
	}
	return nil
}
