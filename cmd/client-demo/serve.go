package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/client"
)

const stopTimeout = 5 * time.Second

// service is an HTTP service that a bucket limits.
type service struct {
	target
	listen    string
	keyHeader string
	client    *client.Client
}

func serveCommand() *cobra.Command {
	s := &service{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve HTTP limited by a bucket",
		Long: `Serve answers GET /work: 200 when the bucket granted a permit, 429 with Retry-After and problem+json when it did not, and
503 when the call was refused for another reason. Ctrl-C stops it after the requests under way.`,
		Example: `  client-demo serve --app checkout --bucket partner-api
  curl -i http://127.0.0.1:8090/work

  # a bucket that counts by key: each value of a header has permits of its own
  client-demo serve --app checkout --bucket per-user --key-header X-User
  curl -i -H 'X-User: 42' http://127.0.0.1:8090/work`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context(), cmd) },
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&s.listen, "listen", "127.0.0.1:8090", "address to listen on")
	cmd.Flags().StringVar(&s.keyHeader, "key-header", "", "request header to take the key from, for buckets that count by key")
	return cmd
}

func (s *service) run(ctx context.Context, cmd *cobra.Command) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("can't listen on %s: %w", s.listen, err)
	}
	defer func() { _ = listener.Close() }()
	c, end, err := s.connect(ctx, maxConnections)
	if err != nil {
		return err
	}
	s.client = c
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "listening on http://%s/work\n", listener.Addr())
	return errors.Join(err, s.serve(ctx, listener), end())
}

// serve answers requests until ctx is done, then lets those under way finish.
func (s *service) serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /work", s.work)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return server.Shutdown(stopping)
}

// work is what the bucket protects.
func (s *service) work(w http.ResponseWriter, r *http.Request) {
	d, err := s.client.Acquire(r.Context(), s.bucket, client.Key(r.Header.Get(s.keyHeader)))
	switch {
	case r.Context().Err() != nil:
		return // nobody listens any more
	case errors.Is(err, client.ErrNoKey), errors.Is(err, client.ErrKey):
		refuse(w, http.StatusBadRequest, problem{Code: "key", Detail: "This bucket counts by key: send one of 1..512 bytes in the header named by --key-header."})
	case err != nil:
		refuse(w, http.StatusInternalServerError, problem{Code: "internal", Detail: "The service is not set up rightly."})
	case d.Allowed:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"outcome": d.Outcome, "remaining": d.Remaining, "limit": d.Limit})
	case d.Outcome == client.Limited:
		w.Header().Set("Retry-After", strconv.FormatInt(retrySeconds(d.RetryAfter), 10))
		refuse(w, http.StatusTooManyRequests, problem{Code: string(d.Outcome), Detail: fmt.Sprintf("The limit of %s is used up.", d.Bucket)})
	default:
		refuse(w, http.StatusServiceUnavailable, problem{Code: string(d.Outcome), Detail: fmt.Sprintf("Bucket %s admits no call: %s.", d.Bucket, d.Outcome)})
	}
}

// retrySeconds is a wait in whole seconds, rounded up, since the header knows no fractions; at least 1.
func retrySeconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}

// problem is an error as RFC 9457 writes it.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func refuse(w http.ResponseWriter, status int, p problem) {
	p.Type, p.Title, p.Status = "about:blank", http.StatusText(status), status
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p)
}
