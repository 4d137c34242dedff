package faults_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// server is an admin server, on one address over all its starts.
type server struct {
	t        *testing.T
	url      string
	args     []string
	settings []string

	out  *testenv.Output // of all starts
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // how it ended
}

// startServer starts `admin serve` with settings and waits until it is ready.
func startServer(t *testing.T, settings []string, args ...string) *server {
	t.Helper()
	port, err := testenv.FreePort()
	must(t, err)
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	s := &server{
		t: t, url: "http://" + listen, out: &testenv.Output{}, args: append([]string{"serve"}, args...),
		settings: append([]string{"HEADGATE_LISTEN=" + listen}, settings...),
	}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("%s printed at its end:\n%s", s.url, lastLines(s.out.String(), 15))
		}
	})
	s.start()
	s.waitReady()
	return s
}

// environment is what a process gets: nothing of the developer's own HEADGATE_… settings, and these.
func environment(settings []string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HEADGATE_") {
			env = append(env, v)
		}
	}
	return append(env, settings...)
}

// start starts the server, again if it was ended before.
func (s *server) start() {
	s.t.Helper()
	cmd := exec.Command(admin, s.args...)
	cmd.Env = environment(s.settings)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	s.cmd, s.done = cmd, done
	go func() {
		s.err = cmd.Wait()
		close(done)
	}()
}

// kill ends the server with SIGKILL and waits until it is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// terminate sends SIGTERM, as an orchestrator does.
func (s *server) terminate() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
}

// waitGone waits until the server has ended by itself, and fails the test unless it ended well.
func (s *server) waitGone() {
	s.t.Helper()
	select {
	case <-s.done:
		if s.err != nil {
			s.t.Errorf("the server ended with %v", s.err)
		}
	case <-time.After(comeback):
		s.t.Fatal("the server did not end")
	}
}

func (s *server) waitReady() {
	s.t.Helper()
	testenv.Eventually(s.t, comeback, "the server is ready", func() bool {
		select {
		case <-s.done:
			s.t.Fatalf("the server ended: %v\n%s", s.err, lastLines(s.out.String(), 20))
		default:
		}
		return s.probe("/readyz") == http.StatusOK
	})
}

// probe asks for a path as a balancer does: a new connection, no cookies. 0: no answer.
func (s *server) probe(path string) int {
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// memory returns what the process has of physical memory now, and the most that it had, in bytes.
func (s *server) memory() (now, most int64) {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	kilobytes := func(name string) int64 {
		_, rest, _ := strings.Cut(string(status), name+":")
		n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		return n << 10
	}
	return kilobytes("VmRSS"), kilobytes("VmHWM")
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
