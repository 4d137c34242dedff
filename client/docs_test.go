package client_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/imports"
)

// fragment is what surrounds a snippet that is no program of its own. Imports that it does not use are taken out.
const fragment = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

func work() error { return nil }

func snippet(ctx context.Context, rdb redis.UniversalClient, c *client.Client) error {
%s
	return nil
}

func main() { _ = snippet(context.Background(), nil, nil) }
`

// snippets returns the Go code of a Markdown page, each piece as a whole program.
func snippets(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(text), "```go\n")[1:] {
		code, _, ended := strings.Cut(part, "\n```")
		if !ended {
			t.Fatalf("a snippet of %s does not end", page)
		}
		if !strings.HasPrefix(code, "package ") {
			code = fmt.Sprintf(fragment, code)
		}
		all = append(all, code)
	}
	return all
}

func TestTheSnippetsOfTheDocumentationCompile(t *testing.T) {
	all := snippets(t, "../docs/sdk.md")
	if len(all) < 5 {
		t.Fatalf("only %d snippets were found", len(all))
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// The programs are laid over the module, where they may import it, without being written into it.
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	args := []string{"build", "-overlay", filepath.Join(dir, "overlay.json")}
	for i, code := range all {
		place := filepath.Join(root, "client", fmt.Sprintf("snippet%d", i), "main.go")
		tidy, err := imports.Process(place, []byte(code), nil)
		if err != nil {
			t.Fatalf("snippet %d: %v\n%s", i, err, code)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(file, tidy, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[place] = file
		args = append(args, fmt.Sprintf("./snippet%d", i))
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
