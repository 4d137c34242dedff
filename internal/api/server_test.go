package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

func TestUnknownPathsAndMethodsAreProblems(t *testing.T) {
	w := onSQLite(t, func(c *api.Config) { c.Console = console{} })
	c := w.as(root)
	for _, path := range []string{"/api", "/api/", "/api/v1", "/api/v2/buckets", "/api/v1/nothing", "/api/v1/buckets/", "/api/v1/buckets/a/b", "/healthz/x/../../api/v1/x"} {
		if a := c.do("GET", path, nil); strings.HasPrefix(path, "/api") {
			a.problem(t, http.StatusNotFound)
		}
	}
	for method, path := range map[string]string{"PATCH": buckets, "DELETE": buckets, "POST": bucketPath, "TRACE": buckets, "OPTIONS": buckets, "PUT": "/healthz"} {
		a := c.do(method, path, nil)
		if p := a.problem(t, http.StatusMethodNotAllowed); p.Code != "method_not_allowed" || a.header.Get("Allow") == "" {
			t.Errorf("%s %s: %+v, Allow %q", method, path, p, a.header.Get("Allow"))
		}
	}
}

type console struct{}

func (console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "of the console")
	_, _ = fmt.Fprintf(w, "console %s", r.URL.Path)
}

func TestEverythingElseIsTheConsoles(t *testing.T) {
	w := onSQLite(t, func(c *api.Config) { c.Console = console{} })
	c := w.browser()
	for _, path := range []string{"/", "/buckets/x", "/apiary", "/assets/app.js"} {
		a := c.do("GET", path, nil).want(t, http.StatusOK)
		if string(a.body) != "console "+path || a.header.Get("Content-Security-Policy") != "of the console" || a.header.Get("Cache-Control") != "" {
			t.Errorf("%s: %s %v", path, a.body, a.header)
		}
	}
	onSQLite(t).browser().do("GET", "/", nil).problem(t, http.StatusNotFound)
}

func TestAnswersCarryTheHeadersThatKeepThemHarmless(t *testing.T) {
	w := onSQLite(t)
	for _, path := range []string{mePath, "/api/nothing", "/healthz", "/readyz", "/api/v1/openapi.json"} {
		a := w.browser().do("GET", path, nil)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Permissions-Policy": "camera=(), geolocation=(), microphone=()", "Strict-Transport-Security": "",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if a.header.Get("X-Request-Id") == "" || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, a.header)
		}
	}
}

func TestWritesAskedForByOtherSitesAreRefused(t *testing.T) {
	w := onSQLite(t, func(c *api.Config) { c.Console = console{} })
	c := w.as(root)
	body := definition(map[string]any{"name": "fresh"})
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
		p := c.do("POST", buckets, body, headers...).problem(t, http.StatusForbidden)
		if p.Code != "cross_origin" {
			t.Errorf("code %s", p.Code)
		}
		c.do("POST", "/anything", nil, headers...).problem(t, http.StatusForbidden)
		c.do("GET", buckets, nil, headers...).want(t, http.StatusOK)
	}
	c.do("POST", buckets, body, "Sec-Fetch-Site", "same-origin", "Origin", w.server.URL).want(t, http.StatusCreated)
}

func TestRequestIDIsTakenOverOnlyWhenItIsHarmless(t *testing.T) {
	w := onSQLite(t)
	c := w.browser()
	if got := c.do("GET", mePath, nil, "X-Request-Id", "proxy-id_1.2").problem(t, 401).RequestID; got != "proxy-id_1.2" {
		t.Errorf("request id %q", got)
	}
	for _, bad := range []string{"short", strings.Repeat("x", 65), "<script>alert(1)", "with space", `quote"quote`} {
		if got := c.do("GET", mePath, nil, "X-Request-Id", bad).problem(t, 401).RequestID; got == bad || len(got) != 24 {
			t.Errorf("request id %q", got)
		}
	}
}

// A panic and a broken database tell the user nothing but where to look; the log tells the operator.
func TestFaultsOfOursTellTheUserNothing(t *testing.T) {
	faults := &faultyHealth{}
	w := onSQLite(t, func(c *api.Config) { c.Health = faults; c.Live = brokenLive{} })
	c := w.as(root)
	a := c.do("GET", "/api/v1/system", nil)
	p := a.problem(t, http.StatusInternalServerError)
	if p.Code != model.CodeInternal || strings.Contains(string(a.body), "secret") || len(p.Errors) != 0 {
		t.Errorf("answer %s", a.body)
	}
	if log := w.log.String(); !strings.Contains(log, "secret cause") || !strings.Contains(log, p.RequestID) {
		t.Error("the log does not tell the cause under the request id")
	}
	for _, path := range []string{"/usage", "/live"} {
		a := c.do("GET", bucketPath+path, nil)
		if p := a.problem(t, http.StatusServiceUnavailable); p.Code != model.CodeUnavailable || strings.Contains(string(a.body), "10.1.2.3") {
			t.Errorf("answer %s", a.body)
		}
	}
	must(t, w.store.Close())
	a = w.browser().do("POST", loginPath, credentials(ann, password))
	if a.status != http.StatusServiceUnavailable && a.status != http.StatusInternalServerError || strings.Contains(string(a.body), "sql") {
		t.Errorf("answer %d %s", a.status, a.body)
	}
	a.problem(t, a.status)
}

