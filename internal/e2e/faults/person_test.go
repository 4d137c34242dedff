package faults_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/headgate/headgate/internal/testenv/adminenv"
)

const adminPassword = "seven maps under a tin lantern"

// person is an admin who is logged in, at one server or at any of several.
type person struct {
	t   *testing.T
	at  []*adminenv.Person // one a server, with the same session; the person goes on to the next when one gives no answer
	now atomic.Int32
}

// answer is what the API said. Without any, err tells why.
type answer struct {
	adminenv.Answer
	err  error
	body struct {
		Revision int64 `json:"revision"`
		Code     string
		Detail   string
		Sync     struct{ State string }
	}
}

// login logs the admin in at the first server. Cookies are kept by host, so one session serves all servers on loopback.
func login(t *testing.T, servers ...*adminenv.Server) *person {
	t.Helper()
	p := &person{t: t, at: []*adminenv.Person{adminenv.Login(t, servers[0].URL, nil, "admin", adminPassword)}}
	for _, s := range servers[1:] {
		p.at = append(p.at, p.at[0].At(s.URL))
	}
	return p
}

// here is the person at the present server.
func (p *person) here() *adminenv.Person { return p.at[int(p.now.Load())%len(p.at)] }

// through is the same person behind a balancer.
func (p *person) through(url string) *person {
	return &person{t: p.t, at: []*adminenv.Person{p.at[0].At(url)}}
}

// goElsewhere turns to the next server.
func (p *person) goElsewhere() { p.now.Add(1) }

// call sends a request to the server that the person is at. base is the revision that a write is based on, 0 for none.
func (p *person) call(method, path string, base int64, body any) (a answer) {
	var header http.Header
	if base > 0 {
		header = adminenv.Based(base)
	}
	// Without the test's own context: what is under way at its end is left to its own time.
	a.Answer, a.err = p.here().Ask(context.Background(), method, path, header, body)
	if a.err == nil && a.Raw != "" {
		a.err = a.Into(&a.body)
	}
	return a
}

// must is call for what has to succeed.
func (p *person) must(status int, method, path string, base int64, body any) answer {
	p.t.Helper()
	a := p.call(method, path, base, body)
	if a.err != nil || a.Status != status {
		p.t.Fatalf("%s %s: %d, want %d: %s %v", method, path, a.Status, status, a.Raw, a.err)
	}
	return a
}
