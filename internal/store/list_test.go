package store_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
)

// A list that changes while it is read shows what did not change exactly once.
func TestPagingOverChangingDataRepeatsAndSkipsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		names := numbered("m", 20)
		for _, name := range names {
			now.move(time.Microsecond)
			bucket(t, s, name, definition("alice"))
		}
		for _, sort := range []string{"", "name", "-name", "updated_at", "-updated_at"} {
			round := 0
			added := map[string]bool{}
			got := collect(t, 3, func(cursor string) (model.Page[model.Bucket], error) {
				round++
				now.move(time.Second)
				for _, prefix := range []string{"a", "z"} { // one in front, one behind
					name := prefix + "-" + string(rune('a'+round)) + strings.TrimPrefix(sort, "-") + sort[:min(1, len(sort))]
					name = strings.ReplaceAll(name, "_", ".")
					if round < 5 {
						bucket(t, s, name, definition("alice"))
						added[name] = true
					}
				}
				return s.Buckets(t.Context(), model.BucketQuery{Sort: sort, Limit: 3, Cursor: cursor})
			})
			var kept []string
			for _, name := range bucketNames(got) {
				if strings.HasPrefix(name, "m") {
					kept = append(kept, name)
				}
			}
			want := slices.Clone(names)
			if strings.HasPrefix(sort, "-") {
				slices.Reverse(want)
			}
			if !cmp.Equal(kept, want) {
				t.Errorf("sort %q: %v, want %v", sort, kept, want)
			}
			for name := range added {
				must(s.DeleteBucket(t.Context(), name, must(s.Bucket(t.Context(), name))(t).Revision, byAlice))(t)
			}
		}
	})
}

// Rows with the same time are told apart by their name: none is lost at a page's edge.
func TestPagingThroughEqualTimes(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, numbered("u", 11)...)
		apps(t, s, numbered("a", 11)...)
		for _, sort := range []string{"updated_at", "-updated_at", "name", "-name"} {
			users := collect(t, 4, func(cursor string) (model.Page[model.User], error) {
				return s.Users(t.Context(), model.UserQuery{Sort: sort, Limit: 4, Cursor: cursor})
			})
			list := collect(t, 4, func(cursor string) (model.Page[model.App], error) {
				return s.Apps(t.Context(), model.AppQuery{Sort: sort, Limit: 4, Cursor: cursor})
			})
			if len(users) != 11 || len(list) != 11 {
				t.Errorf("sort %q: %d users and %d apps, want 11 each", sort, len(users), len(list))
			}
		}
	})
}

func TestBucketFilters(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "bob")
		apps(t, s, "pay", "payment")
		one := definition("alice", "pay")
		one.Description, one.Labels = "100% of All", map[string]string{"team": "core"}
		two := definition("bob", "payment", "pay")
		two.Description, two.Labels, two.Mode = "a_b", map[string]string{"team": "web"}, model.ModeShadow
		all := definition("bob", model.AllApps)
		bucket(t, s, "one", one)
		bucket(t, s, "two", two)
		bucket(t, s, "three", all)
		ok(t, s.MarkInstalled(t.Context(), "one", 1, 1))
		tests := map[string]struct {
			q    model.BucketQuery
			want []string
		}{
			"nothing":                   {model.BucketQuery{}, []string{"one", "three", "two"}},
			"search in the name":        {model.BucketQuery{Search: "T"}, []string{"three", "two"}},
			"search in the description": {model.BucketQuery{Search: "of all"}, []string{"one"}},
			"percent is a percent":      {model.BucketQuery{Search: "%"}, []string{"one"}},
			"underscore is itself":      {model.BucketQuery{Search: "_"}, []string{"two"}},
			"exclamation is itself":     {model.BucketQuery{Search: "!"}, nil},
			"app, exactly":              {model.BucketQuery{App: "pay"}, []string{"one", "two"}},
			"app in another case":       {model.BucketQuery{App: "Pay"}, nil},
			"all apps":                  {model.BucketQuery{App: "*"}, []string{"three"}},
			"owner":                     {model.BucketQuery{Owner: "bob"}, []string{"three", "two"}},
			"label with value":          {model.BucketQuery{Label: "team=web"}, []string{"two"}},
			"label of any value":        {model.BucketQuery{Label: "team"}, []string{"one", "two"}},
			"label without a value":     {model.BucketQuery{Label: "team="}, nil},
			"mode":                      {model.BucketQuery{Mode: model.ModeShadow}, []string{"two"}},
			"synced":                    {model.BucketQuery{Sync: model.SyncSynced}, []string{"one"}},
			"pending":                   {model.BucketQuery{Sync: model.SyncPending}, []string{"three", "two"}},
			"several":                   {model.BucketQuery{Owner: "bob", App: "payment", Search: "w"}, []string{"two"}},
		}
		for name, test := range tests {
			got := bucketNames(must(s.Buckets(t.Context(), test.q))(t).Items)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", name, got, test.want)
			}
		}
	})
}

