package app

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

var byAda = model.Origin{Actor: "ada", Reason: "a test"}

// newSynced makes a database with the bucket api, and a Redis, and brings the one to the other.
func newSynced(t *testing.T, config store.Config, rdb redis.UniversalClient, prefix string) (*store.Store, syncer) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	config.Log = slog.New(slog.DiscardHandler)
	s, err := store.Open(t.Context(), config)
	ok(err)
	t.Cleanup(func() { _ = s.Close() })
	ok(s.Migrate(t.Context()))
	_, err = s.CreateUser(t.Context(), model.User{Name: "ada", Role: model.RoleAdmin, PasswordHash: "none"}, byAda)
	ok(err)
	_, err = s.CreateApp(t.Context(), model.App{Name: "checkout"}, byAda)
	ok(err)
	_, err = s.CreateBucket(t.Context(), "api", syncedDefinition(10), byAda)
	ok(err)
	engine := bucket.New(rdb, prefix)
	y := syncer{reconcile.New(reconcile.Config{Store: s, Engine: engine, Log: slog.New(slog.DiscardHandler)}), engine, s}
	ok(y.Reconcile(t.Context()))
	return s, y
}

func syncedDefinition(permits int64) model.Definition {
	d := model.Definition{Apps: []string{"checkout"}, Owners: []string{"ada"}, MaxPermits: permits, Rate: 10, Period: time.Second}
	d.SetDefaults()
	return d
}

// An edit is proven to be in Redis and at the SDK instance that uses the bucket, which is seen to lag until it decides by
// the new revision.
func TestAnEditIsProvenAtEachInstance(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	s, y := newSynced(t, store.Config{SQLitePath: filepath.Join(t.TempDir(), "test.db")}, rdb, prefix)
	c, err := client.New(rdb, "checkout", client.Prefix(prefix))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	sees := func(revision int64) func() bool {
		return func() bool {
			if _, err := c.Acquire(t.Context(), "api"); err != nil {
				t.Fatal(err)
			}
			told, err := y.BucketSync(t.Context(), "api")
			return err == nil && len(told.Instances) == 1 && told.Instances[0].Revision == revision
		}
	}
	testenv.Eventually(t, 20*time.Second, "the instance is seen at revision 1", sees(1))
	if _, err := s.UpdateBucket(t.Context(), "api", 1, syncedDefinition(20), byAda); err != nil {
		t.Fatal(err)
	}
	told, err := y.BucketSync(t.Context(), "api")
	if err != nil || !told.Pending || told.TookMS != nil || told.Revision != 2 || told.RedisRevision != 1 {
		t.Errorf("before the push: %+v, %v", told, err)
	}
	if err := (pusher{reconciler: y.reconciler}).Push(t.Context(), "api"); err != nil {
		t.Fatal(err)
	}
	told, err = y.BucketSync(t.Context(), "api")
	if err != nil || told.Pending || told.RedisRevision != 2 || told.TookMS == nil || *told.TookMS > 60_000 || len(told.Drift) != 0 {
		t.Errorf("after the push: %+v, %v", told, err)
	}
	if i := told.Instances[0]; i.App != "checkout" || i.ID == "" || i.Version == "" || time.Since(i.LastSeen) > time.Minute {
		t.Errorf("instance %+v", i)
	}
	testenv.Eventually(t, 20*time.Second, "the instance is seen at revision 2", sees(2))
}

// The commands say what stands how, find a difference with an error, write nothing before the repair, and nothing is left
// after it.
func TestSyncCommandsTellAndRepair(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = rdb.Close() })
	cfg := Defaults()
	cfg.MySQLDSN, cfg.RedisURL = testenv.MySQL(t), "redis://"+server.Addr+"/0"
	newSynced(t, store.Config{MySQLDSN: cfg.MySQLDSN}, rdb, "")
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	run := func(command func(context.Context, Config, *slog.Logger) (string, error), fails bool, want ...string) {
		t.Helper()
		said, err := command(t.Context(), cfg, log)
		if (err != nil) != fails {
			t.Errorf("error %v, want one: %v", err, fails)
		}
		for _, part := range want {
			if !strings.Contains(said, part) {
				t.Errorf("%q is not in:\n%s", part, said)
			}
		}
	}
	run(SyncStatus, false, "ours", "0 buckets wait", "slots 0-16383", "0 SDK instances")
	run(SyncDiff, false, "Redis equals the database")
	if err := rdb.HSet(t.Context(), "headgate:{api}", "max", 99).Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		run(SyncDiff, true, "api", "database 1", "Redis 1", "max_permits")
	}
	run(SyncNow, false, "1 mended")
	run(SyncDiff, false, "Redis equals the database")
}
