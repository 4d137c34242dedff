package client

import (
	"sync/atomic"
	"time"
)

// redisClock estimates Redis's time from the times in its replies. It counts on this process's monotonic clock, so a
// step of the wall clock here changes nothing.
type redisClock struct {
	start  time.Time
	offset atomic.Int64 // µs: Redis time minus the time since start
}

// newRedisClock starts from the local wall clock, until a reply tells better.
func newRedisClock() *redisClock {
	c := &redisClock{start: time.Now()}
	c.offset.Store(c.start.UnixMicro())
	return c
}

// now is the estimated Redis time in µs since 1970.
func (c *redisClock) now() int64 { return c.at(time.Now()) }

func (c *redisClock) at(t time.Time) int64 { return t.Sub(c.start).Microseconds() + c.offset.Load() }

// observe learns from one reply: the script ran at redisNow (µs), some time between sent and received (ns since start).
// So the true offset lies between two bounds; an estimate outside them is moved to the nearer one, and fast replies
// narrow it down.
func (c *redisClock) observe(sent, received, redisNow int64) {
	low := redisNow - received/int64(time.Microsecond)
	high := redisNow - sent/int64(time.Microsecond)
	old := c.offset.Load()
	if better := min(max(old, low), high); better != old {
		// A lost race only means that another reply's bound was taken; the next reply corrects it.
		c.offset.CompareAndSwap(old, better)
	}
}

// atNanos is the estimated Redis time in µs at a time of this process in ns since start.
func (c *redisClock) atNanos(ns int64) int64 { return ns/int64(time.Microsecond) + c.offset.Load() }
