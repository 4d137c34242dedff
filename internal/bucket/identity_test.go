package bucket_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// TestTheFirstDeploymentOwnsRedis: until another adopts it; of many at once exactly one wins, and all learn which.
func TestTheFirstDeploymentOwnsRedis(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		owners := make([]string, 8)
		var group sync.WaitGroup
		for i := range owners {
			group.Go(func() {
				owner, err := e.Claim(t.Context(), "d"+string(rune('0'+i)))
				if err != nil {
					t.Error(err)
				}
				owners[i] = owner
			})
		}
		group.Wait()
		expect(t, "owners", len(slices.Compact(slices.Clone(owners))), 1)
		check(t, e.Adopt(t.Context(), "new"))
		owner, err := e.Claim(t.Context(), owners[0])
		check(t, err)
		expect(t, "owner", owner, "new")
		_, err = e.Claim(t.Context(), "")
		expectInvalid(t, err, "deployment")
	})
}

// TestAdoptTakesEveryDefinition: without touching anything else, so that no permit is lost or won.
func TestAdoptTakesEveryDefinition(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, name := range []string{"a", "b"} {
			d := definition(10, 1, time.Hour)
			d.Name = name
			e.install(t, d)
			e.one(t, d, 3)
		}
		before := e.snapshot(t, "a")
		check(t, e.Adopt(t.Context(), "new"))
		found, err := e.Read(t.Context(), "a", "b")
		check(t, err)
		expect(t, "a's deployment", found[0].Deployment, "new")
		expect(t, "b's deployment", found[1].Deployment, "new")
		after := e.snapshot(t, "a")
		delete(before, "dep")
		delete(after, "dep")
		expectSame(t, before, after)
	})
}

// TestTheIndexListsWhatIsInstalled: and nothing that was removed.
func TestTheIndexListsWhatIsInstalled(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, name := range []string{"b", "c", "a"} {
			d := definition(10, 1, time.Hour)
			d.Name = name
			e.install(t, d)
		}
		_, err := e.Remove(t.Context(), "b", 2, deployment)
		check(t, err)
		names, err := e.IndexedNames(t.Context())
		check(t, err)
		expect(t, "names", strings.Join(names, " "), "a c")
	})
}

// TestUsageAddsUpPerAppAndMinute: reports of several clients, read back in order, for 48 hours.
func TestUsageAddsUpPerAppAndMinute(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		const minute = 29_000_000
		for range 2 {
			check(t, e.ReportUsage(t.Context(), []bucket.Usage{
				{Bucket: "b", App: "checkout", Minute: minute, Granted: 5, Limited: 2},
				{Bucket: "b", App: "a", Minute: minute, ShadowLimited: 1},
				{Bucket: "b", App: "checkout", Minute: minute + 2, Granted: 1},
				{Bucket: "b", App: "idle", Minute: minute},
				{Bucket: "other", App: "checkout", Minute: minute, Granted: 9},
			}))
		}
		got, err := e.ReadUsage(t.Context(), "b", minute-1, minute+2)
		check(t, err)
		want := []bucket.Usage{
			{Bucket: "b", App: "a", Minute: minute, ShadowLimited: 2},
			{Bucket: "b", App: "checkout", Minute: minute, Granted: 10, Limited: 4},
			{Bucket: "b", App: "checkout", Minute: minute + 2, Granted: 2},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		got, err = e.ReadUsage(t.Context(), "b", minute+1, minute+1)
		check(t, err)
		expect(t, "rows of an idle minute", len(got), 0)
		if ttl := e.rdb.TTL(t.Context(), e.UsageKey("b", minute)).Val(); ttl <= 47*time.Hour || ttl > 48*time.Hour {
			t.Fatalf("usage stays %s", ttl)
		}
		check(t, e.ReportUsage(t.Context(), nil))
		expectInvalid(t, e.ReportUsage(t.Context(), []bucket.Usage{{Bucket: "b", App: "a:b", Granted: 1}}), "usage")
		_, err = e.ReadUsage(t.Context(), "b", 0, bucket.MinutesBound)
		expectInvalid(t, err, "minutes")
	})
}

