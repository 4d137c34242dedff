package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"testing"
	"time"
)

// person is somebody who is logged in.
type person struct {
	t    testing.TB
	url  string
	http *http.Client
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
	p := a.anonymous()
	if got := p.call(http.MethodPost, "/auth/login", nil, map[string]string{"name": name, "password": password}); got.Status != http.StatusOK {
		a.t.Fatalf("login of %s: %d %s", name, got.Status, got.Raw)
	}
	return p
}

func (a *admin) anonymous() *person {
	a.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.t.Fatal(err)
	}
	return &person{t: a.t, url: a.URL + "/api/v1", http: &http.Client{Jar: jar, Transport: a.transport, Timeout: 30 * time.Second}}
}

// call sends one request and fails the test only when no answer came.
func (p *person) call(method, path string, header map[string]string, body any) answer {
	p.t.Helper()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			p.t.Fatal(err)
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, sent)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := p.http.Do(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	got := answer{Status: res.StatusCode, ETag: res.Header.Get("ETag"), Raw: string(raw)}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &got.Body); err != nil {
			p.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
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
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, false
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, bytes.NewReader(raw))
	if err != nil {
		return 0, false
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := p.http.Do(req)
	if err != nil {
		return 0, false
	}
	_ = res.Body.Close()
	return res.StatusCode, true
}
