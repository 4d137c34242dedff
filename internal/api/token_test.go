package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

const (
	tokens          = "/api/v1/tokens"
	serviceAccounts = "/api/v1/service-accounts"
)

// token has a person make an API token of its own and returns the secret.
func (w *world) token(maker, name string, scopes ...model.TokenScope) string {
	w.t.Helper()
	return w.as(maker).do("POST", tokens, map[string]any{"name": name, "scopes": scopes, "expires_in_days": 1}).token(w.t).Secret
}

func (a answer) token(t *testing.T) api.TokenCreated {
	t.Helper()
	var made api.TokenCreated
	a.want(t, http.StatusCreated).into(t, &made)
	return made
}

// bearer is a program with an API token, and without cookies.
func (w *world) bearer(secret string) *client {
	w.t.Helper()
	c := w.browser()
	c.headers = []string{"Authorization", "Bearer " + secret}
	return c
}

// tokensOf lists a person's own tokens.
func (w *world) tokensOf(who string) []api.Token {
	w.t.Helper()
	var list api.List[api.Token]
	w.as(who).do("GET", tokens, nil).want(w.t, http.StatusOK).into(w.t, &list)
	return list.Items
}

// revoke has a person revoke an API token of its own.
func (w *world) revoke(who, name string) {
	w.t.Helper()
	for _, token := range w.tokensOf(who) {
		if token.Name == name {
			w.as(who).do("DELETE", fmt.Sprintf("%s/%d", tokens, token.ID), nil).want(w.t, http.StatusNoContent)
			return
		}
	}
	w.t.Fatalf("%s has no token %s", who, name)
}

func TestTokenIsShownOnceAndListedWithoutItsSecret(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(ann)
		a := c.do("POST", tokens, map[string]any{"name": "laptop", "scopes": []string{"write", "read"}, "expires_in_days": 30, "reason": "scripts"})
		made := a.token(t)
		if made.Token.Kind != model.TokenPersonal || made.Token.User != ann || made.Token.MadeBy != ann || made.Token.State != model.TokenActive ||
			!slices.Equal(made.Token.Scopes, []model.TokenScope{"read", "write"}) || !strings.HasPrefix(made.Secret, made.Token.Hint) || made.Token.LastUsedAt != nil {
			t.Errorf("token %+v", made)
		}
		if days := made.Token.ExpiresAt.Sub(made.Token.CreatedAt).Round(time.Hour); days != 30*24*time.Hour {
			t.Errorf("it ends after %s", days)
		}
		if a.header.Get("Cache-Control") != "no-store" {
			t.Error("the secret may be cached")
		}
		var me api.Me
		w.bearer(made.Secret).do("GET", mePath, nil).want(t, http.StatusOK).into(t, &me)
		if me.Name != ann || !slices.Equal(me.Permissions, []auth.Permission{auth.BucketCreate, auth.UserNames}) {
			t.Errorf("me %+v", me)
		}
		list := c.do("GET", tokens, nil).want(t, http.StatusOK)
		if strings.Contains(string(list.body), made.Secret) || !strings.Contains(string(list.body), `"last_used_address":"127.0.0.1"`) {
			t.Errorf("list %s", list.body)
		}
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionTokenCreate})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Actor != ann || page.Items[0].Reason != "scripts" || !strings.Contains(string(page.Items[0].After), `"laptop"`) {
			t.Errorf("history %+v", page.Items)
		}
		for _, where := range []string{string(page.Items[0].After), w.log.String()} {
			if strings.Contains(where, made.Secret[4:20]) {
				t.Errorf("the secret stands in %s", where)
			}
		}
	})
}

// The token counts, and nothing else that the request carries: neither a better cookie, nor one where the token is bad.
func TestBearerTokenCountsBesideACookie(t *testing.T) {
	w := onSQLite(t)
	admin := w.as(root)
	secret := w.token(vic, "reader", model.ScopeRead)
	admin.headers = []string{"Authorization", "Bearer " + secret}
	var me api.Me
	admin.do("GET", mePath, nil).want(t, http.StatusOK).into(t, &me)
	if me.Name != vic {
		t.Errorf("the request is %s's", me.Name)
	}
	admin.do("GET", "/api/v1/changes", nil).problem(t, http.StatusForbidden)
	admin.headers = []string{"Authorization", "Bearer hgp_" + strings.Repeat("0", 49)}
	if a := admin.do("GET", mePath, nil); a.header.Get("WWW-Authenticate") != `Bearer realm="headgate", error="invalid_token"` {
		t.Errorf("%d, WWW-Authenticate %q", a.status, a.header.Get("WWW-Authenticate"))
	} else {
		a.problem(t, http.StatusUnauthorized)
	}
	admin.headers = []string{"Authorization", "Basic dXNlcjpwYXNz"} // a proxy's own
	admin.do("GET", "/api/v1/changes", nil).want(t, http.StatusOK)
}

