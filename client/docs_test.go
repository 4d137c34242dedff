package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/imports"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
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

func init() { all = append(all, snippet%d) }

func snippet%[1]d(ctx context.Context, rdb redis.UniversalClient, c *client.Client) error {
%[2]s
	return nil
}
`

// runner runs all fragments, one after the other.
const runner = `package main

import (
	"context"
	"log"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

var all []func(context.Context, redis.UniversalClient, *client.Client) error

func work(ctx context.Context) error { return ctx.Err() }

func main() {
	rdb := redis.NewClient(&redis.Options{Addr: os.Args[1]})
	for i, snippet := range all {
		c, err := client.New(rdb, "checkout")
		if err != nil {
			log.Fatal(err)
		}
		if err := snippet(context.Background(), rdb, c); err != nil {
			log.Fatalf("fragment %d: %v", i, err)
		}
		if err := c.Close(); err != nil {
			log.Fatal(err)
		}
	}
}
`

// snippets returns the Go code of a Markdown page: whole programs, and fragments of one.
func snippets(t *testing.T, page string) (programs, fragments []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "```go\n")[1:] {
		code, _, ended := strings.Cut(part, "\n```")
		if !ended {
			t.Fatalf("a snippet of %s does not end", page)
		}
		if strings.HasPrefix(code, "package ") {
			programs = append(programs, code)
		} else {
			fragments = append(fragments, fmt.Sprintf(fragment, len(fragments), code))
		}
	}
	return programs, fragments
}

// laid is Go code that is laid over the module, where it may import it, without being written into it.
type laid struct {
	t       *testing.T
	dir     string
	Replace map[string]string
}

func (l *laid) add(place, code string) {
	l.t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		l.t.Fatal(err)
	}
	place = filepath.Join(root, "client", place)
	tidy, err := imports.Process(place, []byte(code), nil)
	if err != nil {
		l.t.Fatalf("%v\n%s", err, code)
	}
	file := filepath.Join(l.dir, fmt.Sprintf("%d.go", len(l.Replace)))
	if err := os.WriteFile(file, tidy, 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.Replace[place] = file
}

func (l *laid) build(args ...string) {
	l.t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		l.t.Fatal(err)
	}
	overlay := filepath.Join(l.dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	if out, err := exec.CommandContext(l.t.Context(), "go", append([]string{"build", "-overlay", overlay}, args...)...).CombinedOutput(); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
}

func TestTheSnippetsOfTheDocumentationCompileAndRun(t *testing.T) {
	programs, fragments := snippets(t, "../docs/sdk.md")
	if len(programs) < 3 || len(fragments) < 10 {
		t.Fatalf("only %d programs and %d fragments were found", len(programs), len(fragments))
	}
	l := &laid{t: t, dir: t.TempDir(), Replace: map[string]string{}}
	args := []string{"./snippets"}
	for i, code := range programs {
		place := fmt.Sprintf("snippet%d", i)
		l.add(filepath.Join(place, "main.go"), code)
		args = append(args, "./"+place)
	}
	l.add(filepath.Join("snippets", "main.go"), runner)
	for i, code := range fragments {
		l.add(filepath.Join("snippets", fmt.Sprintf("%d.go", i)), code)
	}
	l.build(args...)

	program := filepath.Join(l.dir, "snippets")
	l.build("-o", program, "./snippets")
	addr := testenv.Mini(t).Addr()
	for _, prefix := range []string{client.DefaultPrefix, "headgate-eu"} { // what the snippets speak of
		w := newWorld(t, addr, prefix)
		login, perUser := definition("login", 100, 100, time.Second), definition("per-user", 100, 100, time.Second)
		login.Partition, perUser.Partition = bucket.PartitionKey, bucket.PartitionKey
		for _, d := range []bucket.Definition{
			definition("partner-api", 100, 100, time.Second), login, perUser, definition("everybody", 3000, 300, time.Second),
			waiting("sms", 1, 20*time.Millisecond, 10*time.Second), leased("exports", 2, 30*time.Second),
		} {
			w.install(d)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, addr).CombinedOutput(); err != nil { //nolint:gosec // built just now
		t.Fatalf("%v\n%s", err, out)
	}
}
