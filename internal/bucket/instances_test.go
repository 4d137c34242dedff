package bucket_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

func instance(id string) bucket.Instance {
	return bucket.Instance{
		ID: id, App: "checkout", Host: "node-7", Version: "1.2.3", Uptime: 90 * time.Second,
		Buckets: map[string]int64{"partner-api": 7, "exports": 1},
	}
}

func (e *env) beat(t testing.TB, id string, locals ...string) map[string]int64 {
	t.Helper()
	live, err := e.Beat(t.Context(), instance(id), locals)
	check(t, err)
	return live
}

func (e *env) instances(t testing.TB) []bucket.Instance {
	t.Helper()
	all, err := e.Instances(t.Context())
	check(t, err)
	return all
}

// passBeats lets time pass for heartbeats.
func (e *env) passBeats(t testing.TB, d time.Duration, locals ...string) {
	t.Helper()
	if e.mini != nil {
		e.pass(t, d)
		return
	}
	ctx := t.Context()
	for id, value := range e.rdb.HGetAll(ctx, e.ClientsKey()).Val() {
		part := strings.SplitN(value, " ", 3)
		part[1] = strconv.FormatInt(atoi(t, part[1])-d.Microseconds(), 10)
		check(t, e.rdb.HSet(ctx, e.ClientsKey(), id, strings.Join(part, " ")).Err())
	}
	for _, name := range locals {
		for _, m := range e.rdb.ZRangeWithScores(ctx, e.InstancesKey(name), 0, -1).Val() {
			check(t, e.rdb.ZAdd(ctx, e.InstancesKey(name), redis.Z{Member: m.Member, Score: m.Score - float64(d.Microseconds())}).Err())
		}
	}
}

// TestInstancesAreListedAsTheyTellOfThemselves: with the time of Redis.
func TestInstancesAreListedAsTheyTellOfThemselves(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		expect(t, "instances before any", len(e.instances(t)), 0)
		before, err := e.Time(t.Context())
		check(t, err)
		bare := bucket.Instance{ID: "b", App: "billing"}
		_, err = e.Beat(t.Context(), bare, nil)
		check(t, err)
		e.beat(t, "c")
		e.beat(t, "a")
		e.beat(t, "a")
		all := e.instances(t)
		for i := range all {
			if all[i].Seen.Before(before) || all[i].Seen.After(before.Add(time.Minute)) {
				t.Fatalf("seen %s, asked from %s on", all[i].Seen, before)
			}
			expect(t, "started", all[i].Started(), all[i].Seen.Add(-all[i].Uptime))
			all[i].Seen = time.Time{}
		}
		if diff := cmp.Diff([]bucket.Instance{bare, instance("a"), instance("c")}, all); diff != "" {
			t.Fatal(diff)
		}
		check(t, e.Leave(t.Context(), "a", nil))
		check(t, e.Leave(t.Context(), "never-there", []string{"b"}))
		expect(t, "instances after one left", len(e.instances(t)), 2)
	})
}

// TestACrashedInstanceIsNotCountedAfterFifteenSecondsNorListedAfterThirty: it never said that it leaves.
func TestACrashedInstanceIsNotCountedAfterFifteenSecondsNorListedAfterThirty(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		e.beat(t, "crashes", "b", "c")
		expect(t, "two live", e.beat(t, "lives", "b")["b"], 2)
		for range 2 {
			e.passBeats(t, 7*time.Second, "b", "c")
			expect(t, "within 15 s", e.beat(t, "lives", "b")["b"], 2)
		}
		e.passBeats(t, time.Second, "b", "c")
		live := e.beat(t, "lives", "b", "c")
		if diff := cmp.Diff(map[string]int64{"b": 1, "c": 1}, live); diff != "" {
			t.Fatal(diff)
		}
		expect(t, "listed after 15 s", len(e.instances(t)), 2)
		e.passBeats(t, 15*time.Second)
		expect(t, "listed after 30 s", len(e.instances(t)), 1)
		check(t, e.Leave(t.Context(), "lives", []string{"b", "c"}))
		expect(t, "after a leave", e.beat(t, "next", "b")["b"], 1)
	})
}

// TestAClockSetBackKeepsNoDeadInstanceAlive: nor does it forget the living.
func TestAClockSetBackKeepsNoDeadInstanceAlive(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		e.beat(t, "crashes", "b")
		e.beat(t, "lives", "b")
		e.passBeats(t, -time.Hour, "b")
		expect(t, "listed of the future", len(e.instances(t)), 0)
		expect(t, "live", e.beat(t, "lives", "b")["b"], 2)
		expect(t, "listed", len(e.instances(t)), 1)
		for range 3 {
			e.passBeats(t, 5*time.Second, "b")
			e.beat(t, "lives", "b")
		}
		expect(t, "live later", e.beat(t, "lives", "b")["b"], 1)
		expect(t, "kept", e.rdb.HLen(t.Context(), e.ClientsKey()).Val(), 1)
	})
}

// TestHeartbeatsStayBounded: a thousand instances that crash, again and again.
func TestHeartbeatsStayBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		ctx := t.Context()
		many := 1000
		if e.mini != nil {
			many = 100 // its sorted sets are slow
		}
		for generation := range 4 {
			for i := range many {
				e.beat(t, fmt.Sprintf("%d-%d", generation, i), "b")
			}
			expect(t, "live", e.beat(t, fmt.Sprintf("%d-0", generation), "b")["b"], int64(many))
			expect(t, "listed", len(e.instances(t)), many)
			e.passBeats(t, 11*time.Minute, "b")
		}
		if kept := e.rdb.HLen(ctx, e.ClientsKey()).Val(); kept > int64(5*many/2) {
			t.Fatalf("%d of %d crashed instances are kept", kept, 4*many)
		}
		for i := range 2 * many {
			e.beat(t, fmt.Sprint("lives-", i%3), "b")
		}
		expect(t, "kept at last", e.rdb.HLen(ctx, e.ClientsKey()).Val(), 3)
		for _, key := range []string{e.ClientsKey(), e.InstancesKey("b")} {
			if ttl := e.rdb.PTTL(ctx, key).Val(); ttl <= 0 || ttl > 20*time.Minute {
				t.Fatalf("%s has TTL %s", key, ttl)
			}
		}
	})
}

