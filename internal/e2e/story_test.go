package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/sqlrules"
)

// ground is a database and a Redis on which admin servers run.
type ground struct {
	settings []string
	addr     string // of Redis
	prefix   string
}

// portable leads to a database past a look at each statement: one that not all supported databases understand fails the
// test that had it sent.
func portable(t testing.TB, dsn string) string {
	t.Helper()
	return testenv.RecordMySQL(t, dsn, func(statement string) {
		if err := sqlrules.Check(statement); err != nil {
			t.Error(err)
		}
	})
}

const adminPassword = "an-admin-password"

// newGround makes a ground on a shared Redis, or on the given own one.
func newGround(t testing.TB, own *testenv.RedisServer) ground {
	t.Helper()
	g := ground{prefix: "headgate"}
	if own != nil {
		g.addr = own.Addr
	} else {
		g.addr, g.prefix = testenv.Redis(t)
	}
	g.settings = []string{
		"HEADGATE_MYSQL_DSN=" + portable(t, testenv.MySQL(t)), "HEADGATE_REDIS_URL=redis://" + g.addr, "HEADGATE_REDIS_PREFIX=" + g.prefix,
		"HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_REPAIR_INTERVAL=1s",
	}
	return g
}

// people makes the app checkout with olivia as its owner, the auditor audrey, and sam, a member of another app.
func (p *person) people() {
	p.t.Helper()
	for name, role := range map[string]string{"olivia": "member", "audrey": "auditor", "sam": "member"} {
		p.must(http.StatusCreated, http.MethodPost, "/users", nil, map[string]any{"name": name, "display_name": name, "role": role, "password": name + "-password"})
	}
	for app, owner := range map[string]string{"checkout": "olivia", "search": "sam"} {
		p.must(http.StatusCreated, http.MethodPost, "/apps", nil, map[string]any{"name": app, "description": ""})
		p.must(http.StatusOK, http.MethodPut, "/apps/"+app+"/members/"+owner, nil, map[string]any{"role": "owner"})
	}
}

func definition(rate, maxPermits int, reason string) map[string]any {
	return map[string]any{
		"description": "", "labels": map[string]string{}, "apps": []string{"checkout"}, "owners": []string{"olivia"}, "algorithm": "token_bucket",
		"max_permits": maxPermits, "rate": rate, "period_ms": 1000, "partition": "shared", "shards": 1, "mode": "enforce", "max_wait_ms": 10000,
		"on_redis_failure": "open", "after_loss": "refill", "reason": reason,
	}
}

func withName(d map[string]any, name string) map[string]any {
	d["name"] = name
	return d
}

func (g ground) sdk(t testing.TB, app string) *client.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: g.addr})
	c, err := client.New(rdb, app, client.Prefix(g.prefix))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = rdb.Close()
	})
	return c
}

func syncState(body map[string]any) string {
	state, _ := body["sync"].(map[string]any)
	text, _ := state["state"].(string)
	return text
}

// The whole path over HTTP and the SDK: define, be limited, change, and read who changed what.
func TestOneEditTravelsFromTheBrowserToTheApplication(t *testing.T) {
	g := newGround(t, nil)
	a := startAdmin(t, g.settings, "serve")
	a.login("admin", adminPassword).people()
	olivia := a.login("olivia", "olivia-password")

	made := olivia.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 5, "new partner"), "partner-api"))
	if syncState(made.Body) != "synced" {
		t.Fatalf("a save with Redis up says %q, want synced: %s", syncState(made.Body), made.Raw)
	}
	if by := made.Body["created_by"]; by != "olivia" {
		t.Errorf("created_by is %v", by)
	}
	sdk := g.sdk(t, "checkout")
	granted := 0
	for range 20 {
		d, err := sdk.Acquire(t.Context(), "partner-api")
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed {
			granted++
		}
	}
	if granted < 5 || granted > 7 {
		t.Errorf("%d of 20 calls granted by a bucket of 5 at 1/s", granted)
	}

	edited := olivia.must(http.StatusOK, http.MethodPut, "/buckets/partner-api", map[string]string{"If-Match": made.ETag}, definition(2, 50, "the partner allows more"))
	testenv.Eventually(t, time.Second, "the SDK acts on the new revision", func() bool {
		d, err := sdk.Acquire(t.Context(), "partner-api")
		return err == nil && fmt.Sprint(d.Revision) == fmt.Sprint(edited.Body["revision"]) && d.Limit == 50
	})

	read := a.login("audrey", "audrey-password").must(http.StatusOK, http.MethodGet, "/buckets/partner-api/changes", nil, nil)
	if !strings.Contains(read.Raw, "the partner allows more") || !strings.Contains(read.Raw, `"actor":"olivia"`) {
		t.Errorf("the auditor does not find who changed what: %s", read.Raw)
	}
	a.login("sam", "sam-password").must(http.StatusNotFound, http.MethodGet, "/buckets/partner-api", nil, nil)
}

