// Package redisserver starts the Redis that a benchmark runs against.
package redisserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrMissing says that there is no redis-server to start.
var ErrMissing = errors.New("no redis-server found; install it (Debian: apt-get install redis-server) or set HEADGATE_BENCH_REDIS=host:port")

const patience = 10 * time.Second

// Server is a redis-server on a free loopback port, without persistence, that ends with this process.
type Server struct {
	Addr string

	dir    string
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start starts a server and waits until it answers.
func Start(ctx context.Context) (*Server, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "headgate-bench-")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), dir: dir, exited: make(chan struct{})}
	s.cmd = exec.Command(path, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", dir, //nolint:noctx // Stop ends it: a context would kill it before the report is written
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
	// Ctrl-C reaches the whole process group; this process ends the server itself, after the last reply.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.launch(); err != nil {
		s.Stop()
		return nil, err
	}
	if err := s.wait(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Stop ends the server and removes its folder. Calling it again does nothing.
func (s *Server) Stop() {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
	_ = os.RemoveAll(s.dir)
}

// launch starts the process on a thread that lives as long as it does, since the death signal is bound to the thread.
func (s *Server) launch() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
			close(s.exited)
		}
	}()
	return <-started
}

func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer func() { _ = rdb.Close() }()
	for {
		err := rdb.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return errors.New("redis-server ended at its start")
		case <-ctx.Done():
			return fmt.Errorf("redis-server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// find looks in the PATH and where Debian puts servers.
func find() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		for _, place := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
			if path, err := exec.LookPath(place); err == nil {
				return path, nil
			}
		}
	}
	return "", ErrMissing
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // bound at once or not at all
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
