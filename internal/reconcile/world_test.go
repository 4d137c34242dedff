package reconcile_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

var (
	_ reconcile.Store  = (*store.Store)(nil)
	_ reconcile.Engine = (*bucket.Engine)(nil)

	origin = model.Origin{Actor: "ada", Reason: "a test"}
)

// Short intervals for the tests that let Run work.
const (
	testTick   = 20 * time.Millisecond
	testRepair = 100 * time.Millisecond
)

// world is one deployment: a database, a Redis and the admin servers between them.
type world struct {
	*testing.T
	store  *store.Store
	engine *bucket.Engine
	rdb    *redis.Client
	prefix string
	raw    *sql.DB // the database under the store, to do what only an operator or an accident does
	again  func() *store.Store
}

// onBoth runs a test on MySQL and on SQLite, each with real Redis under a prefix of its own.
func onBoth(t *testing.T, test func(w *world)) {
	t.Helper()
	for _, kind := range []string{"mysql", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			addr, prefix := testenv.Redis(t)
			test(newWorld(t, kind, addr, prefix))
		})
	}
}

// onOwnRedis runs a test with a Redis that it may stop and flush.
func onOwnRedis(t *testing.T, test func(w *world, server *testenv.RedisServer)) {
	t.Helper()
	for _, kind := range []string{"mysql", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			server := testenv.OwnRedis(t)
			test(newWorld(t, kind, server.Addr, ""), server)
		})
	}
}

func newWorld(t *testing.T, kind, addr, prefix string) *world {
	t.Helper()
	w := &world{T: t, prefix: prefix, rdb: newClient(t, addr)}
	w.engine = newEngine(t, w.rdb, prefix)
	config := store.Config{Log: slog.New(slog.DiscardHandler)}
	var driver, dsn string
	if kind == "mysql" {
		driver, dsn = "mysql", testenv.MySQL(t)
		config.MySQLDSN = dsn
	} else {
		config.SQLitePath = filepath.Join(t.TempDir(), "headgate.db")
		driver, dsn = "sqlite", config.SQLitePath+"?_pragma=busy_timeout(8000)"
	}
	w.again = func() *store.Store {
		s, err := store.Open(t.Context(), config)
		must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	w.store = w.again()
	must(t, w.store.Migrate(t.Context()))
	raw, err := sql.Open(driver, dsn)
	must(t, err)
	t.Cleanup(func() { _ = raw.Close() })
	w.raw = raw
	_, err = w.store.CreateUser(t.Context(), model.User{Name: "ada", DisplayName: "Ada", Role: model.RoleAdmin, PasswordHash: "none"}, origin)
	must(t, err)
	for _, app := range []string{"checkout", "search"} {
		_, err = w.store.CreateApp(t.Context(), model.App{Name: app}, origin)
		must(t, err)
	}
	return w
}

// newClient connects as the admin server does: nothing is sent twice, and a context's end is the end.
func newClient(t *testing.T, addr string) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, DialTimeout: time.Second})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func newEngine(t *testing.T, rdb redis.UniversalClient, prefix string) *bucket.Engine {
	t.Helper()
	return bucket.New(rdb, prefix)
}

// server makes an admin server's reconciler; change may alter its configuration.
func (w *world) server(change ...func(*reconcile.Config)) *reconcile.Reconciler {
	w.Helper()
	c := reconcile.Config{
		Store: w.store, Engine: w.engine, Log: slog.New(slog.DiscardHandler),
		PushTimeout: 2 * time.Second, Tick: testTick, RepairEvery: testRepair, StepRows: 2,
	}
	for _, f := range change {
		f(&c)
	}
	return reconcile.New(c)
}

// run lets a server work until the test ends, or until the function returned is called.
func (w *world) run(r *reconcile.Reconciler) (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	w.Cleanup(stop)
	return stop
}

