package oidc_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/app"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/testenv"
)

func TestTheFirstLoginMakesAUserWithWhatItsGroupsGive(t *testing.T) {
	w := newWorld(t)
	w.asAdmin().registerApps("checkout", "billing")
	w.provider.has("u-1", person{"Nina N.", "Nina", []string{"team-pay", "auditors", "others"}})
	b := w.browser()
	who := b.arrived(b.signOn("u-1", "/buckets/partner-api?tab=history"), "/buckets/partner-api?tab=history")
	if who.Name != "nina" || who.DisplayName != "Nina N." || who.Role != "auditor" {
		t.Errorf("logged in as %+v", who)
	}
	if checkout, billing := b.member("checkout", "nina"), b.member("billing", "nina"); checkout != "owner" || billing != "viewer" {
		t.Errorf("checkout %q, billing %q", checkout, billing)
	}
	var rows []string
	for _, c := range w.asAdmin().changes("limit=6")[1:] { // the newest is the admin's own login
		rows = append(rows, c.Actor+" "+c.Action+" "+c.Target+" "+c.Reason)
	}
	want := []string{
		"nina login nina single sign-on",
		"system member.set checkout single sign-on groups", "system member.set billing single sign-on groups",
		"system user.link nina single sign-on groups", "system user.create nina single sign-on groups",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("history\n%q, want\n%q", rows, want)
	}
	// A session like any other: it is renewed and ended in the same ways.
	if status := b.api(http.MethodPost, "/auth/refresh", nil, nil); status != http.StatusOK {
		t.Errorf("the refresh answered %d", status)
	}
	if status := b.api(http.MethodPost, "/auth/logout", nil, nil); status != http.StatusNoContent || b.me().Name != "" {
		t.Errorf("the logout answered %d and left %q", status, b.me().Name)
	}
}

// Names and groups may also stand in the ID token, so that the provider need not be asked twice.
func TestClaimsMayStandInTheIDToken(t *testing.T) {
	w := prepareWorld(t, "TOKEN_CLAIMS=1")
	w.provider.start()
	w.serve()
	w.provider.has("u-1", person{"Nina", "nina", []string{"platform-admins"}})
	b := w.browser()
	if who := b.arrived(b.signOn("u-1", "/"), "/"); who.Role != "admin" {
		t.Errorf("logged in as %+v", who)
	}
}

func TestALoginFollowsTheGroupsAsTheyAreThen(t *testing.T) {
	w := newWorld(t)
	admin := w.asAdmin()
	admin.registerApps("checkout", "billing", "search")
	w.provider.has("u-1", person{"Nina", "nina", []string{"team-pay", "platform-admins"}})
	b := w.browser()
	b.arrived(b.signOn("u-1", "/"), "/")
	if status := admin.api(http.MethodPut, "/apps/billing/members/nina", map[string]string{"role": "viewer"}, nil); status != http.StatusOK {
		t.Fatalf("the membership by hand was answered %d", status)
	}
	w.provider.has("u-1", person{"Nina", "nina.renamed", []string{"everyone"}})
	b = w.browser()
	who := b.arrived(b.signOn("u-1", "/"), "/")
	if who.Name != "nina" || who.Role != "member" {
		t.Errorf("logged in as %+v", who)
	}
	for name, want := range map[string]string{"checkout": "", "billing": "viewer", "search": "viewer"} {
		if got := admin.member(name, "nina"); got != want {
			t.Errorf("%s: role %q, want %q", name, got, want)
		}
	}
	var rows []string
	for _, c := range admin.changes("actor=system&limit=4") {
		rows = append(rows, c.Action+" "+c.Target)
	}
	if want := []string{"member.set search", "member.remove checkout", "member.remove billing", "user.update nina"}; !slices.Equal(rows, want) {
		t.Errorf("history %q, want %q", rows, want)
	}
}

