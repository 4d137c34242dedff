package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// The way of an operator who can't log in: users are made, let in, kept out and promoted on the command line, beside a
// running server, which follows at once.
func TestUsersAreManagedOnTheCommandLine(t *testing.T) {
	redisAddr, prefix := testenv.Redis(t)
	settings := []string{"HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_REDIS_URL=redis://" + redisAddr, "HEADGATE_REDIS_PREFIX=" + prefix, "HEADGATE_ADMIN_PASSWORD=" + adminPassword}
	a := startAdmin(t, settings, "serve")
	root := a.login("admin", adminPassword)
	command := func(good bool, says string, args ...string) string {
		t.Helper()
		code, printed := runAdmin(t, settings, args...)
		if (code == 0) != good || !strings.Contains(printed, says) {
			t.Fatalf("admin %s: %d\n%s\nwant %q", strings.Join(args, " "), code, printed, says)
		}
		return printed
	}
	passwordIn := func(printed string) string {
		t.Helper()
		_, rest, _ := strings.Cut(printed, `password "`)
		if rest == "" {
			_, rest, _ = strings.Cut(printed, `is now "`)
		}
		password, _, found := strings.Cut(rest, `"`)
		if !found {
			t.Fatalf("no password in %q", printed)
		}
		return password
	}
	ann := a.login("ann", passwordIn(command(true, "shown this once", "user", "create", "ann", "--display-name", "Ann Smith", "--reason", "new here")))
	command(false, "is taken", "user", "create", "ann")
	command(false, "must be", "user", "create", "A B")
	command(false, `"admin user list" shows who there is`, "user", "reset", "ghost")
	if got := ann.call(http.MethodGet, "/users", nil, nil); got.Status != http.StatusForbidden {
		t.Errorf("a member sees the users: %d", got.Status)
	}
	command(true, "has the role auditor", "user", "role", "ann", "auditor")
	if got := ann.call(http.MethodGet, "/users", nil, nil); got.Status != http.StatusOK {
		t.Errorf("an auditor does not see the users: %d %s", got.Status, got.Raw)
	}
	command(true, "Nothing to do", "user", "role", "ann", "auditor")
	command(false, "must be", "user", "role", "ann", "king")
	command(false, "last admin", "user", "disable", "admin")
	command(true, "sessions have ended", "user", "disable", "ann")
	if got := ann.call(http.MethodGet, "/auth/me", nil, nil); got.Status != http.StatusUnauthorized {
		t.Errorf("a disabled user is still in: %d", got.Status)
	}
	password := passwordIn(command(true, "admin user enable ann", "user", "reset", "ann"))
	command(true, "can log in again", "user", "enable", "ann")
	ann = a.login("ann", password)
	if list := command(true, "Ann Smith", "user", "list"); !strings.Contains(list, "auditor") || strings.Contains(list, "argon2") {
		t.Errorf("list:\n%s", list)
	}

	kid := ann.keyID()
	command(true, "A new key signs from", "keys", "rotate")
	if got := ann.call(http.MethodGet, "/auth/me", nil, nil); got.Status != http.StatusOK {
		t.Errorf("a rotation has ended a session: %d", got.Status)
	}
	command(true, "Every session has ended", "keys", "rotate", "--now", "--reason", "a backup was stolen")
	for _, p := range []*person{ann, root} {
		if got := p.call(http.MethodGet, "/auth/me", nil, nil); got.Status != http.StatusUnauthorized {
			t.Errorf("a session outlived its key: %d", got.Status)
		}
	}
	// Without a restart the server signs with the new key: who logs in then stays in.
	testenv.Eventually(t, time.Minute, "the server signs with the new key", func() bool {
		ann = a.login("ann", password)
		return ann.keyID() != kid
	})
	if got := ann.call(http.MethodGet, "/auth/me", nil, nil); got.Status != http.StatusOK {
		t.Errorf("a login with the new key: %d %s", got.Status, got.Raw)
	}
}

// keyID is the id of the key that signed the person's access token.
func (p *person) keyID() string {
	p.t.Helper()
	at, err := url.Parse(p.API)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, cookie := range p.HTTP.Jar.Cookies(at) {
		head, _, _ := strings.Cut(cookie.Value, ".")
		raw, err := base64.RawURLEncoding.DecodeString(head)
		var header struct {
			ID string `json:"kid"`
		}
		if cookie.Name == "headgate_access" && err == nil && json.Unmarshal(raw, &header) == nil && header.ID != "" {
			return header.ID
		}
	}
	p.t.Fatal("there is no access token that names its key")
	return ""
}
