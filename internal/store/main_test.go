package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/sqlrules"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		os.Exit(childMain(path))
	}
	os.Exit(testenv.Main(m))
}

// database is one fresh, empty database; open gives a further handle to it, as another server would have.
type database struct {
	name   string
	config store.Config
}

func (d database) open(t testing.TB, change ...func(*store.Config)) *store.Store {
	t.Helper()
	config := d.config
	for _, c := range change {
		c(&config)
	}
	s, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// count asks the database past the store.
func (d database) count(t testing.TB, query string) int {
	t.Helper()
	dsn := d.config.MySQLDSN
	if dsn == "" {
		dsn = d.config.SQLitePath
	}
	db, err := sql.Open(d.name, dsn)
	ok(t, err)
	defer func() { _ = db.Close() }()
	var n int
	ok(t, db.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

// migrated opens the database and brings its schema up to date.
func (d database) migrated(t testing.TB, change ...func(*store.Config)) *store.Store {
	t.Helper()
	s := d.open(t, change...)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatalf("migrate: %v", err)
	}
	return s
}

// portable leads to a database past a look at each statement: one that not all supported databases understand fails the
// test that had it sent.
func portable(t testing.TB, dsn string) string {
	t.Helper()
	return testenv.RecordMySQL(t, dsn, func(statement string) {
		if err := sqlrules.Check(statement); err != nil {
			t.Error(err)
		}
	})
}

// onBoth is the contract suite's frame: every guarantee holds on a real MySQL or MariaDB and on SQLite, by statements
// that all supported databases understand.
func onBoth(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	t.Run("mysql", func(t *testing.T) {
		test(t, database{"mysql", store.Config{MySQLDSN: portable(t, testenv.MySQL(t))}})
	})
	t.Run("sqlite", func(t *testing.T) {
		test(t, database{"sqlite", store.Config{SQLitePath: filepath.Join(t.TempDir(), "headgate.db")}})
	})
}

// clock is an injected time that stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) use(config *store.Config) { config.Now = c.Now }

var (
	byAlice = model.Origin{Actor: "alice", Reason: "because", Address: "192.0.2.1", RequestID: "req-1"}
	byBob   = model.Origin{Actor: "bob", Reason: "why not", Address: "2001:db8::1", RequestID: "req-2"}
)

// must fails the test on an error and hands the value through.
func must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return value
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// wantCode checks an error's code and, when given, the fields it names.
func wantCode(t testing.TB, err error, code model.Code, fields ...string) {
	t.Helper()
	if model.CodeOf(err) != code {
		t.Fatalf("got error %v, want code %q", err, code)
	}
	for _, want := range fields {
		if !namesField(err, want) {
			t.Fatalf("error %v does not name the field %q", err, want)
		}
	}
}

func namesField(err error, want string) bool {
	var e *model.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, f := range e.Fields {
		if f.Field == want {
			return true
		}
	}
	return false
}

// people makes users with the role member.
func people(t testing.TB, s *store.Store, names ...string) {
	t.Helper()
	for _, name := range names {
		must(s.CreateUser(t.Context(), model.User{Name: name, Role: model.RoleMember, PasswordHash: "hash-of-" + name}, byAlice))(t)
	}
}

func apps(t testing.TB, s *store.Store, names ...string) {
	t.Helper()
	for _, name := range names {
		must(s.CreateApp(t.Context(), model.App{Name: name}, byAlice))(t)
	}
}

// definition is a small valid one.
func definition(owner string, apps ...string) model.Definition {
	return model.Definition{Apps: apps, Owners: []string{owner}, MaxPermits: 100, Rate: 50, Period: time.Second}
}

func bucket(t testing.TB, s *store.Store, name string, d model.Definition) model.Bucket {
	t.Helper()
	return must(s.CreateBucket(t.Context(), name, d, byAlice))(t)
}

// together runs fn n times at once and returns the errors in order.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%02d", prefix, i)
	}
	return names
}

// collect reads a whole list page by page.
func collect[T any](t testing.TB, limit int, page func(cursor string) (model.Page[T], error)) []T {
	t.Helper()
	var all []T
	cursor := ""
	for range 1000 {
		p := must(page(cursor))(t)
		if len(p.Items) > limit {
			t.Fatalf("a page of %d items, limit %d", len(p.Items), limit)
		}
		all = append(all, p.Items...)
		if p.Next == "" {
			return all
		}
		cursor = p.Next
	}
	t.Fatal("the list has no end")
	return nil
}

func bucketNames(buckets []model.Bucket) []string {
	names := make([]string, len(buckets))
	for i, b := range buckets {
		names[i] = b.Name
	}
	return names
}