// TestAnInstanceTellsNoMoreThanItMay: names too long are cut, buckets too many counted.
func TestAnInstanceTellsNoMoreThanItMay(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		i := instance("a")
		i.Host, i.Version = strings.Repeat("ö", 1000), "v\xff\"\n\x00 {\"app\":1}"+strings.Repeat("9", 100)
		i.Buckets, i.Uptime = map[string]int64{}, -time.Second
		for n := range 1007 {
			i.Buckets[fmt.Sprintf("b-%04d", n)] = int64(n)
		}
		_, err := e.Beat(t.Context(), i, nil)
		check(t, err)
		got := e.instances(t)[0]
		expect(t, "host", got.Host, strings.Repeat("ö", 127))
		expect(t, "version", got.Version, "v\uFFFD\"\n\x00 {\"app\":1}"+strings.Repeat("9", 47))
		expect(t, "uptime", got.Uptime, 0)
		expect(t, "buckets", len(got.Buckets), 1000)
		expect(t, "more", got.More, 7)
		expect(t, "the last one by name", got.Buckets["b-0999"], 999)
		expect(t, "caller's own", len(i.Buckets), 1007)
	})
}

// TestHeartbeatsOfNamesThatAreNoneAreRefused: nothing is written then.
func TestHeartbeatsOfNamesThatAreNoneAreRefused(t *testing.T) {
	e := realEnv(t)
	refused := func(field string, change func(i *bucket.Instance), locals ...string) {
		t.Helper()
		i := instance("a")
		change(&i)
		_, err := e.Beat(t.Context(), i, locals)
		expectInvalid(t, err, field)
	}
	same := func(*bucket.Instance) {}
	for _, name := range []string{"", "a b", "{x}", "*", "a\x00", "a\nb", "é", strings.Repeat("a", 129)} {
		refused("instance", func(i *bucket.Instance) { i.ID = name })
		refused("app", func(i *bucket.Instance) { i.App = name })
		refused("bucket", func(i *bucket.Instance) { i.Buckets = map[string]int64{name: 1} })
		refused("bucket", same, "b", name)
		expectInvalid(t, e.Leave(t.Context(), name, nil), "instance")
		expectInvalid(t, e.Leave(t.Context(), "a", []string{name}), "bucket")
	}
	refused("revision", func(i *bucket.Instance) { i.Buckets["b"] = -1 })
	expect(t, "written", e.rdb.Exists(t.Context(), e.ClientsKey(), e.InstancesKey("b")).Val(), 0)
	_, err := bucket.New(e.rdb, "{").Instances(t.Context())
	expectInvalid(t, err, "prefix")
}

// TestEntriesThatNoInstanceWroteAreLeftOut: of a later version, or of somebody else. They break nothing.
func TestEntriesThatNoInstanceWroteAreLeftOut(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		now, err := e.Time(t.Context())
		check(t, err)
		us := now.UnixMicro()
		for i, value := range []string{
			"", "2", "2 ", "2 x {}", fmt.Sprintf("3 %d {\"app\":\"checkout\"}", us), fmt.Sprintf("2 %d", us), fmt.Sprintf("2 %d {", us),
			fmt.Sprintf("2 %d {}", us), fmt.Sprintf("2 %d {\"app\":\"<b>\"}", us), fmt.Sprintf("2 %d {\"app\":7}", us),
			fmt.Sprintf("2 %d {\"app\":\"a\",\"buckets\":{\"<b>\":1}}", us), fmt.Sprintf("2 %d {\"app\":\"a\",\"up\":1e300}", us),
			fmt.Sprintf("2 %d {\"app\":\"a\",\"more\":-1}", us), fmt.Sprintf("2 %d {\"app\":\"a\",\"up\":-1}", us),
			"2 99999999999999999999999 {\"app\":\"a\"}", "%d %s", "2 -5 {\"app\":\"a\"}",
		} {
			check(t, e.rdb.HSet(t.Context(), e.ClientsKey(), fmt.Sprint("x", i), value).Err())
		}
		check(t, e.rdb.HSet(t.Context(), e.ClientsKey(), "<b>", fmt.Sprintf("2 %d {\"app\":\"checkout\"}", us)).Err())
		for range 50 {
			e.beat(t, "a")
		}
		all := e.instances(t)
		expect(t, "listed", len(all), 1)
		expect(t, "id", all[0].ID, "a")
	})
}

// TestABeatSaysWhatItCouldDespiteAnError: one bucket's key is not what it should be.
func TestABeatSaysWhatItCouldDespiteAnError(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		check(t, e.rdb.Set(t.Context(), e.InstancesKey("broken"), "x", time.Minute).Err())
		live, err := e.Beat(t.Context(), instance("a"), []string{"b", "broken", "c"})
		if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Fatalf("error %v", err)
		}
		if diff := cmp.Diff(map[string]int64{"b": 1, "c": 1}, live); diff != "" {
			t.Fatal(diff)
		}
		expect(t, "listed", len(e.instances(t)), 1)
	})
}
