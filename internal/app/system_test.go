package app

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// What waits is told with its own reason, and where it was not tried with what holds up every push.
func TestAWaitingBucketIsToldWithTheTrueReason(t *testing.T) {
	for _, c := range []struct {
		stored string
		state  reconcile.State
		want   model.SyncReason
	}{
		{"", reconcile.StateOK, model.SyncOnItsWay},
		{"", reconcile.StateForeign, model.SyncForeign},
		{"", reconcile.StateRedisDown, model.SyncSilent},
		{model.SyncFormat.Message(), reconcile.StateRedisDown, model.SyncFormat},
		{model.SyncInvalid.Message() + "rate must be 1..9", reconcile.StateOK, model.SyncInvalid},
		{"in the words of another version", reconcile.StateOK, model.SyncOther},
	} {
		got := showPending(&model.PendingBucket{Name: "b", LastError: c.stored}, c.state)
		if got.Reason != c.want || c.stored != "" && got.Message != c.stored || (got.Message == "") != (c.want == "") {
			t.Errorf("%q, %s: %q %q, want %q", c.stored, c.state, got.Reason, got.Message, c.want)
		}
	}
}

// The System page learns which bucket differed in what, which one waits, and which instance decides by an earlier revision.
func TestTheSystemNamesDriftWaitingBucketsAndInstancesBehind(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	s, y := newSynced(t, store.Config{SQLitePath: filepath.Join(t.TempDir(), "test.db")}, rdb, prefix)
	c, err := client.New(rdb, "checkout", client.Prefix(prefix))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Acquire(t.Context(), "api"); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 20*time.Second, "the instance is listed", func() bool {
		all, err := y.Instances(t.Context())
		return err == nil && len(all) == 1 && all[0].App == "checkout" && all[0].Buckets == 1 && all[0].BehindCount == 0
	})
	if _, err := s.UpdateBucket(t.Context(), "api", 1, syncedDefinition(20), byAda); err != nil {
		t.Fatal(err)
	}
	all, err := y.Instances(t.Context())
	if err != nil || len(all) != 1 || all[0].BehindCount != 1 || all[0].Behind[0].Bucket != "api" || all[0].Behind[0].Present != 2 {
		t.Errorf("behind: %+v, %v", all, err)
	}
	told, err := y.SystemSync(t.Context())
	if err != nil || len(told.PendingBuckets) != 1 || told.PendingBuckets[0].Bucket != "api" || told.PendingBuckets[0].Revision != 2 {
		t.Errorf("waiting: %+v, %v", told, err)
	}
	if err := y.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := rdb.HSet(t.Context(), prefix+":{api}", "mode", "off").Err(); err != nil {
		t.Fatal(err)
	}
	if err := y.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	told, err = y.SystemSync(t.Context())
	if err != nil || len(told.PendingBuckets) != 0 || len(told.Drift) != 1 || told.Drift[0].Bucket != "api" || told.LastDrift == nil {
		t.Errorf("drift: %+v, %v", told, err)
	}
}

// A server lists itself while it runs, says that it drains, and is gone from the list after its end.
func TestAServerBeatsUntilItEnds(t *testing.T) {
	cfg := Defaults()
	cfg.Embedded, cfg.Demo, cfg.DataDir, cfg.Listen, cfg.AdminPassword = true, false, t.TempDir(), "127.0.0.1:0", "correct horse battery"
	cfg.EmbeddedRedisListen = "127.0.0.1:0"
	a, err := New(t.Context(), cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { a.beat(ctx); close(ended) }()
	is := func(state model.ServerState) func() bool {
		return func() bool {
			servers, known := health{a}.servers(t.Context())
			return known && len(servers) == 1 && servers[0].This && servers[0].State == state
		}
	}
	testenv.Eventually(t, 20*time.Second, "the server is listed", is(model.ServerRunning))
	close(a.draining)
	testenv.Eventually(t, 20*time.Second, "the server drains", is(model.ServerDraining))
	state := health{a}.System(t.Context())
	if state.Database.Kind != "sqlite" || state.Database.Version == "" || state.Database.TookUS == nil || state.Redis.TookUS == nil {
		t.Errorf("parts %+v %+v", state.Database, state.Redis)
	}
	stop()
	<-ended
	if servers, known := (health{a}).servers(t.Context()); !known || len(servers) != 0 {
		t.Errorf("after its end: %+v", servers)
	}
}
