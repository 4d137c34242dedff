package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

var errWork = errors.New("the work failed")

// doing is a world with a bucket of one permit and one of one slot, which take.
type doing struct {
	*world
	names []string
}

func newDoing(t *testing.T, addr, prefix string) doing {
	w := newWorld(t, addr, prefix)
	w.install(waiting("permits", 1, time.Hour, time.Hour))
	w.install(leased("slots", 1, time.Hour))
	return doing{w, []string{"permits", "slots"}}
}

// use makes a bucket refuse whoever comes next.
func (w doing) use(name string) (release func()) {
	w.t.Helper()
	if name == "slots" {
		return w.hold(name, client.MaxWait(10*time.Second)).Release
	}
	wants(w.t, w.acquire(name), client.Granted, true)
	return func() {}
}

// notDone is work that must not be done.
func (w doing) notDone(context.Context) error {
	w.t.Error("refused work was done")
	return nil
}

func TestDoDoesTheWorkWhereTheBucketAllowsIt(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newDoing(t, addr, prefix)
		strategies := []client.Strategy{
			client.Reject(), client.WaitUpTo(time.Minute), client.Fallback(w.notDone),
			client.Custom(func(context.Context, client.Decision) error { return w.notDone(t.Context()) }),
		}
		for i, s := range strategies {
			for _, kind := range []string{"known", "unknown"} {
				for _, d := range []bucket.Definition{definition("permits", 1, 1, time.Hour), leased("slots", 1, time.Hour)} {
					d.Name = fmt.Sprintf("%s-%s-%d", d.Name, kind, i)
					w.install(d)
					if kind == "known" {
						if err := w.c.Preload(t.Context(), d.Name); err != nil {
							t.Fatal(err)
						}
					}
					done := 0
					work := func(ctx context.Context) error {
						if done++; ctx.Err() != nil {
							t.Errorf("%s: the work's context has ended", d.Name)
						}
						return errWork
					}
					if err := w.c.Do(t.Context(), d.Name, work, s); !errors.Is(err, errWork) || done != 1 {
						t.Errorf("%s: %v, done %d times", d.Name, err, done)
					}
				}
			}
		}
	})
}

func TestDoHoldsALeaseWhileItWorks(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newDoing(t, addr, prefix)
	var during context.Context
	err := w.c.Do(t.Context(), "slots", func(ctx context.Context) error {
		during = ctx
		return w.c.Do(t.Context(), "slots", w.notDone, client.Reject())
	}, client.Reject())
	var limited *client.LimitedError
	if !errors.As(err, &limited) || limited.Decision.Outcome != client.Limited {
		t.Errorf("%v", err)
	}
	if !errors.Is(context.Cause(during), client.ErrReleased) {
		t.Errorf("after the work its context ended for %v", context.Cause(during))
	}
	func() {
		defer func() { _ = recover() }()
		_ = w.c.Do(t.Context(), "slots", func(context.Context) error { panic("the work panics") }, client.WaitUpTo(10*time.Second))
	}()
	w.hold("slots", client.MaxWait(10*time.Second)) // it was released all the same
}

func TestRejectSaysWhyAndWhenAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newDoing(t, addr, prefix)
		for _, name := range w.names {
			defer w.use(name)()
			began := time.Now()
			// MaxWait is for those who wait.
			err := w.c.Do(t.Context(), name, w.notDone, client.Reject(), client.MaxWait(time.Minute))
			var limited *client.LimitedError
			if !errors.As(err, &limited) || limited.Decision.Outcome != client.Limited || limited.Decision.Bucket != name || limited.Decision.RetryAfter <= 0 || time.Since(began) > quick {
				t.Errorf("%s: %v", name, err)
			}
			if want := fmt.Sprintf("headgate: bucket %q: limited, try again in %v", name, limited.Decision.RetryAfter); err.Error() != want {
				t.Errorf("it says %q, want %q", err, want)
			}
		}
		err := w.c.Do(t.Context(), "no-such-bucket", w.notDone, client.Reject())
		if err == nil || err.Error() != `headgate: bucket "no-such-bucket": not_configured` {
			t.Errorf("%v", err)
		}
	})
}

