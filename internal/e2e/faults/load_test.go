package faults_test

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

const (
	shop         = "shop"                // the app
	applications = 2                     // processes of it, each with a client of its own
	pause        = 10 * time.Millisecond // of a caller from one call to the next

	// hasty is the deadline of applications whose Redis is in trouble, and patient the one of those that are to notice
	// nothing: no busy machine misses it.
	hasty, patient = 300 * time.Millisecond, 20 * time.Second
	// scheduling is how much later than the deadline a call may return on a machine that runs smoothly.
	scheduling = 300 * time.Millisecond
)

// tally is what came of the calls to one bucket.
type tally struct {
	granted     int64 // by Redis
	limited     int64 // by Redis, or by the client on Redis's word
	unavailable int64
	uncertain   int64 // of the unavailable ones: Redis may have taken the permit all the same
	longest     time.Duration
	wrong       []any // errors, and outcomes that no fault here may cause
}

func (r *tally) note(d client.Decision, err error, took time.Duration) {
	r.longest = max(r.longest, took)
	switch {
	case err != nil:
		r.wrong = append(r.wrong, err)
	case d.Outcome == client.Granted && d.Source == client.SourceRedis:
		r.granted++
	case d.Outcome == client.Limited:
		r.limited++
	case d.Outcome == client.Unavailable && !d.Allowed: // the buckets here are closed without Redis
		r.unavailable++
		if mayHaveTaken(d.Err) {
			r.uncertain++
		}
	default:
		r.wrong = append(r.wrong, d)
	}
}

// mayHaveTaken tells whether a script may have run although its answer did not arrive. An error that Redis replied says
// that it did not, and the others here that nothing was sent.
func mayHaveTaken(err error) bool {
	var replied redis.Error
	var network *net.OpError
	switch {
	case errors.As(err, &replied), errors.Is(err, client.ErrBreakerOpen), errors.Is(err, client.ErrBusy), errors.Is(err, client.ErrLost):
		return false
	default:
		return !errors.As(err, &network) || network.Op != "dial"
	}
}

// load is the calls of applications that go on and on.
type load struct {
	stopped chan struct{}
	once    sync.Once
	callers sync.WaitGroup

	mu   sync.Mutex
	all  map[string]*tally
	late time.Duration // the most by which this process woke up late: what the machine adds to any call
}

// startLoad has applications acquire from each bucket, one caller a bucket and application, until stop.
func startLoad(t *testing.T, connect func() redis.UniversalClient, deadline time.Duration, buckets ...string) *load {
	t.Helper()
	l := &load{stopped: make(chan struct{}), all: map[string]*tally{}}
	for _, name := range buckets {
		l.all[name] = &tally{}
	}
	l.callers.Go(l.watch)
	for range applications {
		rdb := connect()
		c, err := client.New(rdb, shop, client.WithDeadline(deadline), client.WithLogger(slog.New(slog.DiscardHandler)))
		must(t, err)
		t.Cleanup(func() {
			l.stop()
			_ = c.Close()
			_ = rdb.Close()
		})
		must(t, c.Preload(t.Context(), buckets...))
		for _, name := range buckets {
			l.callers.Go(func() { l.run(t, c, name) })
		}
	}
	return l
}

func (l *load) run(t *testing.T, c *client.Client, name string) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-l.stopped:
			return
		case <-tick.C:
		}
		began := time.Now()
		d, err := c.Acquire(t.Context(), name)
		took := time.Since(began)
		l.mu.Lock()
		l.all[name].note(d, err, took)
		l.mu.Unlock()
	}
}

// watch measures how late the machine lets this process wake up.
func (l *load) watch() {
	const nap = 5 * time.Millisecond
	for {
		began := time.Now()
		select {
		case <-l.stopped:
			return
		case <-time.After(nap):
		}
		late := time.Since(began) - nap
		l.mu.Lock()
		l.late = max(l.late, late)
		l.mu.Unlock()
	}
}

// of returns what came of the calls to a bucket so far.
func (l *load) of(name string) tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.all[name]
}

// goOn waits until Redis has granted so many more of a bucket.
func (l *load) goOn(t *testing.T, name string, more int64) {
	t.Helper()
	target := l.of(name).granted + more
	testenv.Eventually(t, comeback, "applications are granted permits of "+name, func() bool { return l.of(name).granted >= target })
}

// notices waits until calls to a bucket get no verdict.
func (l *load) notices(t *testing.T, name string) {
	t.Helper()
	before := l.of(name).unavailable
	testenv.Eventually(t, comeback, "applications notice", func() bool { return l.of(name).unavailable > before })
}

// stop ends the calling.
func (l *load) stop() {
	l.once.Do(func() { close(l.stopped) })
	l.callers.Wait()
}
