package e2e_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// documentedCommands are the code blocks of a section of docs/operations.md.
func documentedCommands(t *testing.T, section string) []string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(raw), "\n## "+section+"\n")
	if !found {
		t.Fatalf("docs/operations.md has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var commands []string
	for _, block := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(text, -1) {
		commands = append(commands, block[1])
	}
	return commands
}

// operator is somebody at a shell, whose database clients know one server, as ~/.my.cnf tells them.
type operator struct {
	t      *testing.T
	folder string
}

func (o operator) at(server *mysql.Config) operator {
	o.t.Helper()
	host, port, _ := strings.Cut(server.Addr, ":")
	settings := fmt.Sprintf("[client]\nprotocol=tcp\nhost=%s\nport=%s\nuser=%s\npassword=%s\n", host, port, server.User, server.Passwd)
	if err := os.WriteFile(filepath.Join(o.folder, ".my.cnf"), []byte(settings), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return o
}

func (o operator) run(command string) {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir, cmd.Env = o.folder, append(os.Environ(), "HOME="+o.folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("%s%v\n%s", command, err, out)
	}
}

// databaseServer starts a server with an empty database "headgate", which the documented commands name.
func databaseServer(t *testing.T) *mysql.Config {
	t.Helper()
	server, err := mysql.ParseDSN(testenv.OwnMySQL(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	db := connect(t, server)
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE headgate CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	server.DBName = "headgate"
	return server
}

func connect(t *testing.T, server *mysql.Config) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", server.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// farAway is the same server over a slow network, so that a dump takes its time.
func farAway(t *testing.T, server *mysql.Config) *mysql.Config {
	t.Helper()
	proxy := testenv.Proxy(t, server.Addr)
	proxy.Delay(t, 5*time.Millisecond)
	far := server.Clone()
	far.Addr = proxy.Addr
	return far
}

const restoreBuckets = 6

func restoreBucket(n int) string { return fmt.Sprintf("bucket-%02d", n) }

// editors change buckets, one bucket each, as fast as they are answered.
type editors struct {
	answered [restoreBuckets]atomic.Int64 // the newest revision that was answered
	under    sync.WaitGroup
	stop     chan struct{}
}

func startEditors(root *person) *editors {
	e := &editors{stop: make(chan struct{})}
	for n := range e.answered {
		e.answered[n].Store(1)
		e.under.Go(func() {
			for edit := 1; ; edit++ {
				select {
				case <-e.stop:
					return
				default:
				}
				revision := e.answered[n].Load()
				body := definition(1+edit%1000, 100+edit%1000, fmt.Sprintf("edit %d", edit))
				if !root.tryEdit("/buckets/"+restoreBucket(n), revision, body) {
					return
				}
				e.answered[n].Store(revision + 1)
			}
		})
	}
	return e
}

// tryEdit saves a bucket; it may be used from any goroutine.
func (p *person) tryEdit(path string, revision int64, body map[string]any) bool {
	status, ok := p.try(http.MethodPut, path, body, "If-Match", fmt.Sprintf("%q", fmt.Sprint(revision)))
	if !ok || status != http.StatusOK {
		p.t.Errorf("edit of %s: %d", path, status)
	}
	return ok && status == http.StatusOK
}

func (e *editors) count() (answered int64) {
	for n := range e.answered {
		answered += e.answered[n].Load()
	}
	return answered
}

func (e *editors) end() {
	close(e.stop)
	e.under.Wait()
}

// A dump that was made by the documented commands while people edited and applications were limited holds every save that
// had been answered, at one moment. Loaded into a fresh server beside the Redis that went on, it comes into force: each
// bucket above the revision that Redis had, with a row by the system, and the history verifies.
func TestDumpMadeUnderLoadIsRestored(t *testing.T) {
	commands := documentedCommands(t, "Backup and restore")
	if len(commands) < 2 {
		t.Fatalf("the section has the commands %q", commands)
	}
	g, first := newGround(t, nil), databaseServer(t)
	shell := operator{t, t.TempDir()}
	a := startAdmin(t, append(g.settings, "HEADGATE_MYSQL_DSN="+first.FormatDSN()), "serve")
	root := a.login("admin", adminPassword)
	root.people()
	for n := range restoreBuckets {
		root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 100, "made"), restoreBucket(n)))
	}
	stopCalls := g.callAll(t)
	defer stopCalls()
	load := startEditors(root)
	testenv.Eventually(t, time.Minute, "edits are under way", func() bool { return load.count() > 5*restoreBuckets })

	var before [restoreBuckets]int64
	for n := range before {
		before[n] = load.answered[n].Load()
	}
	began := load.count()
	shell.at(farAway(t, first)).run(commands[0])
	dumped := load.count()
	t.Logf("%d edits were answered during the dump", dumped-began)
	if dumped == began {
		t.Error("nobody edited during the dump")
	}
	testenv.Eventually(t, time.Minute, "edits go on after the dump", func() bool { return load.count() > dumped+2*restoreBuckets })
	load.end()
	ahead := g.ahead(t, root, load)
	if err := a.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v", err)
	}

	second := databaseServer(t)
	shell.at(second).run(commands[1])
	wasDumpedAtOneMoment(t, connect(t, second), before)
	g.settings = append(g.settings, "HEADGATE_MYSQL_DSN="+second.FormatDSN())
	restored := startAdmin(t, g.settings, "serve")
	again := restored.login("admin", adminPassword)
	for n := range restoreBuckets {
		testenv.Eventually(t, time.Minute, restoreBucket(n)+" is in Redis", func() bool {
			got := again.must(http.StatusOK, http.MethodGet, "/buckets/"+restoreBucket(n), nil, nil).Body
			return syncState(got) == "synced" && got["revision"].(float64) > float64(ahead[n])
		})
	}
	g.isInForce(t, again)
	if code, printed := runAdmin(t, g.settings, "sync", "diff"); code != 0 {
		t.Errorf("Redis differs from the restored database: %d\n%s", code, printed)
	}
	if code, printed := runAdmin(t, g.settings, "audit", "verify"); code != 0 {
		t.Errorf("the restored history: %d\n%s", code, printed)
	}
}

