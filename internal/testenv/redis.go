package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

const redisMissing = "no Redis for the tests: set HEADGATE_TEST_REDIS_ADDR, or run a Docker engine, or install redis-server (Debian: apt-get install redis-server)"

var sharedRedis = sync.OnceValues(findRedis)

// Redis returns the address of the Redis that this test binary shares, and a key prefix of this test's own. The keys
// under the prefix are removed when the test ends; the server is never flushed.
func Redis(t testing.TB) (addr, prefix string) {
	t.Helper()
	addr, err := sharedRedis()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	prefix = randomName("t")
	t.Cleanup(func() { removeKeys(t, addr, prefix) })
	return addr, prefix
}

func removeKeys(t testing.TB, addr, prefix string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	keys := rdb.Scan(ctx, 0, prefix+":*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := rdb.Unlink(ctx, keys.Val()).Err(); err != nil {
			t.Logf("testenv: remove %q: %v", keys.Val(), err)
		}
	}
}

// Mini returns an embedded Redis of this test's own, as `admin serve --embedded` uses it.
func Mini(t testing.TB) *miniredis.Miniredis { return miniredis.RunT(t) }

func findRedis() (string, error) {
	if addr := os.Getenv("HEADGATE_TEST_REDIS_ADDR"); addr != "" {
		return addr, pingRedis(addr)
	}
	var failed []error
	if dockerAnswers() {
		// Without a password a server answers the loopback alone unless told; the official image tells it itself.
		addr, err := startContainer(redisImage, "6379/tcp", nil, pingRedis, "redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no")
		if err == nil {
			return addr, nil
		}
		failed = append(failed, fmt.Errorf("container: %w", err))
	}
	server := &RedisServer{}
	if err := server.startFirst(FreePort); err != nil {
		return "", errors.Join(append(failed, err)...)
	}
	atExit(server.remove)
	return server.Addr, nil
}

// RedisServer is a redis-server of one test's own, to be stopped, paused and flushed at will. It needs the binary of
// the distribution, since a fault is caused by signalling the process.
type RedisServer struct {
	Addr string // host:port; kept over Stop and Start
	Dir  string // its working folder, where SAVE leaves dump.rdb, which the next Start loads

	port    int
	args    []string // beside the usual ones, at every start: what makes it a replica or a node of a cluster
	env     []string // beside the test's own
	secured *redisTLS
	process *process
}

// OwnRedis starts a redis-server for this test alone, on a free loopback port, without persistence unless an option says
// otherwise.
func OwnRedis(t testing.TB, opts ...RedisOption) *RedisServer {
	t.Helper()
	s := &RedisServer{}
	for _, o := range opts {
		o(s)
	}
	if err := s.startFirst(FreePort); err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(s.remove)
	return s
}

// Start starts the server again on the same port, with what the last SAVE left, else empty.
func (s *RedisServer) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatalf("testenv: start redis-server again: %v", err)
	}
}

// Stop kills the server with SIGKILL, as a crash would.
func (s *RedisServer) Stop() { s.process.kill() }

// Pause stops the process with SIGSTOP: connections stand, nothing is answered.
func (s *RedisServer) Pause(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *RedisServer) Resume(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *RedisServer) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.process.cmd.Process.Signal(sig); err != nil {
		t.Fatalf("testenv: signal redis-server: %v", err)
	}
}

// startFirst starts a new server on a port that is chosen so, and on another one when somebody else took that meanwhile.
func (s *RedisServer) startFirst(port func() (int, error)) (err error) {
	for range 5 {
		if s.port, err = port(); err != nil {
			return err
		}
		if err = s.start(); err == nil || s.process == nil { // without a process it is not a matter of ports
			return err
		}
		s.remove()
		s.Dir, s.process = "", nil
	}
	return err
}

func (s *RedisServer) start() error { return s.startUntil(s.ping) }

// startUntil starts the server and waits until ready answers nil.
func (s *RedisServer) startUntil(ready func() error) error {
	path, ok := lookPath("redis-server", "valkey-server")
	if !ok {
		return errors.New(redisMissing)
	}
	if s.Dir == "" {
		dir, err := os.MkdirTemp("", "headgate-redis-")
		if err != nil {
			return err
		}
		s.Dir = dir
		s.Addr = fmt.Sprintf("127.0.0.1:%d", s.port)
	}
	args := []string{"--bind", "127.0.0.1", "--dir", s.Dir,
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0"}
	for _, setting := range s.secured.settings(fmt.Sprint(s.port)) {
		args = append(args, "--"+setting[0], setting[1])
	}
	p, err := startProcessIn(s.env, path, append(args, s.args...)...)
	if err != nil {
		return err
	}
	s.process = p
	return p.waitReady(20*time.Second, ready)
}

func (s *RedisServer) remove() {
	s.process.kill()
	_ = os.RemoveAll(s.Dir)
}

func (s *RedisServer) ping() error { return ping(s.secured.options(s.Addr)) }

func pingRedis(addr string) error { return ping(&redis.Options{Addr: addr, MaxRetries: -1}) }

func ping(o *redis.Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rdb := redis.NewClient(o)
	defer func() { _ = rdb.Close() }()
	return rdb.Ping(ctx).Err()
}
