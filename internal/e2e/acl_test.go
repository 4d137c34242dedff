package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// Under the least rights of docs/security.md all of the SDK and of the admin server works, on Redis 7 and by the list
// for 6.2, and nothing of it is ever refused: the ACL log stays empty.
func TestTheLeastRightsOfTheDocsAreEnough(t *testing.T) {
	for _, block := range []string{"acl", "acl62"} {
		t.Run(block, func(t *testing.T) {
			server := testenv.OwnRedis(t)
			g := newGuarded(t, server.Addr)
			g.makeUser(userLine(t, block, "headgate-app"))
			g.makeUser(userLine(t, "acl", "headgate-admin"))
			g.exerciseAll()
			g.wantNothingRefused()
		})
	}
}

// On a Cluster a few more commands are needed, on every node.
func TestTheLeastRightsOfTheDocsAreEnoughOnCluster(t *testing.T) {
	cluster := testenv.Cluster(t, testenv.ClusterReplicas(0))
	g := newGuarded(t, cluster.Addrs()...)
	more := " " + block(t, "acl-cluster")
	g.makeUser(userLine(t, "acl", "headgate-app") + more)
	g.makeUser(userLine(t, "acl", "headgate-admin") + more)
	g.exerciseAll()
	g.wantNothingRefused()
}

// Where Sentinels ask for a password, the finder's rights are enough to find the master.
func TestTheRightsOfTheDocsFindTheMasterOnSentinels(t *testing.T) {
	sentinels := testenv.Sentinel(t)
	finder := userLine(t, "acl-sentinel", "headgate-finder")
	for _, addr := range sentinels.SentinelAddrs() {
		asRoot(t, addr, "acl", words("setuser "+strings.TrimPrefix(finder, "user "))...)
	}
	rdb := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "headgate", SentinelAddrs: sentinels.SentinelAddrs(), SentinelUsername: "headgate-finder", SentinelPassword: "FINDER-PASSWORD",
	})
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for _, addr := range sentinels.SentinelAddrs() {
		if log := aclLog(t, addr); len(log) > 0 {
			t.Errorf("refused at %s: %v", addr, log)
		}
	}
}

// An app can't change what limits it, nor reach anything that is not Headgate's: not by commands, nor by scripts of its
// own, whether they name their keys or not.
func TestAnAppCannotRewriteADefinitionNorReachOtherKeys(t *testing.T) {
	g := newGuarded(t, testenv.OwnRedis(t).Addr)
	g.makeUser(userLine(t, "acl", "headgate-app"))
	g.makeUser(userLine(t, "acl", "headgate-admin"))
	g.install(tokens("b", bucket.PartitionShared))
	g.install(sharded("sharded"))
	root := g.as("", "")
	if err := root.Set(t.Context(), "other:key", "theirs", 0).Err(); err != nil {
		t.Fatal(err)
	}
	app := g.as("headgate-app", "APP-PASSWORD")
	before := g.definitions()
	for _, attempt := range [][]any{
		{"hset", "headgate:{b}", "head", "x"}, {"hdel", "headgate:{b}", "head"}, {"del", "headgate:{b}"}, {"unlink", "headgate:{b}"},
		{"hset", "headgate:{sharded/01}", "head", "x"}, {"del", "headgate:{sharded/01}"}, {"hincrby", "headgate:{b}", "rev", 1},
		{"expire", "headgate:{b}", 1}, {"pexpire", "headgate:{b}", 1}, {"persist", "headgate:{b}"}, {"set", "headgate:{b}", "x"}, {"psetex", "headgate:{b}", 1, "x"},
		{"rename", "headgate:{b}:s", "headgate:{b}"}, {"copy", "headgate:{b}:s", "headgate:{b}", "replace"}, {"restore", "headgate:{b}", 0, "x"},
		{"eval", "return redis.call('HSET', KEYS[1], 'head', 'x')", 1, "headgate:{b}"},
		{"eval", "return redis.call('DEL', 'headgate:{b}')", 0},
		{"eval", "return redis.call('HINCRBY', 'headgate:{b}', 'rev', 1)", 1, "headgate:{b}:s"},
		{"eval", "return redis.call('GET', 'other:key')", 0}, {"eval", "return redis.call('MGET', KEYS[1])", 1, "other:key"},
		{"eval", "return redis.call('FLUSHALL')", 0},
		{"get", "other:key"}, {"mget", "other:key"}, {"set", "other:key", "mine"}, {"del", "other:key"},
		{"set", "headgate:owner", "me"}, {"set", "headgate:epoch", 1}, {"srem", "headgate:index", "b"}, {"smembers", "headgate:index"}, {"hgetall", "headgate:clients"},
		{"flushall"}, {"flushdb"}, {"config", "get", "*"}, {"config", "set", "maxmemory", 1}, {"keys", "*"}, {"scan", 0}, {"randomkey"},
		{"script", "flush"}, {"script", "load", "return 1"}, {"function", "flush"}, {"acl", "list"}, {"acl", "whoami"}, {"client", "list"}, {"client", "kill", "x"},
		{"shutdown"}, {"replicaof", "no", "one"}, {"monitor"}, {"publish", "x", "y"}, {"subscribe", "x"}, {"info"}, {"save"},
	} {
		err := app.Do(t.Context(), attempt...).Err()
		if err == nil || !isRefusal(err) {
			t.Errorf("%v: %v, want a refusal for want of rights", attempt, err)
		}
	}
	if after := g.definitions(); after != before {
		t.Errorf("the definitions changed: %q\nwere %q", after, before)
	}
	if got := root.Get(t.Context(), "other:key").Val(); got != "theirs" {
		t.Errorf("another's key is now %q", got)
	}
}

