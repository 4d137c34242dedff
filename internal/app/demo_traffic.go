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
	{app: "checkout", bucket: "message-quota", mean: 9, swing: 6, wave: 4 * time.Minute},
	{app: "mobile", bucket: "message-quota", mean: 3, swing: 2, wave: 50 * time.Second},
	{app: "search", bucket: "page-views", mean: 20, swing: 12, wave: 41 * time.Second, keys: 5},
	{app: "mobile", bucket: "password-resets", mean: 0.5, swing: 0.4, wave: 45 * time.Second, keys: 8},
}

// demoWork is what holds the slots of a sample bucket: workers who enter, work and rest, more of them than there are slots.
type demoWork struct {
	app, bucket string
	workers     int
	busy, rest  time.Duration // of the first worker; each further one takes half as long again
}

var demoWorks = []demoWork{
	{app: "checkout", bucket: "report-exports", workers: 5, busy: 3 * time.Second, rest: time.Second},
}

const demoStep = 50 * time.Millisecond

// runDemoTraffic drives the sample buckets through the public SDK until ctx ends.
func runDemoTraffic(ctx context.Context, rdb redis.UniversalClient, prefix string, log *slog.Logger) {
	clients := map[string]*client.Client{}
	for _, app := range demoApps {
		c, err := client.New(rdb, app.name, client.Prefix(prefix), client.WithLogger(log))
		if err != nil {
			log.Error("demo traffic can't start", "app", app.name, "error", err)
			return
		}
		defer func() { _ = c.Close() }()
		clients[app.name] = c
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, flow := range demoFlows {
		running.Go(func() { flow.run(ctx, clients[flow.app]) })
	}
	for _, work := range demoWorks {
		for i := range work.workers {
			running.Go(func() { work.run(ctx, clients[work.app], time.Duration(2+i)) })
		}
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

// run is one worker's day; halves is its pace in halves of the first worker's.
func (w demoWork) run(ctx context.Context, c *client.Client, halves time.Duration) {
	for ctx.Err() == nil {
		lease, d, err := c.Enter(ctx, w.bucket)
		if err == nil && d.Allowed {
			pause(lease.Context(), w.busy*halves/2)
			lease.Release()
		}
		pause(ctx, w.rest*halves/2)
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}
