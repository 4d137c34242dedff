package e2e_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

// A start that can't succeed ends at once with one line that names the setting, and exit code 1.
func TestImpossibleStartEndsWithOneClearLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	free, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	redisAddr, _ := testenv.Redis(t)
	redisURL := "HEADGATE_REDIS_URL=redis://" + redisAddr
	listen := fmt.Sprintf("HEADGATE_LISTEN=127.0.0.1:%d", free)
	nobody := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	cases := []struct {
		name     string
		settings []string
		args     []string
		says     string
	}{
		{"neither a DSN nor --embedded", nil, []string{"serve"}, "--embedded"},
		{"--embedded beside a DSN", []string{"HEADGATE_MYSQL_DSN=a:b@tcp(" + nobody + ")/x"}, []string{"serve", "--embedded"}, "--embedded can't stand beside HEADGATE_MYSQL_DSN"},
		{"--embedded beside a Redis URL", []string{redisURL}, []string{"serve", "--embedded"}, "--embedded can't stand beside"},
		{"a DSN without a Redis URL", []string{"HEADGATE_MYSQL_DSN=a:b@tcp(" + nobody + ")/x"}, []string{"serve"}, "HEADGATE_REDIS_URL"},
		{"a DSN that can't be read", []string{listen, redisURL, "HEADGATE_MYSQL_DSN=mysql://wrong"}, []string{"serve"}, "HEADGATE_MYSQL_DSN"},
		{"a DSN that can't be read, and no Redis", []string{listen, "HEADGATE_REDIS_URL=redis://" + nobody, "HEADGATE_MYSQL_DSN=foo"}, []string{"serve"}, "HEADGATE_MYSQL_DSN"},
		{"a database that does not answer", []string{listen, redisURL, "HEADGATE_MYSQL_DSN=u:hush-hush@tcp(" + nobody + ")/x"}, []string{"serve"}, nobody},
		{"a wrong database password", []string{listen, redisURL, "HEADGATE_MYSQL_DSN=" + wrongPassword(t)}, []string{"serve"}, "refuses the user"},
		{"a Redis URL that can't be read", []string{listen, "HEADGATE_REDIS_URL=http://x", "HEADGATE_MYSQL_DSN=" + testenv.MySQL(t)}, []string{"serve"}, "HEADGATE_REDIS_URL must look like"},
		{"a taken port", []string{"HEADGATE_LISTEN=" + taken.Addr().String(), "HEADGATE_DATA_DIR=" + t.TempDir(), "HEADGATE_EMBEDDED_REDIS_LISTEN=127.0.0.1:0"}, []string{"serve", "--embedded"}, "HEADGATE_LISTEN"},
		{"a taken port of the embedded Redis", []string{listen, "HEADGATE_EMBEDDED_REDIS_LISTEN=" + taken.Addr().String(), "HEADGATE_DATA_DIR=" + t.TempDir()}, []string{"serve", "--embedded"}, "HEADGATE_EMBEDDED_REDIS_LISTEN"},
		{"a short first password", []string{listen, redisURL, "HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_ADMIN_PASSWORD=short"}, []string{"serve"}, "HEADGATE_ADMIN_PASSWORD must have 12..128"},
		{"a common first password", []string{listen, redisURL, "HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_ADMIN_PASSWORD=Password1234!"}, []string{"serve"}, "HEADGATE_ADMIN_PASSWORD must not be one of the most common passwords"},
		{"a setting of the wrong type", []string{"HEADGATE_DEMO=perhaps"}, []string{"serve", "--embedded"}, "HEADGATE_DEMO must be on or off"},
		{"an unknown flag", nil, []string{"serve", "--embedding"}, "unknown flag"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, printed := runAdmin(t, c.settings, c.args...)
			printed = strings.TrimSpace(printed)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(printed, c.says) || strings.Contains(printed, "hush-hush") || strings.Contains(printed, "goroutine") {
				t.Errorf("printed %q, want one line that says %q and no secret", printed, c.says)
			}
			if lines := strings.Count(printed, "\n") + 1; lines != 1 {
				t.Errorf("printed %d lines, want 1:\n%s", lines, printed)
			}
		})
	}
}

// Every wrong setting is named in one go, so that nobody mends them one start at a time.
func TestAllWrongSettingsAreReportedTogether(t *testing.T) {
	_, printed := runAdmin(t, []string{"HEADGATE_DEMO=perhaps", "HEADGATE_LOG_LEVEL=loud", "HEADGATE_LISTEN=nonsense", "HEADGATE_ADMIN_PASSWORD=short"}, "serve", "--embedded")
	for _, name := range []string{"HEADGATE_DEMO", "HEADGATE_LOG_LEVEL", "HEADGATE_LISTEN", "HEADGATE_ADMIN_PASSWORD"} {
		if !strings.Contains(printed, name) {
			t.Errorf("%s is not named in %q", name, printed)
		}
	}
}

// A secret may stand in a file instead of the environment.
func TestSettingsAreReadFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from-a-file-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	redisAddr, prefix := testenv.Redis(t)
	a := startAdmin(t, []string{"HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_REDIS_URL=redis://" + redisAddr, "HEADGATE_REDIS_PREFIX=" + prefix, "HEADGATE_ADMIN_PASSWORD_FILE=" + file}, "serve")
	a.login("admin", "from-a-file-1")
}

// Without HEADGATE_ADMIN_PASSWORD the first start prints a password that works, and no later start prints one.
func TestFirstAdminsPasswordIsPrintedOnce(t *testing.T) {
	redisAddr, prefix := testenv.Redis(t)
	settings := []string{"HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_REDIS_URL=redis://" + redisAddr, "HEADGATE_REDIS_PREFIX=" + prefix}
	a := startAdmin(t, settings, "serve")
	const before = `user "admin", password "`
	a.WaitFor(before)
	_, after, _ := strings.Cut(a.Out.String(), before)
	password, _, _ := strings.Cut(after, `"`)
	a.login("admin", password)
	if err := a.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v", err)
	}
	again := startAdmin(t, settings, "serve")
	again.WaitFor("Ctrl-C stops")
	if strings.Contains(again.Out.String(), "password") {
		t.Errorf("the second start printed a password:\n%s", again.Out)
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	port, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func wrongPassword(t testing.TB) string {
	t.Helper()
	user, rest, _ := strings.Cut(testenv.MySQL(t), ":")
	_, rest, _ = strings.Cut(rest, "@")
	return user + ":not-this-one@" + rest
}
