package oidc_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// browser follows redirects and fills in the provider's forms.
type browser struct {
	t    *testing.T
	w    *world
	http *http.Client
	// along may change an address before it is visited.
	along func(*url.URL)
}

func (w *world) browser() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	must(w.t, err)
	client := &http.Client{Jar: jar, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &browser{t: w.t, w: w, http: client, along: func(*url.URL) {}}
}

// page is where a browser came to.
type page struct {
	url    *url.URL
	status int
	header http.Header
	body   string
}

func (b *browser) send(method, address string, form url.Values) page {
	b.t.Helper()
	u, err := url.Parse(address)
	must(b.t, err)
	b.along(u)
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, u.String(), body)
	must(b.t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.http.Do(request)
	must(b.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	must(b.t, err)
	return page{u, response.StatusCode, response.Header, string(raw)}
}

var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	formPrompt = regexp.MustCompile(`name="prompt" value="(login|consent)"`)
	abortLink  = regexp.MustCompile(`href="([^"]+/abort)"`)
)

// signOn presses the button and logs in at the provider as somebody; it ends at the first page of Headgate's own.
func (b *browser) signOn(subject, returnTo string) page {
	b.t.Helper()
	at := b.send(http.MethodGet, b.w.url+"/api/v1/auth/oidc/login?"+url.Values{"return_to": {returnTo}}.Encode(), nil)
	return b.goOn(at, subject)
}

// goOn follows redirects and fills in forms until it is back at the console. Subject "" says no at the provider.
func (b *browser) goOn(at page, subject string) page {
	b.t.Helper()
	for range 20 {
		switch {
		case at.header.Get("Location") != "":
			next, err := at.url.Parse(at.header.Get("Location"))
			must(b.t, err)
			if strings.HasPrefix(next.String(), b.w.url) && !strings.HasPrefix(next.Path, "/api/") {
				return page{url: next, header: at.header}
			}
			at = b.send(http.MethodGet, next.String(), nil)
		case subject == "" && abortLink.MatchString(at.body):
			at = b.send(http.MethodGet, abortLink.FindStringSubmatch(at.body)[1], nil)
		case formPrompt.MatchString(at.body):
			form := url.Values{"prompt": {formPrompt.FindStringSubmatch(at.body)[1]}, "login": {subject}, "password": {"any"}}
			at = b.send(http.MethodPost, formAction.FindStringSubmatch(at.body)[1], form)
		default:
			return at
		}
	}
	b.t.Fatal("the login went round in circles")
	return page{}
}

// refused checks that a login ended on the login page with a fault, and left a row in the history that says more.
func (b *browser) refused(at page, fault, reason string) {
	b.t.Helper()
	if at.url.Path != "/login" || at.url.Query().Get("sign_on") != fault || at.url.Query().Get("request_id") == "" {
		b.t.Fatalf("the login ended at %s (%d %s), want the fault %s", at.url, at.status, at.body, fault)
	}
	if b.me().Name != "" {
		b.t.Errorf("a refused login left a session of %s", b.me().Name)
	}
	rows := b.w.asAdmin().changes("action=login.refused")
	if !slices.ContainsFunc(rows, func(c change) bool { return strings.Contains(c.Reason, reason) }) {
		b.t.Errorf("history %+v, want a refusal that says %q", rows, reason)
	}
}

// arrived checks that a login ended with a session at a page.
func (b *browser) arrived(at page, path string) me {
	b.t.Helper()
	if at.url.RequestURI() != path || at.url.Host != strings.TrimPrefix(b.w.url, "http://") {
		b.t.Fatalf("the login ended at %s (%d %s), want %s; the log:\n%s", at.url, at.status, at.body, path, b.w.log)
	}
	who := b.me()
	if who.Name == "" {
		b.t.Fatal("the login left no session")
	}
	return who
}

type me struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name"`
	Role        string   `json:"role"`
	Permissions []string `json:"permissions"`
}

// me asks who is logged in, "" = nobody.
func (b *browser) me() me {
	b.t.Helper()
	var who me
	if status := b.api(http.MethodGet, "/auth/me", nil, &who); status != http.StatusOK {
		return me{}
	}
	return who
}

// api asks the API and returns the status.
func (b *browser) api(method, path string, body, into any, headers ...string) int {
	b.t.Helper()
	raw, err := json.Marshal(body)
	must(b.t, err)
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.w.url+"/api/v1"+path, bytes.NewReader(raw))
	must(b.t, err)
	if body == nil {
		request.Body, request.ContentLength = nil, 0
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.http.Do(request)
	must(b.t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	must(b.t, err)
	if into != nil && response.StatusCode < 300 || into != nil && response.Header.Get("Content-Type") == "application/problem+json" {
		must(b.t, json.Unmarshal(answer, into))
	}
	return response.StatusCode
}

// asAdmin is the local admin.
func (w *world) asAdmin() *browser {
	w.t.Helper()
	b := w.browser()
	if status := b.api(http.MethodPost, "/auth/login", map[string]string{"name": adminName, "password": adminSecret}, nil); status != http.StatusOK {
		w.t.Fatalf("the admin can't log in: %d", status)
	}
	return b
}

type change struct {
	Actor  string          `json:"actor"`
	Action string          `json:"action"`
	Target string          `json:"target"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	Reason string          `json:"reason"`
}

// changes lists the history, newest first.
func (b *browser) changes(query string) []change {
	b.t.Helper()
	var list struct{ Items []change }
	if status := b.api(http.MethodGet, "/changes?"+query, nil, &list); status != http.StatusOK {
		b.t.Fatalf("the history answered %d", status)
	}
	return list.Items
}

// registerApps makes the apps that the groups name.
func (b *browser) registerApps(names ...string) {
	b.t.Helper()
	for _, name := range names {
		if status := b.api(http.MethodPost, "/apps", map[string]string{"name": name}, nil); status != http.StatusCreated {
			b.t.Fatalf("the app %s was answered %d", name, status)
		}
	}
}

// member is a user's role in an app, "" = none.
func (b *browser) member(app, user string) string {
	b.t.Helper()
	var a struct {
		Members []struct{ User, Role string }
	}
	b.api(http.MethodGet, "/apps/"+app, nil, &a)
	i := slices.IndexFunc(a.Members, func(m struct{ User, Role string }) bool { return m.User == user })
	if i < 0 {
		return ""
	}
	return a.Members[i].Role
}

func newLog(to io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }
