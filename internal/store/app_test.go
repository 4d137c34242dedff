package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func TestAppAndItsMembers(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "bob")
		first := must(s.CreateApp(t.Context(), model.App{Name: "pay", Description: "one", Members: []model.Member{{User: "bob", Role: model.AppOwner}}}, byAlice))(t)
		if first.Revision != 1 || first.CreatedBy != "alice" || len(first.Members) != 1 {
			t.Errorf("created %+v", first)
		}
		_, err := s.CreateApp(t.Context(), model.App{Name: "ship", Members: []model.Member{{User: "mallory", Role: model.AppOwner}}}, byAlice)
		wantCode(t, err, model.CodeInvalid, "members[0].user")
		ok(t, s.SetMember(t.Context(), "pay", model.Member{User: "alice", Role: model.AppViewer}, byBob))
		ok(t, s.SetMember(t.Context(), "pay", model.Member{User: "alice", Role: model.AppOwner}, byBob))
		got := must(s.App(t.Context(), "pay"))(t)
		if !cmp.Equal(got.Members, []model.Member{{User: "alice", Role: model.AppOwner}, {User: "bob", Role: model.AppOwner}}) || got.Revision != 3 || got.UpdatedBy != "bob" {
			t.Errorf("members %+v at revision %d by %s", got.Members, got.Revision, got.UpdatedBy)
		}
		c := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetApp, Target: "pay"}))(t).Items[0]
		if c.Action != model.ActionMemberSet || string(c.Before) != `{"user":"alice","role":"viewer"}` || string(c.After) != `{"user":"alice","role":"owner"}` {
			t.Errorf("change %s: %s -> %s", c.Action, c.Before, c.After)
		}
		ok(t, s.RemoveMember(t.Context(), "pay", "bob", byAlice))
		wantCode(t, s.RemoveMember(t.Context(), "pay", "bob", byAlice), model.CodeNotFound)
		wantCode(t, s.RemoveMember(t.Context(), "pay", "mallory", byAlice), model.CodeNotFound)
		wantCode(t, s.SetMember(t.Context(), "absent", model.Member{User: "bob", Role: model.AppOwner}, byAlice), model.CodeNotFound)
		wantCode(t, s.SetMember(t.Context(), "pay", model.Member{User: "mallory", Role: model.AppOwner}, byAlice), model.CodeInvalid, "user")
		wantCode(t, s.SetMember(t.Context(), "pay", model.Member{User: "bob", Role: "king"}, byAlice), model.CodeInvalid, "role")
		if got := must(s.App(t.Context(), "pay"))(t); got.Revision != 4 || len(got.Members) != 1 {
			t.Errorf("in the end %+v", got)
		}
	})
}

func TestUpdateOfAStaleAppIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		apps(t, s, "pay")
		got := must(s.UpdateApp(t.Context(), "pay", 1, "new text", byBob))(t)
		if got.Revision != 2 || got.Description != "new text" || got.UpdatedBy != "bob" || got.CreatedBy != "alice" {
			t.Errorf("updated %+v", got)
		}
		if diff := cmp.Diff(got, must(s.App(t.Context(), "pay"))(t)); diff != "" {
			t.Errorf("answered and kept differ:\n%s", diff)
		}
		_, err := s.UpdateApp(t.Context(), "pay", 1, "", byBob)
		wantCode(t, err, model.CodeStale)
		_, err = s.UpdateApp(t.Context(), "pay", 2, strings.Repeat("x", 1001), byBob)
		wantCode(t, err, model.CodeInvalid, "description")
		wantCode(t, s.DeleteApp(t.Context(), "pay", 1, byBob), model.CodeStale)
		wantCode(t, s.DeleteApp(t.Context(), "absent", 1, byBob), model.CodeNotFound)
	})
}

func TestListedAppCannotBeDeleted(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		apps(t, s, "pay")
		ok(t, s.SetMember(t.Context(), "pay", model.Member{User: "alice", Role: model.AppOwner}, byAlice))
		bucket(t, s, "one", definition("alice", "pay"))
		bucket(t, s, "two", definition("alice", "pay"))
		err := s.DeleteApp(t.Context(), "pay", 2, byAlice)
		wantCode(t, err, model.CodeInUse)
		if !strings.Contains(err.Error(), "2 buckets") {
			t.Errorf("error %q does not say how many buckets", err)
		}
		must(s.UpdateBucket(t.Context(), "one", 1, definition("alice", model.AllApps), byAlice))(t)
		must(s.DeleteBucket(t.Context(), "two", 1, byAlice))(t)
		ok(t, s.DeleteApp(t.Context(), "pay", 2, byAlice))
		_, err = s.App(t.Context(), "pay")
		wantCode(t, err, model.CodeNotFound)
		_, err = s.CreateBucket(t.Context(), "three", definition("alice", "pay"), byAlice)
		wantCode(t, err, model.CodeInvalid, "apps[0]")
		again := must(s.CreateApp(t.Context(), model.App{Name: "pay"}, byBob))(t)
		if again.Revision != 4 || len(again.Members) != 0 || again.CreatedBy != "bob" {
			t.Errorf("made again: %+v, want revision 4 without members", again)
		}
	})
}

// However a deletion of an app and the creation of a bucket that lists it fall together, no bucket lists a deleted app.
func TestNoBucketListsADeletedApp(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		people(t, servers[0], "alice")
		for round := range 10 {
			app, name := fmt.Sprintf("app%d", round), fmt.Sprintf("b%d", round)
			apps(t, servers[0], app)
			errs := together(2, func(i int) error {
				if i == 0 {
					return servers[0].DeleteApp(t.Context(), app, 1, byAlice)
				}
				_, err := servers[1].CreateBucket(t.Context(), name, definition("alice", app), byAlice)
				return err
			})
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Errorf("delete: %v; create: %v; want exactly one to succeed", errs[0], errs[1])
			}
		}
	})
}
