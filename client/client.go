package client

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

const (
	callSlots  = 256 // calls on Redis at a time; more wait for one of them
	probeSlots = 4
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
	breaker *breaker
	calls   *flights
	stats   stats

	// life is held for reading by every call, so that Close knows when the last one ended.
	life     sync.RWMutex
	isClosed bool
	end      context.CancelFunc

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
	life, end := context.WithCancel(context.Background())
	c := &Client{
		app: app, options: o, engine: bucket.New(rdb, o.prefix),
		book: newBook(), clock: newRedisClock(), locals: newLocals(),
		end: end, flushed: make(chan error, 1),
	}
	probe := c.prober()
	c.breaker = &breaker{life: life, deadline: o.deadline, probe: probe, log: o.log, spawn: c.spawn, reload: reloadOf(rdb)}
	c.calls = newFlights(callSlots, life.Done(), c.breaker.note)
	reports := newReporter(c, probe)
	c.spawn(func() {
		c.flushed <- reports.run(life.Done(), func() <-chan time.Time { return time.After(closePatience) })
	})
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

// prober returns what asks Redis whether it is there. Probes have slots of their own, since calls left behind
// may hold all the others.
func (c *Client) prober() func(context.Context) error {
	slots := newFlights(probeSlots, nil, func(error) {})
	return func(ctx context.Context) error {
		_, err := fly(ctx, slots, time.Now().Add(c.options.deadline), c.engine.Time)
		if repliedByRedis(err) {
			return nil
		}
		return err
	}
}

// Close waits for the calls under way (each at most the deadline), reports the rest of the usage and ends the client's
// goroutines; those that Redis keeps waiting end when the Redis client gives up on them. It takes at most about a
// second more. An error says that usage was lost; the Redis client stays open. A second Close does nothing.
func (c *Client) Close() error {
	c.life.Lock()
	if c.isClosed {
		c.life.Unlock()
		return nil
	}
	c.isClosed = true
	c.end()
	c.life.Unlock()
	patience := time.After(closePatience)
	c.background.Lock()
	c.background.over = true
	c.background.Unlock()
	c.background.Wait()
	c.calls.drain(patience)
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
