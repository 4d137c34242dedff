package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"sync/atomic"
	"testing"
	"time"
)

const adminPassword = "seven maps under a tin lantern"

// person is an admin who is logged in, at one server or at any of several.
type person struct {
	t    *testing.T
	urls []string // of the servers; the person goes on to the next when one gives no answer
	now  atomic.Int32
	http *http.Client
}

// answer is what the API said. Without any, err tells why.
type answer struct {
	err    error
	status int
	header http.Header
	raw    string
	body   struct {
		Revision int64 `json:"revision"`
		Code     string
		Detail   string
		Sync     struct{ State string }
	}
}

// login logs the admin in at the first server. Cookies are kept by host, so one session serves all servers on loopback.
func login(t *testing.T, servers ...*server) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	p := &person{t: t, http: &http.Client{Jar: jar, Transport: transport, Timeout: 60 * time.Second}}
	for _, s := range servers {
		p.urls = append(p.urls, s.url)
	}
	p.must(http.StatusOK, http.MethodPost, "/auth/login", 0, map[string]any{"name": "admin", "password": adminPassword})
	return p
}

// call sends a request to the server that the person is at. base is the revision that a write is based on, 0 for none.
func (p *person) call(method, path string, base int64, body any) (a answer) {
	req, err := p.request(method, path, body)
	if err != nil {
		return answer{err: err}
	}
	if base > 0 {
		req.Header.Set("If-Match", fmt.Sprintf("%q", fmt.Sprint(base)))
	}
	res, err := p.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{err: err}
	}
	a.status, a.header, a.raw = res.StatusCode, res.Header, string(raw)
	if len(raw) > 0 {
		a.err = json.Unmarshal(raw, &a.body)
	}
	return a
}

func (p *person) request(method, path string, body any) (*http.Request, error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(raw)
	}
	// Without the test's own context: what is under way at its end is left to its own time.
	req, err := http.NewRequestWithContext(context.Background(), method, p.url()+"/api/v1"+path, sent)
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

func (p *person) url() string { return p.urls[int(p.now.Load())%len(p.urls)] }

// through is the same person behind a balancer.
func (p *person) through(url string) *person {
	return &person{t: p.t, urls: []string{url}, http: p.http}
}

// goElsewhere turns to the next server.
func (p *person) goElsewhere() { p.now.Add(1) }

// must is call for what has to succeed.
func (p *person) must(status int, method, path string, base int64, body any) answer {
	p.t.Helper()
	a := p.call(method, path, base, body)
	if a.err != nil || a.status != status {
		p.t.Fatalf("%s %s: %d, want %d: %s %v", method, path, a.status, status, a.raw, a.err)
	}
	return a
}
