// Command admin is Headgate's admin server: the console, the API, and what keeps Redis equal to the database.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "admin:", err)
		stop()
		os.Exit(1)
	}
}
