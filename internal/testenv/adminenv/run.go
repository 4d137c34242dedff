package adminenv

import (
	"context"
	"testing"
)

// App is an admin server inside the test's own process, as app.New makes it.
type App interface {
	// Run serves until the context ends.
	Run(ctx context.Context) error
	// Close gives up what it holds.
	Close()
}

// Run lets a server run until stop, or the end of the test. stop ends it as a signal does, waits, and fails the test unless
// it ended well.
func Run(t testing.TB, a App) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	over := false
	stop = func() {
		if over {
			return
		}
		over = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		a.Close()
	}
	t.Cleanup(stop)
	return stop
}
