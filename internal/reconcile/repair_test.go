package reconcile_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// Whatever field somebody changes in Redis by hand is put right, under a revision of its own, so that every reader of
// the definition sees a change. A removed or added app counts as a field.
func TestDriftIsMendedFieldByField(t *testing.T) {
	drifts := map[string][]any{
		"max": {"max", "1000"}, "rate": {"rate", "7"}, "period": {"period", "1000000"}, "partition": {"part", "app"},
		"mode": {"mode", "off"}, "wait": {"wait", "1"}, "failure": {"fail", "closed"}, "loss": {"loss", "full"},
		"app": {"app:intruder", "1"},
	}
	onBoth(t, func(w *world) {
		r := w.server()
		for name, fields := range drifts {
			w.create(name)
			w.push(r, name)
			must(t, w.rdb.HSet(t.Context(), w.hash(name), fields...).Err())
		}
		w.create("app-gone")
		w.push(r, "app-gone")
		must(t, w.rdb.HDel(t.Context(), w.hash("app-gone"), "app:checkout").Err())
		w.repair(r)
		w.requireEqual()
		for name := range drifts {
			raised := w.raises(name)
			if len(raised) != 1 || raised[0].Action != model.ActionBucketRaise || raised[0].Revision != 2 {
				t.Errorf("%s: the system's changes are %+v", name, raised)
			}
		}
		if s := r.Status(); s.Mended != int64(len(drifts)+1) || s.Raised != s.Mended {
			t.Errorf("status %+v", s)
		}
		s := r.Status()
		told := map[string]string{}
		for _, one := range s.Drift {
			told[one.Name] = strings.TrimPrefix(strings.Join(one.Fields, ","), "head,") // the copy beside the fields was not changed with them
		}
		want := map[string]string{
			"max": "max_permits", "rate": "rate", "period": "period", "partition": "partition", "mode": "mode", "wait": "max_wait",
			"failure": "on_redis_failure", "loss": "after_loss", "app": "apps", "app-gone": "apps",
		}
		if !maps.Equal(told, want) || !s.LastDrift.Equal(s.LastRepair) {
			t.Errorf("the drift told is %v, want %v", told, want)
		}
		w.repair(r)
		if again := r.Status(); len(again.Drift) != len(s.Drift) || !again.LastDrift.Equal(s.LastDrift) || again.Drifted != 0 {
			t.Errorf("a repair that found nothing forgot the last drift: %+v", again)
		}
		if s := r.Status(); s.Mended != int64(len(drifts)+1) {
			t.Errorf("a second repair found more: %+v", s)
		}
	})
}

// damage is what hands do to the hash of a definition.
type damage func(ctx context.Context, rdb redis.Cmdable, key string) error

func set(fields ...any) damage {
	return func(ctx context.Context, rdb redis.Cmdable, key string) error {
		return rdb.HSet(ctx, key, fields...).Err()
	}
}

func drop(fields ...string) damage {
	return func(ctx context.Context, rdb redis.Cmdable, key string) error {
		return rdb.HDel(ctx, key, fields...).Err()
	}
}

// damages leave a definition that can't be read, or not be decided by.
var damages = map[string]damage{
	"no number":                       set("max", "banana"),
	"no revision":                     set("rev", "banana"),
	"a revision out of bounds":        set("rev", "9007199254740993"),
	"a revision for Lua alone":        set("rev", "0x7fffffff"),
	"a newer revision, and no number": set("rev", "1000", "max", "banana"),
	"another head":                    set("head", "2 x"),
	"a history of no form":            set("hist", "1,2,x"),
	"no history":                      drop("hist"),
	"no head":                         drop("head"),
	"no format":                       drop("fmt"),
	"no owner":                        drop("dep"),
	"no longer all":                   drop("max", "rev"),
	"made by hand": func(ctx context.Context, rdb redis.Cmdable, key string) error {
		if err := rdb.Del(ctx, key).Err(); err != nil {
			return err
		}
		return set("max", "5", "mode", "off")(ctx, rdb, key)
	},
}

