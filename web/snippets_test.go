package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the console offers as Go code compiles, in each form that it fills the templates in.
func TestGoSnippetsCompile(t *testing.T) {
	templates := filepath.Join("src", "features", "buckets", "detail", "snippets")
	keys := map[string][]string{
		"acquire":    {"", `, client.Key("user:42")`},
		"enter":      {"", `, client.Key("user:42")`},
		"middleware": {"", `, Key: httplimit.Header("X-User")`},
	}
	found, err := filepath.Glob(filepath.Join(templates, "*.go.txt"))
	if err != nil || len(found) != len(keys) {
		t.Fatalf("templates %v (%v), but %d are known here", found, err, len(keys))
	}
	dir := snippetModule(t)
	for _, path := range found {
		name := strings.TrimSuffix(filepath.Base(path), ".go.txt")
		template, err := os.ReadFile(path) //nolint:gosec // of this repository
		if err != nil {
			t.Fatal(err)
		}
		for form, key := range map[string]string{name + "_plain": keys[name][0], name + "_keyed": keys[name][1]} {
			text := strings.NewReplacer("__APP__", "checkout", "__BUCKET__", "partner-api.v2", "__KEY__", key).Replace(string(template))
			if strings.Contains(text, "__") {
				t.Errorf("%s: something was left unfilled:\n%s", form, text)
			}
			write(t, filepath.Join(dir, form, form+".go"), text)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// snippetModule makes a module beside this one that sees it as an application would, with the same versions of all others.
func snippetModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name)) //nolint:gosec // of this repository
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			text = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(text, []byte("module example.com/application"))
			text = append(text, []byte("\nrequire github.com/headgate/headgate v0.0.0\nreplace github.com/headgate/headgate => "+root+"\n")...)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
