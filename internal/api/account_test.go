package api_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

const (
	sessionsPath = "/api/v1/auth/sessions"
	passwordPath = "/api/v1/auth/password"
)

func (c *client) sessions(path string) []api.Session {
	c.t.Helper()
	var list api.List[api.Session]
	c.do("GET", path, nil).want(c.t, http.StatusOK).into(c.t, &list)
	return list.Items
}

func TestSessionsAreSeenAndEndedByTheirUser(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		first, second, third := w.as(ann), w.as(ann), w.as(ann)
		list := first.sessions(sessionsPath)
		current := slices.IndexFunc(list, func(s api.Session) bool { return s.Current })
		if len(list) != 3 || current < 0 || list[current].Address == "" || list[current].UserAgent == "" || list[current].LastUsedAt.IsZero() {
			t.Fatalf("sessions %+v", list)
		}
		mine := list[current].ID
		if token := cookieOf(t, first, "/api", "headgate_access"); strings.Contains(token, mine) {
			t.Error("the public id stands in the token")
		}
		their := second.sessions(sessionsPath)
		other := their[slices.IndexFunc(their, func(s api.Session) bool { return s.Current })].ID
		w.as(bob).do("DELETE", sessionsPath+"/"+other, nil).problem(t, http.StatusNotFound)
		first.do("DELETE", sessionsPath+"/"+other, nil).want(t, http.StatusNoContent)
		second.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		second.do("POST", refreshPath, nil).problem(t, http.StatusUnauthorized)
		third.do("GET", mePath, nil).want(t, http.StatusOK)

		var ended api.SessionsEnded
		first.do("DELETE", sessionsPath, nil).want(t, http.StatusOK).into(t, &ended)
		if ended.Ended != 1 {
			t.Errorf("ended %d", ended.Ended)
		}
		third.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		first.do("GET", mePath, nil).want(t, http.StatusOK)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionSessionEnd, Actor: ann, Target: ann})
		must(t, err)
		if len(page.Items) != 2 {
			t.Errorf("%d rows of ended sessions", len(page.Items))
		}
	})
}

func TestAdminSeesAndEndsAUsersSessions(t *testing.T) {
	w := onSQLite(t)
	c, admin := w.as(ann), w.as(root)
	if list := admin.sessions(users + "/ann/sessions"); len(list) != 1 || list[0].Current {
		t.Errorf("sessions %+v", list)
	}
	admin.do("DELETE", users+"/ann/sessions?reason=lost+laptop", nil).want(t, http.StatusOK)
	c.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
	admin.do("GET", users+"/ghost/sessions", nil).problem(t, http.StatusNotFound)
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionSessionEnd})
	must(t, err)
	if len(page.Items) != 1 || page.Items[0].Actor != root || page.Items[0].Target != ann || page.Items[0].Reason != "lost laptop" {
		t.Errorf("rows %+v", page.Items)
	}
}

func TestOwnPasswordIsChanged(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c, other := w.as(ann), w.as(ann)
		const next = "quite another phrase"
		c.do("POST", passwordPath, map[string]any{"current": password, "password": next, "reason": "it leaked"}).want(t, http.StatusNoContent)
		c.do("GET", mePath, nil).want(t, http.StatusOK)
		other.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		w.browser().do("POST", loginPath, credentials(ann, password)).problem(t, http.StatusUnauthorized)
		w.browser().do("POST", loginPath, credentials(ann, next)).want(t, http.StatusOK)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionUserPassword})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Actor != ann || page.Items[0].Reason != "it leaked" {
			t.Errorf("rows %+v", page.Items)
		}
		for _, bad := range []struct {
			body  map[string]any
			field string
		}{
			{map[string]any{"current": "wrong password", "password": "yet another phrase"}, "current"},
			{map[string]any{"current": next, "password": next}, "password"}, {map[string]any{"current": next, "password": "password1234"}, "password"},
			{map[string]any{"password": "yet another phrase"}, "current"}, {map[string]any{"current": next, "password": "yet another phrase", "role": "admin"}, "role"},
			{map[string]any{"current": next, "password": "yet another phrase", "reason": strings.Repeat("r", 501)}, "reason"},
		} {
			p := c.do("POST", passwordPath, bad.body).problem(t, http.StatusUnprocessableEntity)
			if !slices.Equal(fields(p), []string{bad.field}) {
				t.Errorf("%v: %+v", bad.body, p.Errors)
			}
		}
	})
}

