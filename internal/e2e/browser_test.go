//go:build browser

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

type login struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// The console in a real browser, on a server with real MariaDB and Redis: web/e2e tells the stories, this starts the
// ground under them.
func TestBrowser(t *testing.T) {
	g := newGround(t, testenv.OwnRedis(t))
	a := startAdmin(t, g.settings, "serve")
	a.login("admin", adminPassword).people()
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
	cmd.Env = append(os.Environ(),
		"HEADGATE_E2E_URL="+a.URL, "HEADGATE_E2E_LOGINS="+string(logins), "HEADGATE_E2E_LOAD="+binary(t, "client-demo"),
		"HEADGATE_E2E_REDIS_URL=redis://"+g.addr)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("the browser tests failed: %v", err)
	}
}
