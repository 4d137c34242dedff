package reconcile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// crowd makes so many buckets that they are brought together.
func (w *world) crowd(n int) []string {
	w.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("crowd-%02d", i)
		w.create(names[i])
	}
	return names
}

// repairs returns the history's rows about what a repair put right.
func (w *world) repairs() []model.Change {
	w.Helper()
	page, err := w.store.Changes(w.Context(), model.ChangeQuery{Action: model.ActionBucketRepair})
	must(w.T, err)
	return page.Items
}

// What other servers bring, delete or lose while many buckets are under way together is seen as what it is.
func TestLateCrowdEndsRight(t *testing.T) {
	onBoth(t, func(w *world) {
		names := w.crowd(12)
		w.edit(names[7], func(d *model.Definition) { d.Partition, d.Shards = model.PartitionKey, 3 })
		w.repair(w.held(func() { w.meanwhile(names) }))
		w.endsRight(names)
		if got := w.repairs(); len(got) != 0 {
			t.Errorf("edits are no repairs: %+v", got)
		}
	})
}

// So it is where Redis lost what it had, whoever notices it.
func TestLateCrowdAfterALossEndsRight(t *testing.T) {
	notice := map[string]func(w *world, names []string){
		"by its mark": func(w *world, _ []string) { w.flush() },
		"by the comparison": func(w *world, names []string) {
			for _, name := range names {
				must(w.T, w.rdb.Del(w.Context(), w.hash(name)).Err())
			}
		},
	}
	for how, lose := range notice {
		t.Run(how, func(t *testing.T) {
			onBoth(t, func(w *world) {
				names := w.crowd(12)
				w.edit(names[7], func(d *model.Definition) { d.Partition, d.Shards = model.PartitionKey, 3 })
				w.repair(w.server())
				lose(w, names)
				w.repair(w.held(func() { w.meanwhile(names) }))
				w.endsRight(names)
			})
		})
	}
}

// meanwhile does to a crowd what another server does while one is late.
func (w *world) meanwhile(names []string) {
	w.Helper()
	second := w.server()
	w.setMax(names[0], 99)
	w.push(second, names[0])
	w.setMax(names[1], 98) // committed, and its own push never came
	w.remove(names[2])
	w.push(second, names[2])
	w.remove(names[3])
	w.create(names[3])
	w.push(second, names[3])
	w.push(second, names[4])
	w.remove(names[5])
}

// endsRight fails the test unless Redis has what the database has, and no revision was raised for it.
func (w *world) endsRight(names []string) {
	w.Helper()
	w.requireEqual()
	for _, name := range names {
		if raised := w.raises(name); len(raised) != 0 {
			w.Errorf("%s: a push in flight was taken for a restored database: %+v", name, raised)
		}
	}
}

// Many lost definitions come back together, born now, and the history has one row for them all; a few have a row each.
func TestLostCrowdComesBackEmptyAndIsRecorded(t *testing.T) {
	onBoth(t, func(w *world) {
		names := w.crowd(14)
		r := w.server()
		w.repair(r)
		w.requireEqual()
		for _, name := range names {
			w.granted(name, 10)
		}
		w.flush()
		w.repair(r)
		w.requireEqual()
		for _, name := range names {
			if got := w.granted(name, 10); got != 0 {
				t.Errorf("%s granted %d after the flush", name, got)
			}
		}
		rows := w.repairs()
		if len(rows) != 1 || rows[0].Count != 14 || rows[0].Actor != model.SystemActor || rows[0].Target != model.SyncTarget {
			t.Fatalf("history %+v", rows)
		}
		var told struct{ Buckets, Lost int }
		must(t, json.Unmarshal(rows[0].After, &told))
		if told.Buckets != 14 || told.Lost != 14 {
			t.Errorf("the row tells %s", rows[0].After)
		}
		for _, name := range names[:3] {
			must(t, w.rdb.Del(t.Context(), w.hash(name)).Err())
		}
		w.repair(r)
		w.requireEqual()
		rows = w.repairs()
		if len(rows) != 4 {
			t.Fatalf("history %+v", rows)
		}
		for _, row := range rows[:3] {
			if row.TargetKind != model.TargetBucket || row.Revision != 1 || !strings.Contains(row.Reason, "lost") {
				t.Errorf("row %+v", row)
			}
		}
	})
}