// A server that will stop soon tells probes so, answers everything else, and lets its clients' connections end.
func TestLeavingServerSaysSoAndAnswersOn(t *testing.T) {
	leaving := make(chan struct{})
	w := onSQLite(t, func(c *api.Config) { c.Leaving = leaving })
	c := w.as(root)
	c.do("GET", "/readyz", nil).want(t, http.StatusOK)
	close(leaving)
	if p := c.do("GET", "/readyz", nil).problem(t, http.StatusServiceUnavailable); p.Code != model.CodeUnavailable {
		t.Errorf("/readyz answers %+v", p)
	}
	c.do("GET", bucketPath, nil).want(t, http.StatusOK)
	if got := w.raw("GET /healthz HTTP/1.1\r\nHost: headgate\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("an answer on a connection that a client keeps is %q", got)
	}
}

type faultyHealth struct{}

func (*faultyHealth) Ready(context.Context) error {
	return errors.New("dial tcp 10.1.2.3:3306: refused")
}
func (*faultyHealth) System(context.Context) api.System {
	panic("secret cause")
}

type brokenLive struct{}

func (brokenLive) State(context.Context, model.Bucket) (api.State, error) {
	return api.State{}, errors.New("dial tcp 10.1.2.3:6379: refused")
}

func (brokenLive) Usage(context.Context, string, int, int64) (api.Usage, error) {
	return api.Usage{}, errors.New("dial tcp 10.1.2.3:6379: refused")
}

func TestHealthChecksSayWhetherRequestsCanBeServed(t *testing.T) {
	w := onSQLite(t)
	w.browser().do("GET", "/healthz", nil).want(t, http.StatusOK)
	w.browser().do("GET", "/readyz", nil).want(t, http.StatusOK)
	w.browser().do("HEAD", "/readyz", nil).want(t, http.StatusOK)
	down := onSQLite(t, func(c *api.Config) { c.Health = &faultyHealth{} })
	down.browser().do("GET", "/healthz", nil).want(t, http.StatusOK)
	if a := down.browser().do("GET", "/readyz", nil); strings.Contains(string(a.body), "10.1.2.3") {
		t.Errorf("answer %s", a.body)
	} else {
		a.problem(t, http.StatusServiceUnavailable)
	}
}

func TestServedDocumentIsTheAPIs(t *testing.T) {
	w := onSQLite(t)
	a := w.browser().do("GET", "/api/v1/openapi.json", nil).want(t, http.StatusOK)
	var document struct {
		OpenAPI    string                     `json:"openapi"`
		Paths      map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Maximum float64 `json:"maximum"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	a.into(t, &document)
	if !strings.HasPrefix(document.OpenAPI, "3.1") || len(document.Paths) < 15 || string(a.body) != string(api.OpenAPI()) {
		t.Errorf("openapi %s with %d paths", document.OpenAPI, len(document.Paths))
	}
	if got := document.Components.Schemas["BucketUpdate"].Properties["max_permits"].Maximum; got != model.MaxPermitsBound {
		t.Errorf("max_permits up to %v", got)
	}
}

func TestServerBoundsHeadersAndTime(t *testing.T) {
	w := onSQLite(t)
	a := w.browser().do("GET", mePath, nil, "X-Long", strings.Repeat("x", 64<<10))
	a.want(t, http.StatusRequestHeaderFieldsTooLarge)
	if c := w.server.Config; c.ReadHeaderTimeout <= 0 || c.ReadTimeout <= 0 || c.WriteTimeout <= 15*time.Second || c.IdleTimeout <= 0 {
		t.Errorf("limits %+v", c)
	}
}

// A request that breaks off in its body is the client's fault, and no 500.
func TestBodyThatBreaksOffIsRefused(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	cookie := "headgate_access=" + cookieOf(t, c, "/api", "headgate_access")
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	must(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nCookie: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", buckets, cookie)
	must(t, err)
	must(t, conn.(*net.TCPConn).CloseWrite())
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	line := make([]byte, 12)
	_, err = conn.Read(line)
	must(t, err)
	if string(line) != "HTTP/1.1 400" {
		t.Errorf("answer %q", line)
	}
}

// The handler is one of the standard library's: it works without a network too.
func TestHandlerServesARecorder(t *testing.T) {
	recorder := httptest.NewRecorder()
	api.New(api.Config{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if recorder.Code != http.StatusOK {
		t.Errorf("status %d", recorder.Code)
	}
}

// A filter that Go's query parser would drop is refused, and not answered with everything.
func TestSemicolonInAQueryIsRefused(t *testing.T) {
	c := onSQLite(t).as(root)
	c.do("GET", buckets+"?search=zzz;q", nil).problem(t, http.StatusBadRequest)
	if a := c.do("GET", buckets+"?search=zzz%3Bq", nil).want(t, http.StatusOK); !strings.Contains(string(a.body), `"items":[]`) {
		t.Errorf("an escaped semicolon is part of the search: %s", a.body)
	}
}

// The history of a bucket tells of its revisions; an attempt that was refused stands in the whole log.
func TestRefusedAttemptIsInTheLogAndNotInTheHistory(t *testing.T) {
	w := onSQLite(t)
	w.as(vic).do("DELETE", bucketPath+"?reason=x", nil, "If-Match", `"1"`).problem(t, http.StatusForbidden)
	auditor := w.as(aud)
	if a := auditor.do("GET", bucketPath+"/changes", nil).want(t, http.StatusOK); strings.Contains(string(a.body), `"refused"`) || !strings.Contains(string(a.body), "bucket.create") {
		t.Errorf("history: %s", a.body)
	}
	if a := auditor.do("GET", "/api/v1/changes?action=refused", nil).want(t, http.StatusOK); !strings.Contains(string(a.body), vic) {
		t.Errorf("log: %s", a.body)
	}
}
