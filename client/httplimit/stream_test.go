package httplimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

// behind puts a handler behind a rule with room for all that a test asks.
func behind(t *testing.T, h http.HandlerFunc) http.Handler {
	t.Helper()
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 100))
	limit, err := httplimit.New(w.Client, []httplimit.Rule{{Bucket: "api"}})
	if err != nil {
		t.Fatal(err)
	}
	return limit(h)
}

func TestAStreamedAnswerIsNotHeldBack(t *testing.T) {
	read := make(chan struct{})
	server := sdkenv.Serve(t, behind(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		select {
		case <-read: // the client has the first line while the handler is still at work
		case <-time.After(20 * time.Second):
			t.Error("the first line did not arrive before the handler ended")
		}
		_, _ = io.WriteString(w, "second\n")
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body := bufio.NewReader(response.Body)
	if line, err := body.ReadString('\n'); err != nil || line != "first\n" {
		t.Fatalf("%q, %v", line, err)
	}
	close(read)
	if line, err := body.ReadString('\n'); err != nil || line != "second\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if response.Header.Get("RateLimit") == "" {
		t.Error("a streamed answer has no RateLimit field")
	}
}

func TestAHandlerMayHijackTheConnection(t *testing.T) {
	server := sdkenv.Serve(t, behind(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nhello")
	}))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if want := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nhello"; err != nil || string(all) != want {
		t.Errorf("%q, %v", all, err)
	}
}

func TestHandlersSeeTheServersOwnResponseWriter(t *testing.T) {
	var outer, inner http.ResponseWriter
	h := behind(t, func(w http.ResponseWriter, _ *http.Request) { inner = w })
	sdkenv.Get(t, sdkenv.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		outer = w
		h.ServeHTTP(w, r)
	})))
	if outer != inner || outer == nil {
		t.Errorf("the ResponseWriter was wrapped: %T, %T", outer, inner)
	}
}
