// Command client-demo shows Headgate's SDK at work: `load` drives calls through a bucket and tells how they went, `serve`
// is a small HTTP service limited by a bucket. It is written only against package client, as any application would be.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/headgate/headgate/client"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	redis.SetLogger(silent{})
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "client-demo:", err)
		return 1
	}
	return 0
}

// silent keeps go-redis from writing a line for every connection that fails; the SDK tells what matters.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "client-demo",
		Short: "Try a Headgate bucket: drive load through it, or serve HTTP limited by it",
		Example: `  client-demo load --app checkout --bucket partner-api --rate 200 --duration 30s
  client-demo serve --app checkout --bucket partner-api --listen 127.0.0.1:8090`,
		SilenceUsage:       true,
		SilenceErrors:      true,
		DisableSuggestions: true, // an error is one line
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddCommand(loadCommand(), serveCommand())
	return cmd
}

// target says which bucket to use, as whom and through which Redis.
type target struct {
	redisURL, prefix, app, bucket string
	deadline                      time.Duration
}

func (t *target) flags(cmd *cobra.Command) {
	url := os.Getenv("HEADGATE_REDIS_URL")
	if url == "" {
		url = "redis://127.0.0.1:6379/0"
	}
	f := cmd.Flags()
	f.StringVar(&t.redisURL, "redis-url", url, "the Redis of Headgate, Sentinels or Cluster too, as the server's HEADGATE_REDIS_URL, which is the default")
	f.StringVar(&t.prefix, "prefix", client.DefaultPrefix, "what its keys begin with")
	f.StringVar(&t.app, "app", "", "the app to call as (required)")
	f.StringVar(&t.bucket, "bucket", "", "the bucket to acquire from (required)")
	f.DurationVar(&t.deadline, "deadline", client.DefaultDeadline, "how long one call may wait for Redis")
	_ = cmd.MarkFlagRequired("app")
	_ = cmd.MarkFlagRequired("bucket")
}

// reachTimeout is how long the start waits for Redis.
const reachTimeout = 3 * time.Second

// connect makes a client of the target and the function that ends it. It fails when Redis can't be reached now; once it
// runs, an outage is the SDK's business.
func (t *target) connect(ctx context.Context, connections int) (*client.Client, func() error, error) {
	if t.deadline < client.MinDeadline || t.deadline > client.MaxDeadline {
		return nil, nil, fmt.Errorf("--deadline must be %v..%v", client.MinDeadline, client.MaxDeadline)
	}
	o, err := client.ParseURL(t.redisURL)
	if err != nil {
		return nil, nil, fmt.Errorf("--redis-url: %w", err)
	}
	if o.PoolSize == 0 {
		o.PoolSize = connections
	}
	rdb := redis.NewUniversalClient(o)
	ping, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if err := rdb.Ping(ping).Err(); err != nil {
		_ = rdb.Close()
		return nil, nil, fmt.Errorf("can't reach Redis at %s: %w", strings.Join(o.Addrs, ", "), err)
	}
	c, err := client.New(rdb, t.app, client.Prefix(t.prefix), client.WithDeadline(t.deadline))
	if err != nil {
		_ = rdb.Close()
		return nil, nil, err
	}
	closeAll := func() error {
		err := c.Close()
		_ = rdb.Close()
		return err
	}
	return c, closeAll, nil
}
