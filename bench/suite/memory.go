package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
	"github.com/headgate/headgate/internal/bucket"
)

// MemoryResult is what Redis keeps, in bytes by MEMORY USAGE.
type MemoryResult struct {
	Keys []KeyMemory `json:"keys"`
	Logs []LogMemory `json:"sliding_log"`
}

// KeyMemory is the mean of one caller's key under one limit: names of 11, keys of 12 and the app's name of 5 characters.
type KeyMemory struct {
	Limit     string  `json:"limit"`
	RedisRate float64 `json:"redis_rate"`
	Key       float64 `json:"headgate_key"`
	AppKey    float64 `json:"headgate_app_key"`
}

// LogMemory is one key of a sliding_log bucket.
type LogMemory struct {
	Entries      int     `json:"entries"`
	Bytes        int64   `json:"bytes"`
	BytesAnEntry float64 `json:"bytes_an_entry"` // beyond the bytes of the key with one entry
}

const (
	memoryKeys  = 1_000
	memoryCalls = 3 // on each key, so that it holds what a key in use holds
)

// The limits under which keys are weighed: how long a state is depends on its figures.
var memoryLimits = []peers.Limit{
	{Max: 100, Rate: 100, Period: time.Hour},
	{Max: 1_000, Rate: 1_000, Period: 24 * time.Hour},
	{Max: 7, Rate: 7, Period: time.Minute},
}

// logEntries are the lengths at which a sliding log is weighed, besides the shortest.
var logEntries = []int{10, 100, 1_000, 10_000}

// memory weighs what it can; what it weighed before an error is in the result.
func (r *runner) memory(ctx context.Context, result *MemoryResult) error {
	r.step(memory, 0, "")
	for i, limit := range memoryLimits {
		k, err := r.weighKeys(ctx, 10+2*i, limit)
		if err != nil {
			return err
		}
		result.Keys = append(result.Keys, k)
	}
	logs, err := r.weighLogs(ctx)
	if err != nil {
		return err
	}
	result.Logs = logs
	return r.clean(ctx)
}

// weighKeys fills keys of one limit and weighs them. The two partitions need a bucket each.
func (r *runner) weighKeys(ctx context.Context, number int, limit peers.Limit) (KeyMemory, error) {
	result := KeyMemory{Limit: fmt.Sprintf("%d per %v", limit.Rate, limit.Period)}
	for i, of := range []struct {
		name, partition, pattern string
		bytes                    *float64
	}{
		{peers.RedisRate, bucket.PartitionKey, "rate:%s:*", &result.RedisRate},
		{peers.Headgate, bucket.PartitionKey, r.prefix() + ":{%s*}:s*", &result.Key},
		{peers.Headgate, bucket.PartitionAppKey, r.prefix() + ":{%s*}:s*", &result.AppKey},
	} {
		name := r.bucketName(number + i/2)
		job := peers.Job{Prefix: r.prefix(), Buckets: []string{name}, Limit: limit, Partition: of.partition}
		job.Keys = slice(memoryKeys, func(i int) string { return fmt.Sprintf("user-%07d", i) })
		job.Joined = slice(memoryKeys, func(i int) string { return fmt.Sprintf("%s:user-%07d", name, i) })
		if err := r.fill(ctx, of.name, job); err != nil {
			return result, err
		}
		bytes, n, err := r.weigh(ctx, fmt.Sprintf(of.pattern, name))
		if err != nil {
			return result, err
		}
		if n != memoryKeys {
			return result, fmt.Errorf("%s has %d keys where %d were used", of.name, n, memoryKeys)
		}
		*of.bytes = float64(bytes) / memoryKeys
	}
	return result, nil
}

// fill calls once for each key, several times over.
func (r *runner) fill(ctx context.Context, contender string, job peers.Job) error {
	return r.with(ctx, contender, job, func(op measure.Op) error {
		for range memoryCalls {
			for key := range job.Keys {
				if answer, err := op(ctx, key); err != nil || !answer.Allowed {
					return errors.Join(fmt.Errorf("%s refused key %d", contender, key), err)
				}
			}
		}
		return nil
	})
}

// with opens a contender for some work.
func (r *runner) with(ctx context.Context, contender string, job peers.Job, work func(measure.Op) error) (err error) {
	rdb := r.connect()
	defer func() { err = errors.Join(err, rdb.Close()) }()
	for _, c := range peers.All() {
		if c.Name != contender {
			continue
		}
		op, finish, err := c.Open(ctx, rdb, job)
		if err != nil {
			return err
		}
		return errors.Join(work(op), finish())
	}
	return fmt.Errorf("there is no contender %q", contender)
}

// weigh adds up the memory of all keys of a pattern.
func (r *runner) weigh(ctx context.Context, pattern string) (bytes int64, n int, err error) {
	keys := r.admin.Scan(ctx, 0, pattern, 1000).Iterator()
	for keys.Next(ctx) {
		// Samples 0: all elements of a collection are looked at, not five of them.
		b, err := r.admin.MemoryUsage(ctx, keys.Val(), 0).Result()
		if errors.Is(err, redis.Nil) {
			continue // it has just expired
		}
		if err != nil {
			return 0, 0, err
		}
		bytes, n = bytes+b, n+1
	}
	return bytes, n, keys.Err()
}

// weighLogs weighs one key of a sliding_log bucket as its log grows.
func (r *runner) weighLogs(ctx context.Context) ([]LogMemory, error) {
	name := r.bucketName(90)
	job := peers.Job{
		Prefix: r.prefix(), Buckets: []string{name}, Keys: []string{"user-0000000"},
		Limit: peers.Limit{Max: 100_000, Rate: 1, Period: time.Hour}, Algorithm: bucket.SlidingLog,
	}
	var logs []LogMemory
	err := r.with(ctx, peers.Headgate, job, func(op measure.Op) error {
		entries := 0
		for _, wanted := range append([]int{1}, logEntries...) {
			for ; entries < wanted; entries++ {
				if answer, err := op(ctx, 0); err != nil || !answer.Allowed {
					return errors.Join(errors.New("sliding_log refused"), err)
				}
			}
			bytes, _, err := r.weigh(ctx, r.prefix()+":{"+name+"*}:s*")
			if err != nil {
				return err
			}
			l := LogMemory{Entries: entries, Bytes: bytes}
			if entries > 1 {
				l.BytesAnEntry = float64(bytes-logs[0].Bytes) / float64(entries-1)
			}
			logs = append(logs, l)
		}
		return nil
	})
	return logs, err
}
