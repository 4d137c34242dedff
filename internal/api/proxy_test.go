package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

// behindProxy is a world whose server trusts the test's own address as a proxy.
func behindProxy(t *testing.T, change ...func(*api.Config)) *world {
	t.Helper()
	trust := func(c *api.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	return onSQLite(t, append(change, trust)...)
}

// The address counts for the limit of logins and for the history, so only a proxy that is trusted may name another.
func TestForwardedAddressCountsOnlyFromATrustedProxy(t *testing.T) {
	addressOf := func(w *world) string {
		w.browser().do("POST", loginPath, credentials(ann, password), "X-Forwarded-For", "203.0.113.9").want(t, http.StatusOK)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLogin})
		must(t, err)
		return page.Items[0].Address
	}
	if got := addressOf(onSQLite(t)); got != "127.0.0.1" {
		t.Errorf("untrusted: %s", got)
	}
	if got := addressOf(behindProxy(t)); got != "203.0.113.9" {
		t.Errorf("trusted: %s", got)
	}
}

// Who changes the header at each attempt must not get a new set of attempts with it.
func TestSpoofedAddressesDoNotLoosenTheLimitOfLogins(t *testing.T) {
	flood := func(w *world) (refused int) {
		for i := range 8 {
			if a := w.browser().do("POST", loginPath, credentials(ann, "wrong password"), "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i+1)); a.status == http.StatusTooManyRequests {
				refused++
			}
		}
		return refused
	}
	if got := flood(onSQLite(t)); got != 3 {
		t.Errorf("%d of 8 attempts are held off where no proxy is trusted, want 3", got)
	}
	if got := flood(behindProxy(t)); got != 0 {
		t.Errorf("%d of 8 attempts from 8 addresses are held off", got)
	}
}

func TestBrowsersAreKeptOnTLSOnceTheySpeakIt(t *testing.T) {
	hsts := func(w *world, headers ...string) string {
		return w.browser().do("GET", "/healthz", nil, headers...).header.Get("Strict-Transport-Security")
	}
	if got := hsts(onSQLite(t), "X-Forwarded-Proto", "https"); got != "" {
		t.Errorf("over plain HTTP: %q", got)
	}
	for name, got := range map[string]string{
		"a proxy's TLS": hsts(behindProxy(t), "X-Forwarded-Proto", "https"),
		"configured":    hsts(onSQLite(t, func(c *api.Config) { c.SecureCookies = true })),
	} {
		if got != "max-age=31536000" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
