package store_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// proxy stands between the store and the database and can be cut: the connections break and new ones are refused, or
// fall silent.
type proxy struct {
	addr   string
	target string

	listener net.Listener
	down     atomic.Bool // break and refuse
	silent   atomic.Bool // keep connections, pass nothing on
	mu       sync.Mutex
	open     []net.Conn
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	p := &proxy{addr: listener.Addr().String(), target: target, listener: listener}
	done := make(chan struct{})
	go func() { defer close(done); p.serve() }()
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		<-done
	})
	return p
}

func (p *proxy) serve() {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil || p.down.Load() {
			_ = client.Close()
			if server != nil {
				_ = server.Close()
			}
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, client, server)
		p.mu.Unlock()
		running.Go(func() { p.pass(client, server) })
		running.Go(func() { p.pass(server, client) })
	}
}

func (p *proxy) pass(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if p.silent.Load() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cut breaks the connections that are open.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.open {
		_ = conn.(io.Closer).Close()
	}
	p.open = nil
}

// throughProxy opens a migrated MySQL database behind a proxy, with short timeouts.
func throughProxy(t testing.TB) (*proxy, *store.Store) {
	t.Helper()
	cfg, err := mysql.ParseDSN(testenv.MySQL(t))
	ok(t, err)
	p := newProxy(t, cfg.Addr)
	cfg.Addr, cfg.ReadTimeout, cfg.WriteTimeout, cfg.Timeout = p.addr, time.Second, time.Second, time.Second
	s := database{"mysql", store.Config{MySQLDSN: cfg.FormatDSN()}}.migrated(t)
	people(t, s, "alice")
	return p, s
}

// quickly fails the test when fn takes longer than a person would wait.
func quickly(t testing.TB, fn func()) {
	t.Helper()
	start := time.Now()
	fn()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func checkUnavailable(t *testing.T, s *store.Store) {
	t.Helper()
	quickly(t, func() { wantCode(t, s.Ping(t.Context()), model.CodeUnavailable) })
	quickly(t, func() {
		_, err := s.User(t.Context(), "alice")
		wantCode(t, err, model.CodeUnavailable)
	})
	quickly(t, func() {
		_, err := s.Buckets(t.Context(), model.BucketQuery{})
		wantCode(t, err, model.CodeUnavailable)
	})
	quickly(t, func() {
		_, err := s.CreateBucket(t.Context(), "b", definition("alice"), byAlice)
		wantCode(t, err, model.CodeUnavailable)
	})
}

func checkRecovers(t *testing.T, s *store.Store) {
	t.Helper()
	testenv.Eventually(t, 10*time.Second, "the database is back", func() bool {
		_, err := s.User(t.Context(), "alice")
		return err == nil
	})
	bucket(t, s, "after", definition("alice"))
}

func TestBrokenDatabaseIsSaidQuicklyAndRecovers(t *testing.T) {
	p, s := throughProxy(t)
	p.down.Store(true)
	p.cut()
	checkUnavailable(t, s)
	p.down.Store(false)
	checkRecovers(t, s)
}

func TestSilentDatabaseIsSaidQuicklyAndRecovers(t *testing.T) {
	p, s := throughProxy(t)
	p.silent.Store(true)
	checkUnavailable(t, s)
	p.silent.Store(false)
	p.cut()
	checkRecovers(t, s)
}

// A pool of connections that died while idle, as after a restart of the server, is noticed before use: no call fails.
func TestConnectionsThatDiedWhileIdleAreReplaced(t *testing.T) {
	p, s := throughProxy(t)
	for range 3 {
		for _, err := range together(5, func(int) error { _, err := s.User(t.Context(), "alice"); return err }) {
			ok(t, err)
		}
		p.cut()
		must(s.User(t.Context(), "alice"))(t)
	}
}

// A write whose connection broke is all there or not at all.
func TestInterruptedWriteIsWholeOrAbsent(t *testing.T) {
	p, s := throughProxy(t)
	stop := make(chan struct{})
	var cutter sync.WaitGroup
	cutter.Go(func() {
		ticker := time.NewTicker(7 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				p.cut()
			}
		}
	})
	names := numbered("b", 60)
	for _, name := range names {
		if _, err := s.CreateBucket(t.Context(), name, definition("alice"), byAlice); err != nil {
			wantCode(t, err, model.CodeUnavailable)
		}
	}
	close(stop)
	cutter.Wait()
	checkRecovers(t, s)
	for _, name := range names {
		row, err := s.SyncRow(t.Context(), name)
		changes := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket, Target: name}))(t).Items
		switch {
		case model.CodeOf(err) == model.CodeNotFound && len(changes) == 0:
		case err == nil && len(changes) == 1 && row.Mark == 1 && len(must(s.Bucket(t.Context(), name))(t).Owners) == 1:
		default:
			t.Errorf("%s: row %+v, %v, with %d changes", name, row, err, len(changes))
		}
	}
}

func TestClosedStoreSaysUnavailable(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s, err := store.Open(t.Context(), d.config)
		ok(t, err)
		ok(t, s.Migrate(t.Context()))
		ok(t, s.Close())
		_, err = s.User(t.Context(), "alice")
		wantCode(t, err, model.CodeUnavailable)
		var e *model.Error
		if !errors.As(err, &e) || e.RetryAfter <= 0 { // it becomes Retry-After of the 503
			t.Errorf("%v does not say when to try again", err)
		}
	})
}

// A database that takes no changes, as after a failover to a replica, is read all the same; saves say what is the matter,
// and go on by themselves when it takes changes again.
func TestReadOnlyDatabaseIsReadAndSaysThatNothingIsSaved(t *testing.T) {
	dsn := testenv.OwnMySQL(t).Database(t)
	root := database{"mysql", store.Config{MySQLDSN: dsn}}
	cfg, err := mysql.ParseDSN(dsn)
	ok(t, err)
	// The user of the tests may write even then.
	root.exec(t, "CREATE USER 'plain'@'127.0.0.1' IDENTIFIED BY 'test'")
	root.exec(t, "GRANT ALL ON "+cfg.DBName+".* TO 'plain'@'127.0.0.1'")
	cfg.User, cfg.Passwd = "plain", "test"
	s := database{"mysql", store.Config{MySQLDSN: cfg.FormatDSN()}}.migrated(t)
	people(t, s, "alice")
	bucket(t, s, "before", definition("alice"))

	root.exec(t, "SET GLOBAL read_only = 1")
	_, err = s.CreateBucket(t.Context(), "meanwhile", definition("alice"), byAlice)
	var e *model.Error
	if !errors.As(err, &e) || e.Code != model.CodeUnavailable || !strings.Contains(e.Message, "takes no changes") || e.RetryAfter <= 0 {
		t.Errorf("a save is answered %v", err)
	}
	must(s.Bucket(t.Context(), "before"))(t)
	ok(t, s.Ping(t.Context()))
	root.exec(t, "SET GLOBAL read_only = 0")
	bucket(t, s, "meanwhile", definition("alice"))
}
