package demand

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

const (
	// scheduling is how much later than the deadline a call may return on a machine that runs smoothly.
	scheduling = 300 * time.Millisecond
	// wake is how many wake-ups a call may need after its deadline, each as late as the machine was at its worst.
	wake = 3
	// patience bounds the waits here, for machines that are busy with something else.
	patience = 100 * time.Second
)

// Demand is a number of callers that go on calling, each once a pause.
type Demand struct {
	stopped chan struct{}
	once    sync.Once
	callers sync.WaitGroup

	mu    sync.Mutex
	since Tally // since the last look
	all   Tally
	late  time.Duration // the most by which this process woke up late: what the machine adds to any call
}

// Start lets callers call until Stop, or the end of the test. They keep a pause, so that the servers under test get their
// share of the machine.
func Start(t testing.TB, callers int, pause time.Duration, call func(caller int) (client.Decision, error)) *Demand {
	t.Helper()
	d := &Demand{stopped: make(chan struct{})}
	for i := range callers {
		d.callers.Go(func() { d.run(pause, func() (client.Decision, error) { return call(i) }) })
	}
	d.callers.Go(d.watch)
	t.Cleanup(func() { d.Stop() })
	return d
}

func (d *Demand) run(pause time.Duration, call func() (client.Decision, error)) {
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
		d.since.Note(decision, err, took)
		d.all.Note(decision, err, took)
		d.mu.Unlock()
	}
}

// watch measures how late the machine lets this process wake up.
func (d *Demand) watch() {
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

// Look returns what came of the calls since the last look.
func (d *Demand) Look() Tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.since
	d.since = Tally{}
	return r
}

// SoFar returns what came of all calls until now.
func (d *Demand) SoFar() Tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.all
	r.Reasons, r.Wrong = maps.Clone(r.Reasons), slices.Clone(r.Wrong)
	return r
}

// GoOn waits for so many more calls.
func (d *Demand) GoOn(t testing.TB, calls int64) {
	t.Helper()
	target := d.SoFar().Calls + calls
	testenv.Eventually(t, patience, "more calls", func() bool { return d.SoFar().Calls >= target })
}

// IsGranted waits until Redis has granted so many more.
func (d *Demand) IsGranted(t testing.TB, more int64) {
	t.Helper()
	target := d.SoFar().Granted + more
	testenv.Eventually(t, patience, "applications are granted permits", func() bool { return d.SoFar().Granted >= target })
}

// Notices waits until one more call gets no verdict.
func (d *Demand) Notices(t testing.TB) {
	t.Helper()
	before := d.SoFar().Unavailable
	testenv.Eventually(t, patience, "applications notice", func() bool { return d.SoFar().Unavailable > before })
}

// ComesBack waits until Redis decides on calls again, and returns how long that took.
func (d *Demand) ComesBack(t testing.TB) time.Duration {
	t.Helper()
	began := time.Now()
	d.Look()
	testenv.Eventually(t, patience, "Redis decides again", func() bool {
		r := d.Look()
		return r.Granted+r.Limited > 0 && r.Unavailable == 0
	})
	return time.Since(began)
}

// Late is the most by which this process woke up late so far: what the machine adds to any wait.
func (d *Demand) Late() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.late
}

// Stop ends the calling and returns what came of all calls.
func (d *Demand) Stop() Tally {
	d.once.Do(func() { close(d.stopped) })
	d.callers.Wait()
	return d.SoFar()
}

// Quick stops, and fails the test when a call took longer than the deadline allows on this machine, or when one came to
// something that no fault may cause.
func (d *Demand) Quick(t testing.TB, what string, deadline time.Duration) Tally {
	t.Helper()
	r := d.Stop()
	late := d.Late()
	if most := deadline + scheduling + wake*late; r.Longest > most {
		t.Errorf("a call to %s took %v with a deadline of %v (the machine woke up %v late)", what, r.Longest, deadline, late)
	}
	for i, wrong := range r.Wrong {
		if i < 5 {
			t.Errorf("a call to %s came to %+v", what, wrong)
		}
	}
	t.Logf("%s: %d calls: %d granted, %d limited, %d local, %d unavailable (%d uncertain); longest %v, machine late by %v; %v", what,
		r.Calls, r.Granted, r.Limited, r.Local, r.Unavailable, r.Uncertain, r.Longest.Round(time.Millisecond), late.Round(time.Millisecond), r.Reasons)
	return r
}
