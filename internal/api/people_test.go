package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

const (
	apps  = "/api/v1/apps"
	users = "/api/v1/users"
)

func (a answer) app(t *testing.T, status int) api.App {
	t.Helper()
	var app api.App
	a.want(t, status).into(t, &app)
	return app
}

func (a answer) user(t *testing.T, status int) api.User {
	t.Helper()
	var u api.User
	a.want(t, status).into(t, &u)
	return u
}

func TestAppLivesFromRegistrationToRemoval(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin, owner := w.as(root), w.as(ann)
		a := admin.do("POST", apps, map[string]any{"name": "shop", "description": "the shop", "members": []any{map[string]any{"user": ann, "role": "owner"}}})
		app := a.app(t, http.StatusCreated)
		if app.Revision != 1 || !slices.Equal(app.Members, []api.Member{{User: ann, Role: "owner"}}) || !app.May.Edit {
			t.Fatalf("app %+v", app)
		}
		a = owner.do("PUT", apps+"/shop", map[string]any{"description": "the web shop"}, "If-Match", a.header.Get("ETag"))
		if app = a.app(t, http.StatusOK); app.Description != "the web shop" || app.Revision != 2 {
			t.Errorf("app %+v", app)
		}
		app = owner.do("PUT", apps+"/shop/members/nemo", map[string]any{"role": "viewer"}).app(t, http.StatusOK)
		if !slices.Equal(app.Members, []api.Member{{User: ann, Role: "owner"}, {User: nemo, Role: "viewer"}}) {
			t.Errorf("members %+v", app.Members)
		}
		if app = w.as(nemo).do("GET", apps+"/shop", nil).app(t, http.StatusOK); app.May.Edit {
			t.Errorf("a viewer may %+v", app.May)
		}
		stale := owner.do("DELETE", apps+"/shop", nil, "If-Match", `"1"`).problem(t, http.StatusPreconditionFailed)
		if current, ok := stale.Current.(map[string]any); !ok || current["name"] != "shop" {
			t.Errorf("current %+v", stale.Current)
		}
		app = owner.do("DELETE", apps+"/shop/members/nemo", nil).app(t, http.StatusOK)
		if len(app.Members) != 1 {
			t.Errorf("members %+v", app.Members)
		}
		w.as(nemo).do("GET", apps+"/shop", nil).problem(t, http.StatusNotFound)
		owner.do("DELETE", apps+"/shop", nil, "If-Match", etagOf(owner.do("GET", apps+"/shop", nil))).want(t, http.StatusNoContent)
		admin.do("GET", apps+"/shop", nil).problem(t, http.StatusNotFound)
	})
}

func etagOf(a answer) string { return a.header.Get("ETag") }

func TestAppOwnerWhoRemovesThemselvesIsAnswered(t *testing.T) {
	w := onSQLite(t)
	c := w.as(ann)
	if app := c.do("DELETE", apps+"/checkout/members/ann", nil).app(t, http.StatusOK); app.May.Edit || len(app.Members) != 1 {
		t.Errorf("app %+v", app)
	}
	c.do("GET", apps+"/checkout", nil).problem(t, http.StatusNotFound)
}

func TestListedAppCannotBeRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		p := c.do("DELETE", apps+"/checkout", nil, "If-Match", etagOf(c.do("GET", apps+"/checkout", nil))).problem(t, http.StatusConflict)
		if p.Code != model.CodeInUse {
			t.Errorf("code %s", p.Code)
		}
	})
}

func TestBadAppsAndMembersAreRefusedByNameAndBound(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	for _, bad := range []struct {
		body  map[string]any
		named string
	}{
		{map[string]any{"name": "a b"}, "name"}, {map[string]any{}, "name"}, {map[string]any{"name": "*"}, "name"},
		{map[string]any{"name": "x", "description": strings.Repeat("d", 1001)}, "description"},
		{map[string]any{"name": "x", "members": []any{map[string]any{"user": ann, "role": "king"}}}, "members[0].role"},
		{map[string]any{"name": "x", "members": []any{map[string]any{"user": "A B", "role": "owner"}}}, "members[0].user"},
		{map[string]any{"name": "x", "members": []any{map[string]any{"user": ann}}}, "members[0].role"},
		{map[string]any{"name": "x", "members": []any{7}}, "members[0]"}, {map[string]any{"name": "x", "owner": ann}, "owner"},
	} {
		p := c.do("POST", apps, bad.body).problem(t, http.StatusUnprocessableEntity)
		if !slices.Contains(fields(p), bad.named) {
			t.Errorf("%v: %+v", bad.body, p.Errors)
		}
	}
	for path, role := range map[string]string{"/checkout/members/ghost": "viewer", "/checkout/members/ann": "king", "/checkout/members/A%20B": "owner"} {
		c.do("PUT", apps+path, map[string]any{"role": role}).problem(t, http.StatusUnprocessableEntity)
	}
	c.do("PUT", apps+"/ghost/members/ann", map[string]any{"role": "owner"}).problem(t, http.StatusNotFound)
}

