package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// past makes a bucket "b" with three revisions that differ, owned by alice and then by bob.
func past(t *testing.T, s *store.Store) {
	t.Helper()
	people(t, s, "alice", "bob", "carol")
	apps(t, s, "pay", "ship")
	d := definition("alice", "pay")
	bucket(t, s, "b", d)
	d.Rate, d.Apps = 25, []string{"pay", "ship"}
	must(s.UpdateBucket(t.Context(), "b", 1, d, byAlice))(t)
	d.MaxPermits, d.Owners = 10, []string{"bob"}
	must(s.UpdateBucket(t.Context(), "b", 2, d, byAlice))(t)
}

func TestEachRevisionIsReadAsItWas(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		past(t, s)
		third := must(s.Bucket(t.Context(), "b"))(t)
		must(s.DeleteBucket(t.Context(), "b", 3, byBob))(t)
		for revision, want := range map[int64][2]int64{1: {100, 50}, 2: {100, 25}, 3: {10, 25}} {
			got := must(s.BucketRevision(t.Context(), "b", revision))(t)
			if got.Revision != revision || got.Definition.MaxPermits != want[0] || got.Definition.Rate != want[1] || !got.At.Equal(third.UpdatedAt) {
				t.Errorf("revision %d: %+v", revision, got)
			}
		}
		if got := must(s.BucketRevision(t.Context(), "b", 3))(t); !cmp.Equal(*got.Definition, third.Definition) {
			t.Errorf("revision 3:\n%s", cmp.Diff(third.Definition, *got.Definition))
		}
		gone := must(s.BucketRevision(t.Context(), "b", 4))(t)
		if gone.Definition != nil || gone.Action != model.ActionBucketDelete || gone.Actor != "bob" || gone.Reason != "why not" {
			t.Errorf("the deletion: %+v", gone)
		}
		for _, revision := range []int64{-1, 0, 5, 1 << 60} {
			_, err := s.BucketRevision(t.Context(), "b", revision)
			wantCode(t, err, model.CodeNotFound)
		}
		_, err := s.BucketRevision(t.Context(), "nothing", 1)
		wantCode(t, err, model.CodeNotFound)
	})
}

func TestRollBackIsANewRevisionThatNamesTheOldOne(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		past(t, s)
		first := must(s.BucketRevision(t.Context(), "b", 1))(t)
		got := must(s.RollBackBucket(t.Context(), "b", 3, *first.Definition, 1, byBob))(t)
		if got.Revision != 4 || got.CreatedRevision != 1 || !cmp.Equal(got.Definition, *first.Definition) || !got.Sync.Pending {
			t.Errorf("rolled back to %+v", got)
		}
		row := must(s.Changes(t.Context(), model.ChangeQuery{Limit: 1}))(t).Items[0]
		if row.Action != model.ActionBucketRollback || row.Revision != 4 || row.Actor != "bob" || !strings.Contains(string(row.After), `"from_revision":1`) ||
			!strings.Contains(string(row.Before), `"max_permits":10`) {
			t.Errorf("change %+v", row)
		}
		again := must(s.BucketRevision(t.Context(), "b", 4))(t)
		if len(model.Diff(again.Definition, first.Definition)) != 0 {
			t.Errorf("revision 4 reads as %+v", again.Definition)
		}
		_, err := s.RollBackBucket(t.Context(), "b", 3, *first.Definition, 1, byBob)
		wantCode(t, err, model.CodeStale)
	})
}

// What a revision named may be gone by now: each such name is told, and nothing is written.
func TestRollBackRefusesWhoAndWhatIsNoLongerThere(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		past(t, s)
		present := must(s.Bucket(t.Context(), "b"))(t)
		lean := present.Definition
		lean.Apps = []string{}
		must(s.UpdateBucket(t.Context(), "b", 3, lean, byBob))(t)
		ok(t, s.DeleteApp(t.Context(), "ship", 1, byBob))
		disable(t, s, "alice", true)

		second := must(s.BucketRevision(t.Context(), "b", 2))(t)
		_, err := s.RollBackBucket(t.Context(), "b", 4, *second.Definition, 2, byBob)
		wantCode(t, err, model.CodeInvalid, "owners[0]")
		byBobsHand := *second.Definition
		byBobsHand.Owners = []string{"bob", "ghost"}
		_, err = s.RollBackBucket(t.Context(), "b", 4, byBobsHand, 2, byBob)
		wantCode(t, err, model.CodeInvalid, "apps[1]", "owners[1]")
		if got := must(s.Bucket(t.Context(), "b"))(t); got.Revision != 4 {
			t.Errorf("a refused roll back left %+v", got)
		}
		// Who is an owner already may stay, disabled or not.
		disable(t, s, "bob", true)
		stays := *second.Definition
		stays.Apps, stays.Owners = []string{"pay"}, []string{"bob"}
		must(s.RollBackBucket(t.Context(), "b", 4, stays, 2, byBob))(t)
	})
}

