package figures_test

import (
	"context"
	"database/sql"
	"os"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

var byRoot = model.Origin{Actor: "root", Reason: "a test"}

// world is a database and a Redis, both real, with the buckets a and b of the apps checkout and mobile.
type world struct {
	t      *testing.T
	store  *store.Store
	engine *bucket.Engine
	rdb    *redis.Client
	server *testenv.RedisServer
	dsn    string
	now    int64 // Redis's minute at the beginning
}

func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	w := &world{t: t, server: testenv.OwnRedis(t)}
	w.rdb = redis.NewClient(&redis.Options{Addr: w.server.Addr, MaxRetries: -1})
	t.Cleanup(func() { _ = w.rdb.Close() })
	w.engine = bucket.New(w.rdb, "")
	w.dsn = testenv.MySQL(t)
	w.store = openStore(t, w.dsn)
	w.ok(w.store.Migrate(t.Context()))
	_, err := w.store.CreateUser(t.Context(), model.User{Name: "olivia", Role: model.RoleMember, PasswordHash: "x"}, byRoot)
	w.ok(err)
	for _, app := range []string{"checkout", "mobile"} {
		_, err := w.store.CreateApp(t.Context(), model.App{Name: app}, byRoot)
		w.ok(err)
	}
	for _, name := range append([]string{"a", "b"}, names...) {
		w.bucket(name, nil)
	}
	at, err := w.engine.Time(t.Context())
	w.ok(err)
	w.now = at.Unix() / 60
	return w
}

func openStore(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{MySQLDSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// bucket makes a bucket and installs it: 60 permits, 1 a second.
func (w *world) bucket(name string, change func(*model.Definition)) model.Bucket {
	w.t.Helper()
	d := model.Definition{Apps: []string{"checkout", "mobile"}, Owners: []string{"olivia"}, MaxPermits: 60, Rate: 1}
	if change != nil {
		change(&d)
	}
	d.SetDefaults()
	b, err := w.store.CreateBucket(w.t.Context(), name, d, byRoot)
	w.ok(err)
	_, err = w.engine.Install(w.t.Context(), bucket.Definition{
		Name: name, Revision: b.Revision, Apps: b.Apps, Algorithm: string(b.Algorithm), MaxPermits: b.MaxPermits, Rate: b.Rate, Period: b.Period,
		Partition: string(b.Partition), Shards: b.Shards, Mode: string(b.Mode), MaxWait: b.MaxWait, OnFailure: string(b.OnRedisFailure), AfterLoss: string(b.AfterLoss),
	}, bucket.InstallOptions{Deployment: "test"})
	w.ok(err)
	return b
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// exec writes past the store.
func (w *world) exec(query string) {
	w.t.Helper()
	db, err := sql.Open("mysql", w.dsn)
	w.ok(err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(w.t.Context(), query)
	w.ok(err)
}

// report is what an SDK does: minutes ago, that much more was granted.
func (w *world) report(name, app string, ago, granted, limited int64) {
	w.t.Helper()
	w.ok(w.engine.ReportUsage(w.t.Context(), []bucket.Usage{{Bucket: name, App: app, Minute: w.now - ago, Granted: granted, Limited: limited}}))
}

func (w *world) roller(s figures.Store) *figures.Roller {
	return figures.New(figures.Config{Store: s, Engine: w.engine})
}

// roll makes one whole pass.
func (w *world) roll(r *figures.Roller) {
	w.t.Helper()
	w.ok(r.Read(w.t.Context()))
	for whole := false; !whole; {
		var err error
		whole, err = r.Save(w.t.Context())
		w.ok(err)
	}
}

// kept sums all kept hours of a bucket.
func (w *world) kept(name string) (sum model.Used) {
	w.t.Helper()
	rows, err := w.store.UsageHours(w.t.Context(), name, 0, w.now)
	w.ok(err)
	for _, row := range rows {
		sum = sum.Plus(row.Used)
	}
	return sum
}

func (w *world) wantKept(name string, granted, limited int64) {
	w.t.Helper()
	if got, want := w.kept(name), (model.Used{Granted: granted, Limited: limited}); got != want {
		w.t.Errorf("kept of %s: %+v, want %+v", name, got, want)
	}
}

// brittle is a store whose server dies: from a moment on nothing is written any more.
type brittle struct {
	*store.Store
	left atomic.Int64
}

func (b *brittle) MergeUsage(ctx context.Context, rows []model.UsageRow) error {
	if b.left.Add(-1) < 0 {
		return model.Errorf(model.CodeUnavailable, "the server died")
	}
	return b.Store.MergeUsage(ctx, rows)
}

const longAgo = 46*60 + 30 // minutes: almost as long as Redis keeps them
