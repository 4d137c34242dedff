package client

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

const (
	// reportSpread is within how long after a second's end the clients report it; each keeps a moment of its own, so
	// that whoever reads once a second sees the figures of one second.
	reportSpread = 400 * time.Millisecond
	// reportLag gives the replies of a second the time to come in.
	reportLag = 10 * time.Millisecond
	// reportRows bounds one pipeline.
	reportRows = 1000
	// reportPatience is how long a report may take before it counts as failed. An answer that was lost leaves open whether
	// Redis added the counts, so the fewer repetitions the better.
	reportPatience = 500 * time.Millisecond
)

// usageRow is what is reported of one bucket and minute.
type usageRow struct {
	usageKey
	counts
}

// reporter sends the usage of each second of Redis time soon after its end. What could not be sent is kept and added
// to the next report, under its own minute.
type reporter struct {
	book    *book
	clock   *redisClock
	allowed func() bool // whether Redis may be asked
	probe   func(context.Context) error
	send    func(context.Context, []usageRow) error
	log     *slog.Logger
	phase   time.Duration

	pending pending
	flying  bool // a report is on its way
	landed  chan reportResult
	failing bool // the last report failed
}

type reportResult struct {
	rows []usageRow
	err  error
}

func newReporter(c *Client) *reporter {
	return &reporter{
		book: c.book, clock: c.clock, allowed: c.lanes.allow, probe: func(ctx context.Context) error { return c.probe(ctx, nil) }, send: c.report, log: c.options.log,
		phase: reportLag + rand.N(reportSpread-2*reportLag), landed: make(chan reportResult, 1),
	}
}

// run reports until closed; then it sends what is left, all seconds, until the time is over. It returns an error when
// some could not be sent.
func (r *reporter) run(closed <-chan struct{}, timeout func() <-chan time.Time) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		second, wait := r.next()
		timer.Reset(wait)
		for due := false; !due; {
			select {
			case <-timer.C:
				due = true
			case result := <-r.landed:
				if r.settle(result); result.err == nil {
					r.launch() // what did not fit
				}
			case <-closed:
				return r.flush(timeout())
			}
		}
		r.collect(second)
		r.launch()
	}
}

// next is the coming second of Redis time and how long to wait until the one before it is to be reported.
func (r *reporter) next() (second int64, wait time.Duration) {
	now := r.clock.now()
	second = now/microsPerSecond + 1
	return second, time.Duration(second*microsPerSecond-now)*time.Microsecond + r.phase
}

// collect gathers what was counted before the given second.
func (r *reporter) collect(before int64) {
	r.book.each(func(k *known) {
		for minute, c := range k.usage.collect(before) {
			r.pending.add(usageKey{k.name, minute}, c)
		}
	})
	if !r.pending.lost.zero() {
		r.log.Error("headgate: usage was dropped, since it could not be reported for too long",
			"granted", r.pending.lost.granted, "limited", r.pending.lost.limited, "shadow_limited", r.pending.lost.shadowLimited)
		r.pending.lost = counts{}
	}
}

// launch sends one report, unless Redis is away or the last report is still on its way.
func (r *reporter) launch() {
	if !r.flying && len(r.pending.rows) > 0 && r.allowed() {
		r.dispatch()
	}
}

// dispatch sends one report. After a failed one Redis is probed first: a stopped server would carry out later every
// report that was put to it meanwhile.
func (r *reporter) dispatch() {
	rows, again := r.pending.take(reportRows), r.failing
	r.flying = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), reportPatience)
		defer cancel()
		if again {
			if err := r.probe(ctx); err != nil {
				r.landed <- reportResult{rows, err}
				return
			}
		}
		r.landed <- reportResult{rows, r.send(ctx, rows)}
	}()
}

// settle takes note of how a report ended; what failed is kept for the next one.
func (r *reporter) settle(result reportResult) {
	r.flying = false
	if result.err == nil {
		if r.failing {
			r.log.Info("headgate: usage is reported again")
		}
		r.failing = false
		return
	}
	for _, row := range result.rows {
		r.pending.add(row.usageKey, row.counts)
	}
	if !r.failing {
		r.log.Warn("headgate: usage could not be reported; it is kept", "error", result.err)
	}
	r.failing = true
}

// flush sends everything that was counted. It tries whatever the breaker says, as there is no later.
func (r *reporter) flush(timeout <-chan time.Time) error {
	r.collect(1 << 62)
	for r.flying || len(r.pending.rows) > 0 {
		if !r.flying {
			r.dispatch()
		}
		select {
		case result := <-r.landed:
			r.settle(result)
			if result.err != nil {
				return fmt.Errorf("headgate: usage was not reported: %w", result.err)
			}
		case <-timeout:
			return fmt.Errorf("headgate: usage was not reported: %w", ErrDeadline)
		}
	}
	return nil
}

// report hands rows of usage to Redis.
func (c *Client) report(ctx context.Context, rows []usageRow) error {
	usage := make([]bucket.Usage, len(rows))
	for i, row := range rows {
		usage[i] = bucket.Usage{
			Bucket: row.bucket, App: c.app, Minute: row.minute,
			Granted: row.granted, Limited: row.limited, ShadowLimited: row.shadowLimited,
		}
	}
	return c.engine.ReportUsage(ctx, usage)
}
