package adminenv

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

const (
	// readyWait bounds a start, and printWait how soon what a server has to say is printed; both are far above what is seen,
	// for machines that are busy with something else.
	readyWait = 100 * time.Second
	printWait = 30 * time.Second
	// printed is how many lines of a server's output a failed test shows.
	printed = 40
)

// Server is an admin server in a process of its own, on one address over all its starts.
type Server struct {
	URL       string
	Out       *testenv.Output   // what it printed, over all starts
	Transport http.RoundTripper // how it is reached; nil is the usual way

	t        testing.TB
	program  string
	args     []string
	settings []string
	cmd      *exec.Cmd
	done     chan struct{} // closed when the process has ended
	err      error         // how it ended
}

// Spawn starts `program args…` with settings, NAME=VALUE each, on a free port. It is killed when the test ends.
func Spawn(t testing.TB, program string, settings []string, args ...string) *Server {
	t.Helper()
	port, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	s := &Server{
		URL: "http://" + listen, Out: &testenv.Output{}, t: t, program: program, args: args,
		settings: append([]string{"HEADGATE_LISTEN=" + listen}, settings...),
	}
	s.Start()
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("%s printed at its end:\n%s", s.URL, lastLines(s.Out.String()))
		}
	})
	return s
}

// Serve is Spawn, and waits until the server is ready.
func Serve(t testing.TB, program string, settings []string, args ...string) *Server {
	t.Helper()
	s := Spawn(t, program, settings, args...)
	s.WaitReady()
	return s
}

// Start starts a server again that has ended.
func (s *Server) Start() {
	s.t.Helper()
	cmd := exec.Command(s.program, s.args...)
	cmd.Env = Environment(s.settings)
	cmd.Stdout, cmd.Stderr = s.Out, s.Out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the tests, which then end it
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

// WaitReady waits until /readyz says yes, and fails the test at once when the server ends.
func (s *Server) WaitReady() {
	s.t.Helper()
	testenv.Eventually(s.t, readyWait, "the server is ready", func() bool {
		select {
		case <-s.done:
			s.t.Fatalf("the server ended: %v\n%s", s.err, lastLines(s.Out.String()))
		default:
		}
		return s.Probe("/readyz") == http.StatusOK
	})
}

// WaitFor waits until the server has printed a text.
func (s *Server) WaitFor(text string) {
	s.t.Helper()
	testenv.Eventually(s.t, printWait, "the server prints "+text, func() bool { return strings.Contains(s.Out.String(), text) })
}

// Probe asks for a path as a balancer does: a new connection, no cookies. 0: no answer.
func (s *Server) Probe(path string) int {
	transport := s.Transport
	if transport == nil {
		transport = &http.Transport{DisableKeepAlives: true}
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := (&http.Client{Timeout: 10 * time.Second, Transport: transport}).Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// Signal sends a signal.
func (s *Server) Signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Wait waits until the server has ended by itself, and returns how.
func (s *Server) Wait(within time.Duration) error {
	s.t.Helper()
	select {
	case <-s.done:
		return s.err
	case <-time.After(within):
		s.t.Fatalf("the server did not end within %v:\n%s", within, lastLines(s.Out.String()))
		return nil
	}
}

// Kill ends the server with SIGKILL and waits until it is gone.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// PID is the number of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Memory returns what the process has of physical memory now, and the most that it had, in bytes.
func (s *Server) Memory() (now, most int64) {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
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

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-printed):], "\n")
}
