package faults_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv/demand"
)

const (
	shop         = "shop"                // the app
	applications = 2                     // processes of it, each with a client of its own
	pause        = 10 * time.Millisecond // of a caller from one call to the next

	// hasty is the deadline of applications whose Redis is in trouble, and patient the one of those that are to notice
	// nothing: no busy machine misses it.
	hasty, patient = 300 * time.Millisecond, 20 * time.Second
)

// load is the calls of applications that go on and on, by bucket.
type load map[string]*demand.Demand

// startLoad has applications acquire from each bucket, one caller a bucket and application, until stop.
func startLoad(t *testing.T, connect func() redis.UniversalClient, deadline time.Duration, buckets ...string) load {
	t.Helper()
	var clients [applications]*client.Client
	for i := range clients {
		rdb := connect()
		c, err := client.New(rdb, shop, client.WithDeadline(deadline), client.WithLogger(slog.New(slog.DiscardHandler)))
		must(t, err)
		t.Cleanup(func() {
			_ = c.Close()
			_ = rdb.Close()
		})
		must(t, c.Preload(t.Context(), buckets...))
		clients[i] = c
	}
	l := load{}
	for _, name := range buckets {
		l[name] = demand.Start(t, applications, pause, func(caller int) (client.Decision, error) {
			return clients[caller].Acquire(t.Context(), name)
		})
	}
	return l
}

// stop ends the calling.
func (l load) stop() {
	for _, d := range l {
		d.Stop()
	}
}
