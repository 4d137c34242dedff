package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// The columns of the walk: nobody, then the people.
var walkers = []string{"", nemo, vic, ann, bob, otto, aud, root, disabled}

// walk is each request with the status that each column gets. Writes are made so that those who may do them fail at the
// next check (412, 409, 422), and so change nothing for the others.
var walk = []struct {
	method, path string
	body         any
	want         [9]int
}{
	{"GET", "/auth/me", nil, [9]int{401, 200, 200, 200, 200, 200, 200, 200, 401}},
	{"GET", "/buckets", nil, [9]int{401, 200, 200, 200, 200, 200, 200, 200, 401}},
	{"GET", "/buckets/" + theBucket, nil, [9]int{401, 404, 200, 200, 200, 404, 200, 200, 401}},
	{"GET", "/buckets/" + theBucket + "/changes", nil, [9]int{401, 404, 200, 200, 200, 404, 200, 200, 401}},
	{"GET", "/buckets/" + theBucket + "/usage", nil, [9]int{401, 404, 200, 200, 200, 404, 200, 200, 401}},
	{"GET", "/buckets/" + theBucket + "/live", nil, [9]int{401, 404, 200, 200, 200, 404, 200, 200, 401}},
	{"POST", "/buckets", definition(map[string]any{"name": theBucket}), [9]int{401, 403, 403, 409, 403, 403, 403, 409, 401}},
	{"PUT", "/buckets/" + theBucket, definition(map[string]any{"owners": []string{bob}}), [9]int{401, 404, 403, 403, 412, 404, 403, 412, 401}},
	{"DELETE", "/buckets/" + theBucket + "?reason=x", nil, [9]int{401, 404, 403, 403, 412, 404, 403, 412, 401}},
	{"GET", "/apps", nil, [9]int{401, 200, 200, 200, 200, 200, 200, 200, 401}},
	{"GET", "/apps/checkout", nil, [9]int{401, 404, 200, 200, 404, 404, 200, 200, 401}},
	{"POST", "/apps", map[string]any{"name": "checkout"}, [9]int{401, 403, 403, 403, 403, 403, 403, 409, 401}},
	{"PUT", "/apps/checkout", map[string]any{"description": "x"}, [9]int{401, 404, 403, 412, 404, 404, 403, 412, 401}},
	{"DELETE", "/apps/checkout", nil, [9]int{401, 404, 403, 412, 404, 404, 403, 412, 401}},
	{"PUT", "/apps/checkout/members/ghost", map[string]any{"role": "viewer"}, [9]int{401, 404, 403, 422, 404, 404, 403, 422, 401}},
	{"DELETE", "/apps/checkout/members/ghost", nil, [9]int{401, 404, 403, 404, 404, 404, 403, 404, 401}},
	{"GET", "/users", nil, [9]int{401, 403, 403, 403, 403, 403, 200, 200, 401}},
	{"POST", "/users", map[string]any{"name": ann, "role": "member", "password": password}, [9]int{401, 403, 403, 403, 403, 403, 403, 409, 401}},
	{"GET", "/users/names", nil, [9]int{401, 403, 200, 200, 200, 200, 200, 200, 401}},
	{"GET", "/users/ann", nil, [9]int{401, 403, 403, 403, 403, 403, 200, 200, 401}},
	{"PUT", "/users/ann", map[string]any{"display_name": "", "role": "admin", "disabled": false}, [9]int{401, 403, 403, 403, 403, 403, 403, 412, 401}},
	{"POST", "/users/ann/password", map[string]any{"password": "short"}, [9]int{401, 403, 403, 403, 403, 403, 403, 422, 401}},
	{"GET", "/changes", nil, [9]int{401, 403, 403, 403, 403, 403, 200, 200, 401}},
	{"GET", "/system", nil, [9]int{401, 403, 403, 403, 403, 403, 200, 200, 401}},
}

func TestEachRoleGetsExactlyWhatThePolicySays(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for i, who := range walkers {
			c := w.as(who)
			if who == disabled {
				w.disable(who)
			}
			for _, step := range walk {
				a := c.do(step.method, "/api/v1"+step.path, step.body, "If-Match", `"999"`)
				if a.status != step.want[i] {
					t.Errorf("%q %s %s: %d, want %d: %s", who, step.method, step.path, a.status, step.want[i], a.body)
				}
				if a.status == http.StatusForbidden && a.problem(t, a.status).Permission == "" {
					t.Errorf("%q %s %s: the answer does not say which permission is missing", who, step.method, step.path)
				}
			}
		}
	})
}