// definition is valid and refills one permit an hour, so that a test can tell a full bucket from an empty one.
func definition() model.Definition {
	d := model.Definition{Apps: []string{"checkout"}, Owners: []string{"ada"}, MaxPermits: 10, Rate: 1, Period: time.Hour, MaxWait: time.Second}
	d.SetDefaults()
	return d
}

func (w *world) create(name string) model.Bucket {
	w.Helper()
	b, err := w.store.CreateBucket(w.Context(), name, definition(), origin)
	must(w.T, err)
	return b
}

// edit changes a bucket in the database and pushes nothing. Like a person whom the system's own change got ahead of, it
// looks again and saves again.
func (w *world) edit(name string, change func(*model.Definition)) model.Bucket {
	w.Helper()
	for {
		b, err := w.store.Bucket(w.Context(), name)
		must(w.T, err)
		d := b.Definition
		change(&d)
		b, err = w.store.UpdateBucket(w.Context(), name, b.Revision, d, origin)
		if model.CodeOf(err) != model.CodeStale {
			must(w.T, err)
			return b
		}
	}
}

func (w *world) setMax(name string, permits int64) model.Bucket {
	w.Helper()
	return w.edit(name, func(d *model.Definition) { d.MaxPermits = permits })
}

func (w *world) remove(name string) int64 {
	w.Helper()
	for {
		b, err := w.store.Bucket(w.Context(), name)
		must(w.T, err)
		revision, err := w.store.DeleteBucket(w.Context(), name, b.Revision, origin)
		if model.CodeOf(err) != model.CodeStale {
			must(w.T, err)
			return revision
		}
	}
}

// push pushes and wants no trouble.
func (w *world) push(r *reconcile.Reconciler, name string) model.SyncState {
	w.Helper()
	state, err := r.Push(w.Context(), name)
	must(w.T, err)
	if state.Pending {
		w.Fatalf("%s is pending after a push without an error", name)
	}
	return state
}

func (w *world) repair(r *reconcile.Reconciler) {
	w.Helper()
	must(w.T, r.Repair(w.Context()))
}

func (w *world) read(name string) bucket.Installed {
	w.Helper()
	found, err := w.engine.Read(w.Context(), name)
	must(w.T, err)
	return found[0]
}

func (w *world) row(name string) model.SyncRow {
	w.Helper()
	row, err := w.store.SyncRow(w.Context(), name)
	must(w.T, err)
	return row
}

// granted asks for 1 permit so many times and returns how many were granted.
func (w *world) granted(name string, asked int64) int64 {
	w.Helper()
	found, err := w.engine.Read(w.Context(), name)
	must(w.T, err)
	target, err := w.engine.Target(name, "checkout", found[0].Facts())
	must(w.T, err)
	reply, err := w.engine.Acquire(w.Context(), bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1, Count: asked}}})
	must(w.T, err)
	if reply.Verdict != bucket.VerdictDecided {
		w.Fatalf("acquire from %s: verdict %d", name, reply.Verdict)
	}
	return reply.Results[0].Granted
}

// raises returns the changes by which the system raised a bucket's revision.
func (w *world) raises(name string) []model.Change {
	w.Helper()
	page, err := w.store.Changes(w.Context(), model.ChangeQuery{Action: model.ActionBucketRaise, TargetKind: model.TargetBucket, Target: name, Actor: model.SystemActor})
	must(w.T, err)
	return page.Items
}

// flush removes every key of this world, as a FLUSHALL would on a Redis of its own.
func (w *world) flush() {
	w.Helper()
	keys, err := w.rdb.Keys(w.Context(), w.pattern()).Result()
	must(w.T, err)
	if len(keys) > 0 {
		must(w.T, w.rdb.Del(w.Context(), keys...).Err())
	}
}

func (w *world) pattern() string {
	if w.prefix == "" {
		return bucket.DefaultPrefix + ":*"
	}
	return w.prefix + ":*"
}

