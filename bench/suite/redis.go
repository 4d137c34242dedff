package suite

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// commandTime is how long Redis has spent on some commands so far, in µs, with all that they called in turn. Two readings
// around a run tell what the run cost, without resetting counters that others may look at.
func commandTime(ctx context.Context, rdb *redis.Client, commands []string) (int64, error) {
	info, err := rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	var total int64
	for _, command := range commands {
		_, rest, found := strings.Cut(info, "cmdstat_"+command+":")
		if !found {
			continue // not called so far
		}
		line, _, _ := strings.Cut(rest, "\r\n")
		_, after, _ := strings.Cut(line, ",usec=")
		number, _, _ := strings.Cut(after, ",")
		usec, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("commandstats of %s: %w", command, err)
		}
		total += usec
	}
	return total, nil
}

// serverField reads one field of INFO server, "" when it is not there.
func serverField(ctx context.Context, rdb *redis.Client, field string) string {
	info, err := rdb.Info(ctx, "server").Result()
	if err != nil {
		return ""
	}
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			return value
		}
	}
	return ""
}

// removeKeys removes what a benchmark left on a Redis that is not its own.
func removeKeys(ctx context.Context, rdb *redis.Client, patterns ...string) error {
	for _, pattern := range patterns {
		var some []string
		keys := rdb.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			some = append(some, keys.Val())
			if len(some) == 1000 {
				if err := rdb.Unlink(ctx, some...).Err(); err != nil {
					return err
				}
				some = some[:0]
			}
		}
		if err := keys.Err(); err != nil {
			return err
		}
		if len(some) > 0 {
			if err := rdb.Unlink(ctx, some...).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// RedisVersion asks a Redis what it is, and so also whether it is there.
func RedisVersion(ctx context.Context, addr string) (string, error) {
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	if err := rdb.Ping(ctx).Err(); err != nil {
		return "", fmt.Errorf("Redis at %s: %w", addr, err) //nolint:staticcheck,revive // a name
	}
	return serverField(ctx, rdb, "redis_version"), nil
}
