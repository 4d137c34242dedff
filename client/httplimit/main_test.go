package httplimit_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	code := testenv.Main(m)
	os.Exit(code)
}

// silent keeps go-redis's lines on failing connections, which these tests cause, out of the output.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// world is a real Redis with an engine to define buckets, and a client of the SDK.
type world struct {
	t      *testing.T
	engine *bucket.Engine
	c      *client.Client
}

// newWorld connects to the Redis that the tests share. It is patient, so that a busy machine changes no outcome.
func newWorld(t *testing.T) *world {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	return connect(t, addr, prefix, client.WithDeadline(20*time.Second))
}

func connect(t *testing.T, addr, prefix string, opts ...client.Option) *world {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	opts = append([]client.Option{client.Prefix(prefix), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	c, err := client.New(rdb, "shop", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = rdb.Close()
	})
	return &world{t: t, engine: bucket.New(rdb, prefix), c: c}
}

// definition is a bucket of max permits that gets one more an hour, so that nothing comes in during a test.
func definition(name string, maxPermits int64) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: maxPermits, Rate: 1, Period: time.Hour, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}
}

// keyed is a definition that counts by key.
func keyed(name string, maxPermits int64) bucket.Definition {
	d := definition(name, maxPermits)
	d.Partition = bucket.PartitionKey
	return d
}

func (w *world) install(definitions ...bucket.Definition) {
	w.t.Helper()
	for _, d := range definitions {
		result, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: "httplimit-tests"})
		if err != nil || result.Status != bucket.StatusInstalled {
			w.t.Fatalf("install %s: %+v, %v", d.Name, result, err)
		}
	}
}

// remaining is how many permits a bucket has.
func (w *world) remaining(name string, opts ...client.CallOption) int64 {
	w.t.Helper()
	d, err := w.c.Peek(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Remaining
}

// protect makes a handler that says "done" behind the rules.
func (w *world) protect(rules []httplimit.Rule, opts ...httplimit.Option) http.Handler {
	w.t.Helper()
	limit, err := httplimit.New(w.c, rules, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return limit(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "done") }))
}

// serve starts a real server on loopback.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
}

// get sends a request, with header fields given as name and value by turns.
func get(t *testing.T, server *httptest.Server, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

// wantStatus compares the status.
func (a answer) wantStatus(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Fatalf("got %d %v %s, want %d", a.status, a.header, a.body, status)
	}
}

// wantHeader compares header fields, given as name and value by turns; "" stands for none.
func (a answer) wantHeader(t *testing.T, header ...string) {
	t.Helper()
	wantHeader(t, a.header, header...)
}

func wantHeader(t *testing.T, h http.Header, header ...string) {
	t.Helper()
	for i := 0; i+1 < len(header); i += 2 {
		if got := h.Get(header[i]); got != header[i+1] {
			t.Errorf("%s: got %q, want %q", header[i], got, header[i+1])
		}
	}
}

// problem reads a problem+json body.
func (a answer) problem(t *testing.T) map[string]any {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("Content-Type %q: %s", got, a.body)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}