// A new user's name at the provider is its own choice, so it never makes it somebody who is here already.
// On MariaDB and Redis, where the command line works.
func TestATakenNameIsRefusedUntilAnAdminLinksThePerson(t *testing.T) {
	var cfg app.Config
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, func(c *app.Config) {
		c.Embedded, c.MySQLDSN, c.RedisURL, c.RedisPrefix = false, testenv.MySQL(t), "redis://"+addr+"/0", prefix
		cfg = *c
	})
	w.provider.has("a-1", person{"Ada", adminName, []string{"platform-admins"}})
	b := w.browser()
	b.refused(b.signOn("a-1", "/"), "taken", `the name admin is another user's; if it is the same person, link them (subject "a-1" of `+w.provider.url)

	said, err := app.LinkIdentity(t.Context(), cfg, newLog(w.log), adminName, "", "a-1")
	must(t, err)
	if !strings.Contains(said, `"admin" logs in by single sign-on now, as subject "a-1" of `+w.provider.url) {
		t.Errorf("the command says %q", said)
	}
	if who := b.arrived(b.signOn("a-1", "/"), "/"); who.Name != adminName || who.Role != "admin" {
		t.Errorf("logged in as %+v", who)
	}
	if said, err = app.Identities(t.Context(), cfg, newLog(w.log), adminName); err != nil || !strings.Contains(said, `subject "a-1"`) || !strings.Contains(said, "last used") {
		t.Errorf("the command says %q (%v)", said, err)
	}
	_, err = app.UnlinkIdentity(t.Context(), cfg, newLog(w.log), adminName, "", "a-1")
	must(t, err)
	if who := b.me(); who.Name != "" {
		t.Errorf("the session outlives the link: %+v", who)
	}
	b.refused(b.signOn("a-1", "/"), "taken", "another user's")
}

func TestWhoMayNotComeInIsToldSo(t *testing.T) {
	w := newWorld(t)
	w.provider.has("stranger", person{"Sam", "sam", []string{"some-group"}})
	b := w.browser()
	b.refused(b.signOn("stranger", "/"), "uninvited", "no user is made for it")

	w.provider.has("odd", person{"Odd", "no user name!", []string{"everyone"}})
	b = w.browser()
	b.refused(b.signOn("odd", "/"), "name", "the claim preferred_username gives no user name")

	w.provider.has("system", person{"Odd", "system", []string{"everyone"}})
	b = w.browser()
	b.refused(b.signOn("system", "/"), "name", "gives no user name")

	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	b = w.browser()
	b.arrived(b.signOn("u-1", "/"), "/")
	admin := w.asAdmin()
	if status := admin.api(http.MethodPut, "/users/nina", map[string]any{"display_name": "Nina", "role": "member", "disabled": true}, nil, "If-Match", `"1"`); status != http.StatusOK {
		t.Fatalf("disabling answered %d", status)
	}
	if who := b.me(); who.Name != "" {
		t.Errorf("a disabled user's session goes on as %+v", who)
	}
	b = w.browser()
	b.refused(b.signOn("u-1", "/"), "disabled", "the user is disabled")
}

func TestEverybodyMayBeLetInAndNobodyMayBe(t *testing.T) {
	w := newWorld(t, func(c *app.Config) { c.OIDC.Create = auth.AdmitEveryone })
	w.provider.has("stranger", person{"Sam", "sam", nil})
	b := w.browser()
	if who := b.arrived(b.signOn("stranger", "/"), "/"); who.Role != "member" || len(who.Permissions) != 0 {
		t.Errorf("logged in as %+v", who)
	}
	w = newWorld(t, func(c *app.Config) { c.OIDC.Create = auth.AdmitNobody })
	w.provider.has("u-1", person{"Nina", "nina", []string{"platform-admins"}})
	b = w.browser()
	b.refused(b.signOn("u-1", "/"), "uninvited", "nobody is linked")
}

func TestSayingNoAtTheProviderLeadsBackWithAWord(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	at := b.signOn("", "/buckets/a")
	b.refused(at, "denied", "access_denied")
	if next := at.url.Query().Get("next"); next != "/buckets/a" {
		t.Errorf("the login page leads on to %q", next)
	}
}

// Whatever is changed on the way, by the browser's owner or by another site, ends in no session.
func TestAnAlteredLoginIsRefused(t *testing.T) {
	w := newWorld(t)
	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	change := func(path, parameter, value string) func(*url.URL) {
		return func(u *url.URL) {
			if q := u.Query(); strings.HasSuffix(u.Path, path) && q.Has(parameter) {
				q.Set(parameter, value)
				u.RawQuery = q.Encode()
			}
		}
	}
	const other = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
	for name, test := range map[string]struct {
		along         func(*url.URL)
		fault, reason string
	}{
		"state":             {change("/callback", "state", other), "stale", "state"},
		"nonce":             {change("/auth", "nonce", other), "failed", "nonce"},
		"PKCE challenge":    {change("/auth", "code_challenge", other), "stale", "does not take the code"},
		"code":              {change("/callback", "code", other), "stale", "does not take the code"},
		"no code":           {change("/callback", "code", ""), "failed", "no code"},
		"another provider":  {change("/callback", "iss", "https://evil.test"), "failed", "iss"},
		"no provider named": {change("/callback", "iss", ""), "failed", "iss"},
	} {
		t.Run(name, func(t *testing.T) {
			b := w.browser()
			b.t, b.along = t, test.along
			b.refused(b.signOn("u-1", "/"), test.fault, test.reason)
		})
	}
}

