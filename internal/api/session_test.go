package api_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

const (
	loginPath   = "/api/v1/auth/login"
	refreshPath = "/api/v1/auth/refresh"
	logoutPath  = "/api/v1/auth/logout"
	mePath      = "/api/v1/auth/me"
)

func credentials(name, password string) map[string]string {
	return map[string]string{"name": name, "password": password}
}

// cookieOf reads a cookie of a browser as it would be sent to a path.
func cookieOf(t *testing.T, c *client, path, name string) string {
	t.Helper()
	u, err := url.Parse(c.base + path)
	must(t, err)
	for _, cookie := range c.http.Jar.Cookies(u) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	t.Fatalf("no cookie %s for %s", name, path)
	return ""
}

func TestCookiesAreKeptFromScriptsAndOtherSites(t *testing.T) {
	w := onSQLite(t)
	check := func(a answer, secure bool) {
		t.Helper()
		lines := a.want(t, http.StatusOK).header.Values("Set-Cookie")
		if len(lines) != 2 {
			t.Fatalf("cookies %q", lines)
		}
		for i, want := range []struct{ name, path string }{{"headgate_access", "/api"}, {"headgate_refresh", "/api/v1/auth"}} {
			cookie, err := http.ParseSetCookie(lines[i])
			must(t, err)
			if cookie.Name != want.name || cookie.Path != want.path || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode ||
				cookie.Secure != secure || cookie.Domain != "" || cookie.Expires.IsZero() {
				t.Errorf("cookie %s", lines[i])
			}
		}
	}
	check(w.browser().do("POST", loginPath, credentials(ann, password)), false)
	check(w.browser().do("POST", loginPath, credentials(ann, password), "X-Forwarded-Proto", "https"), false) // anybody may write that
	check(behindProxy(t).browser().do("POST", loginPath, credentials(ann, password), "X-Forwarded-Proto", "https"), true)
	if a := w.browser().do("POST", loginPath, credentials(ann, password)); strings.Contains(string(a.body), "eyJ") {
		t.Error("a token is in the body, where scripts read it")
	}
	forced := onSQLite(t, func(c *api.Config) { c.SecureCookies = true })
	check(forced.browser().do("POST", loginPath, credentials(ann, password)), true)
}

func TestRefreshRotatesAndReuseEndsTheSession(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(ann)
		old := cookieOf(t, c, refreshPath, "headgate_refresh")
		w.now.pass(time.Minute)
		c.do("POST", refreshPath, nil).want(t, http.StatusOK)
		if cookieOf(t, c, refreshPath, "headgate_refresh") == old {
			t.Fatal("the refresh token was not replaced")
		}
		c.do("GET", mePath, nil).want(t, http.StatusOK)
		w.now.pass(time.Minute)
		thief := w.browser()
		thief.do("POST", refreshPath, nil, "Cookie", "headgate_refresh="+old).problem(t, http.StatusUnauthorized)
		c.do("GET", mePath, nil).problem(t, http.StatusUnauthorized)
		c.do("POST", refreshPath, nil).problem(t, http.StatusUnauthorized)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionTokenReused})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Target != ann {
			t.Errorf("history %+v", page.Items)
		}
	})
}

func TestLogoutEndsTheSessionAndItsCookies(t *testing.T) {
	w := onSQLite(t)
	c := w.as(ann)
	access := cookieOf(t, c, "/api", "headgate_access")
	a := c.do("POST", logoutPath, nil).want(t, http.StatusNoContent)
	for _, line := range a.header.Values("Set-Cookie") {
		if cookie, err := http.ParseSetCookie(line); err != nil || cookie.Value != "" || !cookie.Expires.Before(time.Now()) {
			t.Errorf("cookie %q, %v", line, err)
		}
	}
	w.browser().do("GET", mePath, nil, "Cookie", "headgate_access="+access).problem(t, http.StatusUnauthorized)
	w.browser().do("POST", logoutPath, nil).want(t, http.StatusNoContent)
}

func TestLoginFloodIsAnswered429WithRetryAfter(t *testing.T) {
	w := onSQLite(t)
	c := w.browser()
	for range 5 {
		p := c.do("POST", loginPath, credentials(ann, "wrong password")).problem(t, http.StatusUnauthorized)
		if strings.Contains(p.Detail, ann) {
			t.Errorf("detail %q", p.Detail)
		}
	}
	a := c.do("POST", loginPath, credentials(ann, password))
	p := a.problem(t, http.StatusTooManyRequests)
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 15*60 || p.Code != model.CodeTooMany {
		t.Errorf("Retry-After %q, code %s", a.header.Get("Retry-After"), p.Code)
	}
	if !a.last {
		t.Error("the connection of a stranger who is to come back later is kept")
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLoginRefused})
	must(t, err)
	if len(page.Items) != 6 || !strings.Contains(page.Items[0].Reason, "held off") {
		t.Errorf("%d refused logins are recorded: %+v", len(page.Items), page.Items)
	}
}

// The access log and the history must not hold what was typed.
func TestPasswordsAndTokensStayOutOfTheLog(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	c.do("POST", "/api/v1/users/ann/password", map[string]string{"password": "a new secret phrase"}).want(t, http.StatusNoContent)
	c.do("POST", loginPath, credentials(ann, "a wrong secret phrase"))
	c.do("POST", "/api/v1/users", map[string]any{"name": "new", "role": "member", "password": "secret!", "x": 1})
	log := w.log.String()
	for _, secret := range []string{"secret", password, cookieOf(t, c, "/api", "headgate_access"), "eyJ"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	w.browser().do("POST", loginPath, credentials(ann, password)).problem(t, http.StatusUnauthorized)
	w.browser().do("POST", loginPath, credentials(ann, "a new secret phrase")).want(t, http.StatusOK)
}
