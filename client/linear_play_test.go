package client_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
)

// stage is a Redis on which histories are played, each on a bucket of its own.
type stage struct {
	t      *testing.T
	rdbs   [parties]*redis.Client // of the clients
	engine *bucket.Engine         // asks Redis without faults
	direct *redis.Client
}

// newStage connects parties clients to addr; hook may be nil. What the test itself asks goes to direct.
func newStage(t *testing.T, addr, direct string, hook redis.Hook) *stage {
	t.Helper()
	connect := func(addr string) *redis.Client {
		rdb := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { _ = rdb.Close() })
		return rdb
	}
	s := &stage{t: t, direct: connect(direct)}
	s.engine = bucket.New(s.direct, client.DefaultPrefix)
	for i := range s.rdbs {
		s.rdbs[i] = connect(addr)
		if hook != nil {
			s.rdbs[i].AddHook(hook)
		}
	}
	return s
}

func (s *stage) now() int64 {
	s.t.Helper()
	at, err := s.engine.Time(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return at.UnixMicro()
}

func (s *stage) install(d bucket.Definition) {
	s.t.Helper()
	if result, err := s.engine.Install(s.t.Context(), d, bucket.InstallOptions{Deployment: deployment}); err != nil || result.Status != bucket.StatusInstalled {
		s.t.Fatalf("install %s: %+v, %v", d.Name, result, err)
	}
}

// play is one history in the making.
type play struct {
	history
	stage    *stage
	name     string // of the bucket
	roomy    string // of another that never refuses, for composite calls; "" = none
	reserves bool   // the bucket reserves turns for calls that wait
	clients  [parties]*client.Client
	used     [parties]int64 // permits that each client was surely granted
	guess    bool           // some calls had no answer, so the clients may have used more
	usedMu   sync.Mutex
}

func (s *stage) newPlay(name string, opts ...client.Option) *play {
	s.t.Helper()
	p := &play{stage: s, name: name}
	opts = append([]client.Option{client.WithDeadline(20 * time.Second), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	for i := range p.clients {
		c, err := client.New(s.rdbs[i], "checkout", opts...)
		if err != nil {
			s.t.Fatal(err)
		}
		p.clients[i] = c
	}
	return p
}

// move is what a caller is to do.
type move struct {
	kind    kind
	permits int64
	wait    time.Duration
	cancel  time.Duration // when its context is cancelled; 0 = not, negative = before the call
	until   time.Duration // when its context has its deadline; 0 = it has none
}

// do makes a move as one of the clients and enters what came of it.
func (p *play) do(by int, m move) {
	ctx, cancel := context.WithCancel(p.stage.t.Context())
	defer cancel()
	switch {
	case m.cancel < 0:
		cancel()
	case m.cancel > 0:
		defer time.AfterFunc(m.cancel, cancel).Stop()
	case m.until > 0:
		ctx, cancel = context.WithTimeout(ctx, m.until)
		defer cancel()
		m.wait = min(m.wait, m.until)
	}
	h := happened{kind: m.kind, by: by, permits: m.permits, wait: m.wait, call: time.Now().UnixNano()}
	d, err := p.ask(ctx, p.clients[by], m)
	h.ret, h.decision = time.Now().UnixNano(), d
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		if m.cancel >= 0 && m.kind != peeked {
			p.addUnsure(h, true, true)
		}
	case err != nil:
		p.stage.t.Errorf("%v: %v", &h, err)
	case d.Err != nil:
		p.unanswered(h)
	default:
		p.answered(h)
	}
}

// answered enters a call that was decided.
func (p *play) answered(h happened) {
	d := &h.decision
	if h.kind == waited && d.Outcome == client.Granted {
		h.there = p.stage.now()
	}
	if d.Outcome == client.Granted && h.kind != peeked {
		p.usedMu.Lock()
		p.used[h.by] += h.permits
		p.usedMu.Unlock()
	}
	if p.reserves && h.kind == waited && d.Outcome == client.Limited && h.decided() && d.RetryAfter <= h.wait {
		p.addLate(h)
		return
	}
	p.add(h)
}

// unanswered enters a call that was answered by policy.
func (p *play) unanswered(h happened) {
	p.usedMu.Lock()
	p.guess = true
	p.usedMu.Unlock()
	if never := errors.Is(h.decision.Err, client.ErrBusy) || errors.Is(h.decision.Err, client.ErrBreakerOpen); !never && h.kind != peeked {
		p.addUnsure(h, false, errors.Is(h.decision.Err, client.ErrDeadline))
	}
}

func (p *play) ask(ctx context.Context, c *client.Client, m move) (client.Decision, error) {
	switch m.kind {
	case peeked:
		return c.Peek(ctx, p.name, client.Permits(m.permits))
	case waited:
		return c.Wait(ctx, p.name, client.Permits(m.permits), client.MaxWait(m.wait))
	case all:
		ds, err := c.AcquireAll(ctx, client.Request{Bucket: p.name, Permits: m.permits}, client.Request{Bucket: p.roomy})
		if err != nil {
			return client.Decision{}, err
		}
		return ds[0], nil
	default:
		return c.Acquire(ctx, p.name, client.Permits(m.permits))
	}
}

// perform has all callers of all clients make their moves at the same time.
func (p *play) perform(moves [][]move) {
	var running sync.WaitGroup
	for i, list := range moves {
		running.Go(func() {
			for _, m := range list {
				p.do(i%parties, m)
			}
		})
	}
	running.Wait()
}

// end closes the clients, which brings the last give-backs to Redis, and looks at the bucket once more.
func (p *play) end() {
	p.stage.t.Helper()
	for i, c := range p.clients {
		if err := c.Close(); err != nil && !p.guess {
			p.stage.t.Errorf("Close: %v", err)
		}
		if used := c.Stats().Buckets[p.name].Granted; used != p.used[i] && !p.guess {
			p.stage.t.Errorf("client %d counted %d permits as granted, its callers got %d", i, used, p.used[i])
		}
	}
	last, err := client.New(p.stage.direct, "checkout", client.WithDeadline(20*time.Second))
	if err != nil {
		p.stage.t.Fatal(err)
	}
	defer func() { _ = last.Close() }()
	p.clients[0] = last
	p.do(0, move{kind: peeked, permits: 1})
}

// draw makes moves for callers of each client, of the kinds given, of which at most unsure may end without an answer.
func draw(rng *rand.Rand, callers, calls, unsure int, kinds ...kind) [][]move {
	moves := make([][]move, parties*callers)
	for i := range moves {
		for range calls {
			m := move{kind: kinds[rng.IntN(len(kinds))], permits: 1 + rng.Int64N(rng.Int64N(mostAsked)+1)}
			if m.kind == waited {
				m.wait = time.Duration(rng.IntN(20_000)) * time.Microsecond
			}
			if unsure > 0 && rng.IntN(6) == 0 {
				unsure--
				soon := time.Duration(1+rng.IntN(1500))*time.Microsecond + m.wait/time.Duration(1+rng.IntN(3))
				switch rng.IntN(5) {
				case 0:
					m.cancel = -1
				case 1:
					m.until = soon
				default:
					m.cancel = soon
				}
			}
			moves[i] = append(moves[i], m)
		}
	}
	return moves
}