func TestChangesNameTheTokenThatMadeThem(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.bearer(w.token(bob, "nightly", model.ScopeWrite))
		tag := etagOf(c.do("GET", bucketPath, nil).want(t, http.StatusOK))
		// A page of another site can't send the header, so its origin needs no look.
		c.do("PUT", bucketPath, definition(map[string]any{"rate": 7, "owners": []string{bob}}), "If-Match", tag, "Origin", "https://elsewhere.example").want(t, http.StatusOK)
		c.do("DELETE", apps+"/checkout", nil, "If-Match", `"1"`).problem(t, http.StatusNotFound)
		c.do("GET", "/api/v1/changes", nil).problem(t, http.StatusForbidden)
		for action, target := range map[model.Action]string{model.ActionBucketUpdate: theBucket, model.ActionRefused: ""} {
			page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: action, Actor: bob})
			must(t, err)
			if len(page.Items) != 1 || page.Items[0].Token != "nightly" || page.Items[0].Target != target {
				t.Errorf("%s: %+v", action, page.Items)
			}
		}
	})
}

func TestTokenShrinksWithItsMaker(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.bearer(w.token(aud, "export", model.ScopeAudit, model.ScopeRead))
		c.do("GET", "/api/v1/changes", nil).want(t, http.StatusOK)
		c.do("GET", bucketPath, nil).want(t, http.StatusOK)
		u, err := w.store.User(t.Context(), aud)
		must(t, err)
		member := model.RoleMember
		_, err = w.store.UpdateUser(t.Context(), aud, u.Revision, model.UserPatch{Role: &member}, byRoot)
		must(t, err)
		c.do("GET", "/api/v1/changes", nil).problem(t, http.StatusForbidden)
		c.do("GET", bucketPath, nil).problem(t, http.StatusNotFound)
		must(t, w.store.SetMember(t.Context(), "checkout", model.Member{User: aud, Role: model.AppViewer}, byRoot))
		c.do("GET", bucketPath, nil).want(t, http.StatusOK)
		w.disable(aud)
		if p := c.do("GET", bucketPath, nil).problem(t, http.StatusUnauthorized); p.Code != model.CodeUnauthorized {
			t.Errorf("code %s", p.Code)
		}
	})
}

func TestServiceAccountActsOnlyThroughTokens(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		account := admin.do("POST", serviceAccounts, map[string]any{"name": "robot", "display_name": "Deploys", "role": "member", "reason": "CI"}).user(t, http.StatusCreated)
		if !account.Service || account.CreatedBy != root {
			t.Errorf("account %+v", account)
		}
		admin.do("PUT", apps+"/checkout/members/robot", map[string]any{"role": "owner"}).want(t, http.StatusOK)
		made := admin.do("POST", tokens, map[string]any{"name": "deploy", "scopes": []string{"write"}, "expires_in_days": 365, "service_account": "robot"}).token(t)
		if made.Token.Kind != model.TokenService || made.Token.User != "robot" || made.Token.MadeBy != root || !strings.HasPrefix(made.Secret, "hgs_") {
			t.Errorf("token %+v", made)
		}
		robot := w.bearer(made.Secret)
		b := robot.do("POST", buckets, definition(map[string]any{"name": "by-robot"})).bucket(t, http.StatusCreated)
		if b.CreatedBy != "robot" || !slices.Equal(b.Owners, []string{"robot"}) {
			t.Errorf("bucket %+v", b)
		}
		robot.do("GET", bucketPath, nil).want(t, http.StatusOK) // of its app
		robot.do("PUT", bucketPath, definition(nil), "If-Match", `"1"`).problem(t, http.StatusForbidden)

		var accounts api.List[api.User]
		admin.do("GET", serviceAccounts, nil).want(t, http.StatusOK).into(t, &accounts)
		if len(accounts.Items) != 1 || accounts.Items[0].Name != "robot" {
			t.Errorf("service accounts %+v", accounts.Items)
		}

		// Nobody logs in as it.
		w.browser().do("POST", loginPath, credentials("robot", "")).want(t, http.StatusUnauthorized)
		if p := admin.do("POST", users+"/robot/password", map[string]any{"password": "a long enough phrase 7"}); p.status == http.StatusNoContent {
			t.Error("a service account has a password now")
		}

		// Tokens for it are not everybody's to make, see or revoke.
		w.as(ann).do("POST", tokens, map[string]any{"name": "x", "scopes": []string{"read"}, "expires_in_days": 1, "service_account": "robot"}).problem(t, http.StatusForbidden)
		w.as(ann).do("DELETE", fmt.Sprintf("%s/%d", tokens, made.Token.ID), nil).problem(t, http.StatusNotFound)
		admin.do("DELETE", fmt.Sprintf("%s/%d?reason=over", tokens, made.Token.ID), nil).want(t, http.StatusNoContent)
		robot.do("GET", bucketPath, nil).problem(t, http.StatusUnauthorized)
	})
}

