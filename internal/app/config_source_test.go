package app

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func source(name string, pairs map[string]string) Source { return Source{Name: name, Get: env(pairs)} }

func configFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "headgate.env")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A flag counts before the environment, and that before the file, whichever of them names the value by a file of its own.
func TestFlagsCountBeforeTheEnvironmentAndThatBeforeTheFile(t *testing.T) {
	prefix := configFile(t, "from-a-file\n")
	file, err := ReadConfigFile(configFile(t, "# ours\nHEADGATE_LISTEN=h:1\n\nHEADGATE_DATA_DIR = \"a b\"\nHEADGATE_LOG_LEVEL='warn'\nHEADGATE_REDIS_PREFIX_FILE="+prefix+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(
		source("flag", map[string]string{"HEADGATE_LISTEN": "h:3"}),
		source("environment", map[string]string{"HEADGATE_LISTEN": "h:2", "HEADGATE_LOG_LEVEL": "error"}),
		file,
	)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen != "h:3" || cfg.LogLevel.String() != "ERROR" || cfg.DataDir != "a b" || cfg.RedisPrefix != "from-a-file" {
		t.Errorf("got %s, %s, %q, %s", cfg.Listen, cfg.LogLevel, cfg.DataDir, cfg.RedisPrefix)
	}
	cfg, err = Load(source("environment", map[string]string{"HEADGATE_REDIS_PREFIX": "from-env"}), file)
	if err != nil || cfg.RedisPrefix != "from-env" {
		t.Errorf("got %s, %v: the file's NAME_FILE counted beside the environment's NAME", cfg.RedisPrefix, err)
	}
}

// A broken file is refused with every line that is wrong, and without what may be a secret.
func TestConfigFileFaultsAreAllNamedByLineWithoutValues(t *testing.T) {
	_, err := ReadConfigFile(configFile(t, "HEADGATE_LISTEN=a:1\nhush-hush\nHEADGATE_LISTN=hush-hush\nHEADGATE_LISTEN=a:2\nHEADGATE_MYSQL_DSN=\"hush-hush\nHEADGATE_REDIS_URL='hush'-hush'\n"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, says := range []string{"2: must be NAME=VALUE", "3: HEADGATE_LISTN is no setting", "4: HEADGATE_LISTEN stands in line 1 already", "5: HEADGATE_MYSQL_DSN has quotes", "6: HEADGATE_REDIS_URL has quotes"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in %q", says, err)
		}
	}
	if strings.Contains(err.Error(), "hush-hush") {
		t.Errorf("a value is in %q", err)
	}
}

// A secret's file that was never filled in is no setting that nobody made: without its CA a connection would go unsecured.
func TestFilesOfSettingsThatAreEmptyOrHugeAreFaults(t *testing.T) {
	for name, c := range map[string]struct{ content, says string }{
		"empty":         {"", "is empty"},
		"line ends":     {"\r\n\n", "is empty"},
		"blanks":        {"  \n", "is empty"},
		"far too large": {strings.Repeat("x", 1<<20+1), "is larger than 1 MB"},
		"filled in":     {"hush-hush\n", ""},
	} {
		_, err := FromEnv(env(map[string]string{"HEADGATE_MYSQL_CA_FILE": configFile(t, c.content)}))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), "HEADGATE_MYSQL_CA can't be read from HEADGATE_MYSQL_CA_FILE") || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
	if _, err := ReadConfigFile(configFile(t, "HEADGATE_DEMO=off\n"+strings.Repeat("#\n", 1<<19))); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a file of which the end would not count: %v", err)
	}
}

// The check shows every setting with where it comes from, hides each secret, and names all faults at once.
func TestConfigCheckShowsEverythingButSecretsAndAllFaults(t *testing.T) {
	secrets := map[string]string{
		"HEADGATE_MYSQL_DSN":          "headgate:hush@tcp(db:3306)/headgate?x=hush",
		"HEADGATE_REDIS_URL":          "redis://user:hush@redis:6379/2?client_name=hush",
		"HEADGATE_ADMIN_PASSWORD":     "hush-hush-hush-hush",
		"HEADGATE_OIDC_CLIENT_SECRET": "hush-hush",
		"HEADGATE_DEBUG_TOKEN":        "hush-hush-hush-hush",
	}
	var out bytes.Buffer
	err := CheckConfig(&out, false, nil, source("environment", secrets))
	if err == nil || !strings.Contains(err.Error(), "HEADGATE_OIDC_ISSUER is not set") {
		t.Errorf("got %v", err)
	}
	for _, s := range settings {
		if !strings.Contains(out.String(), s.name) {
			t.Errorf("%s is not shown", s.name)
		}
	}
	if strings.Contains(out.String(), "hush") || err != nil && strings.Contains(err.Error(), "hush") {
		t.Errorf("a secret is shown in\n%s\n%v", out.String(), err)
	}
	for _, shows := range []string{"headgate:…@tcp(db:3306)/headgate?…", "redis://user:…@redis:6379/2?…", "(set)"} {
		if !strings.Contains(out.String(), shows) {
			t.Errorf("%q is not in\n%s", shows, out.String())
		}
	}
	err = CheckConfig(&out, true, []string{"HEADGATE_LISTN=x", "HEADGATE_TEST_X=y", "PATH=z"}, source("environment", map[string]string{
		"HEADGATE_DEMO": "perhaps", "HEADGATE_LISTEN": "nonsense", "HEADGATE_TLS_CERT_FILE": "/nowhere", "HEADGATE_TLS_KEY_FILE": "/nowhere",
		"HEADGATE_DEBUG_LISTEN": "0.0.0.0:9100",
	}))
	for _, says := range []string{"HEADGATE_DEMO must be", "HEADGATE_LISTEN must be", "HEADGATE_TLS_CERT_FILE", "HEADGATE_LISTN is no setting", "needs a HEADGATE_DEBUG_TOKEN"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in %v", says, err)
		}
	}
	if strings.Contains(err.Error(), "HEADGATE_TEST_X") {
		t.Errorf("a variable of the tests is a fault: %v", err)
	}
}

