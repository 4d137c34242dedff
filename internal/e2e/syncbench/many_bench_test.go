// Package syncbench measures how soon Redis follows the database, on a real MariaDB and a real redis-server: `make
// bench-sync`. Each figure stands beside its bar; a missed bar is said, and fails nothing.
package syncbench

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
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
	"github.com/headgate/headgate/internal/testenv/bars"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const (
	many       = 100_000
	seedBatch  = 1000
	runTimeout = time.Minute
)

// deployment is a database with many buckets, a Redis, and one admin server's reconciler between them.
type deployment struct {
	*testing.B
	store  *store.Store
	redis  *testenv.RedisServer
	rdb    *redis.Client
	engine *bucket.Engine
}

func newDeployment(b *testing.B) *deployment {
	b.Helper()
	dsn := testenv.MySQL(b)
	s, err := store.Open(b.Context(), store.Config{MySQLDSN: dsn, Log: slog.New(slog.DiscardHandler)})
	must(b, err)
	b.Cleanup(func() { _ = s.Close() })
	must(b, s.Migrate(b.Context()))
	server := testenv.OwnRedis(b)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true})
	b.Cleanup(func() { _ = rdb.Close() })
	d := &deployment{B: b, store: s, redis: server, rdb: rdb, engine: bucket.New(rdb, "")}
	d.seed(dsn)
	return d
}

// seed makes the buckets by SQL, each with two apps, as if Redis had had them all: making them one by one takes minutes.
func (d *deployment) seed(dsn string) {
	d.Helper()
	origin := model.Origin{Actor: "ada", Reason: "a benchmark"}
	_, err := d.store.CreateUser(d.Context(), model.User{Name: "ada", Role: model.RoleAdmin, PasswordHash: "none"}, origin)
	must(d.B, err)
	for _, app := range []string{"checkout", "search"} {
		_, err := d.store.CreateApp(d.Context(), model.App{Name: app}, origin)
		must(d.B, err)
	}
	db, err := sql.Open("mysql", dsn)
	must(d.B, err)
	defer func() { _ = db.Close() }()
	row := `(%d,'%s','',0,'token_bucket',100,50,3600000,'shared',1,'enforce',10000,'open','refill',0,1,1,1,1,'ada',NOW(6),'ada',NOW(6))`
	for first := 1; first <= many; first += seedBatch {
		var buckets, apps, owners []string
		for id := first; id < first+seedBatch; id++ {
			buckets = append(buckets, fmt.Sprintf(row, id, name(id)))
			apps = append(apps, fmt.Sprintf("(%d,1),(%d,2)", id, id))
			owners = append(owners, fmt.Sprintf("(%d,1)", id))
		}
		for _, statement := range []string{
			`INSERT INTO buckets (id,name,description,all_apps,algorithm,max_permits,rate,period_ms,partition_by,shards,mode,max_wait_ms,on_redis_failure,after_loss,
			 deleted,revision,created_revision,installed_revision,mark,created_by,created_at,updated_by,updated_at) VALUES ` + strings.Join(buckets, ","),
			"INSERT INTO bucket_apps (bucket_id, app_id) VALUES " + strings.Join(apps, ","),
			"INSERT INTO bucket_owners (bucket_id, user_id) VALUES " + strings.Join(owners, ","),
		} {
			_, err := db.ExecContext(d.Context(), statement)
			must(d.B, err)
		}
	}
}

func name(id int) string { return fmt.Sprintf("bucket-%06d", id) }

func (d *deployment) server() *reconcile.Reconciler {
	return reconcile.New(reconcile.Config{Store: d.store, Engine: d.engine, Log: slog.New(slog.DiscardHandler)})
}

// installed counts the definitions that Redis has.
func (d *deployment) installed() int64 {
	d.Helper()
	n, err := d.rdb.DBSize(d.Context()).Result()
	must(d.B, err)
	return n - 3 // the index, the owner and the mark
}

// writes counts the commands that write definitions, state or the index, by INFO commandstats.
func (d *deployment) writes() int64 {
	d.Helper()
	text, err := d.rdb.Info(d.Context(), "commandstats").Result()
	must(d.B, err)
	var all int64
	for line := range strings.Lines(text) {
		var calls int64
		command, stats, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		switch command {
		case "hset", "hdel", "del", "sadd", "srem", "psetex", "persist", "expire", "pexpire", "setnx":
			if _, err := fmt.Sscanf(stats, "calls=%d,", &calls); err == nil {
				all += calls
			}
		}
	}
	return all
}

// BenchmarkManyBuckets: 100,000 buckets are compared, lost and installed again.
func BenchmarkManyBuckets(b *testing.B) {
	d := newDeployment(b)
	r := d.server()
	must(b, r.Repair(b.Context())) // the first install
	var drift time.Duration
	before := d.writes()
	for range 3 {
		began := time.Now()
		must(b, r.Repair(b.Context()))
		drift = max(drift, time.Since(began))
	}
	bars.Took(b, "drift check of 100,000, the slowest of 3", drift, 3*time.Second)
	if wrote := d.writes() - before; wrote != 0 {
		b.Errorf("passes that changed nothing made %d writes", wrote)
	}
	bars.Most(b, "writes of 3 passes without a change", float64(d.writes()-before), 0, "")
	d.flushed(r)
}

// flushed lets a server run, flushes its Redis and measures until everything is there again.
func (d *deployment) flushed(r *reconcile.Reconciler) {
	ctx, cancel := context.WithCancel(d.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	defer running.Wait()
	defer cancel()
	testenv.Eventually(d, runTimeout, "the server runs", func() bool { return r.Status().State == reconcile.StateOK })
	must(d.B, d.rdb.FlushAll(d.Context()).Err())
	began := time.Now()
	testenv.Eventually(d, runTimeout, "the loss is found", func() bool { return !r.Status().LastLoss.IsZero() })
	bars.Took(d.B, "a flushed Redis is noticed after", time.Since(began), time.Second)
	testenv.Eventually(d, runTimeout, "all is installed", func() bool { return d.installed() >= many })
	bars.Took(d.B, "full install of 100,000 after the flush", time.Since(began), 5*time.Second)
	testenv.Eventually(d, runTimeout, "the pass has ended", func() bool { return r.Status().LastRepair.After(began) })
	bars.Told(d, "until the comparison after it has ended", bars.Milliseconds(time.Since(began)), "ms")
	d.wantNoBurst()
}

// wantNoBurst asks for all permits of some buckets: they hold what has come in since their birth, and no more.
func (d *deployment) wantNoBurst() {
	d.Helper()
	most := 0
	for id := 1; id <= many; id += many / 100 {
		found, err := d.engine.Read(d.Context(), name(id))
		must(d.B, err)
		target, err := d.engine.Target(name(id), "checkout", found[0].Facts())
		must(d.B, err)
		reply, err := d.engine.Acquire(d.Context(), bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1, Count: 100}}})
		must(d.B, err)
		granted := int(reply.Results[0].Granted)
		if most = max(most, granted); granted > 1 { // 50 an hour
			d.Errorf("%s granted %d after the flush", name(id), granted)
		}
	}
	bars.Most(d, "permits at once in 100 of the buckets then", float64(most), 1, "")
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
