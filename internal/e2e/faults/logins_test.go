package faults_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	flood = 10_000
	// mostMemory is what the server may take whatever happens.
	mostMemory = 300_000_000
	// spare is how many files this process and the server each need beside the connections of the flood.
	spare = 500
)

// sizeOfFlood is ten thousand, or what the limit on open files allows.
func sizeOfFlood(t *testing.T) int {
	t.Helper()
	var files syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	n := min(flood, int(min(files.Max, 1<<20))-spare)
	if n < flood {
		t.Logf("the limit of %d open files allows %d logins at once (ulimit -Hn)", files.Max, n)
	}
	return n
}

// Ten thousand people log in at once, each on a connection and from one of a thousand addresses: as many passwords are
// tried as the queue holds, everybody else is told 429 and when to come back, nobody is left without an answer, and the
// server keeps its memory. Applications and people who are logged in go on, and afterwards logins work as before.
func TestTenThousandLoginsAtOnceAreAnsweredInBoundedMemory(t *testing.T) {
	g, _ := onOwnRedis(t)
	w := newWorld(t, g.calm(), 1)
	address := w.servers[0].URL[len("http://"):]
	connections := make([]net.Conn, sizeOfFlood(t))
	for i := range connections {
		from := &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+i/250%4), byte(1+i%250))}
		conn, err := (&net.Dialer{LocalAddr: from, Timeout: comeback}).DialContext(t.Context(), "tcp", address)
		must(t, err)
		defer func() { _ = conn.Close() }()
		connections[i] = conn
	}
	var mu sync.Mutex
	statuses := map[string]int{}
	var people sync.WaitGroup
	start := make(chan struct{})
	for i, conn := range connections {
		people.Go(func() {
			<-start
			said := tryLogin(conn, fmt.Sprintf("user-%d", i))
			mu.Lock()
			defer mu.Unlock()
			statuses[said]++
		})
	}
	close(start)
	people.Wait()
	_, most := w.servers[0].Memory()
	t.Logf("%d logins at once: %v; the server took %d MB at most", len(connections), statuses, most/1_000_000)
	for said, n := range statuses {
		if said != "401" && said != "429, later" {
			t.Errorf("%d were answered %q", n, said)
		}
	}
	if statuses["401"] == 0 || statuses["429, later"] < len(connections)/2 {
		t.Errorf("answered %v: some passwords should be tried, and most people told to come back", statuses)
	}
	if most > mostMemory {
		t.Errorf("the server took %d MB", most/1_000_000)
	}
	w.goesOn()
	login(t, w.servers[0])
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

// tryLogin sends a wrong password and says in short what is answered.
func tryLogin(conn net.Conn, name string) string {
	_ = conn.SetDeadline(time.Now().Add(comeback))
	body := fmt.Sprintf(`{"name": %q, "password": "not the right one"}`, name)
	req, err := http.NewRequest(http.MethodPost, "http://"+conn.RemoteAddr().String()+"/api/v1/auth/login", bytes.NewReader([]byte(body)))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	if err := req.Write(conn); err != nil {
		return err.Error()
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err.Error()
	}
	if res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "" {
		return "429, later"
	}
	return fmt.Sprint(res.StatusCode)
}
