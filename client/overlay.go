package client

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// overlayEvery is how often a client looks whether its calls are in shadow, whatever the definitions say (break-glass).
const overlayEvery = time.Second

// overlay follows what Redis says of this client's app. While it is covered, mode enforce acts as shadow. What was known
// last holds while Redis is away, and where it has lost its text: the end of an overlay is written there too.
type overlay struct {
	covered atomic.Bool
	silent  bool // the last look failed
}

// shadows tells whether a bucket lets pass what it refuses.
func (c *Client) shadows(f *bucket.Facts) bool {
	return f.Mode == bucket.ModeShadow || f.Mode == bucket.ModeEnforce && c.overlay.covered.Load()
}

// followOverlay looks once a second, from when the client learned its first bucket.
func (c *Client) followOverlay() {
	select {
	case <-c.life.Done():
		return
	case <-c.book.begun:
	}
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case <-next.C:
		}
		if c.lanes.allow() {
			c.lookAtOverlay()
		}
		// Spread, so that processes started together don't look together.
		next.Reset(overlayEvery*9/10 + rand.N(overlayEvery/5))
	}
}

func (c *Client) lookAtOverlay() {
	type found struct {
		bucket.Overlay
		stands bool
	}
	o, err := within(c.life, func(ctx context.Context) (found, error) {
		o, stands, err := c.engine.ReadOverlay(ctx)
		return found{o, stands}, err
	})
	if err == nil && o.stands {
		covered := o.Covers(c.app)
		if c.overlay.covered.Swap(covered) != covered {
			c.tellOverlay(covered)
		}
	}
	failed := err != nil && c.life.Err() == nil
	if failed && !c.overlay.silent {
		c.options.log.Warn("headgate: whether break-glass is in force can't be read; what was known last holds", "error", err)
	}
	c.overlay.silent = failed
}

func (c *Client) tellOverlay(covered bool) {
	if covered {
		c.options.log.Warn("headgate: break-glass is in force: buckets that enforce act as in shadow until it ends")
	} else {
		c.options.log.Info("headgate: break-glass has ended: buckets enforce again")
	}
}