// callAll has an application acquire from all buckets, 500 times a second, until it is told to stop.
func (g ground) callAll(t *testing.T) (stop func()) {
	t.Helper()
	sdk, done := g.sdk(t, "checkout"), make(chan struct{})
	var calls sync.WaitGroup
	calls.Go(func() {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-pace.C:
			}
			if _, err := sdk.Acquire(t.Context(), restoreBucket(n%restoreBuckets)); err != nil {
				t.Errorf("acquire: %v", err)
				return
			}
		}
	})
	return func() { close(done); calls.Wait() }
}

// ahead deletes one bucket and makes a new one, which the dump knows nothing of, and returns the revision that Redis has of
// each bucket in the dump.
func (g ground) ahead(t *testing.T, root *person, load *editors) [restoreBuckets]int64 {
	t.Helper()
	last := restoreBuckets - 1
	match := map[string]string{"If-Match": fmt.Sprintf("%q", fmt.Sprint(load.answered[last].Load()))}
	root.must(http.StatusOK, http.MethodDelete, "/buckets/"+restoreBucket(last)+"?reason=gone", match, nil)
	root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 100, "after the dump"), "after-the-dump"))
	var ahead [restoreBuckets]int64
	for n, found := range g.installed(t) {
		ahead[n] = found.Revision
		if want := load.answered[n].Load(); n != last && found.Revision != want {
			t.Errorf("%s is at revision %d in Redis, answered was %d", restoreBucket(n), found.Revision, want)
		}
	}
	return ahead
}

