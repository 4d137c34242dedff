package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func to[T any](value T) *T { return &value }

// admins makes users with the role admin.
func admins(t testing.TB, s *store.Store, names ...string) {
	t.Helper()
	for _, name := range names {
		must(s.CreateUser(t.Context(), model.User{Name: name, Role: model.RoleAdmin}, byAlice))(t)
	}
}

func TestUserComesBackAsItWasSaved(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		got := must(s.CreateUser(t.Context(), model.User{Name: "zoe@example.org", DisplayName: "Zoë 😀", Role: model.RoleAuditor, PasswordHash: "$argon2id$x"}, byAlice))(t)
		at := now.Now().Truncate(time.Microsecond)
		want := model.User{
			ID: got.ID, Name: "zoe@example.org", DisplayName: "Zoë 😀", Role: model.RoleAuditor, PasswordHash: "$argon2id$x", Revision: 1,
			CreatedBy: "alice", CreatedAt: at, UpdatedBy: "alice", UpdatedAt: at,
		}
		for how, user := range map[string]model.User{
			"answered": got, "by name": must(s.User(t.Context(), want.Name))(t), "by id": must(s.UserByID(t.Context(), got.ID))(t),
		} {
			if diff := cmp.Diff(want, user); diff != "" {
				t.Errorf("%s (-want +got):\n%s", how, diff)
			}
		}
		_, err := s.UserByID(t.Context(), got.ID+1)
		wantCode(t, err, model.CodeNotFound)
		_, err = s.CreateUser(t.Context(), model.User{Name: want.Name, Role: model.RoleMember}, byAlice)
		wantCode(t, err, model.CodeTaken)
		_, err = s.CreateUser(t.Context(), model.User{Name: "Big", Role: "king"}, byAlice)
		wantCode(t, err, model.CodeInvalid, "name", "role")
	})
}

func TestUpdateOfUserChangesOnlyWhatIsGiven(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		admins(t, s, "root")
		people(t, s, "bob")
		got := must(s.UpdateUser(t.Context(), "bob", 1, model.UserPatch{DisplayName: to("Bob")}, byAlice))(t)
		got = must(s.UpdateUser(t.Context(), "bob", got.Revision, model.UserPatch{Role: to(model.RoleAuditor)}, byBob))(t)
		if got.DisplayName != "Bob" || got.Role != model.RoleAuditor || got.Disabled || got.Revision != 3 || got.UpdatedBy != "bob" || got.PasswordHash != "hash-of-bob" {
			t.Errorf("updated %+v", got)
		}
		_, err := s.UpdateUser(t.Context(), "bob", 1, model.UserPatch{}, byAlice)
		wantCode(t, err, model.CodeStale)
		_, err = s.UpdateUser(t.Context(), "absent", 1, model.UserPatch{}, byAlice)
		wantCode(t, err, model.CodeNotFound)
		_, err = s.UpdateUser(t.Context(), "bob", 3, model.UserPatch{Role: to(model.Role("king"))}, byAlice)
		wantCode(t, err, model.CodeInvalid, "role")
		c := must(s.Changes(t.Context(), model.ChangeQuery{Target: "bob", TargetKind: model.TargetUser}))(t).Items[0]
		if string(c.Before) != `{"name":"bob","display_name":"Bob","role":"member","disabled":false}` || string(c.After) != `{"name":"bob","display_name":"Bob","role":"auditor","disabled":false}` || c.Revision != 3 {
			t.Errorf("change %d: %s -> %s", c.Revision, c.Before, c.After)
		}
	})
}

// A new name changes the name and nothing else: what the user owns and where it is logged in stays, and both names'
// histories tell of it.
func TestRenamedUserStaysWhoItWas(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "ann", "bob")
		must(s.CreateApp(t.Context(), model.App{Name: "shop", Members: []model.Member{{User: "ann", Role: model.AppOwner}}}, byAlice))(t)
		login(t, s, now, "ann", "s1")
		before := now.Now()
		now.move(time.Hour)
		got := must(s.UpdateUser(t.Context(), "ann", 1, model.UserPatch{Name: to("ann.smith")}, byBob))(t)
		if got.Name != "ann.smith" || got.Revision != 2 || got.PasswordHash != "hash-of-ann" {
			t.Errorf("renamed %+v", got)
		}
		_, err := s.User(t.Context(), "ann")
		wantCode(t, err, model.CodeNotFound)
		_, user, err := s.Session(t.Context(), "s1")
		if err != nil || user.Name != "ann.smith" {
			t.Errorf("the session's user is %q, %v", user.Name, err)
		}
		if app := must(s.App(t.Context(), "shop"))(t); len(app.Members) != 1 || app.Members[0].User != "ann.smith" {
			t.Errorf("members %+v", app.Members)
		}
		for _, name := range []string{"ann", "ann.smith"} {
			rows := must(s.Changes(t.Context(), model.ChangeQuery{Target: name, Action: model.ActionUserRename}))(t).Items
			if len(rows) != 1 || !strings.Contains(string(rows[0].Before), `"name":"ann"`) || !strings.Contains(string(rows[0].After), `"name":"ann.smith"`) {
				t.Errorf("history of %s: %+v", name, rows)
			}
		}
		for at, want := range map[time.Time]string{before: "ann bob", now.Now(): "ann.smith bob"} {
			people, known, err := s.PeopleAsOf(t.Context(), at)
			var names []string
			for _, p := range people {
				names = append(names, p.Name)
			}
			if got := strings.Join(names, " "); err != nil || !known || got != want {
				t.Errorf("people as of %s: %q, %v; want %q", at, got, err, want)
			}
		}
		_, err = s.UpdateUser(t.Context(), "ann.smith", 2, model.UserPatch{Name: to("bob")}, byBob)
		wantCode(t, err, model.CodeTaken)
		_, err = s.UpdateUser(t.Context(), "ann.smith", 2, model.UserPatch{Name: to("A B")}, byBob)
		wantCode(t, err, model.CodeInvalid, "name")
	})
}