func TestUserIsMadeChangedAndDisabled(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		a := admin.do("POST", users, map[string]any{"name": "new", "display_name": "Ny Person", "role": "member", "password": password})
		u := a.user(t, http.StatusCreated)
		if u.Role != model.RoleMember || u.Disabled || u.CreatedBy != root || strings.Contains(string(a.body), "argon2") {
			t.Fatalf("user %s", a.body)
		}
		c := w.as("new")
		a = admin.do("PUT", users+"/new", map[string]any{"display_name": "Ny", "role": "auditor", "disabled": false}, "If-Match", etagOf(a))
		if u = a.user(t, http.StatusOK); u.Role != model.RoleAuditor || u.DisplayName != "Ny" {
			t.Errorf("user %+v", u)
		}
		c.do("GET", "/api/v1/changes", nil).want(t, http.StatusOK) // the new role counts at once
		stale := admin.do("PUT", users+"/new", map[string]any{"display_name": "", "role": "member", "disabled": false}, "If-Match", `"1"`).problem(t, http.StatusPreconditionFailed)
		if current, ok := stale.Current.(map[string]any); !ok || current["display_name"] != "Ny" {
			t.Errorf("current %+v", stale.Current)
		}
		admin.do("PUT", users+"/new", map[string]any{"display_name": "Ny", "role": "auditor", "disabled": true}, "If-Match", etagOf(a)).want(t, http.StatusOK)
		c.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		c.do("POST", refreshPath, nil).problem(t, http.StatusUnauthorized)
		w.browser().do("POST", loginPath, credentials("new", password)).problem(t, http.StatusUnauthorized)
	})
}

func TestLastAdminStays(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		tag := etagOf(c.do("GET", users+"/root", nil))
		for _, change := range []map[string]any{
			{"display_name": "", "role": "member", "disabled": false}, {"display_name": "", "role": "admin", "disabled": true},
		} {
			if p := c.do("PUT", users+"/root", change, "If-Match", tag).problem(t, http.StatusConflict); p.Code != model.CodeLastAdmin {
				t.Errorf("code %s", p.Code)
			}
		}
	})
}

func TestNewPasswordEndsTheSessions(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(ann)
		w.as(root).do("POST", users+"/ann/password", map[string]any{"password": "another password"}).want(t, http.StatusNoContent)
		c.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		w.browser().do("POST", loginPath, credentials(ann, "another password")).want(t, http.StatusOK)
	})
}

func TestBadUsersAreRefusedByNameAndBound(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	good := map[string]any{"name": "new", "role": "member", "password": password}
	for _, bad := range []struct{ field, value string }{
		{"name", `"Ann"`}, {"name", `"a b"`}, {"name", `""`}, {"name", `"` + strings.Repeat("n", 65) + `"`}, {"name", `"system"`}, {"name", `"names"`},
		{"role", `"god"`}, {"role", `""`}, {"role", ""}, {"password", `"short"`}, {"password", `"` + strings.Repeat("p", 129) + `"`}, {"password", ""},
		{"password", `"with\u0000nul in it"`}, {"display_name", `"` + strings.Repeat("d", 101) + `"`}, {"disabled", `true`},
	} {
		a := c.do("POST", users, with(good, bad.field, bad.value))
		if p := a.problem(t, http.StatusUnprocessableEntity); !slices.Equal(fields(p), []string{bad.field}) {
			t.Errorf("%s = %s: %+v", bad.field, bad.value, p.Errors)
		}
		if len(bad.value) > 20 && strings.Contains(string(a.body), strings.Repeat("p", 100)) {
			t.Error("the password comes back")
		}
	}
	c.do("PUT", users+"/ann", map[string]any{"role": "member"}, "If-Match", `"1"`).problem(t, http.StatusUnprocessableEntity)
	c.do("POST", users+"/ghost/password", map[string]any{"password": password}).problem(t, http.StatusNotFound)
}

func TestNamesToPickAreNamesOnly(t *testing.T) {
	w := onSQLite(t)
	w.disable(disabled)
	var list api.List[string]
	a := w.as(vic).do("GET", users+"/names?search=o", nil).want(t, http.StatusOK)
	a.into(t, &list)
	if !slices.Equal(list.Items, []string{bob, nemo, otto, root}) {
		t.Errorf("names %v", list.Items)
	}
}

func TestWholeChangeLogIsFilteredAndPaged(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.as(ann)
		c := w.as(aud)
		read := func(query string) (all []api.Change) {
			t.Helper()
			for cursor := ""; ; {
				var list api.List[api.Change]
				c.do("GET", "/api/v1/changes?limit=3&"+query+"&cursor="+cursor, nil).want(t, http.StatusOK).into(t, &list)
				all = append(all, list.Items...)
				if cursor = list.Next; cursor == "" || len(all) > 100 {
					return all
				}
			}
		}
		all := read("")
		if len(all) != 13 { // eight users, two apps, one bucket, two logins
			t.Errorf("%d rows", len(all))
		}
		for i := 1; i < len(all); i++ {
			if all[i].ID >= all[i-1].ID {
				t.Error("not newest first")
			}
		}
		if got := read("action=login"); len(got) != 2 || got[0].Actor != aud || got[0].Address == "" {
			t.Errorf("logins %+v", got)
		}
		if got := read("target_kind=bucket&target=" + theBucket + "&actor=root"); len(got) != 1 || string(got[0].Before) != "null" {
			t.Errorf("bucket rows %+v", got)
		}
		if got := read("from=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339)); len(got) != 0 {
			t.Errorf("rows of the future: %d", len(got))
		}
	})
}
