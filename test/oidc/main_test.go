// Package oidc_test logs people in at a real OpenID Connect provider (oidc-provider, in provider.mjs) as a browser
// would: cookies, redirects, the provider's own forms. The Headgate under test runs in this process on embedded parts.
package oidc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/app"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const (
	clientID     = "headgate"
	clientSecret = "a secret of the tests alone"
	adminName    = "admin"
	adminSecret  = "correct horse battery" //nolint:gosec // of a server that lives for one test
)

// person is what the provider tells of somebody.
type person struct {
	Name     string   `json:"name,omitempty"`
	Username string   `json:"preferred_username,omitempty"`
	Groups   []string `json:"groups,omitempty"`
}

// provider is a running OpenID Connect provider.
type provider struct {
	t        *testing.T
	url      string
	redirect string
	settings []string
	cmd      *exec.Cmd
	people   map[string]person
}

// install gets the provider's packages once.
var install = sync.OnceValue(func() error {
	if _, err := os.Stat("node_modules/.package-lock.json"); err == nil {
		return nil
	}
	out, err := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error").CombinedOutput()
	if err != nil {
		return fmt.Errorf("the provider needs Node and npm, and its packages: npm ci in test/oidc: %w\n%s", err, out)
	}
	return nil
})

// newProvider sets a provider up for a Headgate at a URL, and does not start it.
func newProvider(t *testing.T, headgate string, settings ...string) *provider {
	t.Helper()
	if err := install(); err != nil {
		t.Fatal(err)
	}
	return &provider{
		t: t, url: fmt.Sprintf("http://127.0.0.1:%d", freePort(t)), redirect: headgate + "/api/v1/auth/oidc/callback",
		settings: settings, people: map[string]person{},
	}
}

func (p *provider) start() {
	p.t.Helper()
	out := &testenv.Output{}
	p.cmd = exec.Command("node", "provider.mjs")
	p.cmd.Env = append(os.Environ(), append([]string{
		"PORT=" + p.url[strings.LastIndex(p.url, ":")+1:], "CLIENT_ID=" + clientID, "CLIENT_SECRET=" + clientSecret, "REDIRECT_URI=" + p.redirect,
	}, p.settings...)...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	must(p.t, p.cmd.Start())
	p.t.Cleanup(p.stop)
	testenv.Eventually(p.t, 2*time.Minute, "the provider is ready", func() bool { return strings.Contains(out.String(), "ready") })
	p.tell()
}

func (p *provider) stop() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// has makes the provider know somebody, or know something else of them.
func (p *provider) has(subject string, who person) {
	p.t.Helper()
	p.people[subject] = who
	p.tell()
}

func (p *provider) tell() {
	p.t.Helper()
	body, err := json.Marshal(p.people)
	must(p.t, err)
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"/test/people", bytes.NewReader(body))
	must(p.t, err)
	response, err := http.DefaultClient.Do(request)
	must(p.t, err)
	_ = response.Body.Close()
}

// world is a Headgate that knows a provider.
type world struct {
	t        *testing.T
	url      string
	provider *provider
	log      *testenv.Output
}

// newWorld starts a Headgate with a provider, changed where a test wants it.
func newWorld(t *testing.T, change ...func(*app.Config)) *world {
	t.Helper()
	w := prepareWorld(t)
	w.provider.start()
	w.serve(change...)
	return w
}

// prepareWorld starts nothing yet.
func prepareWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	url := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	return &world{t: t, url: url, provider: newProvider(t, url, settings...), log: &testenv.Output{}}
}

// serve starts Headgate from its settings' texts, as a person writes them.
func (w *world) serve(change ...func(*app.Config)) {
	w.t.Helper()
	env := map[string]string{
		"HEADGATE_LISTEN": strings.TrimPrefix(w.url, "http://"), "HEADGATE_URL": w.url, "HEADGATE_DEMO": "off",
		"HEADGATE_DATA_DIR": filepath.Join(w.t.TempDir(), "data"), "HEADGATE_EMBEDDED_REDIS_LISTEN": "127.0.0.1:0",
		"HEADGATE_ADMIN_PASSWORD": adminSecret,
		"HEADGATE_OIDC_ISSUER":    w.provider.url, "HEADGATE_OIDC_CLIENT_ID": clientID, "HEADGATE_OIDC_CLIENT_SECRET": clientSecret,
		"HEADGATE_OIDC_NAME": "Acme", "HEADGATE_OIDC_SCOPES": "openid profile email groups",
		"HEADGATE_OIDC_ROLES": "platform-admins=admin,auditors=auditor",
		"HEADGATE_OIDC_APPS":  "team-pay=checkout:owner,team-pay=billing:viewer,everyone=search:viewer",
	}
	cfg, err := app.FromEnv(func(name string) string { return env[name] })
	must(w.t, err)
	cfg.Embedded = true
	for _, c := range change {
		c(&cfg)
	}
	server, err := app.New(w.t.Context(), cfg, newLog(w.log))
	must(w.t, err)
	adminenv.Run(w.t, server)
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := testenv.FreePort()
	must(t, err)
	return port
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