// The address that the provider leads to works once, in the browser that began, for a while.
func TestAnAnswerWorksOnceInItsOwnBrowser(t *testing.T) {
	w := newWorld(t)
	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	b := w.browser()
	var callback string
	b.along = func(u *url.URL) {
		if strings.HasSuffix(u.Path, "/callback") {
			callback = u.String()
			u.Path = "/held-back" // somebody reads the address before the browser uses it
		}
	}
	b.signOn("u-1", "/")
	b.along = func(*url.URL) {}

	thief := w.browser()
	thief.refused(thief.goOn(thief.send(http.MethodGet, callback, nil), "u-1"), "stale", "no login is in progress in this browser")

	kept := cookieOf(t, b, "headgate_sign_on")
	b.arrived(b.goOn(b.send(http.MethodGet, callback, nil), "u-1"), "/")
	again := w.browser()
	again.refused(again.goOn(again.send(http.MethodGet, callback, nil), "u-1"), "stale", "no login is in progress")
	u, err := url.Parse(w.url + "/api/v1/auth/oidc/callback")
	must(t, err)
	again.http.Jar.SetCookies(u, []*http.Cookie{kept})
	again.refused(again.goOn(again.send(http.MethodGet, callback, nil), "u-1"), "stale", "does not take the code")

	forged := *kept
	forged.Value = kept.Value[:len(kept.Value)-4] + "AAAA"
	again.http.Jar.SetCookies(u, []*http.Cookie{&forged})
	again.refused(again.goOn(again.send(http.MethodGet, callback, nil), "u-1"), "stale", "altered")
}

func TestACodeThatIsTooOldIsRefused(t *testing.T) {
	w := prepareWorld(t, "CODE_SECONDS=1")
	w.provider.start()
	w.serve()
	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	b := w.browser()
	b.along = func(u *url.URL) {
		if strings.HasSuffix(u.Path, "/callback") {
			late := time.Now().Add(2100 * time.Millisecond)
			testenv.Eventually(t, 5*time.Second, "the code is too old", func() bool { return time.Now().After(late) })
		}
	}
	b.refused(b.signOn("u-1", "/"), "stale", "does not take the code")
}

// A login never ends on another site or in the API.
func TestALoginLeadsToPagesOfTheConsoleOnly(t *testing.T) {
	w := newWorld(t)
	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	b := w.browser()
	for _, evil := range []string{
		"https://evil.test/", "//evil.test/", `/\evil.test`, "/\t/evil.test", "javascript:alert(1)", "/api/v1/auth/logout", "/login?sign_on=taken",
		"/" + strings.Repeat("x", 5000), "http:///x", "/%09/evil.test/..//evil.test", "",
	} {
		if at := b.signOn("u-1", evil); at.url.Host != strings.TrimPrefix(w.url, "http://") || strings.HasPrefix(at.url.Path, "/api") || strings.HasPrefix(at.url.Path, "//") || at.url.Path == "/login" {
			t.Errorf("%q led to %s", evil, at.url)
		}
	}
}

// The server starts without the provider, says that it is away, and uses it once it is there; also when it goes again.
func TestTheProviderMayBeAway(t *testing.T) {
	w := prepareWorld(t)
	w.serve()
	b := w.browser()
	methods := func() (m struct {
		Local bool
		OIDC  *struct {
			Name, URL string
			Available bool
		}
	}) {
		b.api(http.MethodGet, "/auth/methods", nil, &m)
		return m
	}
	if m := methods(); !m.Local || m.OIDC == nil || m.OIDC.Available || m.OIDC.Name != "Acme" || m.OIDC.URL != "/api/v1/auth/oidc/login" {
		t.Errorf("methods without the provider: %+v %+v", m, m.OIDC)
	}
	if at := b.signOn("u-1", "/buckets"); at.url.Path != "/login" || at.url.Query().Get("sign_on") != "unavailable" || at.url.Query().Get("next") != "/buckets" {
		t.Errorf("a login without the provider ended at %s", at.url)
	}
	w.provider.start()
	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	testenv.Eventually(t, 20*time.Second, "the provider is used", func() bool {
		at := w.browser().signOn("u-1", "/")
		return at.url.Path == "/"
	})
	if !methods().OIDC.Available {
		t.Error("the provider is said to be away")
	}
	gone := w.browser()
	gone.along = func(u *url.URL) {
		if strings.HasSuffix(u.Path, "/callback") {
			w.provider.stop()
		}
	}
	gone.refused(gone.signOn("u-1", "/"), "unavailable", "did not answer for the code")
}

