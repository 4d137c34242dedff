package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrTerminated is the cause of a context that ended because an orchestrator told the program to stop (SIGTERM). Then
// balancers get the time to notice.
var ErrTerminated = errors.New("told to stop")

// leave ends serving. A balancer goes on sending requests until a probe has failed, so the listener closes only after
// the drain delay; until then /readyz says no and everything else is answered. An embedded server has no other beside
// it, and no delay. served gets Serve's error if it ends first.
func (a *App) leave(ctx context.Context, served <-chan error) error {
	close(a.leaving)
	if delay := a.cfg.DrainDelay; delay > 0 && !a.cfg.Embedded && errors.Is(context.Cause(ctx), ErrTerminated) {
		a.log.Info("stopping soon; /readyz says so", "in", delay)
		wait := time.NewTimer(delay)
		defer wait.Stop()
		select {
		case err := <-served:
			return err
		case <-wait.C:
		}
	}
	// A request in hand may still be answered, and what was answered is in the database: stop in that order.
	a.log.Info("stopping")
	close(a.draining) // live views end; they would go on for ever
	drain, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := a.server.Shutdown(drain)
	if err != nil {
		_ = a.server.Close() // nobody may still write when the database is closed
		err = fmt.Errorf("requests in hand had no answer within %s and were broken off: %w", stopTimeout, err)
	}
	return err
}
