package apibench

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
	"github.com/headgate/headgate/internal/testenv/seed"
)

// What BenchmarkConsole takes from the ARGS of `make bench-console`.
var (
	liveFor = flag.Duration("live", 10*time.Minute, "how long the console's live pages are watched, at six times the rate")
	only    = flag.String("only", "", "these parts of the console's benchmark alone, separated by commas: lists, typing, chart, heap")
	publish = flag.String("publish", "", "also put the console's figures into benchmarks.md of this folder, seen from the root")
	strict  = flag.Bool("strict", false, "a bar that the console misses fails")
)

// What the console shows in its benchmark, beside `apps`.
const consoleUsers, consoleBuckets, consoleChanges = 500, 10_000, 100_000

// BenchmarkConsole: the console in Chromium, over a large deployment with live traffic. This makes the ground; web/bench
// measures, and prints the figures.
func BenchmarkConsole(b *testing.B) {
	dir := b.TempDir()
	must(b, adminenv.Build(dir, nil, "admin", "client-demo"))
	admin, demo, dsn, redis := filepath.Join(dir, "admin"), filepath.Join(dir, "client-demo"), testenv.MySQL(b), testenv.OwnRedis(b)
	p, _ := start(b, admin, dsn, redis.Addr) // migrates
	p.Kill()
	b.Logf("seeding %d buckets, %d apps, %d users and %d changes", consoleBuckets, apps, consoleUsers, consoleChanges)
	hash, err := auth.NewHasher(auth.DefaultHashing).Hash(b.Context(), password)
	must(b, err)
	must(b, seed.Fill(b.Context(), dsn, seed.Size{
		Users: consoleUsers, Apps: apps, Buckets: consoleBuckets, Changes: consoleChanges, PasswordHash: hash,
	}))
	p, _ = start(b, admin, dsn, redis.Addr)

	sharers := []string{seed.AppName(0), seed.AppName(1), seed.AppName(2), seed.AppName(3)}
	p.makeWatched(b, sharers)
	fillDay(b, redis.Addr, sharers)
	for _, app := range sharers {
		drive(b, demo, redis.Addr, app, watched, 40)
	}
	for i := range 3 {
		drive(b, demo, redis.Addr, seed.AppName(i), seed.BucketName(i, apps), 20)
	}
	p.browse(b)
}

// browse runs web/bench.
func (p *program) browse(b *testing.B) {
	b.Helper()
	root, err := filepath.Abs("../../..")
	must(b, err)
	logins, err := json.Marshal(map[string]map[string]string{"admin": adminenv.Credentials("admin", adminPassword)})
	must(b, err)
	args := []string{"playwright", "test", "--config", "bench/playwright.config.ts"}
	for part := range strings.SplitSeq(*only, ",") {
		if part != "" {
			args = append(args, "bench/"+part)
		}
	}
	cmd := exec.CommandContext(b.Context(), "npx", args...)
	cmd.Dir = filepath.Join(root, "web")
	cmd.Env = append(os.Environ(),
		"HEADGATE_E2E_URL="+p.URL, "HEADGATE_E2E_LOGINS="+string(logins), "HEADGATE_BENCH_BUCKET="+watched,
		fmt.Sprintf("HEADGATE_BENCH_LIVE_SECONDS=%.0f", liveFor.Seconds()))
	if *publish != "" {
		cmd.Env = append(cmd.Env, "HEADGATE_BENCH_PUBLISH="+filepath.Join(root, *publish, "benchmarks.md"))
	}
	if *strict {
		cmd.Env = append(cmd.Env, "HEADGATE_BENCH_STRICT=1")
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Errorf("something could not be measured, or with -strict a bar was missed: %v", err)
	}
}