// A definition that nobody can read any more is written anew, or removed, whether its row had been brought to Redis or not,
// and costs one revision at most.
func TestDamagedDefinitionIsWrittenAnew(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		var all []string
		for what, damage := range damages {
			stays := strings.NewReplacer(" ", "-", ",", "").Replace(what)
			edited, removed, removedLater := stays+"-edited", stays+"-removed", stays+"-removed-later"
			names := []string{stays, edited, removed, removedLater}
			all = append(all, names...)
			for _, name := range names {
				w.create(name)
				w.setMax(name, 9) // so that an older rule is kept
				w.push(r, name)
			}
			w.remove(removed)
			w.push(r, removed)
			for _, name := range names {
				must(t, damage(t.Context(), w.rdb, w.hash(name)))
			}
			w.setMax(edited, 77)
			w.remove(removedLater)
		}
		w.repair(r)
		w.requireEqual()
		for _, name := range all {
			if raised := w.raises(name); len(raised) > 1 {
				t.Errorf("%s was raised %d times", name, len(raised))
			}
		}
	})
}

// What was never ours to write stays as it is, is reported, and holds up nobody else.
func TestUnreadableKeyHoldsUpNobodyElse(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("a-string")
		w.create("a-version")
		w.create("zebra")
		must(t, w.rdb.Set(t.Context(), w.hash("a-string"), "hello", 0).Err())
		must(t, w.rdb.HSet(t.Context(), w.hash("a-version"), "fmt", "99", "what", "ever").Err())
		w.repair(r)
		if !w.read("zebra").Present {
			t.Error("the bucket after them was not installed")
		}
		for _, name := range []string{"a-string", "a-version"} {
			b, err := w.store.Bucket(t.Context(), name)
			must(t, err)
			if !b.Sync.Pending || b.Sync.LastError == "" {
				t.Errorf("%s: sync %+v", name, b.Sync)
			}
		}
		if got := w.rdb.Get(t.Context(), w.hash("a-string")).Val(); got != "hello" {
			t.Errorf("the foreign key holds %q now", got)
		}
		if got := w.rdb.HLen(t.Context(), w.hash("a-version")).Val(); got != 2 {
			t.Errorf("the newer version's hash has %d fields now", got)
		}
		if s := r.Status(); s.State != reconcile.StateOK || s.Pending != 2 {
			t.Errorf("status %+v", s)
		}
	})
}

// A definition that only Redis has is reported and kept; one whose delete the database has is removed.
func TestOrphanIsReportedAndKeptUnlessItsDeleteIsKnown(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("known")
		w.push(r, "known")
		deployment, err := w.store.DeploymentID(t.Context())
		must(t, err)
		stray := bucket.Definition{Name: "stray", Revision: 3, Apps: []string{"checkout"}, Algorithm: bucket.TokenBucket, MaxPermits: 5, Rate: 1,
			Period: time.Second, Partition: bucket.PartitionShared, Shards: 1, Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossRefill}
		_, err = w.engine.Install(t.Context(), stray, bucket.InstallOptions{Deployment: deployment})
		must(t, err)

		left := stray // a tombstone that the index still lists is nobody's orphan
		left.Name = "left"
		_, err = w.engine.Install(t.Context(), left, bucket.InstallOptions{Deployment: deployment})
		must(t, err)
		_, err = w.engine.Remove(t.Context(), "left", 4, deployment)
		must(t, err)
		must(t, w.rdb.SAdd(t.Context(), w.index(), "left").Err())

		w.remove("known") // the process died between the commit and the push
		_, err = w.raw.ExecContext(t.Context(), "DELETE FROM outbox")
		must(t, err)
		w.repair(r)
		if found := w.read("known"); !found.Tombstone {
			t.Errorf("the deleted bucket is still there: %+v", found)
		}
		if found := w.read("stray"); !found.Present || found.Tombstone || found.Revision != 3 {
			t.Errorf("the orphan was touched: %+v", found)
		}
		s := r.Status()
		if s.OrphanCount != 1 || len(s.Orphans) != 1 || s.Orphans[0] != "stray" {
			t.Errorf("orphans %v", s.Orphans)
		}

		b := w.create("stray") // somebody makes a bucket of that name: it goes above what Redis has
		w.push(r, "stray")
		w.repair(r)
		w.requireEqual()
		if found := w.read("stray"); found.Revision != 4 || b.Revision != 1 {
			t.Errorf("revision %d after %d, want 4 after 1", found.Revision, b.Revision)
		}
		if s := r.Status(); s.OrphanCount != 0 {
			t.Errorf("orphans %v", s.Orphans)
		}
	})
}

