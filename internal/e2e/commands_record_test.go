package e2e_test

import (
	"bufio"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/testenv"
)

// redisCommand is what a server was asked, by a client or by a script.
type redisCommand struct {
	name   string // in small letters; of a command with subcommands both, "client|setname"
	args   []string
	unread bool // the arguments could not be read: Valkey 8.1 shows quotes inside them as they are
}

// containers are the commands whose first argument is part of the name.
var containers = map[string]bool{
	"acl": true, "client": true, "cluster": true, "config": true, "script": true, "function": true, "object": true, "memory": true, "latency": true, "xinfo": true, "xgroup": true, "pubsub": true,
}

func newCommand(words []string) redisCommand {
	name := strings.ToLower(words[0])
	if containers[name] && len(words) > 1 {
		return redisCommand{name: name + "|" + strings.ToLower(words[1]), args: words[2:]}
	}
	return redisCommand{name: name, args: words[1:]}
}

// recording is what MONITOR shows of one server.
type recording struct {
	mu       sync.Mutex
	commands []redisCommand
	last     string // the marker that was seen last
}

const markerCommand = "echo"

// record lets MONITOR show what a server is asked from now on.
func record(t *testing.T, addr string) *recording {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		t.Fatal(err)
	}
	if answer, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(answer, "+OK") {
		t.Fatalf("MONITOR: %q, %v", answer, err)
	}
	r, done := &recording{}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			r.take(line)
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return r
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// take reads a line such as: +1700000000.000000 [0 lua] "hset" "key" "field" "value"
func (r *recording) take(line string) {
	_, after, _ := strings.Cut(line, "] ")
	var words []string
	for _, word := range quoted.FindAllString(after, -1) {
		if plain, err := strconv.Unquote(word); err == nil {
			word = plain
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.EqualFold(words[0], markerCommand) {
		r.last = words[1]
		return
	}
	command := newCommand(words)
	command.unread = strings.TrimSpace(quoted.ReplaceAllString(after, "")) != ""
	r.commands = append(r.commands, command)
}

// finish waits until everything that was sent up to now has been shown, and returns it.
func (r *recording) finish(t *testing.T, addr string) []redisCommand {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	if err := rdb.Echo(t.Context(), t.Name()).Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 20*time.Second, "the server has shown all that it was asked", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.last == t.Name()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commands
}

// countedCommands are the names of all commands that a server has run since its statistics began: some of them, such as
// those of administrators, MONITOR does not show.
func countedCommands(t *testing.T, addr string) []string {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	text, err := rdb.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^cmdstat_([^:]+):`).FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	if len(names) == 0 {
		t.Fatalf("INFO commandstats tells of no command: %q", text)
	}
	return names
}
