// Package e2e drives the built programs as their users do: processes, environment, HTTP, and the public SDK.
package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) {
	code := testenv.Main(m)
	if binDir != "" {
		_ = os.RemoveAll(binDir)
	}
	os.Exit(code)
}

var (
	binDir string
	built  = sync.OnceValue(build)
)

// build makes the binaries that the tests run, race detector included.
func build() error {
	dir, err := os.MkdirTemp("", "headgate-e2e-")
	if err != nil {
		return err
	}
	binDir = dir
	cmd := exec.Command("go", "build", "-race", "-o", dir+"/", "../../cmd/admin", "../../cmd/client-demo")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// binary returns the path of a built program.
func binary(t testing.TB, name string) string {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(binDir, name)
}

// admin is a running admin server.
type admin struct {
	t    testing.TB
	URL  string
	cmd  *exec.Cmd
	out  *testenv.Output
	done chan error

	transport http.RoundTripper // how it is reached; nil is the usual way
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

// startAdmin starts `admin args…` on a free port and waits until it is ready.
func startAdmin(t testing.TB, settings []string, args ...string) *admin {
	t.Helper()
	a := spawnAdmin(t, settings, args...)
	a.waitReady()
	return a
}

// spawnAdmin starts `admin args…` on a free port.
func spawnAdmin(t testing.TB, settings []string, args ...string) *admin {
	t.Helper()
	return startProgram(t, binary(t, "admin"), settings, args...)
}

// startProgram is spawnAdmin for a program of another build.
func startProgram(t testing.TB, program string, settings []string, args ...string) *admin {
	t.Helper()
	port, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	a := &admin{t: t, URL: "http://" + listen, out: &testenv.Output{}, done: make(chan error, 1)}
	a.cmd = exec.Command(program, args...)
	a.cmd.Env = environment(append([]string{"HEADGATE_LISTEN=" + listen}, settings...))
	a.cmd.Stdout, a.cmd.Stderr = a.out, a.out
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { a.done <- a.cmd.Wait() }()
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("the server printed:\n%s", a.out)
		}
	})
	return a
}

func (a *admin) waitReady() {
	a.t.Helper()
	testenv.Eventually(a.t, 60*time.Second, "the server is ready", func() bool {
		select {
		case err := <-a.done:
			a.t.Fatalf("the server ended at its start: %v\n%s", err, a.out)
		default:
		}
		req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.URL+"/readyz", nil)
		if err != nil {
			a.t.Fatal(err)
		}
		res, err := (&http.Client{Transport: a.transport}).Do(req)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// waitFor waits until the server has printed a text.
func (a *admin) waitFor(text string) {
	a.t.Helper()
	testenv.Eventually(a.t, 10*time.Second, "the server prints "+text, func() bool { return strings.Contains(a.out.String(), text) })
}

// interrupt sends Ctrl-C and returns how the server ended.
func (a *admin) interrupt() error {
	a.t.Helper()
	if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
		a.t.Fatal(err)
	}
	select {
	case err := <-a.done:
		a.done <- err
		return err
	case <-time.After(20 * time.Second):
		a.t.Fatal("the server did not stop within 20 s of Ctrl-C")
		return nil
	}
}

// runAdmin runs `admin args…` to its end and returns its exit code and everything that it printed.
func runAdmin(t testing.TB, settings []string, args ...string) (code int, printed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "admin"), args...)
	cmd.Env = environment(settings)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("admin %v did not end:\n%s", args, out)
	}
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
