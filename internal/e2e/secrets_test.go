package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// No secret that the server is told, is sent or makes is in its log at debug, with the parts it leans on failing too:
// settings, passwords right, wrong, first and changed, cookies, API tokens, the secrets and addresses of webhooks, keys.
func TestNoSecretIsLoggedAtDebug(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.ConfigSet(t.Context(), "requirepass", "hush-redis-password").Err(); err != nil {
		t.Fatal(err)
	}
	_, keys := runAdmin(t, nil, "audit", "keygen")
	const begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
	_, key, _ := strings.Cut(keys, begin)
	key, _, _ = strings.Cut(key, end)
	key = begin + key + end
	dsn := testenv.MySQL(t)
	_, dsnPassword, _ := strings.Cut(dsn[:strings.LastIndex(dsn, "@")], ":")
	nobody := freeAddress(t)
	a := startAdmin(t, []string{
		"HEADGATE_MYSQL_DSN=" + dsn, "HEADGATE_REDIS_URL=redis://:hush-redis-password@" + server.Addr, "HEADGATE_LOG_LEVEL=debug",
		"HEADGATE_ADMIN_PASSWORD=hush-first-password", "HEADGATE_AUDIT_KEY=" + key, "HEADGATE_WEBHOOK_ALLOW_PRIVATE=on",
		"HEADGATE_DEBUG_LISTEN=" + freeAddress(t), "HEADGATE_DEBUG_TOKEN=hush-debug-token-1",
		"HEADGATE_URL=http://127.0.0.1:1", "HEADGATE_OIDC_ISSUER=http://" + nobody, "HEADGATE_OIDC_CLIENT_ID=headgate", "HEADGATE_OIDC_CLIENT_SECRET=hush-client-secret",
	}, "serve")
	secrets := []string{"hush-", strings.Split(key, "\n")[1]}
	if dsnPassword != "" {
		secrets = append(secrets, ":"+dsnPassword+"@")
	}
	root := a.login("admin", "hush-first-password")
	secrets = append(secrets, root.exerciseSecrets(nobody)...)
	server.Stop()
	root.call(http.MethodPost, "/auth/login", nil, map[string]string{"name": "admin", "password": "hush-while-redis-is-away"})
	root.call(http.MethodGet, "/system", nil, nil)
	a.WaitFor("Redis does not answer")
	if err := a.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v", err)
	}
	log := a.Out.String()
	for _, secret := range secrets {
		if i := strings.Index(log, secret); i >= 0 {
			t.Errorf("%.12q… is in the log: %.300q", secret, log[max(0, i-150):])
		}
	}
	if !strings.Contains(log, "level=DEBUG") || !strings.Contains(log, "request_id=") {
		t.Error("the log has no debug lines, or no request ids")
	}
}

// exerciseSecrets sends and makes secrets of every kind, and returns those that the server made.
func (p *person) exerciseSecrets(nobody string) (made []string) {
	p.t.Helper()
	for _, name := range []string{"admin", "hush-Typed into the wrong field"} {
		p.anonymousBeside().call(http.MethodPost, "/auth/login", nil, map[string]string{"name": name, "password": "hush-wrong-password"})
	}
	p.must(http.StatusCreated, http.MethodPost, "/users", nil, map[string]any{"name": "omar", "role": "member", "password": "hush-users-password"})
	p.must(http.StatusNoContent, http.MethodPost, "/users/omar/password", nil, map[string]any{"password": "hush-another-password"})
	p.must(http.StatusNoContent, http.MethodPost, "/auth/password", nil, map[string]any{"current": "hush-first-password", "password": "hush-changed-password"})
	p.must(http.StatusOK, http.MethodPost, "/auth/refresh", nil, nil)
	token := p.must(http.StatusCreated, http.MethodPost, "/tokens", nil, map[string]any{"name": "ci", "scopes": []string{"read"}, "expires_in_days": 1})
	secret, _ := token.Body["secret"].(string)
	beside := p.anonymousBeside()
	beside.must(http.StatusOK, http.MethodGet, "/buckets", map[string]string{"Authorization": "Bearer " + secret}, nil)
	beside.call(http.MethodGet, "/buckets", map[string]string{"Authorization": "Bearer hgp_hush-no-such-token", "Cookie": "headgate_access=hush-cookie"}, nil)
	beside.call(http.MethodGet, "/buckets?search=hush-query", map[string]string{"X-Request-Id": "mine"}, nil)
	beside.call(http.MethodPost, "/buckets", nil, map[string]any{"hush-field": "hush-value"})
	hook := p.must(http.StatusCreated, http.MethodPost, "/webhooks", nil, map[string]any{"name": "chat", "url": "http://" + nobody + "/services/hush-path?key=hush-key"})
	signing, _ := hook.Body["secret"].(string)
	p.must(http.StatusOK, http.MethodPost, "/webhooks/chat/test", nil, nil)
	if secret == "" || signing == "" {
		p.t.Fatal("the server made no secret")
	}
	made = []string{secret, signing}
	site, err := url.Parse(p.API + "/auth/refresh")
	if err != nil {
		p.t.Fatal(err)
	}
	cookies := p.HTTP.Jar.Cookies(site)
	if len(cookies) < 2 {
		p.t.Fatalf("%d cookies", len(cookies))
	}
	for _, c := range cookies {
		made = append(made, c.Value)
	}
	return made
}

// anonymousBeside is somebody else on the same server.
func (p *person) anonymousBeside() *person {
	return &person{&adminenv.Person{API: p.API, HTTP: &http.Client{Timeout: 30 * time.Second}}, p.t}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}