// The docs say that the list for Redis 6.2 lets an app rewrite definitions, and what it can't do even so.
func TestOnRedis62AnAppCanRewriteDefinitionsAsTheDocsSay(t *testing.T) {
	g := newGuarded(t, testenv.OwnRedis(t).Addr)
	g.makeUser(userLine(t, "acl62", "headgate-app"))
	g.makeUser(userLine(t, "acl", "headgate-admin"))
	g.install(tokens("b", bucket.PartitionShared))
	app := g.as("headgate-app", "APP-PASSWORD")
	if err := app.HSet(t.Context(), "headgate:{b}", "max", 5).Err(); err != nil {
		t.Errorf("the docs warn of what is not so: %v", err)
	}
	for _, attempt := range [][]any{
		{"get", "other:key"}, {"mget", "other:key"}, {"hset", "other", "a", "b"}, {"set", "headgate:owner", "me"}, {"flushall"}, {"config", "get", "*"}, {"keys", "*"},
		{"eval", "return redis.call('MGET', 'other:key')", 0},
	} {
		if err := app.Do(t.Context(), attempt...).Err(); err == nil || !isRefusal(err) {
			t.Errorf("%v: %v, want a refusal for want of rights", attempt, err)
		}
	}
}

// With a pattern for some buckets' names in place of the star an app reaches only those.
func TestAnAppMayBeHeldToBucketsByName(t *testing.T) {
	g := newGuarded(t, testenv.OwnRedis(t).Addr)
	g.makeUser(strings.ReplaceAll(userLine(t, "acl", "headgate-app"), "{*}", "{pay-*}"))
	g.makeUser(userLine(t, "acl", "headgate-admin"))
	g.install(tokens("pay-card", bucket.PartitionShared))
	g.install(tokens("mail", bucket.PartitionShared))
	c := g.client()
	if d, err := c.Acquire(t.Context(), "pay-card"); err != nil || !d.Allowed || d.Err != nil {
		t.Errorf("pay-card: %+v, %v", d, err)
	}
	if d, err := c.Acquire(t.Context(), "mail"); err != nil || d.Err == nil || !isRefusal(d.Err) {
		t.Errorf("mail: %+v, %v; want Unavailable for want of rights", d, err)
	}
	testenv.Eventually(t, 20*time.Second, "the permit is counted", func() bool { return g.granted("pay-card") == 1 })
}