// The index is what orphans are found by, so it is kept whole.
func TestIndexIsMended(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("here")
		w.create("gone")
		w.push(r, "here")
		w.push(r, "gone")
		w.remove("gone")
		w.push(r, "gone")
		must(t, w.rdb.Del(t.Context(), w.index()).Err())
		must(t, w.rdb.SAdd(t.Context(), w.index(), "gone").Err())
		w.repair(r)
		w.requireEqual()
	})
}

// A database that was restored from a backup is behind Redis: its rows win, under revisions above those of Redis and
// with a change by the system that says why.
func TestRestoredOlderDatabaseWinsAboveRedis(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		for _, name := range []string{"edited", "same", "deleted-later", "remade-later"} {
			w.create(name)
			w.push(r, name)
		}
		w.backup()
		for permits := int64(20); permits < 25; permits++ {
			w.setMax("edited", permits)
		}
		w.remove("deleted-later")
		w.remove("remade-later")
		w.create("remade-later")
		w.create("made-later")
		for _, name := range []string{"edited", "deleted-later", "remade-later", "made-later"} {
			w.push(r, name)
		}
		w.requireEqual()
		ahead := map[string]int64{"edited": 6, "deleted-later": 2, "remade-later": 3}

		w.restore()
		w.repair(r)
		w.requireEqual()
		for name, redis := range ahead {
			if row := w.row(name); row.Revision != redis+1 {
				t.Errorf("%s is at revision %d, Redis was at %d", name, row.Revision, redis)
			}
			if raised := w.raises(name); len(raised) != 1 {
				t.Errorf("%s: the system's changes are %+v", name, raised)
			}
		}
		if found := w.read("edited"); found.MaxPermits != 10 {
			t.Errorf("edited has %d permits, the backup had 10", found.MaxPermits)
		}
		if row := w.row("same"); row.Revision != 1 || len(w.raises("same")) != 0 {
			t.Errorf("an equal bucket was changed: %+v", row)
		}
		if s := r.Status(); len(s.Orphans) != 1 || s.Orphans[0] != "made-later" {
			t.Errorf("orphans %v", s.Orphans)
		}
	})
}

// After a restore an edit or a delete may reach the very revision that Redis has: equal revisions with other content.
func TestEqualRevisionWithOtherContentIsRaised(t *testing.T) {
	edit := func(permits int64) func(*world) {
		return func(w *world) { w.setMax("api", permits) }
	}
	remove := func(w *world) { w.remove("api") }
	onBoth(t, func(w *world) {
		r := w.server()
		for what, acts := range map[string][2]func(*world){
			"edited and edited":   {edit(20), edit(30)},
			"edited and deleted":  {edit(20), remove},
			"deleted and edited":  {remove, edit(30)},
			"deleted and deleted": {remove, remove}, // equal in content: nothing to raise
		} {
			w.create("api")
			w.push(r, "api")
			w.backup()
			acts[0](w)
			w.push(r, "api")
			w.restore()
			acts[1](w)
			row, found := w.row("api"), w.read("api")
			if found.Revision != row.Revision {
				t.Fatalf("%s: the test wants equal revisions, not %d and %d", what, found.Revision, row.Revision)
			}
			want := row.Revision + 1
			if row.Deleted && found.Tombstone {
				want = row.Revision
			}
			if state := w.push(r, "api"); state.InstalledRevision != want {
				t.Errorf("%s: installed revision %d, want %d", what, state.InstalledRevision, want)
			}
			if diff := w.unequal(); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
			if row := w.row("api"); !row.Deleted {
				w.remove("api")
				w.push(r, "api")
			}
		}
	})
}

// More rows than one page, made and pushed by nobody, and then lost at once.
func TestRepairWalksEveryPage(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, "sqlite", addr, prefix)
	r := w.server()
	for i := range 210 {
		w.create(fmt.Sprintf("bucket-%03d", i))
	}
	w.repair(r)
	w.requireEqual()
	w.flush()
	w.repair(r)
	w.requireEqual()
	if s := r.Status(); s.Reinstalled != 210 {
		t.Errorf("status %+v", s)
	}
}
