package e2e_test

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
)

// block is the text of one fenced block of docs/security.md, its broken lines joined.
func block(t *testing.T, kind string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)\n```$").FindAllSubmatch(text, -1)
	var all []string
	for _, match := range found {
		all = append(all, strings.ReplaceAll(string(match[1]), "\\\n", " "))
	}
	if len(all) == 0 {
		t.Fatalf("docs/security.md has no block %s", kind)
	}
	return strings.Join(all, "\n")
}

// userLine is the line of a user in the blocks of a kind.
func userLine(t *testing.T, kind, user string) string {
	t.Helper()
	for line := range strings.Lines(block(t, kind)) {
		if strings.HasPrefix(line, "user "+user+" ") {
			return line
		}
	}
	t.Fatalf("docs/security.md has no user %s in %s", user, kind)
	return ""
}

func words(text string) []any {
	var all []any
	for _, word := range strings.Fields(text) {
		all = append(all, word)
	}
	return all
}

// asRoot runs a command at one server with all rights.
func asRoot(t *testing.T, addr, command string, args ...any) any {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	value, err := rdb.Do(t.Context(), append([]any{command}, args...)...).Result()
	if err != nil {
		t.Fatalf("%s %v: %v", command, args, err)
	}
	return value
}

// aclLog is what a server refused for want of rights, but for CLIENT SETINFO, of which the docs tell.
func aclLog(t *testing.T, addr string) []string {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	entries, err := rdb.ACLLog(t.Context(), 100).Result()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.Object != "client|setinfo" {
			all = append(all, fmt.Sprintf("%s: %s %s (%s)", e.Username, e.Reason, e.Object, e.Context))
		}
	}
	return all
}

func isRefusal(err error) bool {
	said := err.Error() // by a script in other words since Redis 7.2
	return strings.Contains(said, "NOPERM") || strings.Contains(said, "The user executing the script can't") || strings.Contains(said, "ACL failure in script")
}

// guarded is a Redis, of one node or several, with users of few rights.
type guarded struct {
	t     *testing.T
	addrs []string
}

func newGuarded(t *testing.T, addrs ...string) *guarded {
	t.Helper()
	return &guarded{t, addrs}
}

// makeUser makes a user of the docs at every node.
func (g *guarded) makeUser(line string) {
	g.t.Helper()
	for _, addr := range g.addrs {
		asRoot(g.t, addr, "acl", words("setuser "+strings.TrimPrefix(line, "user "))...)
	}
}

// as connects as a user.
func (g *guarded) as(user, password string) redis.UniversalClient {
	g.t.Helper()
	rdb := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: g.addrs, Username: user, Password: password, ClientName: "test"})
	g.t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// engine is the admin server's.
func (g *guarded) engine() *bucket.Engine {
	return bucket.New(g.as("headgate-admin", "ADMIN-PASSWORD"), "")
}

// client is the app's.
func (g *guarded) client() *client.Client {
	g.t.Helper()
	c, err := client.New(g.as("headgate-app", "APP-PASSWORD"), "checkout", client.WithDeadline(20*time.Second), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = c.Close() })
	return c
}

const aclDeployment = "acl-tests"

func (g *guarded) install(d bucket.Definition) {
	g.t.Helper()
	if _, err := g.engine().Install(g.t.Context(), d, bucket.InstallOptions{Deployment: aclDeployment}); err != nil {
		g.t.Fatal(err)
	}
}

// granted is what usage says of a bucket in the last two minutes.
func (g *guarded) granted(name string) int64 {
	g.t.Helper()
	minute := time.Now().Unix() / 60
	rows, err := g.engine().ReadUsage(g.t.Context(), name, minute-1, minute+1)
	if err != nil {
		g.t.Fatal(err)
	}
	var all int64
	for _, row := range rows {
		all += row.Granted
	}
	return all
}

// definitions is all that the definitions of the tests hold.
func (g *guarded) definitions() string {
	g.t.Helper()
	root, all := g.as("", ""), []string{}
	for _, key := range []string{"headgate:{b}", "headgate:{sharded}", "headgate:{sharded/01}"} {
		all = append(all, fmt.Sprint(key, root.HGetAll(g.t.Context(), key).Val(), root.PTTL(g.t.Context(), key).Val()))
	}
	return strings.Join(all, "\n")
}

func (g *guarded) wantNothingRefused() {
	g.t.Helper()
	for _, addr := range g.addrs {
		if log := aclLog(g.t, addr); len(log) > 0 {
			g.t.Errorf("refused at %s:\n%s", addr, strings.Join(slices.Compact(log), "\n"))
		}
	}
}
