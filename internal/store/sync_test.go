package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func dirty(t testing.TB, s *store.Store, at time.Time) []model.Dirty {
	t.Helper()
	return must(s.Dirty(t.Context(), at, 100))(t)
}

func TestEveryWriteOfABucketLeavesOneOutboxRow(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		bucket(t, s, "b", definition("alice"))
		must(s.UpdateBucket(t.Context(), "b", 1, definition("alice"), byAlice))(t)
		if got := dirty(t, s, now.Now()); !cmp.Equal(got, []model.Dirty{{Name: "b", Mark: 2}}) {
			t.Errorf("dirty: %+v", got)
		}
		if got := dirty(t, s, now.Now().Add(-time.Second)); len(got) != 0 {
			t.Errorf("due before it was marked: %+v", got)
		}
		ok(t, s.MarkInstalled(t.Context(), "b", 2, 2))
		if got := must(s.Bucket(t.Context(), "b"))(t).Sync; got != (model.SyncState{InstalledRevision: 2}) {
			t.Errorf("sync state %+v, want revision 2 installed", got)
		}
		if n := must(s.CountDirty(t.Context()))(t); n != 0 {
			t.Errorf("%d dirty after the install", n)
		}
		must(s.DeleteBucket(t.Context(), "b", 2, byAlice))(t)
		if got := dirty(t, s, now.Now()); !cmp.Equal(got, []model.Dirty{{Name: "b", Mark: 3}}) {
			t.Errorf("dirty after the delete: %+v", got)
		}
	})
}

// A pusher that finishes late ends its own push only: an edit made meanwhile stays due, even if the outbox row it began
// with was removed and made again in between.
func TestLatePusherDoesNotEndANewerPush(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		bucket(t, s, "b", definition("alice"))
		late := dirty(t, s, now.Now())[0]
		ok(t, s.MarkInstalled(t.Context(), "b", 1, late.Mark)) // another server was faster
		must(s.UpdateBucket(t.Context(), "b", 1, definition("alice"), byAlice))(t)

		ok(t, s.MarkInstalled(t.Context(), "b", 1, late.Mark))
		ok(t, s.MarkFailed(t.Context(), "b", late.Mark, "late", now.Now().Add(time.Hour)))
		got := dirty(t, s, now.Now())
		if len(got) != 1 || got[0].Mark <= late.Mark || got[0].Attempts != 0 {
			t.Fatalf("dirty: %+v, want a newer mark than %d that is due", got, late.Mark)
		}
		if state := must(s.Bucket(t.Context(), "b"))(t).Sync; !state.Pending || state.InstalledRevision != 1 || state.LastError != "" {
			t.Errorf("sync state %+v", state)
		}
		ok(t, s.MarkInstalled(t.Context(), "b", 2, got[0].Mark))
		ok(t, s.MarkInstalled(t.Context(), "b", 1, got[0].Mark))
		if state := must(s.Bucket(t.Context(), "b"))(t).Sync; state.InstalledRevision != 2 || state.Pending {
			t.Errorf("sync state %+v, want revision 2, never lower", state)
		}
	})
}

func TestFailedPushIsDueLater(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		bucket(t, s, "b", definition("alice"))
		ok(t, s.MarkFailed(t.Context(), "b", 1, "no Redis", now.Now().Add(time.Minute)))
		if got := dirty(t, s, now.Now().Add(59*time.Second)); len(got) != 0 {
			t.Errorf("due too early: %+v", got)
		}
		if got := dirty(t, s, now.Now().Add(time.Minute)); !cmp.Equal(got, []model.Dirty{{Name: "b", Mark: 1, Attempts: 1}}) {
			t.Errorf("due after a minute: %+v", got)
		}
		if state := must(s.Bucket(t.Context(), "b"))(t).Sync; !state.Pending || state.LastError != "no Redis" {
			t.Errorf("sync state %+v", state)
		}
		ok(t, s.MarkDirty(t.Context(), "b"))
		if got := dirty(t, s, now.Now()); !cmp.Equal(got, []model.Dirty{{Name: "b", Mark: 2}}) {
			t.Errorf("marked again: %+v", got)
		}
		wantCode(t, s.MarkDirty(t.Context(), "absent"), model.CodeNotFound)
		wantCode(t, s.MarkInstalled(t.Context(), "absent", 1, 1), model.CodeNotFound)
	})
}

// Marks handed out under contention are all different: two pushes never share one.
func TestMarksAreNeverUsedTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		people(t, servers[0], "alice")
		bucket(t, servers[0], "b", definition("alice"))
		for _, err := range together(20, func(i int) error { return servers[i%2].MarkDirty(t.Context(), "b") }) {
			ok(t, err)
		}
		if got := must(servers[0].SyncRow(t.Context(), "b"))(t).Mark; got != 21 {
			t.Errorf("mark %d after 1 create and 20 markings, want 21", got)
		}
	})
}

func TestRaiseLiftsARevisionAboveRedis(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		bucket(t, s, "b", definition("alice"))
		bucket(t, s, "gone", definition("alice"))
		must(s.DeleteBucket(t.Context(), "gone", 1, byAlice))(t)
		check := func(name string, redis, want int64, wantRaised bool) {
			t.Helper()
			got, raised, err := s.RaiseRevision(t.Context(), name, redis)
			if err != nil || got != want || raised != wantRaised {
				t.Errorf("raise %s above %d: %d, %v, %v; want %d, %v", name, redis, got, raised, err, want, wantRaised)
			}
		}
		check("b", 0, 1, false)
		check("b", 1, 2, true)
		check("b", 41, 42, true)
		check("b", 41, 42, false)
		check("gone", 9, 10, true)
		c := must(s.Changes(t.Context(), model.ChangeQuery{Target: "b"}))(t).Items[0]
		if c.Action != model.ActionBucketRaise || c.Actor != model.SystemActor || c.Revision != 42 || c.Reason == "" || string(c.Before) != string(c.After) {
			t.Errorf("change %+v", c)
		}
		if row := must(s.SyncRow(t.Context(), "gone"))(t); !row.Deleted || row.Revision != 10 || row.Mark == 0 {
			t.Errorf("the deleted bucket's row: %+v", row)
		}
		_, _, err := s.RaiseRevision(t.Context(), "absent", 1)
		wantCode(t, err, model.CodeNotFound)
		_, _, err = s.RaiseRevision(t.Context(), "b", 1<<63-1)
		wantCode(t, err, model.CodeInvalid, "revision")
	})
}

func TestSyncRowsWalkAllNames(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		names := numbered("b", 7)
		for _, name := range names {
			bucket(t, s, name, definition("alice"))
		}
		must(s.DeleteBucket(t.Context(), names[3], 1, byAlice))(t)
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			rows := must(s.SyncRows(t.Context(), after, 3))(t)
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				got = append(got, row.Name)
				if row.Deleted != (row.Name == names[3]) || row.Deleted != (row.Bucket == nil) {
					t.Errorf("row %+v", row)
				}
			}
		}
		if !cmp.Equal(got, names) {
			t.Errorf("walked %v, want %v", got, names)
		}
	})
}
