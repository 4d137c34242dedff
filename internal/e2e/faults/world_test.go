package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// The buckets of every world. Vault and burst hardly refill, so that what is granted beyond their limit shows.
const (
	vault  = "vault"  // starts from empty after a loss of data
	burst  = "burst"  // starts full after a loss of data
	stream = "stream" // refills quickly: it tells whether anything is granted at all
	notes  = 3        // buckets that nobody asks for, and whose limits are edited all the time

	vaultPermits  = 600 // some seconds of demand, so that most faults begin before the last of them is granted
	streamPermits = 20
	streamRate    = 100 // a second; its callers ask for twice as much
)

func isNote(name string) bool { return strings.HasPrefix(name, "note-") }

func definition(maxPermits, rate, periodMillis int, afterLoss string) map[string]any {
	return map[string]any{
		"description": "", "labels": map[string]string{}, "apps": []string{shop}, "owners": []string{"admin"}, "algorithm": "token_bucket",
		"max_permits": maxPermits, "rate": rate, "period_ms": periodMillis, "partition": "shared", "shards": 1, "mode": "enforce",
		"max_wait_ms": 0, "on_redis_failure": "closed", "after_loss": afterLoss, "reason": "the world",
	}
}

// definitions are those of all buckets, by name.
func definitions() map[string]map[string]any {
	const hour = 3_600_000
	all := map[string]map[string]any{
		vault:  definition(vaultPermits, 1, hour, "refill"),
		burst:  definition(vaultPermits, 1, hour, "full"),
		stream: definition(streamPermits, streamRate, 1000, "refill"),
	}
	for i := range notes {
		all[fmt.Sprintf("note-%d", i)] = definition(1000, 1, 1000, "full")
	}
	return all
}

// ground is what admin servers and applications stand on.
type ground struct {
	database store.Config                 // as the test itself opens it
	settings []string                     // of the servers: where the database and Redis are
	args     []string                     // of `admin serve`
	connect  func() redis.UniversalClient // as applications do
	own      redis.UniversalClient        // the test's connection, which no fault of the network is on
	deadline time.Duration                // of the applications' calls
}

// onOwnRedis is a ground on a shared database server and a Redis of its own.
func onOwnRedis(t *testing.T, opts ...testenv.RedisOption) (ground, *testenv.RedisServer) {
	t.Helper()
	server := testenv.OwnRedis(t, opts...)
	return onRedis(t, testenv.MySQL(t), server.Addr, server.Addr), server
}

// onRedis is a ground on a database and a Redis that servers and applications reach at one address, and the test at another.
func onRedis(t *testing.T, dsn, addr, own string) ground {
	t.Helper()
	g := ground{
		database: store.Config{MySQLDSN: dsn}, settings: onServers(dsn, "redis://"+addr),
		connect: func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: addr}) },
		own:     redis.NewClient(&redis.Options{Addr: own}), deadline: hasty,
	}
	t.Cleanup(func() { _ = g.own.Close() })
	return g
}

// calm is the ground for faults that applications are not to notice.
func (g ground) calm() ground {
	g.deadline = patient
	return g
}

// onServers are the settings of a server on a database and a Redis. They leave no comparison of everything to mend what the
// outbox and the marks of Redis are there for.
func onServers(dsn, url string) []string {
	return []string{
		"HEADGATE_MYSQL_DSN=" + dsn, "HEADGATE_REDIS_URL=" + url, "HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_REPAIR_INTERVAL=1h",
	}
}

// comparing is the ground for faults that only a comparison of everything finds: what Redis lost of a single bucket, and what
// a replica had not seen.
func (g ground) comparing() ground {
	g.settings = append(g.settings, "HEADGATE_REPAIR_INTERVAL=1s")
	return g
}

// world is a ground with admin servers, a person who edits, and applications under load.
type world struct {
	*testing.T
	ground
	servers []*adminenv.Server
	person  *person
	edits   *edits
	load    load
	began   time.Time
}

// newWorld starts so many servers, defines the buckets and lets everybody begin.
func newWorld(t *testing.T, g ground, servers int) *world {
	t.Helper()
	w := &world{T: t, ground: g}
	for range servers {
		w.servers = append(w.servers, adminenv.Serve(t, admin, g.settings, append([]string{"serve"}, g.args...)...))
	}
	w.populate()
	w.edits = startEdits(t, w.person, definitions())
	w.load = startLoad(t, g.connect, g.deadline, vault, burst, stream)
	w.edits.goOn(t, 10)
	w.load[stream].IsGranted(t, 50)
	return w
}

// populate logs the admin in and defines the app and the buckets.
func (w *world) populate() {
	w.Helper()
	w.person = login(w.T, w.servers...)
	w.person.must(http.StatusCreated, http.MethodPost, "/apps", 0, map[string]any{"name": shop, "description": ""})
	w.began = time.Now()
	for name, d := range definitions() {
		d["name"] = name
		w.person.must(http.StatusCreated, http.MethodPost, "/buckets", 0, d)
	}
}

// drained waits until vault and burst have granted all that they have.
func (w *world) drained() {
	w.Helper()
	for _, name := range []string{vault, burst} {
		testenv.Eventually(w, comeback, name+" is empty", func() bool {
			r := w.load[name].SoFar()
			return r.Granted+r.Uncertain >= vaultPermits
		})
	}
}

// noticedNothing demands that every call of applications got a verdict of Redis.
func (w *world) noticedNothing() {
	w.Helper()
	for _, name := range []string{vault, burst, stream} {
		if r := w.load[name].SoFar(); r.Unavailable > 0 {
			w.Errorf("%d calls to %s had no verdict: %v", r.Unavailable, name, r.Reasons)
		}
	}
}

// goesOn waits until everything has worked for a while.
func (w *world) goesOn() {
	w.Helper()
	w.edits.goOn(w.T, 20)
	w.load[stream].IsGranted(w, 50)
}