// hash is the key of a bucket's definition, for the tests that write to Redis behind our back.
func (w *world) hash(name string) string {
	return strings.TrimSuffix(w.pattern(), "*") + "{" + name + "}"
}

func (w *world) index() string { return strings.TrimSuffix(w.pattern(), "*") + "index" }

// mark is the one mark that Redis has.
func (w *world) mark() bucket.Mark {
	w.Helper()
	marks, err := w.engine.ReadMarks(w.Context())
	must(w.T, err)
	must(w.T, marks[0].Err)
	return marks[0]
}

// setMark writes the mark in Redis over whatever stands there.
func (w *world) setMark(at time.Time) {
	w.Helper()
	m := w.mark()
	moved, err := w.engine.MoveMark(w.Context(), &m, at)
	must(w.T, err)
	if !moved {
		w.Fatal("the mark was moved by somebody else")
	}
}

// remembered is the mark that the database remembers.
func (w *world) remembered() time.Time {
	w.Helper()
	marks, err := w.store.Marks(w.Context())
	must(w.T, err)
	return marks[0].At
}

// remember has the database remember a mark.
func (w *world) remember(at time.Time) {
	w.Helper()
	must(w.T, w.store.SetMarks(w.Context(), []model.Mark{{Slot: model.NoSlot, At: at}}, nil))
}

// unequal tells the first difference between the database and Redis, "" when they are equal and nothing waits.
func (w *world) unequal() string {
	w.Helper()
	rows, err := w.store.SyncRows(w.Context(), "", 1000)
	must(w.T, err)
	indexed, err := w.engine.IndexedNames(w.Context())
	if err != nil {
		return err.Error()
	}
	for _, row := range rows {
		found, err := w.engine.Read(w.Context(), row.Name)
		if err != nil {
			return err.Error()
		}
		if diff := difference(row, found[0], indexed); diff != "" {
			return row.Name + ": " + diff
		}
	}
	return ""
}

func difference(row model.SyncRow, found bucket.Installed, indexed []string) string {
	switch {
	case row.Mark != 0:
		return "marked"
	case row.InstalledRevision != row.Revision:
		return fmt.Sprintf("installed %d of %d", row.InstalledRevision, row.Revision)
	case found.Damaged || found.Unreadable:
		return "damaged"
	case row.Deleted && found.Present && !found.Tombstone:
		return "still enforced though deleted"
	case row.Deleted && slices.Contains(indexed, row.Name):
		return "still in the index though deleted"
	case row.Deleted:
		return ""
	case !found.Present || found.Tombstone:
		return "not in Redis"
	case !slices.Contains(indexed, row.Name):
		return "not in the index"
	case found.Revision != row.Revision:
		return fmt.Sprintf("Redis has revision %d, the database %d", found.Revision, row.Revision)
	}
	b := row.Bucket
	want := []any{b.Apps, string(b.Algorithm), b.MaxPermits, b.Rate, b.Period, string(b.Partition), b.Shards, string(b.Mode), b.MaxWait, string(b.OnRedisFailure), string(b.AfterLoss)}
	have := []any{slices.Sorted(slices.Values(found.Apps)), found.Algorithm, found.MaxPermits, found.Rate, found.Period, found.Partition, found.Shards, found.Mode, found.MaxWait, found.OnFailure, found.AfterLoss}
	if w, h := fmt.Sprint(want...), fmt.Sprint(have...); w != h {
		return "the database has " + w + ", Redis " + h
	}
	return ""
}

func (w *world) requireEqual() {
	w.Helper()
	if diff := w.unequal(); diff != "" {
		w.Fatal(diff)
	}
}

func (w *world) eventuallyEqual(within time.Duration) {
	w.Helper()
	last := ""
	defer func() {
		if w.Failed() {
			w.Log("last difference:", last)
		}
	}()
	testenv.Eventually(w, within, "Redis equals the database", func() bool {
		last = w.unequal()
		return last == ""
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
