package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// A server whose database user lacks a right serves all the same. It names the right in its log at the start, and who asks
// for what needs it is told where to look, and nothing of the inside.
func TestServerWhoseDatabaseUserLacksARightSaysSo(t *testing.T) {
	dsn, _ := history(t, nil)
	redis, prefix := testenv.Redis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN = "127.0.0.1:0", testenv.DocumentedUser(t, dsn, securityPage, "sql-serving")
	cfg.RedisURL, cfg.RedisPrefix, cfg.AdminPassword = "redis://"+redis+"/0", prefix, "a-password-of-some-length"
	user, err := mysql.ParseDSN(cfg.MySQLDSN)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, dsn, fmt.Sprintf("REVOKE UPDATE, DELETE ON %s.apps FROM '%s'@'%%'", user.DBName, user.User))
	var said testenv.Output
	server, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	adminenv.Run(t, server)
	testenv.Eventually(t, 10*time.Second, "the log names the right", func() bool {
		return strings.Contains(said.String(), `missing="[UPDATE on apps DELETE on apps]"`)
	})
	boss := adminenv.Login(t, server.URL(), nil, "admin", cfg.AdminPassword)
	boss.Must(t, http.StatusCreated, http.MethodPost, "/apps", nil, map[string]string{"name": "pay"})
	a := boss.Must(t, http.StatusServiceUnavailable, http.MethodPut, "/apps/pay", adminenv.Based(1), map[string]string{"description": "payments"})
	if !strings.Contains(a.Raw, "docs/security.md") || strings.Contains(a.Raw, "1142") || strings.Contains(a.Raw, user.User) {
		t.Error(a.Raw)
	}
	boss.Must(t, http.StatusOK, http.MethodGet, "/apps/pay", nil, nil)
	res, err := http.Get(server.URL() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("readyz says %s", res.Status)
	}
}