// A route that is added without a line in the walk goes unwalked; this finds it.
func TestEveryDescribedRouteIsWalkedAndRefusesNobody(t *testing.T) {
	w := onSQLite(t)
	var document struct {
		Paths map[string]map[string]struct {
			Permission auth.Permission `json:"x-permission"`
		} `json:"paths"`
	}
	must(t, json.Unmarshal(api.OpenAPI(), &document))
	names := strings.NewReplacer("{name}", "X", "{user}", "Y")
	walked := map[string]bool{}
	for _, step := range walk {
		path, _, _ := strings.Cut(step.path, "?")
		parts := strings.Split(path, "/")
		for i, place := range []string{"", "", "X", "", "Y"} {
			if place != "" && i < len(parts) && path != "/auth/me" && path != "/users/names" {
				parts[i] = place
			}
		}
		walked[step.method+" "+strings.Join(parts, "/")] = true
	}
	count := 0
	for path, operations := range document.Paths {
		for method, operation := range operations {
			if operation.Permission == auth.Public {
				continue
			}
			count++
			method = strings.ToUpper(method)
			path := names.Replace(strings.TrimPrefix(path, "/api/v1"))
			if !walked[method+" "+path] {
				t.Errorf("%s %s is not in the walk", method, path)
			}
			w.browser().do(method, "/api/v1"+path, nil).problem(t, http.StatusUnauthorized)
		}
	}
	if count != len(walk) {
		t.Errorf("%d routes need somebody, %d are walked", count, len(walk))
	}
}

func (w *world) disable(name string) {
	w.t.Helper()
	u, err := w.store.User(w.t.Context(), name)
	must(w.t, err)
	yes := true
	_, err = w.store.UpdateUser(w.t.Context(), name, u.Revision, model.UserPatch{Disabled: &yes}, byRoot)
	must(w.t, err)
}

func TestRefusedAttemptsAreRecorded(t *testing.T) {
	w := onSQLite(t)
	p := w.as(vic).do("DELETE", "/api/v1/buckets/"+theBucket+"?reason=x", nil, "If-Match", `"1"`).problem(t, http.StatusForbidden)
	if p.Permission != string(auth.BucketEdit) || !strings.Contains(p.Detail, string(auth.BucketEdit)) {
		t.Errorf("problem %+v", p)
	}
	w.as(ann).do("GET", "/api/v1/users", nil).problem(t, http.StatusForbidden)
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionRefused})
	must(t, err)
	var rows []string
	for _, c := range page.Items {
		rows = append(rows, fmt.Sprintf("%s %s %s: %s", c.Actor, c.TargetKind, c.Target, c.Reason))
	}
	want := []string{
		"ann user : GET /api/v1/users needs user.see",
		"vic bucket partner-api: DELETE /api/v1/buckets/{name} needs bucket.edit",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("history %q, want %q", rows, want)
	}
	if page.Items[1].RequestID != p.RequestID {
		t.Error("the row has another request id than the answer")
	}
}

func TestListsShowOnlyWhatMayBeSeen(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.bucket("others", []string{"other"}, []string{otto})
		w.bucket("everyones", []string{model.AllApps}, []string{root})
		for who, want := range map[string]string{
			nemo: "", vic: "everyones partner-api", ann: "everyones partner-api", bob: "partner-api", otto: "everyones others",
			aud: "everyones others partner-api", root: "everyones others partner-api",
		} {
			var list api.List[api.Bucket]
			w.as(who).do("GET", "/api/v1/buckets", nil).want(t, http.StatusOK).into(t, &list)
			var names []string
			for _, b := range list.Items {
				names = append(names, b.Name)
				if may := who == root || who == bob && b.Name == theBucket || who == otto && b.Name == "others"; b.May.Edit != may || b.May.Delete != may {
					t.Errorf("%s: %s may be edited: %+v", who, b.Name, b.May)
				}
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s sees %q, want %q", who, got, want)
			}
		}
	})
}

