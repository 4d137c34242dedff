package app

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

// demoFlow is one application's calls on one sample bucket: a wave around mean calls a second, so that the chart shows
// both granted and limited.
type demoFlow struct {
	app, bucket string
	mean, swing float64       // calls a second
	wave        time.Duration // length of one wave
	keys        int           // distinct keys; 0 = none
}

var demoFlows = []demoFlow{
	{app: "checkout", bucket: "partner-api", mean: 38, swing: 30, wave: 90 * time.Second},
	{app: "mobile", bucket: "partner-api", mean: 16, swing: 6, wave: 37 * time.Second},
	{app: "mobile", bucket: "login-attempts", mean: 2, swing: 1.5, wave: 60 * time.Second, keys: 12},
	{app: "checkout", bucket: "mail-sending", mean: 0.1, swing: 0.08, wave: 5 * time.Minute},
	{app: "search", bucket: "search-queries", mean: 30, swing: 12, wave: 53 * time.Second, keys: 3},
}

const demoStep = 50 * time.Millisecond

// runDemoTraffic drives the sample buckets through the public SDK until ctx ends.
func runDemoTraffic(ctx context.Context, rdb redis.UniversalClient, prefix string, log *slog.Logger) {
	clients := map[string]*client.Client{}
	var running sync.WaitGroup
	for _, flow := range demoFlows {
		c := clients[flow.app]
		if c == nil {
			made, err := client.New(rdb, flow.app, client.Prefix(prefix), client.WithLogger(log))
			if err != nil {
				log.Error("demo traffic can't start", "app", flow.app, "error", err)
				return
			}
			c, clients[flow.app] = made, made
		}
		running.Go(func() { flow.run(ctx, c) })
	}
	running.Wait()
	for _, c := range clients {
		_ = c.Close()
	}
}

func (f demoFlow) run(ctx context.Context, c *client.Client) {
	tick := time.NewTicker(demoStep)
	defer tick.Stop()
	started, calls, due := time.Now(), 0, 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			phase := 2 * math.Pi * now.Sub(started).Seconds() / f.wave.Seconds()
			due += (f.mean + f.swing*math.Sin(phase)) * demoStep.Seconds()
			for ; due >= 1; due-- {
				calls++
				f.acquire(ctx, c, calls)
			}
		}
	}
}

// acquire makes one call. Its outcome is counted by the SDK; an outage shows on the console like any application's.
func (f demoFlow) acquire(ctx context.Context, c *client.Client, call int) {
	if f.keys == 0 {
		_, _ = c.Acquire(ctx, f.bucket)
		return
	}
	// Squares leave the keys unevenly busy, as real ones are.
	_, _ = c.Acquire(ctx, f.bucket, client.Key(fmt.Sprintf("visitor-%d", call*call%f.keys)))
}
