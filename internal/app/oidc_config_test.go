package app

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

func fromMap(t *testing.T, env map[string]string) (Config, error) {
	t.Helper()
	c, err := FromEnv(func(name string) string { return env[name] })
	c.Embedded = true
	if err == nil {
		err = c.Validate()
	}
	return c, err
}

func TestGroupsAreReadWithWhateverTheirNamesHold(t *testing.T) {
	c, err := fromMap(t, map[string]string{
		"HEADGATE_OIDC_ISSUER": "https://login.example.com", "HEADGATE_OIDC_CLIENT_ID": "x", "HEADGATE_URL": "https://headgate.example.com/",
		"HEADGATE_OIDC_ROLES": "cn=admins,ou=it=admin\n a b =auditor\n",
		"HEADGATE_OIDC_APPS":  "team:pay=checkout:owner, team:pay=billing:viewer",
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := c.OIDC.Roles; len(r) != 2 || r["cn=admins,ou=it"] != model.RoleAdmin || r["a b"] != model.RoleAuditor {
		t.Errorf("roles %v", r)
	}
	if a := c.OIDC.Apps; len(a) != 2 || a[0] != (auth.GroupApp{Group: "team:pay", App: "checkout", Role: model.AppOwner}) || a[1].Role != model.AppViewer {
		t.Errorf("apps %v", a)
	}
	if c.PublicURL != "https://headgate.example.com" {
		t.Errorf("URL %q", c.PublicURL)
	}
}

// Each fault is found before anything starts, and named.
func TestSingleSignOnThatCanNotWorkIsRefusedAtTheStart(t *testing.T) {
	good := map[string]string{"HEADGATE_OIDC_ISSUER": "https://login.example.com", "HEADGATE_OIDC_CLIENT_ID": "x", "HEADGATE_URL": "https://headgate.example.com"}
	for setting, value := range map[string]string{
		"HEADGATE_OIDC_ISSUER": "http://login.example.com", "HEADGATE_OIDC_CLIENT_ID": "", "HEADGATE_URL": "http://headgate.example.com",
		"HEADGATE_OIDC_ROLES": "admins=root", "HEADGATE_OIDC_APPS": "team=checkout", "HEADGATE_OIDC_CREATE": "perhaps",
	} {
		env := map[string]string{setting: value}
		for name, v := range good {
			if name != setting {
				env[name] = v
			}
		}
		if _, err := fromMap(t, env); err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s=%q: %v", setting, value, err)
		}
	}
	if _, err := fromMap(t, map[string]string{"HEADGATE_LOCAL_LOGIN": "off"}); err == nil || !strings.Contains(err.Error(), "nobody could log in") {
		t.Errorf("no way to log in: %v", err)
	}
	if _, err := fromMap(t, map[string]string{"HEADGATE_OIDC_CLIENT_ID": "x"}); err == nil || !strings.Contains(err.Error(), "HEADGATE_OIDC_ISSUER") {
		t.Errorf("a client without a provider: %v", err)
	}
}
