package client_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// gated is a world whose client's calls on the bucket b pass a gate; the bucket holds 10 permits and gets hardly any.
type gated struct {
	*world
	gate  *gate
	other *client.Client // whose calls don't pass it
}

func newGated(t *testing.T, opts ...client.Option) *gated {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	direct := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _, _ = rdb.Close(), direct.Close() })
	g := &gated{gate: newGate("b")}
	rdb.AddHook(g.gate)
	g.world = &world{t: t, rdb: direct, engine: bucket.New(direct, prefix)}
	patient := []client.Option{client.Prefix(prefix), client.WithDeadline(20 * time.Second)}
	g.other = g.client("billing", patient...)
	g.rdb = rdb
	// With hooks every call has a goroutine of its own, so that its caller can leave.
	g.c = g.client("checkout", append(append(patient, client.WithHooks()), opts...)...)
	g.install(definition("b", 10, 1, time.Hour))
	if err := g.c.Preload(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	return g
}

// started is a call under way.
type started struct {
	cancel context.CancelFunc
	done   chan struct{}
	d      client.Decision
	err    error
}

func (g *gated) start(call func(ctx context.Context) (client.Decision, error)) *started {
	ctx, cancel := context.WithCancel(g.t.Context())
	g.t.Cleanup(cancel)
	s := &started{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.d, s.err = call(ctx)
	}()
	return s
}

func (g *gated) acquires(opts ...client.CallOption) *started {
	return g.start(func(ctx context.Context) (client.Decision, error) { return g.c.Acquire(ctx, "b", opts...) })
}

// leaves cancels a call and waits for its end, which nothing holds up.
func (s *started) leaves(t *testing.T) {
	t.Helper()
	s.cancel()
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		t.Fatal("a cancelled call goes on")
	}
	if !errors.Is(s.err, context.Canceled) || s.d.Allowed {
		t.Fatalf("a cancelled call: %+v, %v", s.d, s.err)
	}
}

func (s *started) comes(t *testing.T, outcome client.Outcome) {
	t.Helper()
	<-s.done
	if s.err != nil || s.d.Outcome != outcome {
		t.Fatalf("%+v, %v, want %s", s.d, s.err, outcome)
	}
}

// left is how many permits the bucket has.
func (g *gated) left() int64 {
	g.t.Helper()
	d, err := g.other.Peek(context.WithoutCancel(g.t.Context()), "b")
	if err != nil || d.Source != client.SourceRedis {
		g.t.Fatalf("%+v, %v", d, err)
	}
	return d.Remaining
}

// becomes waits until the bucket has exactly n permits, and for the client to have nothing more to send.
func (g *gated) becomes(n int64) {
	g.t.Helper()
	testenv.Eventually(g.t, 10*time.Second, "the permits are back", func() bool { return g.left() >= n })
	if err := g.c.Close(); err != nil {
		g.t.Error(err)
	}
	if left := g.left(); left != n {
		g.t.Fatalf("%d permits are left, want %d", left, n)
	}
}

// busy keeps as many flights of the client in the air as there may be, so that what comes then has to queue: each has taken
// one permit, and its answer is held.
func (g *gated) busy() []*started {
	g.t.Helper()
	g.gate.close()
	for flying := []*started(nil); ; {
		s := g.acquires()
		testenv.Eventually(g.t, 10*time.Second, "a call flies or queues", func() bool {
			return g.gate.holds() > len(flying) || g.c.Stats().Waiting > 0
		})
		if g.c.Stats().Waiting > 0 {
			s.leaves(g.t)
			return flying
		}
		flying = append(flying, s)
	}
}

// lands lets flights go on that were held.
func (g *gated) lands(flying []*started, outcome client.Outcome) {
	g.t.Helper()
	for _, f := range flying {
		g.gate.release()
		f.comes(g.t, outcome)
	}
}

// queued waits until n callers are in the queue.
func (g *gated) queued(n int64) {
	g.t.Helper()
	testenv.Eventually(g.t, 10*time.Second, "callers queue", func() bool { return g.c.Stats().Waiting == n })
}

func TestACallCancelledWhileItQueuesTakesNothing(t *testing.T) {
	for name, call := range map[string]func(g *gated, ctx context.Context) (client.Decision, error){
		"Acquire": func(g *gated, ctx context.Context) (client.Decision, error) {
			return g.c.Acquire(ctx, "b", client.Permits(3))
		},
		"Wait": func(g *gated, ctx context.Context) (client.Decision, error) {
			return g.c.Wait(ctx, "b", client.Permits(3), client.MaxWait(time.Second))
		},
		"AcquireAll": func(g *gated, ctx context.Context) (client.Decision, error) {
			_, err := g.c.AcquireAll(ctx, client.Request{Bucket: "b", Permits: 3})
			return client.Decision{}, err
		},
		"Peek": func(g *gated, ctx context.Context) (client.Decision, error) { return g.c.Peek(ctx, "b") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t)
			sent := g.gate.calls()
			flying := g.busy()
			s := g.start(func(ctx context.Context) (client.Decision, error) { return call(g, ctx) })
			g.queued(1)
			s.leaves(t)
			g.queued(0)
			g.gate.open()
			g.lands(flying, client.Granted)
			g.becomes(int64(10 - len(flying)))
			if calls := g.gate.calls() - sent; calls != len(flying) {
				t.Fatalf("%d script calls were sent for %d calls and a cancelled one", calls, len(flying))
			}
		})
	}
}