// One's own profile is a name to show, and no way to more rights.
func TestOwnProfileTakesNothingElse(t *testing.T) {
	w := onSQLite(t)
	c := w.as(ann)
	tag := etagOf(c.do("GET", mePath, nil))
	for field, value := range map[string]any{
		"role": "admin", "disabled": false, "name": "root", "permissions": []string{"user.manage"}, "password": "quite another phrase",
		"revision": 7, "embedded": true, "Role": "admin", "id": 1,
	} {
		p := c.do("PUT", mePath, map[string]any{"display_name": "Ann", field: value}, "If-Match", tag).problem(t, http.StatusUnprocessableEntity)
		if !slices.Equal(fields(p), []string{field}) {
			t.Errorf("%s: %+v", field, p.Errors)
		}
	}
	c.do("PUT", mePath, map[string]any{"display_name": "Ann"}).problem(t, http.StatusPreconditionRequired)
	c.do("PUT", mePath, map[string]any{"display_name": strings.Repeat("d", 101)}, "If-Match", tag).problem(t, http.StatusUnprocessableEntity)
	var me api.Me
	a := c.do("PUT", mePath, map[string]any{"display_name": "Ann"}, "If-Match", tag).want(t, http.StatusOK)
	if a.into(t, &me); me.DisplayName != "Ann" || me.Role != model.RoleMember || me.Name != ann {
		t.Errorf("me %+v", me)
	}
	if next := etagOf(c.do("GET", mePath, nil)); next != etagOf(a) || next == tag {
		t.Errorf("tag %s after %s and %s", next, tag, etagOf(a))
	}
	stale := c.do("PUT", mePath, map[string]any{"display_name": "Anna"}, "If-Match", tag).problem(t, http.StatusPreconditionFailed)
	if current, ok := stale.Current.(map[string]any); !ok || current["display_name"] != "Ann" {
		t.Errorf("current %+v", stale.Current)
	}
}

func TestUserIsRenamedWithAReason(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin, c := w.as(root), w.as(ann)
		tag := etagOf(admin.do("GET", users+"/ann", nil))
		rename := func(name string) answer {
			return admin.do("PUT", users+"/ann", map[string]any{"name": name, "display_name": "Ann", "role": "member", "disabled": false, "reason": "married"}, "If-Match", tag)
		}
		for _, name := range []string{"system", "names", "A B", strings.Repeat("n", 65)} {
			if p := rename(name).problem(t, http.StatusUnprocessableEntity); !slices.Equal(fields(p), []string{"name"}) {
				t.Errorf("%q: %+v", name, p.Errors)
			}
		}
		rename(bob).problem(t, http.StatusConflict)
		if u := rename("ann.smith").user(t, http.StatusOK); u.Name != "ann.smith" || u.DisplayName != "Ann" {
			t.Errorf("user %+v", u)
		}
		var me api.Me
		c.do("GET", mePath, nil).want(t, http.StatusOK).into(t, &me)
		if me.Name != "ann.smith" {
			t.Errorf("me %+v", me)
		}
		c.do("GET", apps+"/checkout", nil).want(t, http.StatusOK) // what she is stays
		admin.do("GET", users+"/ann", nil).problem(t, http.StatusNotFound)
		w.browser().do("POST", loginPath, credentials("ann.smith", password)).want(t, http.StatusOK)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionUserRename})
		must(t, err)
		if len(page.Items) != 2 || page.Items[0].Reason != "married" || page.Items[0].Actor != root {
			t.Errorf("rows %+v", page.Items)
		}
	})
}

// Two admins who demote each other at once, both let through before either has happened: one is refused, so that
// somebody is left to administer.
func TestAdminsWhoDemoteEachOtherLeaveOne(t *testing.T) {
	for name, database := range map[string]store.Config{
		"mysql": {MySQLDSN: testenv.MySQL(t)}, "sqlite": {SQLitePath: filepath.Join(t.TempDir(), "test.db")},
	} {
		t.Run(name, func(t *testing.T) {
			meeting := &meeting{arrived: make(chan struct{}), waits: 2}
			w := newWorld(t, database, func(c *api.Config) { meeting.Store, c.Store = c.Store, meeting })
			w.makeAdmin(ann)
			demote := map[string]any{"display_name": "", "role": "member", "disabled": false}
			var wg sync.WaitGroup
			var mu sync.Mutex
			got := map[int]int{}
			for who, whom := range map[string]string{root: ann, ann: root} {
				c := w.as(who)
				tag := etagOf(c.do("GET", users+"/"+whom, nil))
				wg.Go(func() {
					a := c.do("PUT", users+"/"+whom, demote, "If-Match", tag)
					mu.Lock()
					defer mu.Unlock()
					got[a.status]++
				})
			}
			wg.Wait()
			if got[http.StatusOK] != 1 || got[http.StatusConflict] != 1 {
				t.Errorf("answers %v, want one 200 and one 409", got)
			}
			page, err := w.store.Users(t.Context(), model.UserQuery{Role: model.RoleAdmin})
			must(t, err)
			if len(page.Items) != 1 {
				t.Errorf("%d admins are left", len(page.Items))
			}
		})
	}
}

// meeting is the real store, in which changes of users wait for each other before they begin.
type meeting struct {
	api.Store
	mu      sync.Mutex
	waits   int
	arrived chan struct{}
}

func (m *meeting) UpdateUser(ctx context.Context, name string, base int64, p model.UserPatch, o model.Origin) (model.User, error) {
	m.mu.Lock()
	if m.waits--; m.waits == 0 {
		close(m.arrived)
	}
	m.mu.Unlock()
	select {
	case <-m.arrived:
		return m.Store.UpdateUser(ctx, name, base, p, o)
	case <-ctx.Done():
		return model.User{}, ctx.Err()
	}
}

func (w *world) makeAdmin(name string) {
	w.t.Helper()
	u, err := w.store.User(w.t.Context(), name)
	must(w.t, err)
	role := model.RoleAdmin
	_, err = w.store.UpdateUser(w.t.Context(), name, u.Revision, model.UserPatch{Role: &role}, byRoot)
	must(w.t, err)
}
