package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
)

// secretSettings hold passwords or keys. They are shown without them, and are no flags: others see a process's flags.
var secretSettings = []string{
	"HEADGATE_MYSQL_DSN", "HEADGATE_REDIS_URL", "HEADGATE_ADMIN_PASSWORD", "HEADGATE_OIDC_CLIENT_SECRET",
	"HEADGATE_AUDIT_KEY", "HEADGATE_DEBUG_TOKEN",
	// No secrets but the keys; the others are texts of many lines, which are no flags either.
	"HEADGATE_MYSQL_CA", "HEADGATE_MYSQL_CERT", "HEADGATE_MYSQL_KEY", "HEADGATE_REDIS_CA", "HEADGATE_REDIS_CERT", "HEADGATE_REDIS_KEY",
}

// FlagNames are the flags that settings have, by the name of the setting: HEADGATE_LOG_LEVEL is --log-level.
func FlagNames() map[string]string {
	names := map[string]string{}
	for _, s := range settings {
		if !slices.Contains(secretSettings, s.name) {
			names[s.name] = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.name, "HEADGATE_")), "_", "-")
		}
	}
	return names
}

// CheckConfig writes what the settings come to, without secrets, and returns everything that is wrong with them: in one
// of them, between several, and in the names of variables. environ has NAME=VALUE entries, as os.Environ does.
func CheckConfig(out io.Writer, embedded bool, environ []string, sources ...Source) error {
	c, broken := Load(sources...)
	c.Embedded = embedded
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SETTING\tVALUE\tFROM")
	values := shown(&c)
	for _, s := range settings {
		value := values[s.name]
		given, from, err := lookup(sources, s.name)
		if err == nil && given != "" {
			scratch := Defaults()
			err = s.set(&scratch, given)
		}
		switch {
		case err != nil:
			from += " (broken)"
		case from == "":
			from = "default"
		}
		if value == "" {
			value = "–"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", s.name, value, from)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return errors.Join(broken, unknownVariables(environ), c.Validate(), c.checkCertificate())
}

// checkCertificate reads the certificate as the start would.
func (c *Config) checkCertificate() error {
	if c.TLSCertFile == "" || c.TLSKeyFile == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(c.TLSCertFile, c.TLSKeyFile); err != nil {
		return fmt.Errorf("HEADGATE_TLS_CERT_FILE and HEADGATE_TLS_KEY_FILE can't be used: %w", err)
	}
	return nil
}

// unknownVariables finds misspelled names. Those of the tests are left alone.
func unknownVariables(environ []string) error {
	var faults []error
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "HEADGATE_") && !strings.HasPrefix(name, "HEADGATE_TEST_") && name != ConfigFileVariable && !IsSetting(name) {
			faults = append(faults, fmt.Errorf("%s is no setting", name))
		}
	}
	return errors.Join(faults...)
}

// shown is every setting as a person may see it; "" stands for none.
func shown(c *Config) map[string]string {
	format := "text"
	if c.LogJSON {
		format = "json"
	}
	values := map[string]string{
		"HEADGATE_LISTEN": c.Listen, "HEADGATE_MYSQL_DSN": shownDSN(c.MySQLDSN), "HEADGATE_REDIS_URL": shownURL(c.RedisURL),
		"HEADGATE_REDIS_PREFIX": c.RedisPrefix, "HEADGATE_DATA_DIR": c.DataDir, "HEADGATE_EMBEDDED_REDIS_LISTEN": c.EmbeddedRedisListen,
		"HEADGATE_DEMO": onOff(c.Demo), "HEADGATE_ADMIN_PASSWORD": hidden(c.AdminPassword), "HEADGATE_SECURE_COOKIES": onOff(c.SecureCookies),
		"HEADGATE_TLS_CERT_FILE": c.TLSCertFile, "HEADGATE_TLS_KEY_FILE": c.TLSKeyFile, "HEADGATE_PROXY_HEADER": string(c.ProxyHeader),
		"HEADGATE_MAX_REQUESTS": fmt.Sprint(c.MaxRequests), "HEADGATE_WEBHOOK_ALLOW_PRIVATE": onOff(c.WebhookAllowPrivate),
		"HEADGATE_TRUSTED_PROXIES": joined(c.TrustedProxies), "HEADGATE_REPAIR_INTERVAL": c.RepairInterval.String(),
		"HEADGATE_DRAIN_DELAY": c.DrainDelay.String(), "HEADGATE_LOG_LEVEL": strings.ToLower(c.LogLevel.String()), "HEADGATE_LOG_FORMAT": format,
		"HEADGATE_AUDIT_KEY": hidden(c.AuditKey), "HEADGATE_DEBUG_LISTEN": c.DebugListen, "HEADGATE_DEBUG_TOKEN": hidden(c.DebugToken),
		"HEADGATE_OTLP_ENDPOINT": c.OTLPEndpoint,
	}
	maps.Copy(values, shownSignOn(c))
	maps.Copy(values, c.MySQLTLS.shown("HEADGATE_MYSQL"))
	maps.Copy(values, c.RedisTLS.shown("HEADGATE_REDIS"))
	return values
}

func shownSignOn(c *Config) map[string]string {
	o := &c.OIDC
	apps := make([]string, len(o.Apps))
	for i, a := range o.Apps {
		apps[i] = a.Group + "=" + a.App + ":" + string(a.Role)
	}
	var roles []string
	for _, group := range slices.Sorted(maps.Keys(o.Roles)) {
		roles = append(roles, group+"="+string(o.Roles[group]))
	}
	return map[string]string{
		"HEADGATE_URL": c.PublicURL, "HEADGATE_LOCAL_LOGIN": onOff(c.LocalLogin), "HEADGATE_OIDC_ISSUER": o.Issuer,
		"HEADGATE_OIDC_CLIENT_ID": o.ClientID, "HEADGATE_OIDC_CLIENT_SECRET": hidden(o.ClientSecret), "HEADGATE_OIDC_NAME": o.Name,
		"HEADGATE_OIDC_SCOPES": strings.Join(o.Scopes, " "), "HEADGATE_OIDC_USERNAME_CLAIM": o.UsernameClaim,
		"HEADGATE_OIDC_GROUPS_CLAIM": o.GroupsClaim, "HEADGATE_OIDC_ROLES": strings.Join(roles, ","),
		"HEADGATE_OIDC_APPS": strings.Join(apps, ","), "HEADGATE_OIDC_CREATE": string(o.Create),
	}
}

// shownDSN cuts the password out. What stands before the last @ of a DSN is its user and password.
func shownDSN(dsn string) string {
	at := strings.LastIndex(dsn, "@")
	if at < 0 {
		return hidden(dsn)
	}
	user, _, hasPassword := strings.Cut(dsn[:at], ":")
	rest, _, hasParameters := strings.Cut(dsn[at:], "?")
	if hasPassword {
		user += ":…"
	}
	if hasParameters {
		rest += "?…"
	}
	return user + rest
}

// shownURL cuts the password out, and the parameters, among which go-redis takes one too.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return hidden(raw)
	}
	shown := u.Scheme + "://"
	if u.User != nil {
		shown += u.User.Username()
		if _, has := u.User.Password(); has {
			shown += ":…"
		}
		shown += "@"
	}
	shown += u.Host + u.Path
	if u.RawQuery != "" {
		shown += "?…"
	}
	return shown
}

func hidden(secret string) string {
	if secret == "" {
		return ""
	}
	return "(set)"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func joined[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = one.String()
	}
	return strings.Join(texts, ",")
}
