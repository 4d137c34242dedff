package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

// heldLive holds the questions about usage until it is let go.
type heldLive struct {
	api.Live
	entered chan struct{}
	letGo   chan struct{}
}

func (l heldLive) Usage(ctx context.Context, _ string, _ int, _ int64) (api.Usage, error) {
	l.entered <- struct{}{}
	select {
	case <-l.letGo:
		return api.Usage{}, nil
	case <-ctx.Done():
		return api.Usage{}, ctx.Err()
	}
}

// However many ask, no more than the bound are worked on; the others hear so at once, and one address alone can't take
// all the room.
func TestRequestsInWorkAreBoundedAndProbesPass(t *testing.T) {
	live := heldLive{entered: make(chan struct{}, 100), letGo: make(chan struct{})}
	w := behindProxy(t, func(c *api.Config) { c.MaxRequests, c.Live, c.Console = 8, live, console{} })
	c := w.as(root)
	from := func(n int) []string { return []string{"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", n)} }
	usage := func(n int) answer { return c.do("GET", bucketPath+"/usage", nil, from(n)...) }

	var held sync.WaitGroup
	hold := func(n int) {
		held.Go(func() {
			if a := usage(n); a.status != http.StatusOK {
				t.Errorf("a request that was let in is answered %d", a.status)
			}
		})
		<-live.entered
	}
	refused := func(n int) {
		t.Helper()
		begin := time.Now()
		a := usage(n)
		if p := a.problem(t, http.StatusServiceUnavailable); p.Code != model.CodeUnavailable || a.header.Get("Retry-After") != "1" {
			t.Errorf("problem %+v, Retry-After %q", p, a.header.Get("Retry-After"))
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the refusal took %s", took)
		}
	}

	hold(1)
	hold(1)
	refused(1) // a quarter of the room is one address's
	for _, n := range []int{2, 2, 3, 3, 4, 4} {
		hold(n)
	}
	refused(5) // and now there is none left
	login := c.do("POST", "/api/v1/auth/login", map[string]any{"name": "root", "password": "whatever"}, from(5)...)
	if p := login.problem(t, http.StatusTooManyRequests); p.Code != model.CodeTooMany || login.header.Get("Retry-After") != "1" {
		t.Errorf("a login for which there is no room: %+v, Retry-After %q", p, login.header.Get("Retry-After"))
	}
	for _, path := range []string{"/healthz", "/readyz", "/some/page"} {
		c.do("GET", path, nil, from(6)...).want(t, http.StatusOK)
	}
	close(live.letGo)
	held.Wait()
	usage(5).want(t, http.StatusOK)
}

// raw sends bytes as they are and returns everything that comes back until the server closes.
func (w *world) raw(text string) string {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	must(w.t, err)
	defer func() { _ = conn.Close() }()
	must(w.t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = io.WriteString(conn, text)
	must(w.t, err)
	raw, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(err.Error(), "reset") {
		w.t.Fatalf("%q is not answered and closed: %v", text, err)
	}
	return string(raw)
}

// A request whose end two programs could see at different places is refused whole, and the connection with it: nothing
// that stands behind it is read as a request.
func TestAmbiguousRequestsAreRefusedAndEndTheConnection(t *testing.T) {
	w := onSQLite(t)
	const hidden = "GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	head := "POST " + loginPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for name, request := range map[string]string{
		"two lengths":                    head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"a list of lengths":              head + "Content-Length: 5, 6\r\n\r\nhello",
		"a negative length":              head + "Content-Length: -1\r\n\r\n",
		"a length in hex":                head + "Content-Length: 0x5\r\n\r\nhello",
		"a length with a sign":           head + "Content-Length: +5\r\n\r\nhello",
		"an unknown coding":              head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"two codings":                    head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"a coding behind another":        head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"a space before the colon":       head + "Content-Length : 5\r\n\r\nhello",
		"a header that goes on":          "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
		"a control character in a name":  "GET / HTTP/1.1\r\nHost: x\r\nX\x00Y: 1\r\n\r\n",
		"a control character in a value": "GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
		"a bare carriage return":         "GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
		"no host":                        "GET / HTTP/1.1\r\n\r\n",
		"two hosts":                      "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"a host that is a path":          "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n",
		"no version":                     "GET /\r\n\r\n",
		"an unknown version":             "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
		"no HTTP":                        "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
	} {
		t.Run(name, func(t *testing.T) {
			got := w.raw(request + hidden)
			if strings.Count(got, "HTTP/1.") != 1 || !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 5") && !strings.HasPrefix(got, "HTTP/1.0 4") {
				t.Errorf("%q is answered %.300q", request, got)
			}
		})
	}
}

// With a length and chunks, the chunks count and the connection ends: what a proxy that went by the length would take
// for the rest of the body is no request.
func TestLengthBesideChunksEndsTheConnection(t *testing.T) {
	w := onSQLite(t)
	got := w.raw("POST " + loginPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
		"GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if strings.Count(got, "HTTP/1.1 ") != 1 {
		t.Errorf("answers %.500q", got)
	}
}

// Whoever sends slowly is cut off: in the header after the header's time, in a body that needs no proof after five
// seconds. Others are served meanwhile.
func TestSlowClientsAreCutOffAndHoldUpNobody(t *testing.T) {
	w := onSQLite(t)
	impatient := httptest.NewUnstartedServer(nil)
	impatient.Config = api.NewServer(w.server.Config.Handler, slog.New(slog.DiscardHandler))
	impatient.Config.ReadHeaderTimeout = 300 * time.Millisecond
	impatient.Start()
	t.Cleanup(impatient.Close)
	w.server = impatient
	var slow sync.WaitGroup
	for range 20 {
		slow.Go(func() {
			if got := w.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "); strings.Contains(got, " 200 ") {
				t.Errorf("half a header is answered %q", got)
			}
		})
	}
	slow.Go(func() {
		begin := time.Now()
		got := w.raw("POST " + loginPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"name\":")
		if took := time.Since(begin); !strings.HasPrefix(got, "HTTP/1.1 408") || took > 9*time.Second {
			t.Errorf("half a body is answered %.200q after %s", got, took)
		}
	})
	for range 20 {
		w.browser().do("GET", "/readyz", nil).want(t, http.StatusOK)
	}
	w.as(ann)
	slow.Wait()
}

// Many small headers count as one large one.
func TestHeadersAreBoundedInNumberOfBytes(t *testing.T) {
	w := onSQLite(t)
	var b strings.Builder
	b.WriteString("GET /healthz HTTP/1.1\r\nHost: x\r\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "X-%d: %s\r\n", i, strings.Repeat("v", 20))
	}
	answer, err := http.ReadResponse(bufio.NewReader(strings.NewReader(w.raw(b.String()+"\r\n"))), nil)
	must(t, err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", answer.StatusCode)
	}
}