func TestWaitUpToWaitsForItsTurnAndNoLonger(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newDoing(t, addr, prefix)
	w.install(waiting("soon", 1, 200*time.Millisecond, time.Minute))
	wants(t, w.acquire("soon"), client.Granted, true)
	release := w.use("slots")
	done := make(chan error, 2)
	worked := func(context.Context) error { return errWork }
	go func() { done <- w.c.Do(t.Context(), "soon", worked, client.WaitUpTo(time.Minute)) }()
	go func() { done <- w.c.Do(t.Context(), "slots", worked, client.WaitUpTo(time.Minute)) }()
	if err := <-done; !errors.Is(err, errWork) {
		t.Fatalf("%v", err)
	}
	release()
	if err := <-done; !errors.Is(err, errWork) {
		t.Fatalf("%v", err)
	}
	defer w.use("slots")()
	w.use("permits")
	for _, name := range w.names {
		for _, longest := range []time.Duration{0, 50 * time.Millisecond} {
			var limited *client.LimitedError
			if err := w.c.Do(t.Context(), name, w.notDone, client.WaitUpTo(longest)); !errors.As(err, &limited) {
				t.Errorf("%s, up to %v: %v", name, longest, err)
			}
		}
	}
}

func TestFallbackDegradesAndCustomDecides(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newDoing(t, addr, prefix)
	for _, name := range w.names {
		defer w.use(name)()
		err := w.c.Do(t.Context(), name, w.notDone, client.Fallback(func(context.Context) error { return errWork }))
		if !errors.Is(err, errWork) {
			t.Errorf("%s: %v", name, err)
		}
		err = w.c.Do(t.Context(), name, w.notDone, client.Custom(func(_ context.Context, d client.Decision) error {
			wants(t, d, client.Limited, false)
			return fmt.Errorf("%s: %w", d.Bucket, errWork)
		}))
		if !errors.Is(err, errWork) || err.Error() != name+": the work failed" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A client that knows a bucket by its former algorithm finds out by itself.
func TestDoFollowsAnEditOfTheAlgorithm(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newDoing(t, addr, prefix)
		d := leased("b", 1, time.Hour)
		for revision, algorithm := range []string{bucket.Concurrency, bucket.TokenBucket, bucket.Concurrency, bucket.FixedWindow} {
			if d.Revision, d.Algorithm = int64(revision+1), algorithm; revision == 0 {
				d.Period = time.Hour
			}
			w.install(d)
			if err := w.c.Do(t.Context(), "b", func(context.Context) error { return errWork }, client.Reject()); !errors.Is(err, errWork) {
				t.Fatalf("%s: %v", algorithm, err)
			}
		}
	})
}

func TestDoRefusesMisuseAndDoesNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newDoing(t, addr, prefix)
	for name, test := range map[string]struct {
		bucket string
		work   func(context.Context) error
		s      client.Strategy
		opt    client.CallOption
		kind   *client.MisuseError
	}{
		"no strategy":      {"permits", w.notDone, client.Strategy{}, client.Permits(1), client.ErrStrategy},
		"nil work":         {"permits", nil, client.Reject(), client.Permits(1), client.ErrStrategy},
		"nil fallback":     {"permits", w.notDone, client.Fallback(nil), client.Permits(1), client.ErrStrategy},
		"nil custom":       {"permits", w.notDone, client.Custom(nil), client.Permits(1), client.ErrStrategy},
		"negative wait":    {"permits", w.notDone, client.WaitUpTo(-1), client.Permits(1), client.ErrMaxWait},
		"no permits":       {"permits", w.notDone, client.Reject(), client.Permits(0), client.ErrPermits},
		"no name":          {"", w.notDone, client.Reject(), client.Permits(1), client.ErrBucket},
		"two slots":        {"slots", w.notDone, client.Reject(), client.Permits(2), client.ErrOneSlot},
		"two slots, waits": {"slots", w.notDone, client.WaitUpTo(time.Minute), client.Permits(2), client.ErrOneSlot},
	} {
		t.Run(name, func(t *testing.T) {
			misuse(t, w.c.Do(t.Context(), test.bucket, test.work, test.s, test.opt), test.kind)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range w.names {
		if err := w.c.Do(ctx, name, w.notDone, client.WaitUpTo(time.Minute)); !errors.Is(err, context.Canceled) {
			t.Errorf("a done context: %v", err)
		}
		w.use(name)()
	}
}