// A service account that is an admin can't log in, so it does not count as the admin that must be left.
func TestServiceAccountIsNotTheLastAdmin(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		admin.do("POST", serviceAccounts, map[string]any{"name": "robot", "role": "admin"}).want(t, http.StatusCreated)
		change := map[string]any{"display_name": "", "role": "member", "disabled": false}
		p := admin.do("PUT", users+"/root", change, "If-Match", etagOf(admin.do("GET", users+"/root", nil))).problem(t, http.StatusConflict)
		if p.Code != model.CodeLastAdmin {
			t.Errorf("code %s", p.Code)
		}
	})
}

func TestTokensOfOthersAreTheAdminsAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.token(ann, "hers", model.ScopeRead)
		bobs := w.token(bob, "his", model.ScopeRead)
		if mine := w.tokensOf(ann); len(mine) != 1 || mine[0].Name != "hers" {
			t.Errorf("ann sees %+v", mine)
		}
		admin := w.as(root)
		var all []string
		for cursor := ""; ; {
			var list api.List[api.Token]
			admin.do("GET", tokens+"?all=true&limit=1&cursor="+cursor, nil).want(t, http.StatusOK).into(t, &list)
			for _, token := range list.Items {
				all = append(all, token.User+"/"+token.Name)
			}
			if cursor = list.Next; cursor == "" {
				break
			}
		}
		if !slices.Equal(all, []string{"bob/his", "ann/hers"}) {
			t.Errorf("root sees %v", all)
		}
		id := w.tokensOf(bob)[0].ID
		for who, want := range map[string]int{bob: http.StatusOK, root: http.StatusOK, ann: http.StatusNotFound, aud: http.StatusNotFound} {
			a := w.as(who).do("GET", fmt.Sprintf("%s/%d", tokens, id), nil).want(t, want)
			var token api.Token
			if a.into(t, &token); want == http.StatusOK && (token.Name != "his" || token.User != bob || token.ID != id) {
				t.Errorf("%s finds %+v", who, token)
			}
		}
		admin.do("GET", tokens+"/0", nil).problem(t, http.StatusNotFound)
		w.as(ann).do("DELETE", fmt.Sprintf("%s/%d", tokens, id), nil).problem(t, http.StatusNotFound)
		w.bearer(bobs).do("GET", mePath, nil).want(t, http.StatusOK)
		admin.do("DELETE", fmt.Sprintf("%s/%d?reason=leaked", tokens, id), nil).want(t, http.StatusNoContent)
		admin.do("DELETE", fmt.Sprintf("%s/%d?reason=again", tokens, id), nil).want(t, http.StatusNoContent)
		w.bearer(bobs).do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		if got := w.tokensOf(bob)[0]; got.State != model.TokenRevoked || got.RevokedBy != root || got.RevokedAt == nil {
			t.Errorf("revoked token %+v", got)
		}
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionTokenRevoke})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Actor != root || page.Items[0].Target != bob || page.Items[0].Reason != "leaked" {
			t.Errorf("history %+v", page.Items)
		}
	})
}