// Two of five callers of one row leave while it queues: only three permits are asked for, and the callers that stay get
// their answers.
func TestThoseWhoStayInAQueuedRowAreServed(t *testing.T) {
	g := newGated(t)
	flying := g.busy()
	var row []*started
	for n := range 5 {
		row = append(row, g.acquires(client.Permits(2)))
		g.queued(int64(n + 1))
	}
	row[1].leaves(t)
	row[3].leaves(t)
	g.queued(3)
	g.gate.open()
	g.lands(flying, client.Granted)
	for _, n := range []int{0, 2, 4} {
		row[n].comes(t, client.Granted)
	}
	g.becomes(int64(10 - len(flying) - 3*2))
}

// The bucket has 10 permits, 4 are taken by somebody else, so that one given back too often would show.
func TestACallCancelledInFlightGivesBackExactlyOnce(t *testing.T) {
	for name, call := range map[string]func(g *gated, ctx context.Context) (client.Decision, error){
		"Acquire": func(g *gated, ctx context.Context) (client.Decision, error) {
			return g.c.Acquire(ctx, "b", client.Permits(2))
		},
		"Wait": func(g *gated, ctx context.Context) (client.Decision, error) {
			return g.c.Wait(ctx, "b", client.Permits(2), client.MaxWait(time.Second))
		},
		"AcquireAll": func(g *gated, ctx context.Context) (client.Decision, error) {
			_, err := g.c.AcquireAll(ctx, client.Request{Bucket: "b", Permits: 2})
			return client.Decision{}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t)
			if d, err := g.other.Acquire(t.Context(), "b", client.Permits(4)); err != nil || !d.Allowed {
				t.Fatalf("%+v, %v", d, err)
			}
			sent := g.gate.calls()
			g.gate.close()
			s := g.start(func(ctx context.Context) (client.Decision, error) { return call(g, ctx) })
			g.gate.waits(t, 1)
			if left := g.left(); left != 4 {
				t.Fatalf("%d permits are left while the call is in flight", left)
			}
			s.leaves(t)
			g.gate.open()
			g.gate.release()
			g.becomes(6)
			if calls := g.gate.calls() - sent; calls != 2 {
				t.Fatalf("%d script calls were sent, want one to take and one to give back", calls)
			}
			if used := g.c.Stats().Buckets["b"]; used.Granted != 0 || used.Limited != 0 {
				t.Fatalf("what nobody got was counted: %+v", used)
			}
		})
	}
}

// Callers of one row leave in flight: the others keep what they got, and what is left over comes back.
func TestOneCallersContextNeverCancelsTheOthers(t *testing.T) {
	g := newGated(t)
	flying := g.busy()
	var row []*started
	for n := range 6 {
		row = append(row, g.acquires())
		g.queued(int64(n + 1))
	}
	g.lands(flying[:1], client.Granted) // so that the row departs, and is held when it has run
	g.gate.waits(t, len(flying))
	for _, n := range []int{0, 3, 4} {
		row[n].leaves(t)
	}
	g.gate.open()
	g.lands(flying[1:], client.Granted)
	g.gate.release()
	for _, n := range []int{1, 2, 5} {
		row[n].comes(t, client.Granted)
	}
	g.becomes(int64(10 - len(flying) - 3))
}

// A row of six finds two permits, and some callers leave in flight: those who stay get them, and what they leave comes back.
func TestThoseWhoStayGetWhatTheRowWasGranted(t *testing.T) {
	for leaving := range 7 {
		t.Run(strconv.Itoa(leaving), func(t *testing.T) {
			g := newGated(t)
			flying := g.busy()
			if d, err := g.other.Acquire(t.Context(), "b", client.Permits(int64(10-len(flying)-2))); err != nil || !d.Allowed {
				t.Fatalf("%+v, %v", d, err)
			}
			var row []*started
			for n := range 6 {
				row = append(row, g.acquires())
				g.queued(int64(n + 1))
			}
			g.lands(flying[:1], client.Granted)
			g.gate.waits(t, len(flying))
			for _, s := range row[:leaving] {
				s.leaves(t)
			}
			g.gate.open()
			g.lands(flying[1:], client.Granted)
			g.gate.release()
			granted := 0
			for _, s := range row[leaving:] {
				<-s.done
				if s.err != nil || s.d.Outcome != client.Granted && s.d.Outcome != client.Limited {
					t.Fatalf("%+v, %v", s.d, s.err)
				}
				if s.d.Allowed {
					granted++
				}
			}
			if want := min(2, 6-leaving); granted != want {
				t.Fatalf("%d of those who stayed were granted, want %d", granted, want)
			}
			g.becomes(int64(2 - granted))
		})
	}
}

// Close waits for a call in flight whose caller has left, and for what it gives back.
func TestCloseBringsBackWhatCallsInFlightTook(t *testing.T) {
	g := newGated(t)
	g.gate.close()
	s := g.acquires(client.Permits(7))
	g.gate.waits(t, 1)
	s.leaves(t)
	var closing sync.WaitGroup
	closing.Go(func() {
		if err := g.c.Close(); err != nil {
			t.Error(err)
		}
	})
	testenv.Eventually(t, 10*time.Second, "the client closes", func() bool {
		_, err := g.c.Peek(t.Context(), "elsewhere")
		return errors.Is(err, client.ErrIsClosed)
	})
	g.gate.open()
	g.gate.release()
	closing.Wait()
	if left := g.left(); left != 10 {
		t.Fatalf("%d permits are left after Close", left)
	}
}
