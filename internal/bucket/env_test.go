package bucket_test

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const deployment = "deployment-1"

// env is one Redis with an engine on it. On miniredis the clock stands still and moves when told; on a real Redis time
// that is told to pass is taken off every instant stored.
type env struct {
	*bucket.Engine
	rdb  *redis.Client
	mini *miniredis.Miniredis // nil on a real Redis
	set  *setRedis            // nil but for a real Redis whose clock can be set
	now  time.Time            // the clock of either
	// ahead is how far the tests' time runs ahead of the Redis's, on a real Redis.
	ahead time.Duration
}

// onBoth runs a test of the contract on a real Redis and on miniredis.
func onBoth(t *testing.T, test func(t *testing.T, e *env)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) { test(t, realEnv(t)) })
	t.Run("miniredis", func(t *testing.T) { test(t, miniEnv(t)) })
}

func realEnv(t testing.TB) *env {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	return newEnv(t, addr, prefix)
}

var miniStart = time.Date(2026, 11, 21, 12, 0, 0, 123_457_000, time.UTC)

func miniEnv(t testing.TB) *env {
	t.Helper()
	m := testenv.Mini(t)
	e := newEnv(t, m.Addr(), "")
	e.mini, e.now = m, miniStart
	m.SetTime(e.now)
	return e
}

func newEnv(t testing.TB, addr, prefix string) *env {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	return &env{Engine: bucket.New(rdb, prefix), rdb: rdb}
}

// pass lets time pass for the buckets named; negative means that Redis's clock is set back.
func (e *env) pass(t testing.TB, d time.Duration, names ...string) {
	t.Helper()
	d = d.Truncate(time.Microsecond)
	if e.set != nil {
		e.set.pass(t, e, d)
		return
	}
	if e.mini != nil {
		e.now = e.now.Add(d)
		e.mini.SetTime(e.now)
		for _, key := range e.mini.Keys() {
			if ttl := e.mini.TTL(key); ttl > 0 {
				if ttl -= d; ttl > 0 {
					e.mini.SetTTL(key, ttl)
				} else {
					e.mini.Del(key)
				}
			}
		}
		return
	}
	e.ahead += d
	for _, name := range names {
		e.age(t, name, d)
	}
}

// age takes d off every instant that a bucket's keys hold, and off their TTL.
func (e *env) age(t testing.TB, name string, d time.Duration) {
	t.Helper()
	shards := 1
	if n := e.rdb.HGet(t.Context(), e.DefinitionKey(name), "shards").Val(); n != "" {
		shards = int(atoi(t, n))
	}
	for _, def := range e.DefinitionKeys(name, shards) {
		e.ageDefinition(t, def, d)
		keys, err := e.rdb.Keys(t.Context(), def+":s*").Result()
		check(t, err)
		for _, key := range keys {
			e.ageState(t, key, d)
		}
	}
}

func (e *env) ageDefinition(t testing.TB, def string, d time.Duration) {
	t.Helper()
	ctx := t.Context()
	earlier := func(us string) string { return strconv.FormatInt(atoi(t, us)-d.Microseconds(), 10) }
	head := e.head(t, def)
	if len(head) < 16 {
		return // a tombstone, or nothing
	}
	head[headAt] = earlier(head[headAt])
	if head[headBorn] != "0" {
		head[headBorn] = earlier(head[headBorn])
	}
	var rules []string
	for _, rule := range strings.FieldsFunc(e.rdb.HGet(ctx, def, "hist").Val(), func(r rune) bool { return r == ';' }) {
		part := strings.Split(rule, ",")
		part[1] = earlier(part[1])
		rules = append(rules, strings.Join(part, ","))
	}
	check(t, e.rdb.HSet(ctx, def, "head", strings.Join(head, " "), "hist", strings.Join(rules, ";")).Err())
	if e.rdb.HExists(ctx, def, "fast").Val() {
		all := []string{}
		if e.rdb.HExists(ctx, def, "app:*").Val() {
			all = append(all, bucket.AllApps)
		}
		fast, _ := bucket.FastField(strings.Join(head, " "), all)
		check(t, e.rdb.HSet(ctx, def, "fast", fast).Err())
	}
}

// Words of a head; see head.lua.
const (
	headShape = 2
	headBorn  = 7
	headRule  = 8
	headAt    = 9
)

// head is a definition's head in words.
func (e *env) head(t testing.TB, definition string) []string {
	t.Helper()
	head, err := e.rdb.HGet(t.Context(), definition, "head").Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	check(t, err)
	return strings.Split(head, " ")
}

// setHead changes one word of a definition's head, and leaves no other way to read it.
func (e *env) setHead(t testing.TB, definition string, word int, value string) {
	t.Helper()
	head := e.head(t, definition)
	head[word] = value
	check(t, e.rdb.HSet(t.Context(), definition, "head", strings.Join(head, " ")).Err())
	check(t, e.rdb.HDel(t.Context(), definition, "fast").Err())
}

