//go:build browser

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/testenv"
)

type login struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// The console in a real browser, on servers with real MariaDB and Redis: web/e2e tells the stories, this starts the ground
// under them. Stories that take Redis or the database away, or lift the limits for everybody, have a ground of their own.
func TestBrowser(t *testing.T) {
	beside, alone := newBrowserGround(t, "HEADGATE_E2E_"), newBrowserGround(t, "HEADGATE_E2E_ALONE_")
	limitAll(t, beside.admin, beside.redis)
	logins, err := json.Marshal(map[string]login{
		"admin": {"admin", adminPassword}, "owner": {"olivia", "olivia-password"}, "auditor": {"audrey", "audrey-password"}, "stranger": {"sam", "sam-password"},
	})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"playwright", "test"}
	if only := os.Getenv("HEADGATE_E2E_ONLY"); only != "" {
		args = append(args, only)
	}
	cmd := exec.CommandContext(t.Context(), "npx", args...)
	cmd.Dir = filepath.Join("..", "..", "web")
	cmd.Env = append(os.Environ(), "HEADGATE_E2E_LOGINS="+string(logins), "HEADGATE_E2E_LOAD="+binary(t, "client-demo"))
	cmd.Env = append(append(cmd.Env, beside.env...), alone.env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("the browser tests failed: %v", err)
	}
}

// browserGround is a server with people in it, a Redis of its own, and a database that can be taken away.
type browserGround struct {
	admin *person
	redis string
	// What tells the browser tests where it is.
	env []string
}

func newBrowserGround(t *testing.T, prefix string) browserGround {
	t.Helper()
	g := newGround(t, testenv.OwnRedis(t))
	dsn, control := throughSwitch(t, testenv.MySQL(t))
	a := startAdmin(t, append(g.settings, "HEADGATE_WEBHOOK_ALLOW_PRIVATE=on", "HEADGATE_MYSQL_DSN="+dsn), "serve")
	admin := a.login("admin", adminPassword)
	admin.people()
	env := []string{prefix + "URL=" + a.URL, prefix + "REDIS_URL=redis://" + g.addr, prefix + "DATABASE=" + control}
	return browserGround{admin: admin, redis: g.addr, env: env}
}

// limitAll has an SDK meet a bucket limited for as long as the test runs, with a rule that tells its owner sam. An alert
// needs whole minutes, so that they are gone by the time the browser looks.
func limitAll(t *testing.T, admin *person, redis string) {
	t.Helper()
	const name = "e2e-told"
	admin.must(http.StatusCreated, http.MethodPost, "/buckets", nil, map[string]any{
		"name": name, "apps": []string{"search"}, "owners": []string{"sam"}, "max_permits": 1, "rate": 1, "period_ms": 86_400_000, "partition": "shared", "reason": "for an alert",
	})
	admin.must(http.StatusOK, http.MethodPut, "/buckets/"+name+"/alert-rules", map[string]string{"If-Match": `"1"`}, map[string]any{
		"rules": []map[string]any{{"kind": "limited_share", "percent": 50, "minutes": 1}},
	})
	load := exec.CommandContext(t.Context(), binary(t, "client-demo"), "load", "--redis-url", "redis://"+redis, "--app", "search", "--bucket", name, "--rate", "1", "--duration", "1h")
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = load.Process.Kill()
		_ = load.Wait()
	})
}

// throughSwitch has the server reach its database through a proxy, which a POST to the address returned, with the path /away
// or /back, takes away and brings back.
func throughSwitch(t *testing.T, dsn string) (through, control string) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testenv.Proxy(t, cfg.Addr)
	cfg.Addr = proxy.Addr
	mux := http.NewServeMux()
	mux.HandleFunc("POST /away", func(http.ResponseWriter, *http.Request) { proxy.Close() })
	mux.HandleFunc("POST /back", func(http.ResponseWriter, *http.Request) { proxy.Reopen(t) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return cfg.FormatDSN(), server.URL
}