func TestPasswordsDoNotCountWhereLocalLoginIsOff(t *testing.T) {
	w := newWorld(t, func(c *app.Config) { c.LocalLogin = false })
	w.provider.has("boss", person{"Boss", "boss", []string{"platform-admins"}})
	b := w.browser()
	var problem struct{ Code string }
	status := b.api(http.MethodPost, "/auth/login", map[string]string{"name": adminName, "password": adminSecret}, &problem)
	if status != http.StatusForbidden || problem.Code != "local_login_off" || b.me().Name != "" {
		t.Errorf("a right password was answered %d %q and left %q", status, problem.Code, b.me().Name)
	}
	var m struct{ Local bool }
	if b.api(http.MethodGet, "/auth/methods", nil, &m); m.Local {
		t.Error("the login page would offer passwords")
	}
	if who := b.arrived(b.signOn("boss", "/"), "/"); who.Role != "admin" {
		t.Errorf("logged in as %+v", who)
	}
	if rows := b.changes("action=login.refused"); len(rows) != 1 || rows[0].Target != adminName || rows[0].Reason != "local login is switched off" {
		t.Errorf("history %+v", rows)
	}
}

// A single sign-on user has no password; none opens the door, and the refusal is the usual one.
func TestASingleSignOnUserHasNoPassword(t *testing.T) {
	w := newWorld(t)
	w.provider.has("u-1", person{"Nina", "nina", []string{"everyone"}})
	b := w.browser()
	b.arrived(b.signOn("u-1", "/"), "/")
	for _, password := range []string{"", "any password at all"} {
		if status := w.browser().api(http.MethodPost, "/auth/login", map[string]string{"name": "nina", "password": password}, nil); status != http.StatusUnauthorized {
			t.Errorf("password %q was answered %d", password, status)
		}
	}
}

func TestWithoutSingleSignOnItsRoutesAreNotThere(t *testing.T) {
	w := prepareWorld(t)
	w.serve(func(c *app.Config) {
		c.OIDC.Issuer, c.OIDC.ClientID, c.OIDC.ClientSecret, c.OIDC.Roles, c.OIDC.Apps = "", "", "", nil, nil
	})
	b := w.browser()
	for _, path := range []string{"/auth/oidc/login", "/auth/oidc/callback?state=x&code=y"} {
		if status := b.api(http.MethodGet, path, nil, nil); status != http.StatusNotFound {
			t.Errorf("%s answered %d", path, status)
		}
	}
	var m struct {
		Local bool
		OIDC  *struct{} `json:"oidc"`
	}
	if b.api(http.MethodGet, "/auth/methods", nil, &m); !m.Local || m.OIDC != nil {
		t.Errorf("methods %+v", m)
	}
}

// The cookies on this way: the login in progress comes back from the other site, the session's do not leave ours.
func TestTheCookiesOfALogin(t *testing.T) {
	w := newWorld(t, func(c *app.Config) { c.SecureCookies = true })
	at := w.browser().send(http.MethodGet, w.url+"/api/v1/auth/oidc/login", nil)
	cookie := at.header.Get("Set-Cookie")
	for _, part := range []string{"headgate_sign_on=", "Path=/api/v1/auth/oidc", "HttpOnly", "Secure", "SameSite=Lax", "Expires="} {
		if !strings.Contains(cookie, part) {
			t.Errorf("cookie %q lacks %s", cookie, part)
		}
	}
	u, err := url.Parse(at.header.Get("Location"))
	must(t, err)
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 40 || len(q.Get("nonce")) < 40 || q.Get("response_type") != "code" {
		t.Errorf("the provider is asked %s", u)
	}
	if status := w.browser().api(http.MethodHead, "/auth/oidc/callback", nil, nil); status != http.StatusMethodNotAllowed {
		t.Errorf("a probe of the callback was answered %d", status)
	}
}

func cookieOf(t *testing.T, b *browser, name string) *http.Cookie {
	t.Helper()
	u, err := url.Parse(b.w.url + "/api/v1/auth/oidc/callback")
	must(t, err)
	for _, c := range b.http.Jar.Cookies(u) {
		if c.Name == name {
			return &http.Cookie{Name: c.Name, Value: c.Value, Path: "/api/v1/auth/oidc"}
		}
	}
	t.Fatalf("no cookie %s", name)
	return nil
}
