// Command admin is Headgate's admin server: the console, the API, and what keeps Redis equal to the database.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/headgate/headgate/internal/app"
)

func main() {
	os.Exit(run())
}

func run() int {
	if err := root().ExecuteContext(untilSignal()); err != nil {
		fmt.Fprintln(os.Stderr, "admin:", app.Explain(err))
		if errors.Is(err, app.ErrTampered) || errors.Is(err, app.ErrUnvouched) {
			return 2
		}
		return 1
	}
	return 0
}

// untilSignal returns a context that ends with the first Ctrl-C or SIGTERM. The latter is its cause: who sends it wants
// the server to leave without a request lost, and a person at the keyboard wants it gone. A Ctrl-C after that ends the
// program at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-signals
		signal.Reset(os.Interrupt)
		if first == syscall.SIGTERM {
			cancel(app.ErrTerminated)
		} else {
			cancel(context.Canceled)
		}
	}()
	return ctx
}
