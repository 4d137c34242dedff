package testenv

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a server that this test binary started and that dies with it.
type process struct {
	cmd    *exec.Cmd
	output *tail
	exited chan struct{}
}

// startProcess starts a server. The kernel kills it when the test binary dies, however that happens.
func startProcess(name string, args ...string) (*process, error) {
	return startProcessIn(nil, name, args...)
}

// startProcessIn is startProcess with variables beside those of the test's own environment.
func startProcessIn(env []string, name string, args ...string) (*process, error) {
	p := &process{output: &tail{}, exited: make(chan struct{})}
	p.cmd = exec.Command(name, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The death signal is bound to the starting thread, so that thread must live as long as the server.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// kill ends the server at once, as a crash would, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// waitReady polls ready until it answers nil, the server ends or the time is over.
func (p *process) waitReady(within time.Duration, ready func() error) error {
	deadline := time.Now().Add(within)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended at start: %s", p.cmd.Path, p.output)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not ready after %v (%w): %s", p.cmd.Path, within, err, p.output)
		}
	}
}

// FreePort returns a loopback TCP port that was free a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// lookPath finds a server's binary, also in the sbin folders that an ordinary user's PATH leaves out.
func lookPath(names ...string) (string, bool) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
		for _, dir := range []string{"/usr/sbin/", "/usr/local/sbin/", "/usr/libexec/"} {
			if info, err := os.Stat(dir + name); err == nil && info.Mode()&0o111 != 0 {
				return dir + name, true
			}
		}
	}
	return "", false
}

// tail keeps the end of a server's output for error messages.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const most = 16 << 10
	if w.buf.Len() > most {
		w.buf.Next(w.buf.Len() - most/2)
	}
	return w.buf.Write(p)
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}
