package bucket

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Health describes the Redis behind the engine. Fields that the server does not tell (the embedded one tells little)
// are left zero.
type Health struct {
	Version         string        // e.g. "7.0.15"
	Server          string        // "redis", "valkey"; "" when not told
	Role            string        // "master" or "slave"
	MaxMemoryPolicy string        // anything but "noeviction" may lose state; "" when not told
	MaxMemory       int64         // bytes; 0 = unlimited or not told
	UsedMemory      int64         // bytes
	RoundTrip       time.Duration // of one PING
}

// Health asks Redis how it is; the error is that of the PING. On Cluster one node answers.
func (e *Engine) Health(ctx context.Context) (Health, error) {
	if e.broken != nil {
		return Health{}, e.broken
	}
	began := time.Now()
	if err := e.rdb.Ping(ctx).Err(); err != nil {
		return Health{}, fmt.Errorf("ping Redis: %w", err)
	}
	h := Health{RoundTrip: time.Since(began)}
	for _, section := range []string{"server", "memory", "replication"} {
		// An embedded or restricted server refuses INFO; that it answered the PING is health enough.
		text, err := e.rdb.Info(ctx, section).Result()
		if err != nil {
			continue
		}
		h.read(text)
	}
	return h, nil
}

// read takes what it knows from the "name:value" lines of INFO.
func (h *Health) read(info string) {
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "redis_version":
			if h.Version == "" {
				h.Version, h.Server = value, "redis"
			}
		case "valkey_version":
			h.Version, h.Server = value, "valkey"
		case "role":
			h.Role = value
		case "maxmemory_policy":
			h.MaxMemoryPolicy = value
		case "maxmemory":
			h.MaxMemory = parseInfo(value)
		case "used_memory":
			h.UsedMemory = parseInfo(value)
		}
	}
}

func parseInfo(value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