func TestDeletedBucketIsRestoredUnderItsName(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		past(t, s)
		before := must(s.Bucket(t.Context(), "b"))(t)
		_, err := s.RestoreBucket(t.Context(), "b", before.Definition, 3, byBob)
		wantCode(t, err, model.CodeTaken)
		must(s.DeleteBucket(t.Context(), "b", 3, byBob))(t)

		last := must(s.LastRevision(t.Context(), "b"))(t)
		if last.Revision != 3 || !cmp.Equal(*last.Definition, before.Definition) {
			t.Errorf("last revision %+v", last)
		}
		got := must(s.RestoreBucket(t.Context(), "b", *last.Definition, last.Revision, byBob))(t)
		if got.Revision != 5 || got.CreatedRevision != 1 || got.CreatedBy != "alice" || !cmp.Equal(got.Definition, before.Definition) || !got.Sync.Pending {
			t.Errorf("restored %+v", got)
		}
		row := must(s.Changes(t.Context(), model.ChangeQuery{Limit: 1}))(t).Items[0]
		if row.Action != model.ActionBucketRestore || row.Before != nil || !strings.Contains(string(row.After), `"from_revision":3`) {
			t.Errorf("change %+v", row)
		}
		_, err = s.RestoreBucket(t.Context(), "nothing", *last.Definition, 1, byBob)
		wantCode(t, err, model.CodeNotFound)
	})
}

// A name may have belonged to several buckets. Bringing back one from before the last hides what the last one did.
func TestRestoringAnEarlierBucketOfTheNameHidesTheLaterOne(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		past(t, s)
		old := must(s.Bucket(t.Context(), "b"))(t)
		must(s.DeleteBucket(t.Context(), "b", 3, byBob))(t)
		bucket(t, s, "b", definition("carol"))
		must(s.DeleteBucket(t.Context(), "b", 5, byBob))(t)
		got := must(s.RestoreBucket(t.Context(), "b", old.Definition, 3, byBob))(t)
		if got.Revision != 7 || got.CreatedRevision != 7 {
			t.Errorf("restored %+v", got)
		}
	})
}

// Two people press "restore" at once: one bucket, one revision.
func TestOnlyOneOfTwoRestorationsWins(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		past(t, s)
		b := must(s.Bucket(t.Context(), "b"))(t)
		must(s.DeleteBucket(t.Context(), "b", 3, byBob))(t)
		won := 0
		for _, err := range together(8, func(int) error {
			_, err := s.RestoreBucket(context.WithoutCancel(t.Context()), "b", b.Definition, 3, byBob)
			return err
		}) {
			if err == nil {
				won++
			} else {
				wantCode(t, err, model.CodeTaken)
			}
		}
		if got := must(s.Bucket(t.Context(), "b"))(t); won != 1 || got.Revision != 5 {
			t.Errorf("%d won, revision %d", won, got.Revision)
		}
	})
}

func TestDeletedBucketsAreListedForTheirFormerOwners(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		past(t, s)
		bucket(t, s, "a", definition("carol", "pay"))
		bucket(t, s, "living", definition("bob"))
		must(s.DeleteBucket(t.Context(), "b", 3, byBob))(t)
		must(s.DeleteBucket(t.Context(), "a", 1, byAlice))(t)
		list := func(q model.DeletedQuery) string {
			var names []string
			q.Limit = 1
			for _, b := range collect(t, 1, func(cursor string) (model.Page[model.DeletedBucket], error) {
				q.Cursor = cursor
				return s.DeletedBuckets(t.Context(), q)
			}) {
				names = append(names, b.Name)
			}
			return strings.Join(names, " ")
		}
		for viewer, want := range map[string]string{"": "a b", "bob": "b", "carol": "a", "alice": "", "nobody": ""} {
			if got := list(model.DeletedQuery{Viewer: viewer}); got != want {
				t.Errorf("%q sees %q, want %q", viewer, got, want)
			}
		}
		if got := list(model.DeletedQuery{Search: "B"}); got != "b" {
			t.Errorf("searched %q", got)
		}
		b := must(s.DeletedBuckets(t.Context(), model.DeletedQuery{Viewer: "bob"}))(t).Items[0]
		if b.Revision != 4 || b.DeletedBy != "bob" || b.Reason != "why not" || b.Definition.MaxPermits != 10 || !cmp.Equal(b.Definition.Apps, []string{"pay", "ship"}) {
			t.Errorf("deleted %+v", b)
		}
		_, relation, err := s.BucketPast(t.Context(), "bob", "b")
		ok(t, err)
		if relation != (model.Relation{BucketOwner: true}) {
			t.Errorf("bob is %+v to what he owned", relation)
		}
		// The name is made anew by somebody else: the former owner is nothing to it any more.
		bucket(t, s, "b", definition("carol"))
		if _, relation, _ := s.BucketPast(t.Context(), "bob", "b"); relation.Any() {
			t.Errorf("bob is %+v to carol's bucket", relation)
		}
	})
}

func disable(t *testing.T, s *store.Store, name string, disabled bool) {
	t.Helper()
	u := must(s.User(t.Context(), name))(t)
	must(s.UpdateUser(t.Context(), name, u.Revision, model.UserPatch{Disabled: &disabled}, byAlice))(t)
}