// What the start would refuse is a fault already when the settings are checked, and without the password.
func TestConfigCheckFindsWhatTheStartWouldRefuse(t *testing.T) {
	const good, dsn = "127.0.0.1:8080", "hg:hush-hush@tcp(db:3306)/headgate"
	for _, c := range []struct{ name, dsn, listen, says string }{
		{"all well", dsn, good, ""},
		{"a named port", dsn, "127.0.0.1:http", ""},
		{"no DSN at all", "hush-hush", good, "HEADGATE_MYSQL_DSN: the MySQL DSN can't be read"},
		{"a URL", "mysql://hg:hush-hush@db:3306/headgate", good, "HEADGATE_MYSQL_DSN: the MySQL DSN can't be read"},
		{"a parenthesis left open", "hg:hush-hush@tcp(db:3306/headgate", good, "HEADGATE_MYSQL_DSN: the MySQL DSN can't be read"},
		{"no database", "hg:hush-hush@tcp(db:3306)/", good, "HEADGATE_MYSQL_DSN: the MySQL DSN can't be read"},
		{"an unknown kind of TLS", dsn + "?tls=perhaps", good, "HEADGATE_MYSQL_DSN: the MySQL DSN can't be read"},
		{"a port beyond all", dsn, ":99999", "HEADGATE_LISTEN must be host:port"},
		{"a port that is none", dsn, "127.0.0.1:no-such-service", "HEADGATE_LISTEN must be host:port"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := CheckConfig(&out, false, nil, source("environment", map[string]string{
				"HEADGATE_MYSQL_DSN": c.dsn, "HEADGATE_REDIS_URL": "redis://redis:6379/0", "HEADGATE_LISTEN": c.listen,
			}))
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if strings.Contains(out.String(), "hush") || err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("the password is shown: %v\n%s", err, out.String())
			}
		})
	}
}

// A setting that can't be read is marked, since what is shown of it is not what was given.
func TestConfigCheckMarksSettingsThatCannotBeRead(t *testing.T) {
	var out bytes.Buffer
	_ = CheckConfig(&out, true, nil, source("environment", map[string]string{"HEADGATE_DRAIN_DELAY": "5", "HEADGATE_DEMO": "off"}))
	for setting, from := range map[string]string{"HEADGATE_DRAIN_DELAY": `environment \(broken\)`, "HEADGATE_DEMO": "environment"} {
		if !regexp.MustCompile(`(?m)^` + setting + ` .*  ` + from + `$`).MatchString(out.String()) {
			t.Errorf("%s is not shown as from %s:\n%s", setting, from, out.String())
		}
	}
}

// Every setting can be shown: one that is added is not forgotten there.
func TestEverySettingIsShown(t *testing.T) {
	c := Defaults()
	values := shown(&c)
	for _, s := range settings {
		if _, ok := values[s.name]; !ok {
			t.Errorf("%s is not shown", s.name)
		}
	}
}

// What a DSN or a URL hides is hidden in every form that it may have.
func TestNoFormOfADSNOrURLShowsItsPassword(t *testing.T) {
	for _, dsn := range []string{"u:hush@tcp(h)/d", "u:hu@sh@tcp(h)/d", "u:hu?sh@tcp(h)/d", "u:hu:sh@/d", "hush", "u:hush", ":hush@/d", "u@tcp(h)/d?password=hush"} {
		if got := shownDSN(dsn); strings.Contains(got, "sh") {
			t.Errorf("%s is shown as %s", dsn, got)
		}
	}
	for _, u := range []string{"redis://:hush@h:1", "redis://u:hush@h/1?password=hush", "hush", "redis://u:hu%73h@h", "::hush"} {
		if got := shownURL(u); strings.Contains(got, "sh") {
			t.Errorf("%s is shown as %s", u, got)
		}
	}
}

// Secrets are no flags: other users of the machine see a process's flags.
func TestSecretsAreNoFlags(t *testing.T) {
	flags := FlagNames()
	for _, name := range secretSettings {
		if _, is := flags[name]; is || !slices.ContainsFunc(settings, func(s setting) bool { return s.name == name }) {
			t.Errorf("%s is a flag, or no setting", name)
		}
	}
	if flags["HEADGATE_LOG_LEVEL"] != "log-level" {
		t.Errorf("got %v", flags)
	}
}
