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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "admin:", app.Explain(err))
		if errors.Is(err, app.ErrTampered) {
			return 2
		}
		return 1
	}
	return 0
}
