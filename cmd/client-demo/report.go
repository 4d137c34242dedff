package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/headgate/headgate/client"
)

// report writes how a load went, as text or as one JSON object a line.
type report struct {
	w    io.Writer
	json bool
	load *load
}

// line is what JSON tells of one second or of the whole load. Counts are calls; latencies are in ms.
type line struct {
	Type     string                   `json:"type"`    // "second" or "summary"
	Elapsed  float64                  `json:"elapsed"` // seconds since the start
	Calls    int64                    `json:"calls"`
	Granted  int64                    `json:"granted"`
	Limited  int64                    `json:"limited"`
	Other    int64                    `json:"other"`
	Outcomes map[client.Outcome]int64 `json:"outcomes"`
	P50      float64                  `json:"p50_ms"`
	P99      float64                  `json:"p99_ms"`
}

func newLine(kind string, t totals, elapsed time.Duration) line {
	return line{
		Type: kind, Elapsed: elapsed.Seconds(),
		Calls: t.calls(), Granted: t.outcomes[client.Granted], Limited: t.outcomes[client.Limited], Other: t.other(),
		Outcomes: t.outcomes, P50: millis(t.latencies.quantile(0.50)), P99: millis(t.latencies.quantile(0.99)),
	}
}

// millis keeps the nanoseconds: a refusal that the process remembers takes less than a microsecond.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *report) head() {
	if r.json {
		return
	}
	rate := "as fast as possible"
	if r.load.rate > 0 {
		rate = fmt.Sprintf("%g calls/s", r.load.rate)
	}
	r.printf("app %s, bucket %s: %s, %d callers, %d permits a call\n", r.load.app, r.load.bucket, rate, r.load.concurrency, r.load.permits)
}

// everySecond writes a line for each second until ctx is done.
func (r *report) everySecond(ctx context.Context, start time.Time, m *meter) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var last totals
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := m.read()
		l := newLine("second", now.since(last), time.Since(start))
		last = now
		if r.json {
			r.encode(l)
		} else {
			r.printf("%5.0fs  granted %7d  limited %7d  other %7d  p50 %8.3f ms  p99 %8.3f ms\n", l.Elapsed, l.Granted, l.Limited, l.Other, l.P50, l.P99)
		}
	}
}

// summary writes the whole.
func (r *report) summary(t totals, elapsed time.Duration) {
	l := newLine("summary", t, elapsed)
	if r.json {
		r.encode(l)
		return
	}
	perSecond := func(n int64) float64 { return float64(n) / max(elapsed.Seconds(), 0.001) }
	r.printf("\n%d calls in %.1f s (%.1f/s)\n", l.Calls, l.Elapsed, perSecond(l.Calls))
	for _, outcome := range []client.Outcome{client.Granted, client.Limited, client.NotConfigured, client.TooMany, client.Unavailable} {
		if n := l.Outcomes[outcome]; n > 0 || outcome == client.Granted || outcome == client.Limited {
			r.printf("  %-15s %9d  (%.1f/s)\n", outcome, n, perSecond(n))
		}
	}
	r.printf("  latency         p50 %.3f ms, p99 %.3f ms\n", l.P50, l.P99)
	if l.Calls > 0 {
		r.printf("%s", r.advice(l))
	}
}

// advice says what to do when no call could ever have been granted, "" otherwise.
func (r *report) advice(l line) string {
	switch l.Calls {
	case l.Outcomes[client.NotConfigured]:
		return fmt.Sprintf("\nThere is no bucket %q for app %q in this Redis: create it in the console, list the app there, or check --bucket, --app and --prefix.\n", r.load.bucket, r.load.app)
	case l.Outcomes[client.TooMany]:
		return fmt.Sprintf("\nBucket %q never holds %d permits: ask for fewer with --permits, or raise its max_permits.\n", r.load.bucket, r.load.permits)
	case l.Outcomes[client.Unavailable]:
		return "\nRedis gave no verdict within the deadline: check that it runs, or give a longer --deadline.\n"
	default:
		return ""
	}
}

// A broken pipe is no reason to stop the load: whoever reads decides when to stop.
func (r *report) printf(format string, args ...any) { _, _ = fmt.Fprintf(r.w, format, args...) }

func (r *report) encode(l line) { _ = json.NewEncoder(r.w).Encode(l) }
