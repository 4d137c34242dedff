package client_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/testenv"
)

// gate is a hook that holds the answers to the script calls of one bucket until the test lets them go.
type gate struct {
	tag string // in the key of the definition

	mu     sync.Mutex
	shut   bool
	held   []chan struct{}
	passed int
}

func newGate(bucket string) *gate { return &gate{tag: ":{" + bucket + "}"} }

// close holds the answers of what is sent from now on.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

// open holds nothing that comes from now on; what is held stays held.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
}

// holds is how many calls are held.
func (g *gate) holds() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.held)
}

// waits returns once n calls are held.
func (g *gate) waits(t *testing.T, n int) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, "calls are held", func() bool { return g.holds() >= n })
}

// release lets the answer go that was held first.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.held[0])
	g.held = g.held[1:]
}

// calls is how many script calls of the bucket were sent.
func (g *gate) calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passed
}

// enter tells whether an answer is to be held. A script that Redis did not know and that is sent once more with its text
// counts as one call.
func (g *gate) enter(cmds []redis.Cmder) (hold bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, cmd := range cmds {
		if !g.concerns(cmd) {
			continue
		}
		if cmd.Name() == "evalsha" {
			g.passed++
		}
		hold = g.shut
	}
	return hold
}

func (g *gate) concerns(cmd redis.Cmder) bool {
	if name := cmd.Name(); name != "evalsha" && name != "eval" || len(cmd.Args()) < 4 {
		return false
	}
	switch key := cmd.Args()[3].(type) {
	case string:
		return strings.HasSuffix(key, g.tag)
	case *string:
		return strings.HasSuffix(*key, g.tag)
	}
	return false
}

func (g *gate) hold() {
	until := make(chan struct{})
	g.mu.Lock()
	g.held = append(g.held, until)
	g.mu.Unlock()
	<-until
}

func (g *gate) through(run func() error, cmds ...redis.Cmder) error {
	hold := g.enter(cmds)
	err := run()
	if hold && !redis.HasErrorPrefix(err, "NOSCRIPT") {
		g.hold()
	}
	return err
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return g.through(func() error { return next(ctx, cmd) }, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return g.through(func() error { return next(ctx, cmds) }, cmds...)
	}
}
