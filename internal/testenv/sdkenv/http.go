package sdkenv

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Serve starts a real server on loopback.
func Serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// Answer is what a request got.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Get asks for the root, with header fields given as name and value by turns.
func Get(t *testing.T, server *httptest.Server, header ...string) Answer {
	t.Helper()
	return GetPath(t, server, "/", header...)
}

// GetPath is Get for any path.
func GetPath(t *testing.T, server *httptest.Server, path string, header ...string) Answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
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
	return Answer{response.StatusCode, response.Header, string(body)}
}

// WantStatus compares the status.
func (a Answer) WantStatus(t *testing.T, status int) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("got %d %v %s, want %d", a.Status, a.Header, a.Body, status)
	}
}

// WantHeader compares header fields, given as name and value by turns; "" stands for none.
func (a Answer) WantHeader(t *testing.T, header ...string) {
	t.Helper()
	WantHeader(t, a.Header, header...)
}

// WantHeader is Answer.WantHeader for a header alone.
func WantHeader(t *testing.T, h http.Header, header ...string) {
	t.Helper()
	for i := 0; i+1 < len(header); i += 2 {
		if got := h.Get(header[i]); got != header[i+1] {
			t.Errorf("%s: got %q, want %q", header[i], got, header[i+1])
		}
	}
}

// Problem reads a problem+json body.
func (a Answer) Problem(t *testing.T) map[string]any {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("Content-Type %q: %s", got, a.Body)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}
