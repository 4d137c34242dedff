package client

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// firstBeat is how soon after it learned its first bucket a client tells of itself, at the latest.
const firstBeat = time.Second

// pulse tells Redis every few seconds that this process is there, which buckets it uses and by which revisions, and
// learns how many processes share those of policy local.
type pulse struct {
	client *Client
	id     string
	host   string
	locals []string // told last
	beaten bool
	silent bool // the last beat failed
	missed bool // so did it, or there was none since Redis was away
	back   time.Time
}

func newPulse(c *Client) *pulse {
	host, _ := os.Hostname() // "" where there is none
	return &pulse{client: c, id: leaseID(), host: host}
}

func (p *pulse) run() {
	next := time.NewTimer(min(firstBeat, p.client.options.beat))
	defer next.Stop()
	for {
		select {
		case <-p.client.life.Done():
			p.leave()
			return
		case <-next.C:
		}
		p.beat()
		pause := p.client.options.beat
		if !p.beaten {
			pause = min(firstBeat, pause)
		}
		// Spread, so that processes started together don't beat together.
		next.Reset(pause*9/10 + rand.N(pause/5))
	}
}

// beat tells once, unless there is nothing to tell or Redis is away.
func (p *pulse) beat() {
	c := p.client
	me := bucket.Instance{ID: p.id, App: c.app, Host: p.host, Version: version(), Uptime: time.Since(c.clock.start), Buckets: map[string]int64{}}
	var locals []string
	c.book.each(func(k *known) {
		if f := k.facts(); f != nil {
			me.Buckets[k.name] = f.Revision
			if f.OnFailure == bucket.FailLocal {
				locals = append(locals, k.name)
			}
		}
	})
	if len(me.Buckets) == 0 && !p.beaten {
		return
	}
	if !c.lanes.allow() {
		p.missed = true
		return
	}
	p.locals, p.beaten = locals, true
	live, err := within(c.life, func(ctx context.Context) (map[string]int64, error) {
		return c.engine.Beat(ctx, me, locals) // with what was answered beside an error
	})
	if err == nil {
		err = p.tellLimited(c.life)
	}
	if p.missed && err == nil {
		p.back = time.Now()
	}
	p.missed = err != nil
	for name, n := range live {
		// After an outage not all have beaten again yet; should Redis fail once more, too few would share the limit.
		if k := c.book.find(name); k != nil && (n > k.live.Load() || time.Since(p.back) > bucket.LiveFor) {
			k.live.Store(n)
		}
	}
	p.tell(err)
}

// tell lets operators know that beats began to fail, or to arrive again.
func (p *pulse) tell(err error) {
	failed := err != nil && p.client.life.Err() == nil // what Close cuts short has not failed
	switch log := p.client.options.log; {
	case failed && !p.silent:
		log.Warn("headgate: heartbeats fail; the console does not see this process, and policy local shares limits by the last count", "error", err)
	case err == nil && p.silent:
		log.Info("headgate: heartbeats arrive again")
	}
	p.silent = failed
}

// tellLimited reports the keys that this process was refused most permits for.
func (p *pulse) tellLimited(ctx context.Context) error {
	var reports []bucket.LimitedKeys
	p.client.book.each(func(k *known) { reports = append(reports, k.top.news(k.name)...) })
	if len(reports) == 0 {
		return nil
	}
	_, err := within(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.client.engine.ReportLimited(ctx, p.id, reports)
	})
	if err != nil {
		p.client.book.each(func(k *known) { k.top.untold() })
	}
	return err
}

// leave says that this process ends.
func (p *pulse) leave() {
	if p.beaten && p.client.lanes.allow() {
		_ = p.tellLimited(context.Background()) // what can't be told now is lost with the process
		_, _ = within(context.Background(), func(ctx context.Context) (struct{}, error) {
			return struct{}{}, p.client.engine.Leave(ctx, p.id, p.locals)
		})
	}
}

const beatPatience = 500 * time.Millisecond

// within waits for work no longer than the patience of a beat, though go-redis may.
func within[T any](ctx context.Context, work func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, beatPatience)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work(context.WithoutCancel(ctx))
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ErrDeadline
	}
}

// version is that of this module, as the running program was built with it.
func version() string {
	const path = "github.com/headgate/headgate"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == path {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
