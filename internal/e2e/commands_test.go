package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

// commandsOfTheTests are sent by the tests themselves, or are how MONITOR and go-redis say something else.
var commandsOfTheTests = []string{"acl|setuser", "acl|log", "monitor", "echo", "flushall", "config|resetstat", "auth"}

// Whatever Headgate asks of Redis, directly or by a script, every Redis from 6.2 on and every Valkey understands in just
// that form: the product's story and the SDK's run while the server shows each command that reaches it.
func TestRedisIsAskedOnlyWhatEverySupportedServerKnows(t *testing.T) {
	server := testenv.OwnRedis(t, testenv.RedisArgs("--rename-command", "FLUSHALL", providersFlush))
	shown := record(t, server.Addr)
	asRoot(t, server.Addr, "config", "resetstat") // Valkey 9 counts what it asks itself while it starts
	asRoot(t, server.Addr, "acl", words("setuser customer on >CUSTOMER-PASSWORD ~* &* +@all")...)
	newCustomerStory(t, server.Addr).all()
	asRoot(t, server.Addr, providersFlush)
	g := newGuarded(t, server.Addr)
	g.makeUser(userLine(t, "acl", "headgate-app"))
	g.makeUser(userLine(t, "acl", "headgate-admin"))
	g.exerciseAll()

	used := wantKnown(t, shown.finish(t, server.Addr))
	for _, name := range countedCommands(t, server.Addr) {
		name = strings.ToLower(name)
		if !slices.Contains(commandsOfTheTests, name) && name != providersFlush && !isNamed(name, knownForms, refusedForms) {
			t.Errorf("the server has run %s, which is not in the list of what every server knows", name)
		}
	}
	for _, f := range knownForms {
		if !used[f] && !calledByAScript(t)[f.command] {
			t.Errorf("%s %q is in the list, but nobody sends it", f.command, f.args)
		}
	}
}

// wantKnown fails for each command that is in no form that every server knows, and returns the forms that are in use.
func wantKnown(t *testing.T, commands []redisCommand) map[form]bool {
	t.Helper()
	used, wrong := map[form]bool{}, map[string]bool{}
	for _, sent := range commands {
		if slices.Contains(commandsOfTheTests, sent.name) || sent.name == providersFlush {
			continue
		}
		f, err := formOf(sent, knownForms, refusedForms)
		if err != nil {
			wrong[err.Error()] = true
			continue
		}
		used[f] = true
	}
	for message := range maps.Keys(wrong) {
		t.Error(message)
	}
	return used
}

func isNamed(name string, lists ...[]form) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(f form) bool { return f.command == name })
}

// On a Cluster the nodes are asked a little more, to find who has which slots.
func TestClusterIsAskedOnlyWhatEverySupportedServerKnows(t *testing.T) {
	cluster := testenv.Cluster(t, testenv.ClusterReplicas(0))
	g := newGuarded(t, cluster.Addrs()...)
	for _, addr := range g.addrs {
		asRoot(t, addr, "config", "resetstat")
	}
	more := " " + block(t, "acl-cluster")
	g.makeUser(userLine(t, "acl", "headgate-app") + more)
	g.makeUser(userLine(t, "acl", "headgate-admin") + more)
	g.exerciseAll()
	for _, addr := range g.addrs {
		for _, name := range countedCommands(t, addr) {
			if name = strings.ToLower(name); !slices.Contains(commandsOfTheTests, name) && !isNamed(name, knownForms, clusterForms, refusedForms) {
				t.Errorf("a node has run %s, which is not in the list of what every server knows", name)
			}
		}
	}
}

// The list holds nothing that is younger than the oldest Redis that is supported, and each line says so.
func TestListOfCommandsIsOfRedis62(t *testing.T) {
	for _, f := range slices.Concat(knownForms, clusterForms) {
		if laterThan62(f.since) {
			t.Errorf("%s %q is of Redis %s", f.command, f.args, f.since)
		}
	}
	for _, f := range refusedForms {
		if !laterThan62(f.since) {
			t.Errorf("%s is of Redis %s, so it belongs among the known ones", f.command, f.since)
		}
	}
}

// The rights that docs/security.md gives, for Redis 6.2 too, are of commands in the list: an ACL line that names a command
// which the server does not know is refused as a whole.
func TestRightsOfTheDocsNameOnlyKnownCommands(t *testing.T) {
	right := regexp.MustCompile(`[+]([a-z]+(?:\|[a-z]+)?)`)
	for _, kind := range []string{"acl", "acl62"} {
		for _, found := range right.FindAllStringSubmatch(block(t, kind), -1) {
			if !isNamed(found[1], knownForms, clusterForms) {
				t.Errorf("the block %s of docs/security.md gives %s, which is not in the list of what every server knows", kind, found[1])
			}
		}
	}
}

var scriptCall = regexp.MustCompile(`\b(?:redis\.p?)?call\('([A-Z]+)'`)

// calledByAScript are the commands that stand in the Lua files.
func calledByAScript(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../bucket/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("Lua files: %v, %v", files, err)
	}
	all := map[string]bool{}
	for _, file := range files {
		for _, found := range scriptCall.FindAllStringSubmatch(readFile(t, file), -1) {
			all[strings.ToLower(found[1])] = true
		}
	}
	return all
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scriptFunctions are what the scripts use of the functions that Redis gives them, all since 2.6.
var scriptFunctions = []string{"call", "pcall", "error_reply"}

// Also where no test's story leads: each command in a script is in the list, and so is each function of Redis and each
// library.
func TestScriptsCallOnlyWhatEverySupportedServerKnows(t *testing.T) {
	for name := range calledByAScript(t) {
		if !isNamed(name, knownForms) {
			t.Errorf("a script calls %s, which is not in the list of what every server knows", name)
		}
	}
	files, err := filepath.Glob("../bucket/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`\bredis\.(\w+)`)
	library := regexp.MustCompile(`\b(cjson|cmsgpack|bit|os|server)\.\w+`)
	for _, file := range files {
		text := regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(readFile(t, file), "")
		for _, found := range function.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(scriptFunctions, found[1]) {
				t.Errorf("%s uses redis.%s, which not every server has", file, found[1])
			}
		}
		if found := library.FindString(text); found != "" {
			t.Errorf("%s uses %s, which not every server has alike", file, found)
		}
	}
}
