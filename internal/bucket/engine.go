package bucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Engine works on one Redis (standalone, Sentinel or Cluster) under one key prefix. It keeps nothing of its own, so it
// is safe for concurrent use and never closes the connection that it was given.
type Engine struct {
	rdb    redis.UniversalClient
	keys   keys
	broken error // what every method returns: the prefix was refused
}

// New makes an engine; prefix "" stands for DefaultPrefix. With a prefix that CheckPrefix refuses, every method returns
// that error.
func New(rdb redis.UniversalClient, prefix string) *Engine {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return &Engine{rdb: rdb, keys: keys{prefix: prefix}, broken: CheckPrefix(prefix)}
}

// Time returns the time of Redis, to the microsecond.
func (e *Engine) Time(ctx context.Context) (time.Time, error) {
	if e.broken != nil {
		return time.Time{}, e.broken
	}
	now, err := e.rdb.Time(ctx).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of Redis: %w", err)
	}
	return now.UTC(), nil
}

// Probe asks whether Redis answers, at the node that has one shard of a bucket.
func (e *Engine) Probe(ctx context.Context, t *Target, shard int) error {
	if e.broken != nil {
		return e.broken
	}
	return e.rdb.Exists(ctx, t.places[shard].definition).Err()
}

// wrap says what was attempted; nil and errors that already speak for themselves pass.
func wrap(err error, what, name string) error {
	if err == nil {
		return nil
	}
	var own *InvalidError
	if errors.As(err, &own) {
		return err
	}
	return fmt.Errorf("%s %q: %w", what, name, err)
}
