package topology_test

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

// scheduling is how much later than the deadline a call may return on a machine that runs smoothly.
const scheduling = 150 * time.Millisecond

// tally is what came of many calls.
type tally struct {
	calls       int64
	granted     int64 // by Redis
	limited     int64 // by Redis, or by the client on Redis's word
	local       int64 // decided by this process's share
	unavailable int64
	allowed     int64 // of the unavailable and local ones
	uncertain   int64 // of the unavailable ones: Redis may have taken the permits all the same
	longest     time.Duration
	reasons     map[string]int64 // why Redis gave no verdict
	wrong       []any            // errors, and outcomes that nothing here may cause
}

// note takes in one call.
func (r *tally) note(d client.Decision, err error, took time.Duration) {
	r.calls++
	r.longest = max(r.longest, took)
	if d.Err != nil && d.Source != client.SourceRedis {
		if r.reasons == nil {
			r.reasons = map[string]int64{}
		}
		r.reasons[d.Err.Error()]++
	}
	switch {
	case err != nil:
		r.wrong = append(r.wrong, err)
	case d.Source == client.SourceLocal:
		r.local++
		r.admit(d)
	case d.Outcome == client.Granted:
		r.granted++
	case d.Outcome == client.Limited:
		r.limited++
	case d.Outcome == client.Unavailable:
		r.unavailable++
		r.admit(d)
		if mayHaveTaken(d.Err) {
			r.uncertain++
		}
	default:
		r.wrong = append(r.wrong, d)
	}
}

func (r *tally) admit(d client.Decision) {
	if d.Allowed {
		r.allowed++
	}
}

// mayHaveTaken tells whether a script may have run although its answer did not arrive. An error that Redis replied says
// that it did not, and the others here that nothing was sent.
func mayHaveTaken(err error) bool {
	var replied redis.Error
	var network *net.OpError
	switch {
	case errors.As(err, &replied), errors.Is(err, client.ErrBreakerOpen), errors.Is(err, client.ErrBusy):
		return false
	default:
		return !errors.As(err, &network) || network.Op != "dial"
	}
}

// demand is a number of callers that go on calling, each once a pause.
type demand struct {
	stopped chan struct{}
	once    sync.Once
	callers sync.WaitGroup

	mu    sync.Mutex
	since tally // since the last look
	all   tally
	late  time.Duration // the most by which this process woke up late: what the machine adds to any call
}

// start lets callers call until stop. They keep a pause, so that the servers under test get their share of the machine.
func start(t *testing.T, callers int, pause time.Duration, call func(caller int) (client.Decision, error)) *demand {
	t.Helper()
	d := &demand{stopped: make(chan struct{})}
	for i := range callers {
		d.callers.Go(func() { d.run(pause, func() (client.Decision, error) { return call(i) }) })
	}
	d.callers.Go(d.watch)
	t.Cleanup(func() { d.stop() })
	return d
}

func (d *demand) run(pause time.Duration, call func() (client.Decision, error)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-d.stopped:
			return
		case <-tick.C:
		}
		began := time.Now()
		decision, err := call()
		took := time.Since(began)
		d.mu.Lock()
		d.since.note(decision, err, took)
		d.all.note(decision, err, took)
		d.mu.Unlock()
	}
}

// watch measures how late the machine lets this process wake up.
func (d *demand) watch() {
	const nap = 5 * time.Millisecond
	for {
		began := time.Now()
		select {
		case <-d.stopped:
			return
		case <-time.After(nap):
		}
		late := time.Since(began) - nap
		d.mu.Lock()
		d.late = max(d.late, late)
		d.mu.Unlock()
	}
}

// look returns what came of the calls since the last look.
func (d *demand) look() tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.since
	d.since = tally{}
	return r
}

// goOn waits for so many more calls.
func (d *demand) goOn(t *testing.T, calls int64) {
	t.Helper()
	d.mu.Lock()
	target := d.all.calls + calls
	d.mu.Unlock()
	testenv.Eventually(t, comeback, "more calls", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.all.calls >= target
	})
}

// stop ends the calling and returns what came of all calls.
func (d *demand) stop() tally {
	d.once.Do(func() { close(d.stopped) })
	d.callers.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all
}

// quick fails the test when a call took longer than the deadline allows on this machine, or when one came to something
// that the test's fault can't cause.
func (d *demand) quick(t *testing.T, deadline time.Duration) {
	t.Helper()
	r := d.stop()
	if most := deadline + scheduling + 2*d.late; r.longest > most {
		t.Errorf("a call took %v with a deadline of %v (the machine woke up %v late)", r.longest, deadline, d.late)
	}
	for i, wrong := range r.wrong {
		if i < 5 {
			t.Errorf("a call came to %+v", wrong)
		}
	}
	t.Logf("%d calls: %d granted, %d limited, %d local, %d unavailable (%d uncertain); longest %v, machine late by %v; %v",
		r.calls, r.granted, r.limited, r.local, r.unavailable, r.uncertain, r.longest, d.late, r.reasons)
}
