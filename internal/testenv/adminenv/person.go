package adminenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"testing"
	"time"
)

// Person is somebody with a browser's cookies, logged in or not.
type Person struct {
	API  string // address of the API, to which a path is added
	HTTP *http.Client
}

// Answer is what the API said.
type Answer struct {
	Status int
	Header http.Header
	Raw    string
}

// Into reads the body.
func (a Answer) Into(body any) error { return json.Unmarshal([]byte(a.Raw), body) }

// Visitor is somebody who is not logged in, at the server of that URL. A transport of nil is one of the person's own.
func Visitor(t testing.TB, url string, transport http.RoundTripper) *Person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if transport == nil {
		own := &http.Transport{MaxIdleConnsPerHost: 100}
		t.Cleanup(own.CloseIdleConnections)
		transport = own
	}
	return &Person{API: apiOf(url), HTTP: &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}}
}

// Login is a Visitor who has logged in.
func Login(t testing.TB, url string, transport http.RoundTripper, name, password string) *Person {
	t.Helper()
	p := Visitor(t, url, transport)
	p.Must(t, http.StatusOK, http.MethodPost, "/auth/login", nil, Credentials(name, password))
	return p
}

// At is the same person with the same cookies at another server.
func (p *Person) At(url string) *Person { return &Person{API: apiOf(url), HTTP: p.HTTP} }

func apiOf(url string) string { return url + "/api/v1" }

// Credentials are the body of a login.
func Credentials(name, password string) map[string]string {
	return map[string]string{"name": name, "password": password}
}

// Based is the header of a write that is based on a revision.
func Based(revision int64) http.Header {
	return http.Header{"If-Match": {fmt.Sprintf("%q", fmt.Sprint(revision))}}
}

// Request makes one for a path of the API.
func (p *Person) Request(ctx context.Context, method, path string, header http.Header, body any) (*http.Request, error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.API+path, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return req, nil
}

// Ask sends a request and reads the answer to its end. An error says that none came.
func (p *Person) Ask(ctx context.Context, method, path string, header http.Header, body any) (Answer, error) {
	req, err := p.Request(ctx, method, path, header, body)
	if err != nil {
		return Answer{}, err
	}
	res, err := p.HTTP.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return Answer{res.StatusCode, res.Header, string(raw)}, err
}

// Must is Ask for what has to succeed with a status.
func (p *Person) Must(t testing.TB, status int, method, path string, header http.Header, body any) Answer {
	t.Helper()
	a, err := p.Ask(t.Context(), method, path, header, body)
	if err != nil || a.Status != status {
		t.Fatalf("%s %s: %d, want %d: %s %v", method, path, a.Status, status, a.Raw, err)
	}
	return a
}
