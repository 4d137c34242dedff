package apibench

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

const (
	watched = "watched-bucket" // whose chart is measured
	edits   = 6                // of it, each a marker in its chart
	dayLong = 24 * 60          // minutes
)

// makeWatched makes the bucket whose chart is measured, and edits it as often as a busy day would.
func (p *program) makeWatched(b *testing.B, apps []string) {
	b.Helper()
	r := adminenv.Login(b, p.URL, nil, "admin", adminPassword)
	definition := map[string]any{
		"name": watched, "apps": apps, "owners": []string{"admin"}, "max_permits": 200, "rate": 100, "period_ms": 1000, "partition": "shared", "reason": "a benchmark",
	}
	r.Must(b, http.StatusCreated, http.MethodPost, "/buckets", nil, definition)
	delete(definition, "name")
	for i := range edits {
		definition["rate"] = 101 + i
		r.Must(b, http.StatusOK, http.MethodPut, "/buckets/"+watched, adminenv.Based(int64(i+1)), definition)
	}
}

// fillDay reports a day of usage in each of its minutes, as the SDK would have.
func fillDay(b *testing.B, redisAddr string, apps []string) {
	b.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: redisAddr})
	defer func() { _ = rdb.Close() }()
	now := time.Now().Unix() / 60
	used := make([]bucket.Usage, 0, dayLong*len(apps))
	for m := range int64(dayLong) {
		for i, app := range apps {
			wave := (m*7 + int64(i)*131) % 997
			used = append(used, bucket.Usage{Bucket: watched, App: app, Minute: now - 1 - m, Granted: 900 + wave, Limited: wave / 3})
		}
	}
	must(b, bucket.New(rdb, "").ReportUsage(b.Context(), used))
}

// drive has the SDK call a bucket, so often a second, until the benchmark ends.
func drive(b *testing.B, demo, redisAddr, app, name string, rate int) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, demo, "load", "--redis-url", "redis://"+redisAddr, "--app", app, "--bucket", name,
		"--rate", strconv.Itoa(rate), "--concurrency", "2", "--duration", "0")
	cmd.Stderr = os.Stderr
	must(b, cmd.Start())
	b.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
}
