package e2e_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

// Offers of managed Redis keep commands from their customers: AWS ElastiCache, Google Memorystore and Azure Cache refuse
// some by ACL, and others have no such command at all, because it got another name.
const (
	providersFlush = "provider-flushall"

	// customer may not change settings, list keys, look at others or do anything to the server.
	customer = "on >CUSTOMER-PASSWORD ~* &* +@all -config -keys -flushall -flushdb -debug -monitor -script|flush -client|kill -client|list " +
		"-save -bgsave -bgrewriteaof -shutdown -replicaof -slaveof -migrate -acl -module -sync -psync -slowlog -latency -swapdb -failover"
	// strictCustomer may do nothing of what Redis itself calls dangerous, INFO among it.
	strictCustomer = "on >CUSTOMER-PASSWORD ~* &* +@all -@dangerous -@admin"
)

// renamed is how a provider takes commands away from everybody.
var renamed = []string{
	"--rename-command", "FLUSHALL", providersFlush, "--rename-command", "CONFIG", "", "--rename-command", "KEYS", "", "--rename-command", "SAVE", "",
	"--rename-command", "BGSAVE", "", "--rename-command", "DEBUG", "", "--rename-command", "FLUSHDB", "", "--rename-command", "SHUTDOWN", "",
}

// On a managed Redis without CONFIG, KEYS and the like, by ACL and by name, everything works: the start, edits, all
// algorithms, the live pages, the repair after a flush, and the commands of administrators. Nothing is
// asked for in vain, but for what the server says that it can do without.
func TestManagedRedisThatForbidsSettingsAndKeysIsEnough(t *testing.T) {
	for name, c := range map[string]struct {
		rights string
		missed []string // what the product asks for and does without
	}{
		"settings and keys are forbidden":    {customer, nil},
		"all that is dangerous is forbidden": {strictCustomer, []string{"info"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := testenv.OwnRedis(t, testenv.RedisArgs(renamed...))
			asRoot(t, server.Addr, "acl", words("setuser customer "+c.rights)...)
			newCustomerStory(t, server.Addr).all()
			for _, refused := range refusedTo(t, server.Addr, "customer") {
				if !slices.Contains(c.missed, refused) {
					t.Errorf("%s was asked for and refused", refused)
				}
			}
		})
	}
}