func TestQueriesAreCheckedFieldByField(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		bad := map[string]model.BucketQuery{
			"limit":  {Limit: 201},
			"sort":   {Sort: "revision"},
			"mode":   {Mode: "loud"},
			"sync":   {Sync: "perhaps"},
			"app":    {App: "a b"},
			"owner":  {Owner: "A"},
			"search": {Search: strings.Repeat("x", 201)},
			"cursor": {Cursor: "x"},
		}
		for field, q := range bad {
			_, err := s.Buckets(t.Context(), q)
			wantCode(t, err, model.CodeInvalid, field)
		}
		_, err := s.Buckets(t.Context(), model.BucketQuery{Limit: -1})
		wantCode(t, err, model.CodeInvalid, "limit")
		_, err = s.Apps(t.Context(), model.AppQuery{Sort: "-"})
		wantCode(t, err, model.CodeInvalid, "sort")
		_, err = s.Users(t.Context(), model.UserQuery{Role: "king"})
		wantCode(t, err, model.CodeInvalid, "role")
		_, err = s.UserNames(t.Context(), "", 1000)
		wantCode(t, err, model.CodeInvalid, "limit")
		_, err = s.Changes(t.Context(), model.ChangeQuery{TargetKind: "planet"})
		wantCode(t, err, model.CodeInvalid, "target_kind")
	})
}

// A cursor counts only for the list, the order and the filters that it was given out for, and only unchanged.
func TestTamperedCursorIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "bob", "carol")
		q := model.UserQuery{Sort: "updated_at", Limit: 1}
		cursor := must(s.Users(t.Context(), q))(t).Next
		refused := func(q model.UserQuery) {
			t.Helper()
			_, err := s.Users(t.Context(), q)
			wantCode(t, err, model.CodeInvalid, "cursor")
		}
		for i := range cursor {
			changed := []byte(cursor)
			changed[i] = map[bool]byte{true: 'B', false: 'A'}[changed[i] == 'A']
			q.Cursor = string(changed)
			refused(q)
		}
		for _, c := range []string{"AAAA", cursor + "A", cursor[1:], cursor + "=", "\x00", "' OR 1=1", strings.Repeat("A", 100_000),
			base64.RawURLEncoding.EncodeToString([]byte(`{"n":"a"}`))} {
			q.Cursor = c
			refused(q)
		}
		refused(model.UserQuery{Sort: "name", Limit: 1, Cursor: cursor})
		refused(model.UserQuery{Sort: "updated_at", Search: "a", Limit: 1, Cursor: cursor})
		_, err := s.Apps(t.Context(), model.AppQuery{Sort: "updated_at", Cursor: cursor})
		wantCode(t, err, model.CodeInvalid, "cursor")
		q.Cursor, q.Limit = cursor, 50
		if rest := must(s.Users(t.Context(), q))(t).Items; len(rest) != 2 {
			t.Errorf("the true cursor with another limit: %d users, want the other 2", len(rest))
		}
	})
}