func TestOnlyVisibleAppsMayBeAddedAndAllAppsTakesAnAdmin(t *testing.T) {
	w := onSQLite(t)
	put := func(who string, apps ...string) answer {
		c := w.as(who)
		tag := c.do("GET", "/api/v1/buckets/"+theBucket, nil).header.Get("ETag")
		return c.do("PUT", "/api/v1/buckets/"+theBucket, definition(map[string]any{"apps": apps, "owners": []string{bob, ann}}), "If-Match", tag)
	}
	// Bob sees no app. The one that is listed may stay; neither another one nor an invented one can be told apart.
	put(bob, "checkout").want(t, http.StatusOK)
	unseen := put(bob, "checkout", "other").problem(t, http.StatusUnprocessableEntity)
	invented := put(bob, "checkout", "ghost").problem(t, http.StatusUnprocessableEntity)
	if unseen.Errors[0] != invented.Errors[0] || unseen.Errors[0].Field != "apps[1]" {
		t.Errorf("unseen %+v, invented %+v", unseen.Errors, invented.Errors)
	}
	if p := put(ann, model.AllApps).problem(t, http.StatusForbidden); p.Permission != string(auth.BucketAllApps) {
		t.Errorf("permission %q", p.Permission)
	}
	put(root, model.AllApps).want(t, http.StatusOK)
	put(bob, model.AllApps).want(t, http.StatusOK) // it was there before
	put(bob).want(t, http.StatusOK)
}

func TestCreationNeedsAnOwnAppAndMakesTheCreatorAnOwner(t *testing.T) {
	w := onSQLite(t)
	create := func(who, name string, apps []string, more map[string]any) answer {
		body := definition(map[string]any{"name": name, "apps": apps})
		for k, v := range more {
			body[k] = v
		}
		return w.as(who).do("POST", "/api/v1/buckets", body)
	}
	b := create(ann, "a1", []string{"checkout"}, nil).bucket(t, http.StatusCreated)
	if !slices.Equal(b.Owners, []string{ann}) || b.CreatedBy != ann || b.Revision != 1 {
		t.Errorf("bucket %+v", b)
	}
	b = create(ann, "a2", []string{"checkout"}, map[string]any{"owners": []string{bob}}).bucket(t, http.StatusCreated)
	if !slices.Equal(b.Owners, []string{bob}) || b.May.Edit {
		t.Errorf("bucket %+v", b)
	}
	for _, c := range []struct {
		who    string
		apps   []string
		status int
	}{
		{vic, []string{"checkout"}, 403}, {ann, nil, 403}, {ann, []string{"other"}, 403}, {ann, []string{"checkout", "other"}, 422},
		{ann, []string{"*"}, 403}, {aud, []string{"checkout"}, 403}, {root, nil, 201},
	} {
		create(c.who, "a3", c.apps, nil).want(t, c.status)
	}
}

func TestMeSaysWhatTheConsoleMayOffer(t *testing.T) {
	w := onSQLite(t, func(c *api.Config) { c.Embedded = true })
	for who, want := range map[string][]auth.Permission{
		nemo: {}, vic: {auth.UserNames}, ann: {auth.BucketCreate, auth.UserNames},
		aud: {auth.AppSee, auth.AuditRead, auth.BucketSee, auth.SystemSee, auth.UserNames, auth.UserSee},
	} {
		var me api.Me
		w.as(who).do("GET", "/api/v1/auth/me", nil).want(t, http.StatusOK).into(t, &me)
		if me.Name != who || !me.Embedded || !slices.Equal(me.Permissions, want) {
			t.Errorf("%s: %+v, want %v", who, me, want)
		}
	}
}

// A token that we did not sign, or that has ended, is nobody's.
func TestForgedAndExpiredTokensAreNobodys(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	good := cookieOf(t, c, "/api", "headgate_access")
	parts := strings.Split(good, ".")
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"sid": "x"}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	must(t, err)
	none, _, _ := strings.Cut(unsigned, ".")
	for name, token := range map[string]string{
		"forged": parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])), "alg none": none + "." + parts[1] + ".",
		"garbage": "garbage", "huge": strings.Repeat("a.", 2000), "refresh token": cookieOf(t, c, "/api/v1/auth", "headgate_refresh"),
	} {
		p := w.browser().do("GET", "/api/v1/system", nil, "Cookie", "headgate_access="+token).problem(t, http.StatusUnauthorized)
		if p.Code != model.CodeUnauthorized {
			t.Errorf("%s: code %s", name, p.Code)
		}
	}
	w.browser().do("GET", "/api/v1/system", nil, "Cookie", "headgate_access="+good).want(t, http.StatusOK)
	w.now.pass(auth.AccessLife + time.Second)
	w.browser().do("GET", "/api/v1/system", nil, "Cookie", "headgate_access="+good).problem(t, http.StatusUnauthorized)
}