// refusedTo are the commands that a user was refused, but for CLIENT SETINFO, which go-redis sends.
func refusedTo(t *testing.T, addr, user string) []string {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	entries, err := rdb.ACLLog(t.Context(), 1000).Result()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, e := range entries {
		if e.Username == user && e.Object != "client|setinfo" {
			all[e.Object] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// customerStory is all that people and an application do with one Redis.
type customerStory struct {
	ground
	t    *testing.T
	url  string // of Redis, as its user
	root *person
	sdk  *client.Client
}

func newCustomerStory(t *testing.T, addr string) *customerStory {
	t.Helper()
	s := &customerStory{t: t, ground: ground{addr: addr, prefix: "headgate"}, url: "redis://customer:CUSTOMER-PASSWORD@" + addr + "/1"}
	s.settings = []string{
		"HEADGATE_MYSQL_DSN=" + portable(t, testenv.MySQL(t)), "HEADGATE_REDIS_URL=" + s.url, "HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_REPAIR_INTERVAL=1s",
	}
	options, err := redis.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(options)
	s.sdk, err = client.New(rdb, "checkout", client.WithDeadline(20*time.Second), client.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.sdk.Close()
		_ = rdb.Close()
	})
	return s
}

// customerBuckets are one of each algorithm.
var customerBuckets = []string{"token_bucket", "fixed_window", "sliding_window", "sliding_log", "concurrency"}

func (s *customerStory) all() {
	s.t.Helper()
	server := startAdmin(s.t, s.settings, "serve")
	s.root = server.login("admin", adminPassword)
	s.root.people()
	for _, algorithm := range customerBuckets {
		s.makeAndEdit(algorithm)
	}
	s.acquire()
	s.watch()
	s.loseAll()
	s.administer()
	for _, name := range customerBuckets {
		read := s.root.must(http.StatusOK, http.MethodGet, "/buckets/"+name, nil, nil)
		s.root.must(http.StatusOK, http.MethodDelete, "/buckets/"+name+"?reason=seen", map[string]string{"If-Match": read.ETag}, nil)
	}
	s.awaitOutcome("token_bucket", client.NotConfigured)
	if err := s.sdk.Close(); err != nil {
		s.t.Errorf("close the SDK: %v", err)
	}
	if err := server.interrupt(); err != nil {
		s.t.Errorf("stop the server: %v", err)
	}
}

func (s *customerStory) definition(algorithm string, maxPermits int) map[string]any {
	d := definition(1, maxPermits, "a managed Redis")
	d["algorithm"], d["period_ms"] = algorithm, 60_000
	if algorithm != "token_bucket" {
		d["rate"], d["max_wait_ms"] = 0, 0
	}
	return d
}

func (s *customerStory) makeAndEdit(algorithm string) {
	s.t.Helper()
	made := s.root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(s.definition(algorithm, 5), algorithm))
	s.root.must(http.StatusOK, http.MethodPut, "/buckets/"+algorithm, map[string]string{"If-Match": made.ETag}, s.definition(algorithm, 3))
	testenv.Eventually(s.t, 20*time.Second, "Redis has the edit of "+algorithm, func() bool {
		return syncState(s.root.must(http.StatusOK, http.MethodGet, "/buckets/"+algorithm, nil, nil).Body) == "synced"
	})
}

func (s *customerStory) acquire() {
	s.t.Helper()
	for _, name := range customerBuckets[:4] {
		for i := range 4 {
			want := client.Granted
			if i == 3 {
				want = client.Limited
			}
			d, err := s.sdk.Acquire(s.t.Context(), name)
			decided(s.t, d, err, want)
		}
	}
	lease, d, err := s.sdk.Enter(s.t.Context(), "concurrency")
	decided(s.t, d, err, client.Granted)
	if lease != nil {
		lease.Release()
	}
}

// watch reads all that the console's live pages show.
func (s *customerStory) watch() {
	s.t.Helper()
	for _, path := range []string{
		"/overview", "/system", "/system/sync", "/buckets/token_bucket/sync", "/buckets/token_bucket/live", "/buckets/token_bucket/usage",
		"/buckets/token_bucket/limited-keys", "/buckets/token_bucket/instances", "/apps/checkout/usage", "/buckets/concurrency/live",
	} {
		s.root.must(http.StatusOK, http.MethodGet, path, nil, nil)
	}
	s.root.must(http.StatusOK, http.MethodPost, "/buckets/token_bucket/try", nil, map[string]any{"app": "checkout", "reason": "to see it"})
	testenv.Eventually(s.t, 20*time.Second, "usage and the application are shown", func() bool {
		usage := s.root.must(http.StatusOK, http.MethodGet, "/buckets/token_bucket/usage", nil, nil)
		who := s.root.must(http.StatusOK, http.MethodGet, "/buckets/token_bucket/instances", nil, nil)
		return strings.Contains(usage.Raw, `"granted":3`) && strings.Contains(who.Raw, `"app":"checkout"`)
	})
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.root.API+"/stream?buckets=token_bucket", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.root.HTTP.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"redis":true`) && strings.Contains(lines.Text(), `"present":true`) {
			return
		}
	}
	s.t.Errorf("the stream ended (%s) without a sample of the bucket", answer.Status)
}

// loseAll has the provider empty Redis: the definitions come back, and grant no burst anew.
func (s *customerStory) loseAll() {
	s.t.Helper()
	asRoot(s.t, s.addr, providersFlush)
	for _, name := range customerBuckets {
		testenv.Eventually(s.t, 20*time.Second, "the definition is back: "+name, func() bool {
			live := s.root.must(http.StatusOK, http.MethodGet, "/buckets/"+name+"/live", nil, nil)
			return live.Body["present"] == true
		})
	}
	s.awaitOutcome("token_bucket", client.Limited)
}

func (s *customerStory) awaitOutcome(name string, want client.Outcome) {
	s.t.Helper()
	testenv.Eventually(s.t, 20*time.Second, fmt.Sprintf("%s is %s", name, want), func() bool {
		d, err := s.sdk.Acquire(s.t.Context(), name)
		return err == nil && d.Err == nil && d.Outcome == want && d.Source != client.SourceLocal
	})
}

func (s *customerStory) administer() {
	s.t.Helper()
	s.root.must(http.StatusOK, http.MethodPost, "/system/reconcile", nil, map[string]any{"reason": "to see it"})
	on := s.root.must(http.StatusCreated, http.MethodPost, "/break-glass", nil, map[string]any{"scope": "all", "reason": "to see it", "confirm": "SHADOW"})
	s.root.must(http.StatusOK, http.MethodDelete, fmt.Sprintf("/break-glass/%v?reason=seen", on.Body["id"]), nil, nil)
	for _, command := range []string{"status", "diff", "repair", "adopt"} {
		if code, printed := runAdmin(s.t, s.settings, "sync", command); code != 0 {
			s.t.Errorf("admin sync %s: exit code %d: %s", command, code, printed)
		}
	}
}