// A comparison that finds nothing writes nothing but the mark.
func TestComparisonWithoutADifferenceWritesNothing(t *testing.T) {
	onOwnRedis(t, func(w *world, _ *testenv.RedisServer) {
		w.crowd(12)
		r := w.server()
		w.repair(r)
		marks := w.row("crowd-00").Mark
		before := w.redisWrites()
		for range 3 {
			w.repair(r)
		}
		if after := w.redisWrites(); after != before {
			t.Errorf("the writes were %s, now %s", before, after)
		}
		if row := w.row("crowd-00"); row.Mark != marks {
			t.Error("it was marked")
		}
		if rows := w.repairs(); len(rows) != 0 {
			t.Errorf("history %+v", rows)
		}
	})
}

// redisWrites tells how often each command that writes was called, but for the one that moves the mark.
func (w *world) redisWrites() string {
	w.Helper()
	text, err := w.rdb.Info(w.Context(), "commandstats").Result()
	must(w.T, err)
	var all []string
	for line := range strings.Lines(text) {
		command, stats, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		switch command {
		case "hset", "hdel", "del", "sadd", "srem", "setnx", "persist", "expire", "pexpire", "psetex":
			calls, _, _ := strings.Cut(stats, ",")
			all = append(all, command+" "+calls)
		}
	}
	return strings.Join(all, "; ")
}

// A lost index of many buckets is written anew without touching a definition.
func TestLostIndexOfACrowdIsMended(t *testing.T) {
	onBoth(t, func(w *world) {
		names := w.crowd(12)
		r := w.server()
		w.repair(r)
		w.granted(names[0], 10)
		must(t, w.rdb.Del(t.Context(), w.index()).Err())
		w.repair(r)
		w.requireEqual()
		if got := w.granted(names[0], 10); got != 0 {
			t.Errorf("granted %d", got)
		}
	})
}

// Differences are told with their fields, before anything is put right, and telling them changes nothing.
func TestDifferencesAreToldAndNothingIsWritten(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, name := range []string{"drifted", "equal", "lost", "pending"} {
			w.create(name)
		}
		r := w.server()
		w.repair(r)
		must(t, w.rdb.HSet(t.Context(), w.hash("drifted"), "max", "77").Err())
		must(t, w.rdb.Del(t.Context(), w.hash("lost")).Err())
		w.setMax("pending", 50)
		deployment, err := w.store.DeploymentID(t.Context())
		must(t, err)
		stray := theirs("stray")
		_, err = w.engine.Install(t.Context(), stray, bucket.InstallOptions{Deployment: deployment})
		must(t, err)
		for range 2 {
			got := map[string]string{}
			orphans, err := r.Differences(t.Context(), func(c reconcile.Comparison) {
				got[c.Row.Name] = fmt.Sprintf("%d/%d pending=%v %v", c.Row.Revision, c.RedisRevision, c.Pending(), c.Drift)
			})
			must(t, err)
			want := map[string]string{
				"drifted": "1/1 pending=false [head max_permits]", "lost": "1/0 pending=false [missing]", "pending": "2/1 pending=true []",
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(orphans) != "[stray]" {
				t.Errorf("differences %v, orphans %v", got, orphans)
			}
		}
		c, err := r.Compare(t.Context(), "equal")
		must(t, err)
		if took, ok := c.Took(); !ok || took < 0 || took > time.Minute || c.Pending() || len(c.Drift) > 0 {
			t.Errorf("equal: %+v took %v, %v", c, took, ok)
		}
	})
}
