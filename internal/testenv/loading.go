package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// StartLoading starts the server again and returns while it loads what the last SAVE left: it answers LOADING to
// everything, and goes on so until FinishLoading, provided the dump has some thousand keys.
func (s *RedisServer) StartLoading(t testing.TB) {
	t.Helper()
	usual := s.args
	defer func() { s.args = usual }()
	s.args = append([]string{
		"--key-load-delay", "5000", // µs
		"--loading-process-events-interval-bytes", "1024", // it answers nothing in between
	}, usual...)
	err := s.startUntil(func() error {
		switch err := s.ping(); {
		case redis.HasErrorPrefix(err, "LOADING"):
			return nil
		case err == nil:
			return errors.New("it has loaded everything already")
		default:
			return err
		}
	})
	if err != nil {
		t.Fatalf("testenv: start redis-server with a slow load: %v", err)
	}
}

// FinishLoading lets the server load the rest at full speed, and returns when it has.
func (s *RedisServer) FinishLoading(t testing.TB) {
	t.Helper()
	rdb := adminOf(s)
	defer func() { _ = rdb.Close() }()
	if err := rdb.ConfigSet(t.Context(), "key-load-delay", "0").Err(); err != nil {
		t.Fatalf("testenv: end a slow load: %v", err)
	}
	err := poll(20*time.Second, func(ctx context.Context) error { return rdb.Ping(ctx).Err() })
	if err != nil {
		t.Fatalf("testenv: a slow load did not end: %v", err)
	}
}

// Fill stores so many keys of half a kilobyte each, for a dump that takes its time to load.
func (s *RedisServer) Fill(t testing.TB, keys int) {
	t.Helper()
	rdb := adminOf(s)
	defer func() { _ = rdb.Close() }()
	_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		value := make([]byte, 512)
		for i := range keys {
			_, _ = rand.Read(value) // nothing that the dump could compress
			pipe.Set(t.Context(), fmt.Sprintf("filler:%d", i), value, 0)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("testenv: fill redis-server: %v", err)
	}
}
