package api_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// The columns of the walk, in the order of the statuses of a row. The tokens have one scope each, read, write, audit and
// admin: those of root, an admin, and those of ann, who owns the app checkout. All other proofs are nobody's, on
// every route (see nobodysProofs), and have no column.
var (
	people = []string{"", nemo, vic, ann, bob, otto, aud, root, disabled}
	makers = []string{root, ann}
)

// walk is each request with the status that each column gets. Writes are made so that those who may do them fail at the
// next check (412, 409, 422), and so change nothing for the others.
var walk = []struct {
	method, path string
	body         any

	people string // nobody nemo vic ann bob otto aud root disabled
	root   string // tokens of root: read write audit admin
	ann    string // tokens of ann: read write audit admin
}{
	{"GET", "/auth/me", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 200", "200 200 200 200"},
	{"PUT", "/auth/me", map[string]any{"display_name": "x"}, "401 412 412 412 412 412 412 412 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/auth/password", map[string]any{"current": password, "password": "short"}, "401 422 422 422 422 422 422 422 401", "403 403 403 403", "403 403 403 403"},
	{"GET", "/auth/sessions", nil, "401 200 200 200 200 200 200 200 401", "403 403 403 403", "403 403 403 403"},
	{"DELETE", "/auth/sessions", nil, "401 200 200 200 200 200 200 200 401", "403 403 403 403", "403 403 403 403"},
	{"DELETE", "/auth/sessions/ffffffffffffffff", nil, "401 404 404 404 404 404 404 404 401", "403 403 403 403", "403 403 403 403"},

	{"GET", "/buckets", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket, nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/changes", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/sync", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/usage", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/live", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/limited-keys", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/instances", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"POST", "/buckets/" + theBucket + "/try", map[string]any{"permits": 0}, "401 404 403 403 422 404 403 422 401", "403 422 403 403", "403 403 403 403"},
	{"GET", "/stream?buckets=" + theBucket + ",ghost", nil, "401 404 404 404 404 404 404 404 401", "404 404 404 403", "404 404 404 403"},
	{"GET", "/stream?app=ghost", nil, "401 404 404 404 404 404 404 404 401", "404 404 404 403", "404 404 404 403"},
	{"GET", "/overview", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/apps/checkout/usage", nil, "401 404 200 200 404 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"POST", "/buckets", definition(map[string]any{"name": theBucket}), "401 403 403 409 403 403 403 409 401", "403 409 403 403", "403 409 403 403"},
	{"PUT", "/buckets/" + theBucket, definition(map[string]any{"owners": []string{bob}}), "401 404 403 403 412 404 403 412 401", "403 412 403 403", "403 403 403 403"},
	{"DELETE", "/buckets/" + theBucket + "?reason=x", nil, "401 404 403 403 412 404 403 412 401", "403 412 403 403", "403 403 403 403"},

	{"GET", "/buckets/" + theBucket + "/alert-rules", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"PUT", "/buckets/" + theBucket + "/alert-rules", map[string]any{"rules": []any{}}, "401 404 403 403 412 404 403 412 401", "403 412 403 403", "403 403 403 403"},
	{"GET", "/alerts", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/bucket-labels", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"POST", "/buckets/bulk", bulk(map[string]int64{theBucket: 999}, map[string]any{"mode": "off"}), "401 404 403 403 412 404 403 412 401", "403 412 403 403", "403 403 403 403"},

	{"GET", "/buckets/" + theBucket + "/revisions/1", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/revisions/1/compare/1", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/buckets/" + theBucket + "/as-of?at=2020-01-01T00:00:00Z", nil, "401 404 200 200 200 404 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"POST", "/buckets/" + theBucket + "/rollback", map[string]any{"revision": 1, "reason": "x"}, "401 404 403 403 412 404 403 412 401", "403 412 403 403", "403 403 403 403"},
	{"POST", "/buckets/" + theBucket + "/restore", map[string]any{"reason": "x"}, "401 404 403 403 409 404 403 409 401", "403 409 403 403", "403 403 403 403"},
	{"GET", "/deleted-buckets", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 403", "200 200 200 403"},
	{"GET", "/deleted-buckets/ghost", nil, "401 404 404 404 404 404 404 404 401", "404 404 404 403", "404 404 404 403"},
	{"GET", "/export/buckets", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 403", "200 200 200 403"},

	{"GET", "/apps", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 200", "200 200 200 200"},
	{"GET", "/apps/checkout", nil, "401 404 200 200 404 404 200 200 401", "200 200 200 200", "200 200 200 200"},
	{"POST", "/apps", map[string]any{"name": "checkout"}, "401 403 403 403 403 403 403 409 401", "403 403 403 409", "403 403 403 403"},
	{"PUT", "/apps/checkout", map[string]any{"description": "x"}, "401 404 403 412 404 404 403 412 401", "403 412 403 412", "403 412 403 412"},
	{"DELETE", "/apps/checkout", nil, "401 404 403 412 404 404 403 412 401", "403 412 403 412", "403 412 403 412"},
	{"PUT", "/apps/checkout/members/ghost", map[string]any{"role": "viewer"}, "401 404 403 422 404 404 403 422 401", "403 422 403 422", "403 422 403 422"},
	{"DELETE", "/apps/checkout/members/ghost", nil, "401 404 403 404 404 404 403 404 401", "403 404 403 404", "403 404 403 404"},

	{"GET", "/users", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 200", "403 403 403 403"},
	{"POST", "/users", map[string]any{"name": ann, "role": "member", "password": password}, "401 403 403 403 403 403 403 409 401", "403 403 403 403", "403 403 403 403"},
	{"GET", "/users/names", nil, "401 403 200 200 200 200 200 200 401", "200 200 403 200", "200 200 403 200"},
	{"GET", "/users/ann", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 200", "403 403 403 403"},
	{"GET", "/permissions", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 200", "403 403 403 403"},
	{"GET", "/users/ann/permissions?action=bucket.edit&bucket=" + theBucket, nil, "401 403 403 403 403 403 200 200 401", "403 403 200 404", "403 403 403 403"},
	{"PUT", "/users/ann", map[string]any{"display_name": "", "role": "admin", "disabled": false}, "401 403 403 403 403 403 403 412 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/users/ann/password", map[string]any{"password": "short"}, "401 403 403 403 403 403 403 422 401", "403 403 403 403", "403 403 403 403"},

	{"GET", "/users/ann/sessions", nil, "401 403 403 403 403 403 403 200 401", "403 403 403 403", "403 403 403 403"},
	{"DELETE", "/users/ghost/sessions", nil, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},

	{"GET", "/tokens", nil, "401 200 200 200 200 200 200 200 401", "403 403 403 403", "403 403 403 403"},
	{"GET", "/tokens?all=true", nil, "401 403 403 403 403 403 403 200 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/tokens", map[string]any{"name": "a b", "scopes": []string{"read"}, "expires_in_days": 1}, "401 422 422 422 422 422 422 422 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/tokens", map[string]any{"name": "x", "scopes": []string{"read"}, "expires_in_days": 1, "service_account": "ghost"}, "401 403 403 403 403 403 403 422 401", "403 403 403 403", "403 403 403 403"},
	{"GET", "/tokens/999999", nil, "401 404 404 404 404 404 404 404 401", "403 403 403 403", "403 403 403 403"},
	{"DELETE", "/tokens/999999", nil, "401 404 404 404 404 404 404 404 401", "403 403 403 403", "403 403 403 403"},
	{"GET", "/service-accounts", nil, "401 403 403 403 403 403 403 200 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/service-accounts", map[string]any{"name": ann, "role": "member"}, "401 403 403 403 403 403 403 409 401", "403 403 403 403", "403 403 403 403"},

	{"GET", "/changes", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 403", "403 403 403 403"},
	{"GET", "/as-of?at=2020-01-01T00:00:00Z", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 403", "403 403 403 403"},
	{"GET", "/export/changes", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 403", "403 403 403 403"},
	{"GET", "/audit/chain", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 403", "403 403 403 403"},
	{"GET", "/audit/verify", nil, "401 403 403 403 403 403 200 200 401", "403 403 200 403", "403 403 403 403"},

	{"GET", "/webhooks", nil, "401 403 403 403 403 403 403 200 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/webhooks", map[string]any{"name": "a b", "url": "https://example.com"}, "401 403 403 403 403 403 403 422 401", "403 403 403 403", "403 403 403 403"},
	{"GET", "/webhooks/ghost", nil, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},
	{"PUT", "/webhooks/ghost", map[string]any{"url": "nothing"}, "401 403 403 403 403 403 403 422 401", "403 403 403 403", "403 403 403 403"},
	{"DELETE", "/webhooks/ghost", nil, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/webhooks/ghost/test", nil, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/webhooks/ghost/secret", nil, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},
	{"POST", "/webhooks/ghost/redeliver", map[string]any{"from": 1}, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},

	{"GET", "/system/sync", nil, "401 403 403 403 403 403 200 200 401", "200 403 403 200", "403 403 403 403"},
	{"GET", "/system/instances", nil, "401 403 403 403 403 403 200 200 401", "200 403 403 200", "403 403 403 403"},
	{"POST", "/system/reconcile", map[string]any{"reason": ""}, "401 403 403 403 403 403 403 422 401", "403 403 403 422", "403 403 403 403"},
	{"GET", "/break-glass", nil, "401 200 200 200 200 200 200 200 401", "200 200 200 200", "200 200 200 200"},
	{"POST", "/break-glass", map[string]any{"scope": "all", "reason": "x", "confirm": "no"}, "401 403 403 403 403 403 403 422 401", "403 403 403 403", "403 403 403 403"},
	{"DELETE", "/break-glass/999999", nil, "401 403 403 403 403 403 403 404 401", "403 403 403 403", "403 403 403 403"},

	{"GET", "/system", nil, "401 403 403 403 403 403 200 200 401", "200 403 403 200", "403 403 403 403"},
}

func TestEachRoleAndTokenGetsExactlyWhatThePolicySays(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for i, who := range people {
			c := w.as(who)
			if who == disabled {
				w.disable(who)
			}
			for _, step := range walk {
				w.step(c, fmt.Sprintf("%q", who), step.method, step.path, step.body, status(t, step.people, len(people), i))
			}
		}
		for _, maker := range makers {
			for i, scope := range model.TokenScopes {
				c := w.bearer(w.token(maker, "walk-"+string(scope), scope))
				for _, step := range walk {
					want := step.root
					if maker == ann {
						want = step.ann
					}
					w.step(c, fmt.Sprintf("%s's token for %s", maker, scope), step.method, step.path, step.body, status(t, want, len(model.TokenScopes), i))
				}
			}
		}
	})
}

// status reads one column of a row.
func status(t *testing.T, row string, columns, i int) int {
	t.Helper()
	list := strings.Fields(row)
	if len(list) != columns {
		t.Fatalf("%q has %d columns, want %d", row, len(list), columns)
	}
	n, err := strconv.Atoi(list[i])
	must(t, err)
	return n
}

// step makes one request of the walk.
func (w *world) step(c *client, who, method, path string, body any, want int) {
	w.t.Helper()
	a := c.do(method, "/api/v1"+path, body, "If-Match", `"999"`)
	if a.status != want {
		w.t.Errorf("%s: %s %s: %d, want %d: %s", who, method, path, a.status, want, a.body)
	}
	if a.status == http.StatusForbidden && a.problem(w.t, a.status).Permission == "" {
		w.t.Errorf("%s: %s %s: the answer does not say which permission is missing", who, method, path)
	}
}

// Proofs that were forged or have ended open no route, whoever they are of. root's are the ones that could open most.
func TestForgedAndEndedProofsOpenNoRoute(t *testing.T) {
	w := onSQLite(t)
	proofs := w.nobodysProofs()
	for name, c := range proofs {
		for _, step := range walk {
			w.step(c, name, step.method, step.path, step.body, http.StatusUnauthorized)
		}
	}
}

// nobodysProofs makes clients that present something, but nothing that is good.
func (w *world) nobodysProofs() map[string]*client {
	w.t.Helper()
	session := w.as(root)
	access := cookieOf(w.t, session, "/api", "headgate_access")
	expired := w.token(root, "expired", model.TokenScopes...)
	w.now.pass(25 * time.Hour) // beyond the life of an access token and of the token
	revoked := w.token(root, "revoked", model.TokenScopes...)
	w.revoke(root, "revoked")
	retired := w.token(otto, "retired", model.TokenScopes...)
	w.disable(otto)
	good := w.token(root, "good", model.TokenScopes...)

	withCookie := func(token string) *client {
		c := w.browser()
		c.headers = []string{"Cookie", "headgate_access=" + token}
		return c
	}
	parts := strings.Split(access, ".")
	return map[string]*client{
		"expired session":           withCookie(access),
		"forged signature":          withCookie(parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2]))),
		"algorithm none":            withCookie(resigned(w.t, access, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType)),
		"another algorithm":         withCookie(resigned(w.t, access, jwt.SigningMethodRS256, rsaKey(w.t))),
		"expired API token":         w.bearer(expired),
		"revoked API token":         w.bearer(revoked),
		"disabled user's API token": w.bearer(retired),
		"mistyped API token":        w.bearer(good[:len(good)-1] + "!"),
		"unknown API token":         w.bearer(unknownToken()),
		"session as bearer":         w.bearer(access),
		"empty bearer":              w.bearer(""),
	}
}

// resigned is a session's token with a living end, signed with another algorithm under the same key id.
func resigned(t *testing.T, access string, method jwt.SigningMethod, key any) string {
	t.Helper()
	claims := jwt.MapClaims{}
	old, _, err := jwt.NewParser().ParseUnverified(access, claims)
	must(t, err)
	claims["exp"] = time.Now().Add(100 * time.Hour).Unix()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = old.Header["kid"]
	signed, err := token.SignedString(key)
	must(t, err)
	return signed
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return key
}

func unknownToken() string {
	secret, _, _ := auth.NewAPIToken(model.TokenPersonal)
	return secret
}

// A route that is added without a line in the walk goes unwalked; this finds it.
func TestEveryRouteThatNeedsSomebodyIsWalked(t *testing.T) {
	walked := map[string]bool{}
	needs := api.Needs()
	for _, step := range walk {
		path, _, _ := strings.Cut(step.path, "?")
		route := routeOf(needs, step.method, "/api/v1"+path)
		if route == "" {
			t.Errorf("%s %s is no route", step.method, step.path)
		}
		walked[route] = true
	}
	for route, permission := range needs {
		if permission != auth.Public && !strings.HasPrefix(route, "HEAD ") && !walked[route] {
			t.Errorf("%s, which needs %s, is not in the walk", route, permission)
		}
	}
}

// routeOf finds the route that serves a path: of several, the one with fewer parameters.
func routeOf(needs map[string]auth.Permission, method, path string) string {
	best, fewest := "", 100
	for route := range needs {
		of, pattern, _ := strings.Cut(route, " ")
		if n, fits := parameters(pattern, path); of == method && fits && n < fewest {
			best, fewest = route, n
		}
	}
	return best
}

func parameters(pattern, path string) (count int, fits bool) {
	names, parts := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(names) != len(parts) {
		return 0, false
	}
	for i, name := range names {
		if strings.HasPrefix(name, ":") {
			count++
		} else if name != parts[i] {
			return 0, false
		}
	}
	return count, true
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
	if !reflect.DeepEqual(unseen.Errors[0], invented.Errors[0]) || unseen.Errors[0].Field != "apps[1]" {
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
		aud: {auth.AppSee, auth.AuditExport, auth.AuditRead, auth.BucketSee, auth.SystemSee, auth.UserNames, auth.UserSee},
	} {
		var me api.Me
		w.as(who).do("GET", "/api/v1/auth/me", nil).want(t, http.StatusOK).into(t, &me)
		if me.Name != who || !me.Embedded || !slices.Equal(me.Permissions, want) {
			t.Errorf("%s: %+v, want %v", who, me, want)
		}
	}
}