// TestTheIndexTellsWhichBucketsWereUsed: those with an amount, each once, whatever else was put into it.
func TestTheIndexTellsWhichBucketsWereUsed(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		const minute = 29_000_000
		for _, app := range []string{"a", "checkout"} {
			check(t, e.ReportUsage(t.Context(), []bucket.Usage{
				{Bucket: "late", App: app, Minute: minute, Granted: 1},
				{Bucket: "b", App: app, Minute: minute, Limited: 2},
				{Bucket: "b", App: app, Minute: minute + 1, ShadowLimited: 2},
				{Bucket: "idle", App: app, Minute: minute},
			}))
		}
		check(t, e.rdb.SAdd(t.Context(), e.UsedKey(minute), "no name", "").Err())
		check(t, e.rdb.Set(t.Context(), e.UsedKey(minute+2), "no set", 0).Err())
		for span, want := range map[[2]int64][]string{
			{minute, minute + 2}: {"b", "late"}, {minute + 1, minute + 1}: {"b"}, {minute - 9, minute - 1}: nil, {minute, minute - 1}: nil,
		} {
			got, err := e.UsedNames(t.Context(), span[0], span[1])
			check(t, err)
			if !slices.Equal(got, want) {
				t.Errorf("used in %v: %q, want %q", span, got, want)
			}
		}
		if ttl := e.rdb.TTL(t.Context(), e.UsedKey(minute)).Val(); ttl <= 47*time.Hour || ttl > 48*time.Hour {
			t.Errorf("the index stays %s", ttl)
		}
		_, err := e.UsedNames(t.Context(), 0, bucket.MinutesBound)
		expectInvalid(t, err, "minutes")
	})
}

// TestUsageOfOneAppIsReadOverManyBuckets: only what that app used, in any number of buckets.
func TestUsageOfOneAppIsReadOverManyBuckets(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		const minute = 29_000_000
		check(t, e.ReportUsage(t.Context(), []bucket.Usage{
			{Bucket: "b", App: "checkout", Minute: minute, Granted: 5, Limited: 2}, {Bucket: "b", App: "a", Minute: minute, Granted: 9},
			{Bucket: "c", App: "a", Minute: minute, Granted: 1}, {Bucket: "b2500", App: "checkout", Minute: minute + 1, ShadowLimited: 3},
			{Bucket: "b", App: "checkout", Minute: minute + 2, Granted: 7},
		}))
		check(t, e.rdb.HSet(t.Context(), e.UsageKey("c", minute), "g:checkout", "many", "l:checkout", -1).Err())
		names := []string{"b", "c"}
		for i := range 3000 { // more than one round trip
			names = append(names, fmt.Sprint("b", i))
		}
		got, err := e.ReadAppUsages(t.Context(), "checkout", names, minute, minute+1)
		check(t, err)
		want := []bucket.Usage{
			{Bucket: "b", App: "checkout", Minute: minute, Granted: 5, Limited: 2}, {Bucket: "b2500", App: "checkout", Minute: minute + 1, ShadowLimited: 3},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if got, err = e.ReadAppUsages(t.Context(), "checkout", nil, minute, minute); err != nil || len(got) > 0 {
			t.Fatalf("of no bucket: %v, %v", got, err)
		}
		_, err = e.ReadAppUsages(t.Context(), "a:b", names, minute, minute)
		expectInvalid(t, err, "app")
		_, err = e.ReadAppUsages(t.Context(), "a", []string{"a}b"}, minute, minute)
		expectInvalid(t, err, "name")
		_, err = e.ReadAppUsages(t.Context(), "a", names, 0, bucket.MinutesBound)
		expectInvalid(t, err, "minutes")
	})
}

// TestUsageIsReportedWhereTheIndexMayNotBeWritten: whoever gave an app its rights before there was an index.
func TestUsageIsReportedWhereTheIndexMayNotBeWritten(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		const minute = 29_000_000
		check(t, e.rdb.Set(t.Context(), e.UsedKey(minute), "refuses SADD", 0).Err())
		check(t, e.ReportUsage(t.Context(), []bucket.Usage{{Bucket: "b", App: "a", Minute: minute, Granted: 3}}))
		got, err := e.ReadUsage(t.Context(), "b", minute, minute)
		check(t, err)
		if len(got) != 1 || got[0].Granted != 3 {
			t.Fatalf("%+v", got)
		}
	})
}

