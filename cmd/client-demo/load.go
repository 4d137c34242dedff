package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/client"
)

// Bounds of the flags of load.
const (
	maxConcurrency = 10_000
	maxConnections = 256 // as many calls as one client puts to Redis at a time
)

// load drives calls through one bucket.
type load struct {
	target
	key         string
	keyCount    int
	rate        float64
	concurrency int
	duration    time.Duration
	permits     int64
	json        bool
}

func loadCommand() *cobra.Command {
	l := &load{}
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Drive calls through a bucket and tell how they went",
		Long: `Load acquires permits at a steady rate, or as fast as it can, writes one line a second and a summary at the end.
Ctrl-C ends it early, with the summary. Counts are calls, by the outcome that the SDK told; latencies are those of Acquire.`,
		Example: `  # 200 calls a second for half a minute
  client-demo load --app checkout --bucket partner-api --rate 200 --duration 30s

  # as fast as 100 callers can, each call for 5 permits, keys user-0 to user-999
  client-demo load --app checkout --bucket per-user --rate 0 --concurrency 100 --permits 5 --key-count 1000

  # for a script: one JSON object a line, the last one the summary
  client-demo load --app checkout --bucket partner-api --duration 10s --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd.Context(), cmd) },
	}
	l.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&l.key, "key", "", "the key to call with, for buckets that count by key")
	f.IntVar(&l.keyCount, "key-count", 0, "call with this many keys in turn: user-0, user-1, …")
	f.Float64Var(&l.rate, "rate", 100, "calls per second to aim at; 0 = as fast as possible")
	f.IntVar(&l.concurrency, "concurrency", 10, "callers at a time, 1..10000")
	f.DurationVar(&l.duration, "duration", 10*time.Second, "how long; 0 = until Ctrl-C")
	f.Int64Var(&l.permits, "permits", 1, "permits per call, 1 or more")
	f.BoolVar(&l.json, "json", false, "write JSON lines instead of text")
	cmd.MarkFlagsMutuallyExclusive("key", "key-count")
	return cmd
}

func (l *load) check() error {
	switch {
	case !(l.rate >= 0 && l.rate <= 1e9):
		return errors.New("--rate must be 0..1000000000")
	case l.concurrency < 1 || l.concurrency > maxConcurrency:
		return fmt.Errorf("--concurrency must be 1..%d", maxConcurrency)
	case l.duration < 0:
		return errors.New("--duration must not be negative")
	case l.permits < 1:
		return errors.New("--permits must be 1 or more")
	case l.keyCount < 0:
		return errors.New("--key-count must not be negative")
	}
	return nil
}

func (l *load) run(ctx context.Context, cmd *cobra.Command) error {
	if err := l.check(); err != nil {
		return err
	}
	c, end, err := l.connect(ctx, min(l.concurrency, maxConnections))
	if err != nil {
		return err
	}
	out := report{w: cmd.OutOrStdout(), json: l.json, load: l}
	out.head()
	err = l.drive(ctx, c, &out)
	return errors.Join(err, end())
}

// drive runs the callers until the time is over, and reports.
func (l *load) drive(ctx context.Context, c *client.Client, out *report) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if l.duration > 0 {
		ctx, cancel = context.WithTimeout(ctx, l.duration)
		defer cancel()
	}
	var m meter
	var failed atomic.Pointer[error]
	pace := newPacer(l.rate)
	start := time.Now()
	var callers sync.WaitGroup
	for range l.concurrency {
		callers.Go(func() {
			if err := l.call(ctx, c, pace, &m); err != nil {
				failed.CompareAndSwap(nil, &err)
				cancel()
			}
		})
	}
	out.everySecond(ctx, start, &m)
	callers.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	out.summary(m.read(), time.Since(start))
	return nil
}

// call is one caller: it acquires until the time is over. An error is misuse, such as a missing key.
func (l *load) call(ctx context.Context, c *client.Client, pace *pacer, m *meter) error {
	for {
		n, ok := pace.wait(ctx)
		if !ok {
			return nil
		}
		key := l.key
		if l.keyCount > 0 {
			key = "user-" + strconv.FormatInt(n%int64(l.keyCount), 10)
		}
		began := time.Now()
		// A call under way when the time is over is let finish: it counts, as it may have taken permits.
		d, err := c.Acquire(context.WithoutCancel(ctx), l.bucket, client.Permits(l.permits), client.Key(key))
		if err != nil {
			return err
		}
		m.add(d.Outcome, time.Since(began))
	}
}

// pacer hands out the moments of calls, evenly.
type pacer struct {
	mu    sync.Mutex
	gap   time.Duration // 0 = no pace
	next  time.Time
	count int64
}

func newPacer(rate float64) *pacer {
	p := &pacer{next: time.Now()}
	if rate > 0 {
		p.gap = max(1, time.Duration(float64(time.Second)/rate))
	}
	return p
}

// wait waits for the next moment and returns the number of the call, from 0; false when ctx is done. Callers that fell
// behind, as when Redis was slow, catch up on at most one second's calls.
func (p *pacer) wait(ctx context.Context) (int64, bool) {
	p.mu.Lock()
	n := p.count
	p.count++
	now := time.Now()
	if behind := now.Add(-time.Second); p.next.Before(behind) {
		p.next = behind
	}
	pause := p.next.Sub(now)
	p.next = p.next.Add(p.gap)
	p.mu.Unlock()
	if p.gap == 0 || pause <= 0 {
		return n, ctx.Err() == nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return n, false
	case <-timer.C:
		return n, true
	}
}
