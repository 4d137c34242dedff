package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// Clients that ask for an endless answer, or a large one, and never read it: they hold up nobody else, and are dropped.
func TestClientsThatNeverReadAreDroppedAndHoldUpNobody(t *testing.T) {
	t.Parallel()
	const streams, exports, history = 3, 4, 400 // 4 exports are all that a server has at a time
	g, _ := onOwnRedis(t)
	port, err := testenv.FreePort()
	must(t, err)
	debug := fmt.Sprintf("127.0.0.1:%d", port)
	g.settings = append(g.settings, "HEADGATE_DEBUG_LISTEN="+debug)
	w := newWorld(t, g.calm(), 1)
	watched := w.crowd()
	for i := range history { // some 3 KB each, far more than the buffers on the way hold
		w.person.must(http.StatusOK, http.MethodPut, "/apps/"+shop, int64(i+1), map[string]any{"description": fmt.Sprint(i, strings.Repeat("x", 900))})
	}

	for range streams {
		w.neverRead("/stream?buckets=" + strings.Join(watched, ","))
	}
	for range exports {
		w.neverRead("/export/changes?format=jsonl")
	}
	testenv.Eventually(t, comeback, "the live streams are open", func() bool { return openStreams(t, debug) == streams })
	if said := w.export(); said != "503" {
		t.Errorf("a further export is answered %q", said)
	}
	w.goesOn()
	testenv.Eventually(t, comeback, "the live streams are ended", func() bool { return openStreams(t, debug) == 0 })
	testenv.Eventually(t, comeback, "the exports are ended, and one that is read is whole", func() bool { return w.export() == "200, whole" })
	if _, most := w.servers[0].Memory(); most > mostMemory {
		t.Errorf("the server took %d MB", most/1_000_000)
	}
	w.goesOn()
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

// crowd defines buckets with long names, so that a live view of all says much each second, and returns their names.
func (w *world) crowd() (names []string) {
	w.Helper()
	for i := range 20 {
		name := fmt.Sprintf("%s-%d", strings.Repeat("long", 30), i)
		d := definition(1000, 1, 1000, "full")
		d["name"] = name
		w.person.must(http.StatusCreated, http.MethodPost, "/buckets", 0, d)
		names = append(names, name)
	}
	return names
}

// neverRead asks on a connection with the least buffers that the kernel gives, sees that it is let in, and reads no more
// until the test ends.
func (w *world) neverRead(path string) {
	w.Helper()
	small := func(_, _ string, raw syscall.RawConn) (err error) {
		control := raw.Control(func(fd uintptr) {
			if err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1); err == nil {
				err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536)
			}
		})
		if err == nil {
			err = control
		}
		return err
	}
	req, err := w.person.here().Request(w.Context(), http.MethodGet, path, nil, nil)
	must(w.T, err)
	for _, cookie := range w.person.here().HTTP.Jar.Cookies(req.URL) {
		req.AddCookie(cookie)
	}
	conn, err := (&net.Dialer{Control: small, Timeout: comeback}).DialContext(w.Context(), "tcp", req.URL.Host)
	must(w.T, err)
	w.Cleanup(func() { _ = conn.Close() })
	must(w.T, req.Write(conn))
	must(w.T, conn.SetReadDeadline(time.Now().Add(comeback)))
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, status); err != nil || string(status) != "HTTP/1.1 200" {
		w.Fatalf("%s is answered %q, %v", path, status, err)
	}
}

// export asks for the history, reads it to its end and says in short what came.
func (w *world) export() string {
	w.Helper()
	req, err := w.person.here().Request(w.Context(), http.MethodGet, "/export/changes?format=jsonl", nil, nil)
	must(w.T, err)
	res, err := w.person.here().HTTP.Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Sprint(res.StatusCode)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if !strings.Contains(lines[len(lines)-1], `"end"`) {
		return "200, broken off"
	}
	return "200, whole"
}

// openStreams reads the figure of that name.
func openStreams(t *testing.T, debug string) int {
	t.Helper()
	c := &http.Client{Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+debug+"/metrics", nil)
	must(t, err)
	res, err := c.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "headgate_api_streams %d", &n); err == nil {
			return n
		}
	}
	t.Fatal("no figure of the live streams")
	return 0
}
