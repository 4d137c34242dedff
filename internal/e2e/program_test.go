// Package e2e drives the built programs as their users do: processes, environment, HTTP, and the public SDK.
package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
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
func build() (err error) {
	if binDir, err = os.MkdirTemp("", "headgate-e2e-"); err != nil {
		return err
	}
	return adminenv.Build(binDir, []string{"-race"}, "admin", "client-demo")
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
	*adminenv.Server
	t testing.TB
}

// startAdmin starts `admin args…` on a free port and waits until it is ready.
func startAdmin(t testing.TB, settings []string, args ...string) *admin {
	t.Helper()
	a := spawnAdmin(t, settings, args...)
	a.WaitReady()
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
	return &admin{adminenv.Spawn(t, program, settings, args...), t}
}

// interrupt sends Ctrl-C and returns how the server ended.
func (a *admin) interrupt() error {
	a.t.Helper()
	a.Signal(os.Interrupt)
	return a.Wait(20 * time.Second) // ten are promised
}

// runAdmin runs `admin args…` to its end and returns its exit code and everything that it printed.
func runAdmin(t testing.TB, settings []string, args ...string) (code int, printed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "admin"), args...)
	cmd.Env = adminenv.Environment(settings)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("admin %v did not end:\n%s", args, out)
	}
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