func (g ground) installed(t *testing.T) []bucket.Installed {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: g.addr})
	defer func() { _ = rdb.Close() }()
	names := make([]string, restoreBuckets)
	for n := range names {
		names[n] = restoreBucket(n)
	}
	found, err := bucket.New(rdb, g.prefix).Read(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wasDumpedAtOneMoment: each bucket stands at the revision of its newest row in the history, none older than what was
// answered before the dump began, and the history's head is its last row.
func wasDumpedAtOneMoment(t *testing.T, db *sql.DB, before [restoreBuckets]int64) {
	t.Helper()
	for n, answered := range before {
		var row, newest int64
		const both = "SELECT b.revision, (SELECT MAX(c.revision) FROM changes c WHERE c.target_kind = 'bucket' AND c.target = b.name) FROM buckets b WHERE b.name = ?"
		if err := db.QueryRowContext(t.Context(), both, restoreBucket(n)).Scan(&row, &newest); err != nil {
			t.Fatal(err)
		}
		if row < answered || row != newest {
			t.Errorf("%s was dumped at revision %d, its history ends at %d, answered was %d", restoreBucket(n), row, newest, answered)
		}
	}
	var head, last int64
	if err := db.QueryRowContext(t.Context(), "SELECT (SELECT seq FROM audit_head), (SELECT MAX(id) FROM changes)").Scan(&head, &last); err != nil {
		t.Fatal(err)
	}
	if head != last {
		t.Errorf("the history's head is at %d, its last row is %d", head, last)
	}
}

// isInForce: Redis has each restored definition, and the history says that the system raised it. What the dump did not know is left alone.
func (g ground) isInForce(t *testing.T, root *person) {
	t.Helper()
	for n, found := range g.installed(t) {
		name := restoreBucket(n)
		row := root.must(http.StatusOK, http.MethodGet, "/buckets/"+name, nil, nil).Body
		if fmt.Sprint(found.Revision) != fmt.Sprint(row["revision"]) || fmt.Sprint(found.MaxPermits) != fmt.Sprint(row["max_permits"]) || fmt.Sprint(found.Rate) != fmt.Sprint(row["rate"]) {
			t.Errorf("%s: Redis has %+v, the database %v", name, found.Definition, row)
		}
		history := root.must(http.StatusOK, http.MethodGet, "/buckets/"+name+"/changes?limit=1", nil, nil)
		if !strings.Contains(history.Raw, `"action":"bucket.raise"`) || !strings.Contains(history.Raw, `"actor":"system"`) {
			t.Errorf("%s: the history's newest row is %s", name, history.Raw)
		}
	}
	root.must(http.StatusNotFound, http.MethodGet, "/buckets/after-the-dump", nil, nil)
	d, err := g.sdk(t, "checkout").Acquire(t.Context(), "after-the-dump")
	if err != nil || !d.Allowed {
		t.Errorf("a bucket that only Redis has is no longer in force: %+v, %v", d, err)
	}
}

// The embedded database's folder, copied and put back by the documented commands, is as it was; the history verifies.
func TestCopyOfTheEmbeddedDatabaseIsRestored(t *testing.T) {
	commands := documentedCommands(t, "Backup and restore")
	if len(commands) != 4 {
		t.Fatalf("the section has the commands %q", commands)
	}
	shell := operator{t, t.TempDir()}
	settings := embeddedSettings(filepath.Join(shell.folder, "data"))
	// edit halves the rate and ends the server.
	edit := func(reason string) answer {
		a := startAdmin(t, settings, "serve", "--embedded")
		olivia := a.login("olivia", "headgate-demo")
		before := olivia.must(http.StatusOK, http.MethodGet, "/buckets/partner-api", nil, nil)
		body := definition(int(before.Body["rate"].(float64))/2, 60, reason)
		body["apps"] = before.Body["apps"]
		after := olivia.must(http.StatusOK, http.MethodPut, "/buckets/partner-api", map[string]string{"If-Match": before.ETag}, body)
		if err := a.interrupt(); err != nil {
			t.Errorf("Ctrl-C ended with %v", err)
		}
		return after
	}
	kept := edit("before the copy")
	shell.run(commands[2])
	edit("after the copy")
	shell.run(commands[3])
	again := startAdmin(t, settings, "serve", "--embedded").login("olivia", "headgate-demo")
	if got := again.must(http.StatusOK, http.MethodGet, "/buckets/partner-api", nil, nil); got.ETag != kept.ETag || got.Body["rate"] != kept.Body["rate"] {
		t.Errorf("restored was %s, copied %s", got.Raw, kept.Raw)
	}
	if code, printed := runAdmin(t, settings, "audit", "verify", "--embedded"); code != 0 {
		t.Errorf("the restored history: %d\n%s", code, printed)
	}
}
