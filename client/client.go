package client

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

const (
	mostProbes = 4 // under way at a time
	// closePatience is how long Close goes on trying to report the rest of the usage.
	closePatience = time.Second
)

// Client acquires permits for one app. It is safe for use by many goroutines, and one is enough for a program.
type Client struct {
	app     string
	options options
	engine  *bucket.Engine

	book    *book
	clock   *redisClock
	locals  *locals
	denials *denials
	lanes   lanes
	keeper  *keeper
	slots   slots
	overlay overlay
	stats   stats
	probes  chan struct{} // one in it for each probe under way

	isClosed   atomic.Bool
	life       context.Context
	end        context.CancelFunc
	background struct {
		sync.Mutex
		sync.WaitGroup
		over bool
	}
	flushed chan error
}

// New makes a client for an app, on a connection that stays the caller's: Close does not close it. Nothing is sent yet,
// so New succeeds while Redis is away. Its only errors are misuse: ErrRedis, ErrApp, ErrPrefix, ErrOption.
func New(rdb redis.UniversalClient, app string, opts ...Option) (*Client, error) {
	o := defaults()
	for _, set := range opts {
		if set == nil {
			return nil, misused(ErrOption, "got nil")
		}
		set(&o)
	}
	switch {
	case isNil(rdb):
		return nil, misused(ErrRedis, "got nil")
	case !validName(app):
		return nil, misused(ErrApp, "got %q", clip(app))
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Client{
		app: app, options: o, engine: bucket.New(rdb, o.prefix),
		book: newBook(), clock: newRedisClock(), locals: newLocals(), denials: newDenials(),
		probes: make(chan struct{}, mostProbes), flushed: make(chan error, 1),
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.lanes = newLanes(c, rdb)
	c.keeper = newKeeper(c)
	reports := newReporter(c)
	c.spawn(func() {
		c.flushed <- reports.run(c.life.Done(), func() <-chan time.Time { return time.After(closePatience) })
	})
	c.spawn(newPulse(c).run)
	c.spawn(c.followOverlay)
	return c, nil
}

// isNil finds nil pointers inside the interface too, which would panic only at the first call.
func isNil(rdb redis.UniversalClient) bool {
	if rdb == nil {
		return true
	}
	v := reflect.ValueOf(rdb)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// probe asks Redis whether it is there, at the node where the given calls go if some are given, and waits no longer than the
// deadline, though go-redis may.
func (c *Client) probe(ctx context.Context, at *callKey) error {
	select {
	case c.probes <- struct{}{}:
	default:
		return ErrBusy // earlier probes hang
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.deadline)
	answer := make(chan error, 1)
	go func() {
		defer cancel()
		var err error
		if at == nil {
			_, err = c.engine.Time(context.WithoutCancel(ctx))
		} else {
			err = c.engine.Probe(context.WithoutCancel(ctx), at.target, at.shard)
		}
		<-c.probes
		answer <- err
	}()
	select {
	case err := <-answer:
		if repliedByRedis(err) {
			return nil
		}
		return err
	case <-ctx.Done():
		return ErrDeadline
	}
}

// Close waits for the calls under way (each at most the deadline), reports the rest of the usage and ends the client's
// goroutines; those that Redis keeps waiting end when the Redis client gives up on them. It takes at most about a
// second more. An error says that usage was lost; the Redis client stays open. A second Close does nothing.
func (c *Client) Close() error {
	if !c.isClosed.CompareAndSwap(false, true) {
		return nil
	}
	patience := time.After(c.options.deadline + closePatience)
	c.keeper.releaseAll()
	for _, l := range c.lanes {
		l.drain(patience)
	}
	c.end()
	c.background.Lock()
	c.background.over = true
	c.background.Unlock()
	c.background.Wait()
	return <-c.flushed
}

// spawn runs a goroutine that Close waits for; after Close it does nothing.
func (c *Client) spawn(work func()) {
	c.background.Lock()
	defer c.background.Unlock()
	if !c.background.over {
		c.background.Go(work)
	}
}

// patience is how long a call may take, in ns.
func (c *Client) patience() int64 { return int64(c.options.deadline) }

// deadlineOf is until when a call of the given time, in ns since the client's start, may take.
func (c *Client) deadlineOf(since int64) time.Time {
	return c.clock.start.Add(time.Duration(since) + c.options.deadline)
}

// observe learns the time of Redis from a flight's answers.
func (c *Client) observe(f *flight, received int64) {
	c.stats.trips.add(received - f.sent)
	if now := f.redisTime(); now != 0 {
		c.clock.observe(f.sent, received, now)
	}
}

// instances is how many processes share a bucket's limit while Redis is away: those that were live at the last
// heartbeat, or as many as the option says if that is more.
func (c *Client) instances(k *known) int64 { return max(c.options.instances, k.live.Load()) }
