package bucket

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// indexUsed has a pipeline note which buckets were used in which minutes. In a Cluster the index lies elsewhere than the
// amounts, and some users of Redis may not write it: what is missing there the admin servers find by looking everywhere.
func (e *Engine) indexUsed(ctx context.Context, pipe redis.Pipeliner, used map[int64][]any) {
	for minute, names := range used {
		key := e.keys.used(minute)
		pipe.SAdd(ctx, key, names...)
		pipe.Expire(ctx, key, usageTTL)
	}
}

// UsedNames returns the names of the buckets that were used in any of the minutes from..to, both included, sorted and each
// once. A bucket is missing whose reporter does not know the index or may not write it. At most MinutesBound minutes may
// be asked for.
func (e *Engine) UsedNames(ctx context.Context, from, to int64) ([]string, error) {
	if err := e.checkMinutes(from, to); err != nil || to < from {
		return nil, err
	}
	pipe := e.rdb.Pipeline()
	sets := make([]*redis.StringSliceCmd, 0, to-from+1)
	for minute := from; minute <= to; minute++ {
		sets = append(sets, pipe.SMembers(ctx, e.keys.used(minute)))
	}
	if _, err := pipe.Exec(ctx); silence(err) != nil {
		return nil, fmt.Errorf("read which buckets were used: %w", err)
	}
	var all []string
	for _, set := range sets {
		all = append(all, set.Val()...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(name string) bool { return !validName(name) }), nil // anybody may add to it
}
