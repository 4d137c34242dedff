package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// write is one good call of a route that changes something.
type write struct {
	route string // as api.Needs names it
	who   string // who calls
	path  string // behind /api/v1; %s is what find returns
	find  func(w *world, c *client) any
	match string // If-Match
	body  any

	rows []string // the change rows that appear: "action kind target"
}

// writes are one good call of EVERY route that is no GET, in an order in which each finds what the ones before left.
var writes = slices.Concat(bucketWrites, appWrites, peopleWrites, accountWrites, auditWrites)

var bucketWrites = []write{
	{
		route: "POST /api/v1/buckets", who: root, path: "/buckets", body: definition(map[string]any{"name": "made"}),
		rows: []string{"bucket.create bucket made"},
	},
	{
		route: "POST /api/v1/buckets/bulk", who: root, path: "/buckets/bulk", body: map[string]any{
			"buckets": []any{map[string]any{"name": "made", "revision": 1}, map[string]any{"name": theBucket, "revision": 1}},
			"change":  map[string]any{"mode": "shadow"}, "reason": "try them first",
		},
		rows: []string{"bucket.update bucket made", "bucket.update bucket " + theBucket},
	},
	{
		route: "PUT /api/v1/buckets/:name", who: root, path: "/buckets/made", match: "2", body: definition(map[string]any{"rate": 10, "owners": []string{root}}),
		rows: []string{"bucket.update bucket made"},
	},
	{
		route: "PUT /api/v1/buckets/:name/alert-rules", who: root, path: "/buckets/made/alert-rules", match: "1",
		body: map[string]any{"rules": []any{map[string]any{"kind": "limited_share", "percent": 5, "minutes": 3}}},
		rows: []string{"alert.rules bucket made"},
	},
	{
		route: "POST /api/v1/buckets/:name/rollback", who: root, path: "/buckets/made/rollback", match: "3", body: map[string]any{"revision": 1, "reason": "back"},
		rows: []string{"bucket.rollback bucket made"},
	},
	{
		route: "POST /api/v1/buckets/:name/try", who: root, path: "/buckets/made/try", body: map[string]any{"permits": 2, "reason": "does it work?"},
		rows: []string{"bucket.try bucket made"},
	},
	{
		route: "DELETE /api/v1/buckets/:name", who: root, path: "/buckets/made?reason=over", match: "4",
		rows: []string{"bucket.delete bucket made"},
	},
	{
		route: "POST /api/v1/buckets/:name/restore", who: root, path: "/buckets/made/restore", body: map[string]any{"reason": "again"},
		rows: []string{"bucket.restore bucket made"},
	},
}

var appWrites = []write{
	{
		route: "POST /api/v1/apps", who: root, path: "/apps", body: map[string]any{"name": "billing"},
		rows: []string{"app.create app billing"},
	},
	{
		route: "PUT /api/v1/apps/:name", who: root, path: "/apps/billing", match: "1", body: map[string]any{"description": "invoices"},
		rows: []string{"app.update app billing"},
	},
	{
		route: "PUT /api/v1/apps/:name/members/:user", who: root, path: "/apps/billing/members/nemo", body: map[string]any{"role": "viewer"},
		rows: []string{"member.set app billing"},
	},
	{
		route: "DELETE /api/v1/apps/:name/members/:user", who: root, path: "/apps/billing/members/nemo",
		rows: []string{"member.remove app billing"},
	},
	{
		route: "DELETE /api/v1/apps/:name", who: root, path: "/apps/billing", match: "4",
		rows: []string{"app.delete app billing"},
	},
}

