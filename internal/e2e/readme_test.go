package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The README's first program compiles as it stands, runs against `make run`'s Redis, and is granted a permit.
func TestReadmeProgramIsGrantedAPermit(t *testing.T) {
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(readme(t))
	if block == nil {
		t.Fatal("README.md has no Go program")
	}
	redisAddr := embeddedRedis(t)
	program := strings.ReplaceAll(block[1], "127.0.0.1:6390", redisAddr)
	if program == block[1] {
		t.Fatal("the program does not name the Redis of make run")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", file)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "granted,") && !strings.Contains(string(out), "limited, try again in") {
		t.Errorf("%v: %s", err, out)
	}
}

// The README's load command runs and sums up.
func TestReadmeLoadCommandRuns(t *testing.T) {
	line := regexp.MustCompile(`(?m)^go run \./cmd/client-demo (load .*)$`).FindStringSubmatch(readme(t))
	if line == nil {
		t.Fatal("README.md has no load command")
	}
	args := strings.Fields(strings.NewReplacer("127.0.0.1:6390", embeddedRedis(t), "30s", "2s").Replace(line[1]))
	out, err := exec.CommandContext(t.Context(), binary(t, "client-demo"), args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "granted") {
		t.Errorf("%v: %s", err, out)
	}
}

// embeddedRedis starts the product as `make run` does and returns its Redis's address.
func embeddedRedis(t *testing.T) string {
	t.Helper()
	a := startAdmin(t, embeddedSettings(t.TempDir()), "serve", "--embedded")
	found := regexp.MustCompile(`--redis-url redis://(\S+)/0`)
	a.WaitFor("--redis-url")
	return found.FindStringSubmatch(a.Out.String())[1]
}
