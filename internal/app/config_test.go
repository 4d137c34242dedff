package app

import (
	"strings"
	"testing"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

// Embedded parts start only when asked for, and never beside real ones.
func TestEmbeddedIsNeverEnteredByAccident(t *testing.T) {
	real := map[string]string{"HEADGATE_MYSQL_DSN": "u:p@tcp(h:1)/d", "HEADGATE_REDIS_URL": "redis://h:1"}
	cases := []struct {
		name     string
		env      map[string]string
		embedded bool
		says     string // "" = accepted
	}{
		{"nothing given", nil, false, "--embedded"},
		{"asked for", nil, true, ""},
		{"real servers", real, false, ""},
		{"both", real, true, "can't stand beside"},
		{"a Redis URL alone beside it", map[string]string{"HEADGATE_REDIS_URL": "redis://h:1"}, true, "can't stand beside"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := FromEnv(env(c.env))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Embedded = c.embedded
			err = cfg.Validate()
			if c.says == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}

// Sample data go only into an embedded database, whatever HEADGATE_DEMO says.
func TestSampleDataNeedAnEmbeddedDatabase(t *testing.T) {
	cfg, err := FromEnv(env(map[string]string{"HEADGATE_MYSQL_DSN": "u:p@tcp(h:1)/d", "HEADGATE_REDIS_URL": "redis://h:1", "HEADGATE_DEMO": "on"}))
	if err != nil {
		t.Fatal(err)
	}
	if a := (&App{cfg: cfg}); a.demo() {
		t.Error("a real database would get sample data")
	}
}

// A setting given twice is a fault and not a guess.
func TestSettingAndItsFileTogetherAreRefused(t *testing.T) {
	_, err := FromEnv(env(map[string]string{"HEADGATE_ADMIN_PASSWORD": "one-password", "HEADGATE_ADMIN_PASSWORD_FILE": "/nowhere"}))
	if err == nil || !strings.Contains(err.Error(), "HEADGATE_ADMIN_PASSWORD and HEADGATE_ADMIN_PASSWORD_FILE are both set") {
		t.Errorf("got %v", err)
	}
}