func (e *env) ageState(t testing.TB, key string, d time.Duration) {
	t.Helper()
	ctx := t.Context()
	if e.rdb.Type(ctx, key).Val() == "zset" {
		e.ageLeases(t, key, d)
		return
	}
	ttl := e.rdb.PTTL(ctx, key).Val() - d.Truncate(time.Millisecond)
	value, err := e.rdb.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) || ttl <= 0 {
		check(t, e.rdb.Del(ctx, key).Err())
		return
	}
	check(t, err)
	part := strings.Split(value, ":")
	at, err := strconv.ParseInt(part[1], 16, 64)
	check(t, err)
	part[1] = strconv.FormatInt(at-d.Microseconds(), 16)
	check(t, e.rdb.Set(ctx, key, strings.Join(part, ":"), ttl).Err())
}

// micros is an instant of Redis in the tests' time.
func (e *env) micros(at time.Time) int64 { return at.UnixMicro() + e.ahead.Microseconds() }

// fields are the names of a definition's fields.
func (e *env) fields(t testing.TB, name string) string {
	t.Helper()
	names, err := e.rdb.HKeys(t.Context(), e.DefinitionKey(name)).Result()
	check(t, err)
	slices.Sort(names)
	return strings.Join(names, " ")
}

// snapshot is every key of a bucket with its value and whether it has a TTL; for "nothing changed, byte for byte".
func (e *env) snapshot(t testing.TB, name string) map[string]string {
	t.Helper()
	ctx := t.Context()
	def := e.DefinitionKey(name)
	out := map[string]string{}
	hash, err := e.rdb.HGetAll(ctx, def).Result()
	check(t, err)
	for field, value := range hash {
		out[field] = value
	}
	out["ttl"] = e.rdb.PExpireTime(ctx, def).Val().String()
	keys, err := e.rdb.Keys(ctx, def+":s*").Result()
	check(t, err)
	for _, key := range keys {
		out[key] = e.rdb.Get(ctx, key).Val() + " until " + e.rdb.PExpireTime(ctx, key).Val().String()
	}
	return out
}

func (e *env) install(t testing.TB, d bucket.Definition) {
	t.Helper()
	result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment})
	check(t, err)
	if result.Status != bucket.StatusInstalled || result.Revision != d.Revision {
		t.Fatalf("install of revision %d: %+v", d.Revision, result)
	}
}

// one acquires n permits once.
func (e *env) one(t testing.TB, d bucket.Definition, n int64) bucket.Result {
	t.Helper()
	return e.acquire(t, d, bucket.Entry{Permits: n, Count: 1, Key: "k"}).Results[0]
}

func (e *env) acquire(t testing.TB, d bucket.Definition, entries ...bucket.Entry) bucket.Reply {
	t.Helper()
	reply := e.ask(t, d, entries...)
	if reply.Verdict != bucket.VerdictDecided {
		t.Fatalf("acquire: %+v", reply)
	}
	return reply
}

// ask is acquire where another verdict may come.
func (e *env) ask(t testing.TB, d bucket.Definition, entries ...bucket.Entry) bucket.Reply {
	t.Helper()
	reply, err := e.Acquire(t.Context(), e.call(t, d, entries...))
	check(t, err)
	return reply
}

func (e *env) peek(t testing.TB, d bucket.Definition, n int64) bucket.Result {
	t.Helper()
	return e.acquire(t, d, bucket.Entry{Permits: n, Key: "k"}).Results[0]
}

// call is for the first of the bucket's apps; all its entries must have keys of one shard.
func (e *env) call(t testing.TB, d bucket.Definition, entries ...bucket.Entry) bucket.Call {
	t.Helper()
	app := "checkout"
	if len(d.Apps) > 0 && !slices.Contains(d.Apps, bucket.AllApps) {
		app = d.Apps[0]
	}
	return e.callOf(t, d, app, entries...)
}

func (e *env) callOf(t testing.TB, d bucket.Definition, app string, entries ...bucket.Entry) bucket.Call {
	t.Helper()
	c := bucket.Call{Target: e.target(t, d, app), Entries: entries}
	if len(entries) > 0 {
		c.Shard = c.Target.Shard(entries[0].Key)
	}
	return c
}

// target is of a caller who knows d, but not its generation.
func (e *env) target(t testing.TB, d bucket.Definition, app string) *bucket.Target {
	t.Helper()
	target, err := e.Target(d.Name, app, d.Facts())
	check(t, err)
	return target
}

// definition is a bucket of max permits refilled at rate per period, shared by all apps.
func definition(max, rate int64, period time.Duration) bucket.Definition {
	return bucket.Definition{
		Name: "b", Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: max, Rate: rate, Period: period, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, MaxWait: 10 * time.Second, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossRefill,
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func atoi(t testing.TB, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	check(t, err)
	return n
}

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// always makes Restart restart whatever generation it finds.
var always = time.Now().AddDate(100, 0, 0)