// What a person may not see is in no list, no filter finds it, and no relation is claimed.
func TestVisibilityLeaksNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "owner", "viewer", "stranger")
		apps(t, s, "pay", "ship")
		ok(t, s.SetMember(t.Context(), "pay", model.Member{User: "viewer", Role: model.AppViewer}, byAlice))
		ok(t, s.SetMember(t.Context(), "ship", model.Member{User: "owner", Role: model.AppOwner}, byAlice))
		bucket(t, s, "for-pay", definition("alice", "pay"))
		bucket(t, s, "for-ship", definition("alice", "ship"))
		bucket(t, s, "for-both", definition("alice", "pay", "ship"))
		bucket(t, s, "for-all", definition("alice", model.AllApps))
		bucket(t, s, "for-none", definition("owner"))
		want := map[string][]string{
			"alice":    {"for-all", "for-both", "for-pay", "for-ship"},
			"owner":    {"for-all", "for-both", "for-none", "for-ship"},
			"viewer":   {"for-all", "for-both", "for-pay"},
			"stranger": nil,
			"nobody":   nil,
			"' OR 1=1": nil,
		}
		for viewer, names := range want {
			for _, q := range []model.BucketQuery{{}, {Search: "for"}, {Sort: "-updated_at"}, {Limit: 200}} {
				q.Viewer = viewer
				got := bucketNames(must(s.Buckets(t.Context(), q))(t).Items)
				slices.Sort(got)
				if !slices.Equal(got, names) {
					t.Errorf("%s sees %v, want %v", viewer, got, names)
				}
			}
			checkSeenChanges(t, viewer, names, must(s.Changes(t.Context(), model.ChangeQuery{Viewer: viewer, Limit: 200}))(t).Items)
			for _, name := range []string{"for-pay", "for-ship", "for-both", "for-all", "for-none"} {
				_, relation, err := s.BucketFor(t.Context(), viewer, name)
				if err != nil || relation.Any() != slices.Contains(names, name) {
					t.Errorf("%s and %s: %+v, %v", viewer, name, relation, err)
				}
			}
		}
		if got := must(s.Buckets(t.Context(), model.BucketQuery{Viewer: "viewer", Owner: "owner"}))(t).Items; len(got) != 0 {
			t.Errorf("a filter by owner shows %v", bucketNames(got))
		}
		if got := must(s.Apps(t.Context(), model.AppQuery{Viewer: "viewer"}))(t).Items; len(got) != 1 || got[0].Name != "pay" {
			t.Errorf("viewer sees apps %+v", got)
		}
	})
}

func checkSeenChanges(t testing.TB, viewer string, names []string, changes []model.Change) {
	t.Helper()
	for _, c := range changes {
		inView := c.TargetKind == model.TargetApp && (c.Target == "pay" && viewer == "viewer" || c.Target == "ship" && viewer == "owner") ||
			c.TargetKind == model.TargetBucket && slices.Contains(names, c.Target)
		if !inView {
			t.Errorf("%s sees the change %s of %s", viewer, c.Action, c.Target)
		}
	}
	if len(names) > 0 && len(changes) < len(names) {
		t.Errorf("%s sees %d changes of %d buckets", viewer, len(changes), len(names))
	}
}

func TestRelationNamesEachRight(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "bob", "carol", "dave")
		apps(t, s, "pay", "ship")
		ok(t, s.SetMember(t.Context(), "pay", model.Member{User: "alice", Role: model.AppOwner}, byAlice))
		ok(t, s.SetMember(t.Context(), "pay", model.Member{User: "bob", Role: model.AppViewer}, byAlice))
		ok(t, s.SetMember(t.Context(), "ship", model.Member{User: "bob", Role: model.AppOwner}, byAlice))
		bucket(t, s, "b", definition("alice", "pay"))
		bucket(t, s, "all", definition("carol", model.AllApps))
		check := func(user, name string, want model.Relation) {
			t.Helper()
			if _, got, err := s.BucketFor(t.Context(), user, name); err != nil || got != want {
				t.Errorf("%s and bucket %s: %+v, %v; want %+v", user, name, got, err, want)
			}
		}
		check("alice", "b", model.Relation{BucketOwner: true, AppOwner: true})
		check("bob", "b", model.Relation{AppViewer: true})
		check("bob", "all", model.Relation{AppOwner: true, AppViewer: true})
		check("carol", "all", model.Relation{BucketOwner: true})
		check("dave", "all", model.Relation{})
		if _, got, err := s.AppFor(t.Context(), "bob", "ship"); err != nil || got != (model.Relation{AppOwner: true}) {
			t.Errorf("bob and app ship: %+v, %v", got, err)
		}
		roles := must(s.AppRoles(t.Context(), "bob", nil))(t)
		if !cmp.Equal(roles, map[string]model.AppRole{"pay": model.AppViewer, "ship": model.AppOwner}) {
			t.Errorf("roles %v", roles)
		}
		if roles := must(s.AppRoles(t.Context(), "bob", []string{"ship", "absent"}))(t); !cmp.Equal(roles, map[string]model.AppRole{"ship": model.AppOwner}) {
			t.Errorf("roles in two %v", roles)
		}
		if roles := must(s.AppRoles(t.Context(), "bob", []string{}))(t); len(roles) != 0 {
			t.Errorf("roles in none of the apps: %v", roles)
		}
	})
}