// TestStrangeUsageFieldsHideNoOthers: applications may write fields of any name there; what is no usage is passed over.
func TestStrangeUsageFieldsHideNoOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		const minute = 29_000_000
		check(t, e.ReportUsage(t.Context(), []bucket.Usage{{Bucket: "b", App: "a", Minute: minute, Granted: 5}}))
		check(t, e.rdb.HSet(t.Context(), e.UsageKey("b", minute), "x", 1, "", 1, "q:a", 1, "g:", 1, "g:b\n", 1, "l:a", -3, "s:a", "much").Err())
		got, err := e.ReadUsage(t.Context(), "b", minute, minute)
		check(t, err)
		if diff := cmp.Diff([]bucket.Usage{{Bucket: "b", App: "a", Minute: minute, Granted: 5}}, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestKeysThatHoldNoUsageHideNoOthers: whoever may write keys can put a value of another kind where usage stands.
func TestKeysThatHoldNoUsageHideNoOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		const minute = 29_000_000
		of := func(name string) bucket.Usage {
			return bucket.Usage{Bucket: name, App: "a", Minute: minute, Granted: 5}
		}
		check(t, e.ReportUsage(t.Context(), []bucket.Usage{of("b"), of("d")}))
		check(t, e.ReportLimited(t.Context(), "c1", []bucket.LimitedKeys{{Bucket: "b", Minute: minute, Keys: []bucket.LimitedKey{{Key: "k", Limited: 3}}}}))
		check(t, e.rdb.Set(t.Context(), e.UsageKey("c", minute), "no usage", 0).Err())
		check(t, e.rdb.Set(t.Context(), e.UsageKey("b", minute+1), "no usage", 0).Err())
		check(t, e.rdb.RPush(t.Context(), e.LimitedKey("b", minute+1), "no keys").Err())
		want := []bucket.Usage{of("b"), of("d")}

		got, strange, err := e.ReadUsages(t.Context(), []string{"b", "c", "d"}, minute, minute+1)
		check(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of all apps:\n%s", diff)
		}
		if diff := cmp.Diff([]string{e.UsageKey("b", minute+1), e.UsageKey("c", minute)}, strange); diff != "" {
			t.Errorf("passed over:\n%s", diff)
		}
		got, err = e.ReadAppUsages(t.Context(), "a", []string{"b", "c", "d"}, minute, minute+1)
		check(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of one app:\n%s", diff)
		}
		got, err = e.ReadUsage(t.Context(), "b", minute, minute+1)
		check(t, err)
		if diff := cmp.Diff(want[:1], got); diff != "" {
			t.Errorf("of one bucket:\n%s", diff)
		}
		keys, err := e.ReadLimited(t.Context(), "b", minute, minute+1)
		check(t, err)
		if diff := cmp.Diff([]bucket.LimitedKey{{Key: "k", Limited: 3}}, keys); diff != "" {
			t.Errorf("limited keys:\n%s", diff)
		}
	})
}

// TestHealthTellsWhatMatters: version and eviction policy of a real server; an embedded one just answers.
func TestHealthTellsWhatMatters(t *testing.T) {
	server := testenv.OwnRedis(t)
	e := newEnv(t, server.Addr, "")
	check(t, e.rdb.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	check(t, e.rdb.ConfigSet(t.Context(), "maxmemory", "1000000000").Err())
	h, err := e.Health(t.Context())
	check(t, err)
	expect(t, "policy", h.MaxMemoryPolicy, "allkeys-lru")
	expect(t, "role", h.Role, "master")
	expect(t, "max memory", h.MaxMemory, 1_000_000_000)
	if h.Version == "" || h.Server == "" || h.UsedMemory == 0 || h.RoundTrip <= 0 {
		t.Fatalf("health %+v", h)
	}
	_, err = miniEnv(t).Health(t.Context())
	check(t, err)
	server.Stop()
	if _, err := e.Health(t.Context()); err == nil {
		t.Fatal("a dead server is healthy")
	}
}

// TestAdoptTakesTheCopiesOfShards: the new owner can edit a bucket of several shards at once.
func TestAdoptTakesTheCopiesOfShards(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(5, 1, time.Hour)
		d.Partition, d.Shards = bucket.PartitionKey, 4
		e.install(t, d)
		check(t, e.Adopt(t.Context(), "new"))
		d.Revision++
		result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: "new"})
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusInstalled)
	})
}