func TestBadTokensAreRefusedByNameAndBound(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	good := map[string]any{"name": "t", "scopes": []string{"read"}, "expires_in_days": 1}
	for _, bad := range []struct{ field, value, named string }{
		{"name", `""`, "name"}, {"name", `"a b"`, "name"}, {"name", `"a\r\nX-Evil: 1"`, "name"}, {"name", `"=cmd()"`, "name"},
		{"name", `"` + strings.Repeat("n", 65) + `"`, "name"}, {"name", ``, "name"}, {"scopes", `[]`, "scopes"}, {"scopes", `["god"]`, "scopes[0]"},
		{"scopes", `["read","read"]`, "scopes[1]"}, {"scopes", `"read"`, "scopes"}, {"expires_in_days", `0`, "expires_in_days"},
		{"expires_in_days", `366`, "expires_in_days"}, {"expires_in_days", `-1`, "expires_in_days"}, {"expires_in_days", `9223372036854775807`, "expires_in_days"},
		{"expires_in_days", `null`, "expires_in_days"}, {"expires_in_days", ``, "expires_in_days"}, {"service_account", `"ghost"`, "service_account"},
		{"service_account", `"ann"`, "service_account"}, {"reason", `"` + strings.Repeat("r", 501) + `"`, "reason"}, {"user_id", `1`, "user_id"},
		{"hash", `"x"`, "hash"}, {"kind", `"service"`, "kind"},
	} {
		a := c.do("POST", tokens, with(good, bad.field, bad.value))
		if p := a.problem(t, http.StatusUnprocessableEntity); !slices.Equal(fields(p), []string{bad.named}) {
			t.Errorf("%s = %.40s: %+v", bad.field, bad.value, p.Errors)
		}
	}
	for _, id := range []string{"0", "-1", "99999999999", "x", "1.5", "9223372036854775808"} {
		if a := c.do("DELETE", tokens+"/"+id, nil); a.status != http.StatusNotFound && a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", id, a.status)
		}
	}
	if got := w.tokensOf(root); len(got) != 0 {
		t.Errorf("one of them was made: %+v", got)
	}
}

func TestLivingTokensOfAUserAreBoundedAndTheirNamesUnique(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(ann)
		make := func(i int) answer {
			return c.do("POST", tokens, map[string]any{"name": fmt.Sprintf("t%d", i), "scopes": []string{"read"}, "expires_in_days": 1})
		}
		first := make(0).token(t)
		if p := make(0).problem(t, http.StatusConflict); p.Code != model.CodeTaken {
			t.Errorf("code %s", p.Code)
		}
		for i := 1; i < model.TokensPerUser; i++ {
			make(i).token(t)
		}
		make(100).problem(t, http.StatusUnprocessableEntity)
		c.do("DELETE", fmt.Sprintf("%s/%d", tokens, first.Token.ID), nil).want(t, http.StatusNoContent)
		make(0).token(t) // the name and the place are free again
	})
}

// Why an app or its members were changed stands in the history, where it was said.
func TestReasonsOfAppsAndMembersAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		c.do("POST", apps, map[string]any{"name": "shop", "reason": "one"}).want(t, http.StatusCreated)
		c.do("PUT", apps+"/shop", map[string]any{"description": "x", "reason": " two "}, "If-Match", `"1"`).want(t, http.StatusOK)
		c.do("PUT", apps+"/shop/members/nemo", map[string]any{"role": "viewer", "reason": "three"}).want(t, http.StatusOK)
		c.do("DELETE", apps+"/shop/members/nemo?reason=four", nil).want(t, http.StatusOK)
		c.do("PUT", apps+"/shop/members/nemo", map[string]any{"role": "viewer"}).want(t, http.StatusOK)
		tag := etagOf(c.do("GET", apps+"/shop", nil))
		long := strings.Repeat("r", 501)
		for _, a := range []answer{
			c.do("POST", apps, map[string]any{"name": "other-shop", "reason": long}), c.do("PUT", apps+"/shop", map[string]any{"description": "", "reason": long}, "If-Match", tag),
			c.do("PUT", apps+"/shop/members/ann", map[string]any{"role": "viewer", "reason": long}), c.do("DELETE", apps+"/shop?reason="+long, nil, "If-Match", tag),
			c.do("DELETE", apps+"/shop/members/nemo?reason="+long, nil), c.do("DELETE", apps+"/shop/members/nemo?reason=a%0Db", nil),
		} {
			if p := a.problem(t, http.StatusUnprocessableEntity); !slices.Equal(fields(p), []string{"reason"}) {
				t.Errorf("%+v", p.Errors)
			}
		}
		c.do("DELETE", apps+"/shop?reason=five", nil, "If-Match", tag).want(t, http.StatusNoContent)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetApp, Target: "shop"})
		must(t, err)
		var reasons []string
		for _, change := range page.Items {
			reasons = append(reasons, change.Reason)
		}
		if !slices.Equal(reasons, []string{"five", "", "four", "three", "two", "one"}) {
			t.Errorf("reasons %q", reasons)
		}
	})
}