var peopleWrites = []write{
	{
		route: "POST /api/v1/users", who: root, path: "/users", body: map[string]any{"name": "new", "role": "member", "password": password},
		rows: []string{"user.create user new"},
	},
	{
		route: "PUT /api/v1/users/:name", who: root, path: "/users/new", match: "1", body: map[string]any{"display_name": "New", "role": "auditor", "disabled": false},
		rows: []string{"user.update user new"},
	},
	{
		route: "POST /api/v1/users/:name/password", who: root, path: "/users/new/password", body: map[string]any{"password": password + "!"},
		rows: []string{"user.password user new"},
	},
	{
		route: "DELETE /api/v1/users/:name/sessions", who: root, path: "/users/otto/sessions", find: loggedIn(otto),
		rows: []string{"session.end user otto"},
	},
	{
		route: "POST /api/v1/service-accounts", who: root, path: "/service-accounts", body: map[string]any{"name": "robot", "role": "member"},
		rows: []string{"user.create user robot"},
	},
	{
		route: "POST /api/v1/tokens", who: root, path: "/tokens", body: map[string]any{"name": "laptop", "scopes": []string{"read"}, "expires_in_days": 1},
		rows: []string{"token.create user root"},
	},
	{
		route: "DELETE /api/v1/tokens/:id", who: root, path: "/tokens/%v", find: firstToken,
		rows: []string{"token.revoke user root"},
	},
}

var accountWrites = []write{
	{
		route: "POST /api/v1/auth/login", who: "", path: "/auth/login", body: map[string]any{"name": vic, "password": password},
		rows: []string{"login user vic"},
	},
	{
		route: "PUT /api/v1/auth/me", who: ann, path: "/auth/me", match: "1", body: map[string]any{"display_name": "Ann"},
		rows: []string{"user.update user ann"},
	},
	// It changes nothing that anybody decides: the session that the login's row tells of goes on.
	{route: "POST /api/v1/auth/refresh", who: ann, path: "/auth/refresh"},
	{
		route: "DELETE /api/v1/auth/sessions/:id", who: ann, path: "/auth/sessions/%v", find: otherSession,
		rows: []string{"session.end user ann"},
	},
	{
		route: "DELETE /api/v1/auth/sessions", who: ann, path: "/auth/sessions", find: loggedIn(ann),
		rows: []string{"session.end user ann"},
	},
	{
		route: "POST /api/v1/auth/password", who: ann, path: "/auth/password", body: map[string]any{"current": password, "password": password + "?"},
		rows: []string{"user.password user ann"},
	},
	{
		route: "POST /api/v1/auth/logout", who: bob, path: "/auth/logout",
		rows: []string{"logout user bob"},
	},
}

var auditWrites = []write{
	{
		route: "POST /api/v1/webhooks", who: root, path: "/webhooks", body: map[string]any{"name": "siem", "url": "https://93.184.215.14/hook"},
		rows: []string{"webhook.create webhook siem"},
	},
	{
		route: "POST /api/v1/webhooks/:name/test", who: root, path: "/webhooks/siem/test",
		rows: []string{"webhook.test webhook siem"},
	},
	{
		route: "POST /api/v1/webhooks/:name/secret", who: root, path: "/webhooks/siem/secret",
		rows: []string{"webhook.secret webhook siem"},
	},
	{
		route: "POST /api/v1/webhooks/:name/redeliver", who: root, path: "/webhooks/siem/redeliver", body: map[string]any{"from": 1},
		rows: []string{"webhook.redeliver webhook siem"},
	},
	{
		route: "PUT /api/v1/webhooks/:name", who: root, path: "/webhooks/siem", match: "1", body: map[string]any{"url": "https://93.184.215.14/other"},
		rows: []string{"webhook.update webhook siem"},
	},
	{
		route: "DELETE /api/v1/webhooks/:name", who: root, path: "/webhooks/siem", match: "2",
		rows: []string{"webhook.delete webhook siem"},
	},
	{
		route: "POST /api/v1/system/reconcile", who: root, path: "/system/reconcile", body: map[string]any{"reason": "after the outage"},
		rows: []string{"redis.reconcile system redis"},
	},
	{
		route: "POST /api/v1/break-glass", who: root, path: "/break-glass", body: map[string]any{"scope": "all", "reason": "fire", "confirm": "SHADOW"},
		rows: []string{"break_glass.start system all"},
	},
	{
		route: "DELETE /api/v1/break-glass/:id", who: root, path: "/break-glass/%v", find: firstBreakGlass,
		rows: []string{"break_glass.end system all"},
	},
}

