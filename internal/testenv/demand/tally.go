// Package demand is applications that go on calling while a test does something to what they stand on, and the exact
// account of what came of their calls.
package demand

import (
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

// Tally is what came of many calls.
type Tally struct {
	Calls       int64
	Granted     int64 // by Redis
	Limited     int64 // by Redis, or by the client on Redis's word
	Local       int64 // decided by this process's share
	Unavailable int64
	Allowed     int64 // of the unavailable and local ones
	Uncertain   int64 // of the unavailable ones: Redis may have taken the permits all the same
	Longest     time.Duration
	Reasons     map[string]int64 // why Redis gave no verdict
	Wrong       []any            // errors, and outcomes that no fault may cause
}

// Note takes in one call.
func (r *Tally) Note(d client.Decision, err error, took time.Duration) {
	r.Calls++
	r.Longest = max(r.Longest, took)
	if d.Err != nil && d.Source != client.SourceRedis {
		if r.Reasons == nil {
			r.Reasons = map[string]int64{}
		}
		r.Reasons[d.Err.Error()]++
	}
	switch {
	case err != nil:
		r.Wrong = append(r.Wrong, err)
	case d.Source == client.SourceLocal:
		r.Local++
		r.admit(d)
	case d.Outcome == client.Granted && d.Source == client.SourceRedis:
		r.Granted++
	case d.Outcome == client.Limited:
		r.Limited++
	case d.Outcome == client.Unavailable:
		r.Unavailable++
		r.admit(d)
		if mayHaveTaken(d.Err) {
			r.Uncertain++
		}
	default:
		r.Wrong = append(r.Wrong, d)
	}
}

func (r *Tally) admit(d client.Decision) {
	if d.Allowed {
		r.Allowed++
	}
}

// mayHaveTaken tells whether a script may have run although its answer did not arrive. An error that Redis replied says
// that it did not, and the others here that nothing was sent.
func mayHaveTaken(err error) bool {
	var replied redis.Error
	var network *net.OpError
	switch {
	case errors.As(err, &replied), errors.Is(err, client.ErrBreakerOpen), errors.Is(err, client.ErrBusy), errors.Is(err, client.ErrLost):
		return false
	default:
		return !errors.As(err, &network) || network.Op != "dial"
	}
}