// With Redis down a save succeeds, says pending, and reaches Redis by itself when it is back.
func TestSaveWhileRedisIsDownArrivesLater(t *testing.T) {
	server := testenv.OwnRedis(t)
	g := newGround(t, server)
	a := startAdmin(t, g.settings, "serve")
	root := a.login("admin", adminPassword)
	root.people()
	server.Stop()
	made := root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 5, "during an outage"), "late"))
	if syncState(made.Body) != "pending" {
		t.Errorf("a save without Redis says %q, want pending", syncState(made.Body))
	}
	root.must(http.StatusOK, http.MethodGet, "/buckets?search=late", nil, nil)
	server.Start(t)
	testenv.Eventually(t, 15*time.Second, "the definition is in Redis", func() bool {
		return syncState(root.must(http.StatusOK, http.MethodGet, "/buckets/late", nil, nil).Body) == "synced"
	})
	d, err := g.sdk(t, "checkout").Acquire(t.Context(), "late")
	if err != nil || d.Outcome != client.Granted {
		t.Errorf("the first acquire after the outage: %+v, %v", d, err)
	}
}

// Two servers that start together on an empty database make one schema and one first admin, and an edit at one is seen
// at the other.
func TestTwoServersStartTogetherAndAgree(t *testing.T) {
	g := newGround(t, nil)
	one, two := spawnAdmin(t, g.settings, "serve"), spawnAdmin(t, g.settings, "serve")
	one.WaitReady()
	two.WaitReady()
	root := one.login("admin", adminPassword)
	root.people()
	made := root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 5, "on the first"), "both"))
	other := two.login("admin", adminPassword)
	other.must(http.StatusOK, http.MethodPut, "/buckets/both", map[string]string{"If-Match": made.ETag}, definition(2, 6, "on the second"))
	stale := root.must(http.StatusPreconditionFailed, http.MethodPut, "/buckets/both", map[string]string{"If-Match": made.ETag}, definition(3, 7, "late"))
	if current, _ := stale.Body["current"].(map[string]any); current["rate"] != float64(2) {
		t.Errorf("the stale answer does not carry the present bucket: %s", stale.Raw)
	}
}

// Ctrl-C while requests run: every one that was answered with success is in the database afterwards.
func TestStopLosesNothingThatWasAnswered(t *testing.T) {
	g := newGround(t, nil)
	a := startAdmin(t, g.settings, "serve")
	root := a.login("admin", adminPassword)
	root.people()
	answered := make(chan []string)
	go func() {
		var names []string
		for i := 0; ; i++ {
			name := fmt.Sprintf("bucket-%d", i)
			if status, ok := root.try(http.MethodPost, "/buckets", withName(definition(1, 5, "load"), name)); !ok {
				break
			} else if status == http.StatusCreated {
				names = append(names, name)
			}
		}
		answered <- names
	}()
	testenv.Eventually(t, 10*time.Second, "writes are under way", func() bool {
		return root.call(http.MethodGet, "/buckets/bucket-5", nil, nil).Status == http.StatusOK
	})
	if err := a.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v, want a clean exit", err)
	}
	names := <-answered
	again := startAdmin(t, g.settings, "serve").login("admin", adminPassword)
	for _, name := range names {
		again.must(http.StatusOK, http.MethodGet, "/buckets/"+name, nil, nil)
	}
}
