package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// OIDC is what the server can be told about single sign-on. It is on when Issuer is set.
type OIDC struct {
	Issuer        string
	ClientID      string
	ClientSecret  string // empty for a public client
	Scopes        []string
	Name          string // on the button of the login page; "" = the issuer's host
	UsernameClaim string
	GroupsClaim   string
	Roles         map[string]model.Role
	Apps          []auth.GroupApp
	Create        auth.Admission
}

// defaultScopes ask for the name; the scope for groups is a different one at each provider, or none.
var defaultScopes = []string{"openid", "profile", "email"}

var oidcSettings = []setting{
	{"HEADGATE_URL", func(c *Config, v string) error {
		u, err := url.Parse(v)
		if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || auth.CheckProviderURL(v) != nil {
			return errors.New("must be the console's address as browsers know it, such as https://headgate.example.com: https (http only on the loopback) and no path")
		}
		c.PublicURL = u.Scheme + "://" + u.Host
		return nil
	}},
	{"HEADGATE_LOCAL_LOGIN", toggle(func(c *Config) *bool { return &c.LocalLogin })},
	{"HEADGATE_OIDC_ISSUER", func(c *Config, v string) error {
		c.OIDC.Issuer = v
		return auth.CheckProviderURL(v)
	}},
	{"HEADGATE_OIDC_CLIENT_ID", text(func(c *Config) *string { return &c.OIDC.ClientID })},
	{"HEADGATE_OIDC_CLIENT_SECRET", text(func(c *Config) *string { return &c.OIDC.ClientSecret })},
	{"HEADGATE_OIDC_NAME", text(func(c *Config) *string { return &c.OIDC.Name })},
	{"HEADGATE_OIDC_SCOPES", func(c *Config, v string) error {
		c.OIDC.Scopes = strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' })
		return nil
	}},
	{"HEADGATE_OIDC_USERNAME_CLAIM", text(func(c *Config) *string { return &c.OIDC.UsernameClaim })},
	{"HEADGATE_OIDC_GROUPS_CLAIM", text(func(c *Config) *string { return &c.OIDC.GroupsClaim })},
	{"HEADGATE_OIDC_ROLES", func(c *Config, v string) (err error) {
		c.OIDC.Roles, err = groupRoles(v)
		return err
	}},
	{"HEADGATE_OIDC_APPS", func(c *Config, v string) (err error) {
		c.OIDC.Apps, err = groupApps(v)
		return err
	}},
	{"HEADGATE_OIDC_CREATE", func(c *Config, v string) error {
		switch c.OIDC.Create = auth.Admission(v); c.OIDC.Create {
		case auth.AdmitMapped, auth.AdmitEveryone, auth.AdmitNobody:
			return nil
		}
		return errors.New("must be mapped, on or off")
	}},
}

// entriesOf splits a list: by lines where it has several, so that a name may hold a comma, else by commas.
func entriesOf(list string) []string {
	separator := ","
	if strings.Contains(list, "\n") {
		separator = "\n"
	}
	var entries []string
	for entry := range strings.SplitSeq(list, separator) {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// cutLast splits at the last separator, so that a group's name may hold it.
func cutLast(s, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+len(separator):]), true
}

func groupRoles(list string) (map[string]model.Role, error) {
	roles := map[string]model.Role{}
	for _, entry := range entriesOf(list) {
		group, name, ok := cutLast(entry, "=")
		role := model.Role(name)
		if !ok || group == "" || role != model.RoleAdmin && role != model.RoleAuditor && role != model.RoleMember {
			return nil, errors.New("must be group=role separated by commas (in a file: one a line), such as platform-admins=admin,auditors=auditor; roles are admin, auditor and member")
		}
		if _, twice := roles[group]; twice {
			return nil, fmt.Errorf("names the group %q twice", group)
		}
		roles[group] = role
	}
	return roles, nil
}

func groupApps(list string) ([]auth.GroupApp, error) {
	var rules []auth.GroupApp
	for _, entry := range entriesOf(list) {
		group, place, ok := cutLast(entry, "=")
		app, name, named := cutLast(place, ":")
		role := model.AppRole(name)
		if !ok || !named || group == "" || !model.ValidName(app) || role != model.AppOwner && role != model.AppViewer {
			return nil, errors.New("must be group=app:role separated by commas (in a file: one a line), such as team-pay=checkout:owner,team-pay=billing:viewer; roles are owner and viewer")
		}
		rules = append(rules, auth.GroupApp{Group: group, App: app, Role: role})
	}
	return rules, nil
}

// validateLogin checks that somebody can log in, and that single sign-on has all that it needs.
func (c *Config) validateLogin() error {
	o := c.OIDC
	if o.Issuer == "" {
		var faults []error
		if o.ClientID != "" || o.ClientSecret != "" || len(o.Roles) > 0 || len(o.Apps) > 0 {
			faults = append(faults, errors.New("HEADGATE_OIDC_ISSUER is not set, but other settings of single sign-on are"))
		}
		if !c.LocalLogin {
			faults = append(faults, errors.New("HEADGATE_LOCAL_LOGIN can't be off without single sign-on (HEADGATE_OIDC_ISSUER): nobody could log in"))
		}
		return errors.Join(faults...)
	}
	var faults []error
	if o.ClientID == "" {
		faults = append(faults, errors.New("HEADGATE_OIDC_CLIENT_ID must be set with HEADGATE_OIDC_ISSUER"))
	}
	if c.PublicURL == "" {
		faults = append(faults, errors.New("HEADGATE_URL must be set with HEADGATE_OIDC_ISSUER: the provider leads browsers back there"))
	}
	return errors.Join(faults...)
}

// openSignOn makes the single sign-on of the settings, nil when they have none. It asks the provider nothing, so that
// the server starts without it.
func (a *App) openSignOn(ctx context.Context) (*auth.OIDC, error) {
	o := a.cfg.OIDC
	if o.Issuer == "" {
		return nil, nil //nolint:nilnil // no single sign-on is no fault
	}
	key, err := auth.LoadFlowKey(ctx, a.store)
	if err != nil {
		return nil, err
	}
	name := o.Name
	if u, err := url.Parse(o.Issuer); name == "" && err == nil {
		name = u.Hostname()
	}
	return auth.NewOIDC(auth.OIDCConfig{
		Store: a.store, Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Name: name,
		Redirect: a.cfg.PublicURL + api.SignOnCallback, Scopes: o.Scopes,
		UsernameClaim: o.UsernameClaim, GroupsClaim: o.GroupsClaim, Roles: o.Roles, Apps: o.Apps, Admit: o.Create,
		Key: key, Log: a.log,
	})
}
