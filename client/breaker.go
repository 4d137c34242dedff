package client

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	breakerThreshold = 3 // failures in a row, over at least one deadline
	firstProbe       = 25 * time.Millisecond
	longestProbe     = 500 * time.Millisecond
	relapse          = time.Second // opened again within this, the breaker goes on where it was instead of probing fast
)

// breaker keeps calls from waiting for a Redis that does not answer. Failures in a row open it; while it is open calls
// are answered by policy at once and a goroutine probes, so that no caller pays for finding out; a probe that is
// answered within the deadline closes it. An error that Redis itself replies is an answer, not a failure. One hiccup
// fails all the calls under way at once, so however many failures only open it when they last longer than one deadline.
type breaker struct {
	life     context.Context // ends with the client
	deadline time.Duration
	probe    func(context.Context) error
	log      *slog.Logger
	spawn    func(func()) // runs a goroutine that Close waits for
	reload   func()       // looks for other masters, where there may be some

	failures atomic.Int32
	since    atomic.Int64 // ns of Unix time of the first of these failures; 0 = none
	open     atomic.Bool

	// Only the probing goroutine, one at a time, touches these.
	pause time.Duration
	back  time.Time
}

// allows tells whether Redis may be asked.
func (b *breaker) allows() bool { return !b.open.Load() }

// note takes in how Redis answered a call.
func (b *breaker) note(err error) {
	switch {
	case err != nil && !repliedByRedis(err):
		b.failed(err)
	case b.failures.Load() != 0:
		b.reset()
	}
}

func (b *breaker) failed(err error) {
	b.reload()
	now := time.Now().UnixNano()
	b.since.CompareAndSwap(0, now)
	lasting := now-b.since.Load() >= int64(b.deadline)
	if b.failures.Add(1) < breakerThreshold || !lasting || !b.open.CompareAndSwap(false, true) {
		return
	}
	b.log.Warn("headgate: Redis does not answer; buckets follow their failure policy until it is back", "error", err)
	b.spawn(b.probeUntilBack)
}

func (b *breaker) reset() {
	b.failures.Store(0)
	b.since.Store(0)
}

// repliedByRedis tells whether an error is Redis's own answer, which shows that it is there.
func repliedByRedis(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

func (b *breaker) probeUntilBack() {
	began := time.Now()
	if began.Sub(b.back) > relapse {
		b.pause = firstProbe
	}
	for {
		select {
		case <-b.life.Done():
			return
		case <-time.After(b.pause/2 + rand.N(b.pause)):
		}
		b.pause = min(2*b.pause, longestProbe)
		if b.probe(b.life) == nil {
			break
		}
		b.reload()
	}
	b.back = time.Now()
	b.reset()
	b.open.Store(false) // from here on another goroutine may probe
	b.log.Info("headgate: Redis answers again", "after", time.Since(began).Round(time.Millisecond))
}
