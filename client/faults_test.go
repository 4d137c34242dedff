package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
)

// faults is a hook that has some script calls fail: before they run, or after, when their answers are lost. In a
// pipeline each fails by itself.
type faults struct {
	mu   sync.Mutex
	rng  *rand.Rand
	odds float64 // of one call to fail; 0 = none does
}

func newFaults(seed uint64) *faults { return &faults{rng: rand.New(rand.NewPCG(seed, 0))} }

// fail sets how likely each script call is to fail from now on.
func (f *faults) fail(odds float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.odds = odds
}

// replied is an error that Redis answers with.
type replied string

func (r replied) Error() string { return string(r) }
func (replied) RedisError()     {}

var _ redis.Error = replied("")

var errCut = errors.New("the connection was cut")

// draw tells whether a command fails, with what, and whether it runs all the same.
func (f *faults) draw(cmd redis.Cmder) (err error, runs bool) { //nolint:revive,staticcheck // the error is not about this call
	if name := cmd.Name(); name != "evalsha" && name != "eval" {
		return nil, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rng.Float64() >= f.odds {
		return nil, true
	}
	switch f.rng.IntN(3) {
	case 0:
		return replied("OOM command not allowed when used memory > 'maxmemory'"), false
	case 1:
		return errCut, false
	default:
		return errCut, true
	}
}

func (f *faults) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (f *faults) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err, runs := f.draw(cmd)
		if runs {
			if answered := next(ctx, cmd); err == nil {
				return answered
			}
		}
		cmd.SetErr(err)
		return err
	}
}

func (f *faults) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var through []redis.Cmder
		failed := map[redis.Cmder]error{}
		for _, cmd := range cmds {
			err, runs := f.draw(cmd)
			if runs {
				through = append(through, cmd)
			}
			if err != nil {
				failed[cmd] = err
			}
		}
		var answered error
		if len(through) > 0 {
			answered = next(ctx, through)
		}
		for cmd, err := range failed {
			cmd.SetErr(err)
			answered = err
		}
		return answered
	}
}
