package e2e_test

import (
	"net/http"
	"testing"

	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// person is somebody who is logged in.
type person struct {
	*adminenv.Person
	t testing.TB
}

// answer is what the API said.
type answer struct {
	Status int
	ETag   string
	Body   map[string]any
	Raw    string
}

func (a *admin) login(name, password string) *person {
	a.t.Helper()
	return &person{adminenv.Login(a.t, a.URL, a.Transport, name, password), a.t}
}

// call sends one request and fails the test only when no answer came.
func (p *person) call(method, path string, header map[string]string, body any) answer {
	p.t.Helper()
	sent := http.Header{}
	for name, value := range header {
		sent.Set(name, value)
	}
	a, err := p.Ask(p.t.Context(), method, path, sent, body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	got := answer{Status: a.Status, ETag: a.Header.Get("ETag"), Raw: a.Raw}
	if len(a.Raw) > 0 {
		if err := a.Into(&got.Body); err != nil {
			p.t.Fatalf("%s %s: %v in %s", method, path, err, a.Raw)
		}
	}
	return got
}

// must is call for what has to succeed with the given status.
func (p *person) must(status int, method, path string, header map[string]string, body any) answer {
	p.t.Helper()
	got := p.call(method, path, header, body)
	if got.Status != status {
		p.t.Fatalf("%s %s: %d, want %d: %s", method, path, got.Status, status, got.Raw)
	}
	return got
}

// try is call for a server that may be gone: ok is false when no answer came. header has names and values in turn.
func (p *person) try(method, path string, body any, header ...string) (status int, ok bool) {
	sent := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		sent.Set(header[i], header[i+1])
	}
	a, err := p.Ask(p.t.Context(), method, path, sent, body)
	return a.Status, err == nil
}