func TestLastAdminStays(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		admins(t, s, "root")
		for _, patch := range []model.UserPatch{{Role: to(model.RoleMember)}, {Disabled: to(true)}, {Role: to(model.RoleAuditor), Disabled: to(true)}} {
			_, err := s.UpdateUser(t.Context(), "root", 1, patch, byAlice)
			wantCode(t, err, model.CodeLastAdmin)
		}
		must(s.UpdateUser(t.Context(), "root", 1, model.UserPatch{DisplayName: to("Root")}, byAlice))(t)
		must(s.CreateUser(t.Context(), model.User{Name: "asleep", Role: model.RoleAdmin, Disabled: true}, byAlice))(t)
		_, err := s.UpdateUser(t.Context(), "root", 2, model.UserPatch{Disabled: to(true)}, byAlice)
		wantCode(t, err, model.CodeLastAdmin)
		admins(t, s, "second")
		must(s.UpdateUser(t.Context(), "root", 2, model.UserPatch{Disabled: to(true)}, byAlice))(t)
	})
}

// Admins who demote each other at the same time, through two servers, still leave one.
func TestAdminsWhoDemoteEachOtherLeaveOne(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		names := []string{"ann", "ben", "cem"}
		admins(t, servers[0], names...)
		for round := range 8 {
			errs := together(len(names), func(i int) error {
				victim := names[(i+1)%len(names)]
				user, err := servers[i%2].User(t.Context(), victim)
				if err != nil {
					return err
				}
				_, err = servers[i%2].UpdateUser(t.Context(), victim, user.Revision, model.UserPatch{Role: to(model.RoleMember)}, byAlice)
				return err
			})
			var refused int
			for _, err := range errs {
				if err != nil {
					wantCode(t, err, model.CodeLastAdmin)
					refused++
				}
			}
			if refused != 1 {
				t.Fatalf("round %d: %d of 3 demotions refused, want 1: %v", round, refused, errs)
			}
			for _, name := range names {
				user := must(servers[0].User(t.Context(), name))(t)
				must(servers[0].UpdateUser(t.Context(), name, user.Revision, model.UserPatch{Role: to(model.RoleAdmin)}, byAlice))(t)
			}
		}
	})
}

func TestUserLists(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		admins(t, s, "ann")
		people(t, s, "ben", "cem")
		must(s.UpdateUser(t.Context(), "cem", 1, model.UserPatch{Disabled: to(true), DisplayName: to("Big Ben's friend")}, byAlice))(t)
		names := func(q model.UserQuery) []string {
			var out []string
			for _, u := range must(s.Users(t.Context(), q))(t).Items {
				out = append(out, u.Name)
			}
			return out
		}
		if got := names(model.UserQuery{Search: "BEN"}); !slices.Equal(got, []string{"ben", "cem"}) {
			t.Errorf("search: %v", got)
		}
		if got := names(model.UserQuery{Role: model.RoleAdmin}); !slices.Equal(got, []string{"ann"}) {
			t.Errorf("admins: %v", got)
		}
		if got := names(model.UserQuery{Disabled: to(true)}); !slices.Equal(got, []string{"cem"}) {
			t.Errorf("disabled: %v", got)
		}
		if got := names(model.UserQuery{Disabled: to(false), Sort: "-name"}); !slices.Equal(got, []string{"ben", "ann"}) {
			t.Errorf("enabled: %v", got)
		}
		if got := must(s.UserNames(t.Context(), "", 0))(t); !slices.Equal(got, []string{"ann", "ben"}) {
			t.Errorf("names to pick: %v", got)
		}
		if got := must(s.UserNames(t.Context(), "%", 0))(t); len(got) != 0 {
			t.Errorf("names with a percent sign: %v", got)
		}
		if n := must(s.CountUsers(t.Context()))(t); n != 3 {
			t.Errorf("%d users, want 3", n)
		}
	})
}