// Every write leaves exactly its rows: of the caller, under the answer's request id, and nothing beside them.
func TestEveryWriteLeavesExactlyItsChangeRow(t *testing.T) {
	w := newWorld(t, store.Config{MySQLDSN: testenv.MySQL(t)}, withWebhooks(false), func(c *api.Config) {
		c.Webhooks = deafEndpoints{c.Webhooks}
	})
	for _, step := range writes {
		c := w.as(step.who)
		path := step.path
		if step.find != nil {
			if found := step.find(w, c); strings.Contains(path, "%v") {
				path = fmt.Sprintf(path, found)
			}
		}
		var headers []string
		if step.match != "" {
			headers = []string{"If-Match", `"` + step.match + `"`}
		}
		before := w.lastChange()
		method, _, _ := strings.Cut(step.route, " ")
		a := c.do(method, "/api/v1"+path, step.body, headers...)
		if a.status/100 != 2 {
			t.Errorf("%s: %d %s", step.route, a.status, a.body)
		}
		w.rowsAre(step, before, a.header.Get("X-Request-Id"))
	}
}

// rowsAre compares the rows behind one with those that a write should have left.
func (w *world) rowsAre(step write, before int64, requestID string) {
	w.t.Helper()
	entries, err := w.store.AuditEntries(w.t.Context(), model.ChangeQuery{}, before, 100)
	must(w.t, err)
	rows := []string{}
	for _, e := range entries {
		rows = append(rows, fmt.Sprintf("%s %s %s", e.Action, e.TargetKind, e.Target))
		if e.RequestID != requestID {
			w.t.Errorf("%s: the row has request id %q, the answer %q", step.route, e.RequestID, requestID)
		}
		if step.who != "" && e.Actor != step.who {
			w.t.Errorf("%s: the row names %s, not %s", step.route, e.Actor, step.who)
		}
	}
	if !slices.Equal(rows, append([]string{}, step.rows...)) {
		w.t.Errorf("%s left the rows %q, want %q", step.route, rows, step.rows)
	}
}

func (w *world) lastChange() int64 {
	w.t.Helper()
	head, err := w.store.AuditHead(w.t.Context())
	must(w.t, err)
	return head.Seq
}

// A route that changes something and has no line above goes unproven; this finds it.
func TestEveryWriteRouteHasALine(t *testing.T) {
	needs := api.Needs()
	proven := map[string]bool{}
	for _, step := range writes {
		if _, there := needs[step.route]; !there {
			t.Errorf("%s is no route", step.route)
		}
		proven[step.route] = true
	}
	for route := range needs {
		if !strings.HasPrefix(route, "GET ") && !strings.HasPrefix(route, "HEAD ") && !proven[route] {
			t.Errorf("%s has no line: which change rows does it leave?", route)
		}
	}
}

// deafEndpoints answer no test: what an endpoint makes of it is not what is proven here.
type deafEndpoints struct{ api.Webhooks }

func (deafEndpoints) Test(context.Context, model.Webhook) (model.WebhookAttempt, error) {
	return model.WebhookAttempt{Event: "test-1", At: time.Now(), Error: "no answer"}, nil
}

func loggedIn(who string) func(*world, *client) any {
	return func(w *world, _ *client) any {
		w.as(who)
		return nil
	}
}

func otherSession(w *world, c *client) any {
	w.as(ann)
	list := c.sessions(sessionsPath)
	return list[slices.IndexFunc(list, func(s api.Session) bool { return !s.Current })].ID
}

func firstToken(w *world, _ *client) any { return w.tokensOf(root)[0].ID }

func firstBreakGlass(_ *world, c *client) any {
	var list api.List[api.BreakGlass]
	c.do("GET", "/api/v1/break-glass", nil).want(c.t, http.StatusOK).into(c.t, &list)
	return list.Items[0].ID
}
