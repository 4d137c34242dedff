package bucket_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// The mistakes that earlier limiters made, each as a test that fails if it comes back.

// Mistake 1: time came from the callers, so callers whose clocks differed starved or flooded the bucket.
func TestMistake01_OnlyTheClockOfRedisCounts(t *testing.T) {
	e := miniEnv(t)
	e.mini.SetTime(time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)) // years behind the callers' clock
	d := definition(5, 1, time.Hour)
	e.install(t, d)
	granted := int64(0)
	for range 20 {
		granted += e.one(t, d, 1).Granted
	}
	expect(t, "granted of 5 permits", granted, 5)
}

// Mistake 1: ten concurrent callers of a bucket set to 1,000/s got 1/s. What they are granted and what is left is, at the
// last decision, all that has arrived since the bucket was emptied.
func TestMistake01_ConcurrentCallersGetTheWholeRate(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(1_000_000, 1000, time.Second)
		e.install(t, d)
		granted := int64(0)
		emptied := e.drain(t, d, &granted)
		e.pass(t, 200*time.Millisecond, d.Name)
		last := bucket.Reply{}
		granted = 0
		for _, reply := range concurrently(t, e, d, 10, 60) {
			granted += reply.Results[0].Granted
			if later := reply.Now.Compare(last.Now); later > 0 || later == 0 && reply.Results[0].Remaining < last.Results[0].Remaining {
				last = reply
			}
		}
		arrived := (e.micros(last.Now) - emptied) / 1000
		expect(t, "granted and left", granted+last.Results[0].Remaining, arrived)
		if granted < 200 {
			t.Fatalf("granted %d, though 200 were there before the first call", granted)
		}
	})
}

// concurrently lets so many callers acquire one permit so many times each, and returns all replies.
func concurrently(t *testing.T, e *env, d bucket.Definition, callers, times int) []bucket.Reply {
	t.Helper()
	var mu sync.Mutex
	var all []bucket.Reply
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range times {
				reply, err := e.Acquire(t.Context(), e.call(t, d, bucket.Entry{Permits: 1, Count: 1}))
				if err != nil || reply.Verdict != bucket.VerdictDecided {
					t.Errorf("acquire: %+v, %v", reply, err)
					return
				}
				mu.Lock()
				all = append(all, reply)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// Mistake 2: each decision floored the refill, so 3/s polled every 250 ms for 100 s granted 210 instead of 310.
func TestMistake02_NoFractionIsLostHoweverOftenOnePolls(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 3, time.Second)
		e.install(t, d)
		granted := int64(0)
		began := e.drain(t, d, &granted)
		now := began
		for now < began+100_000_000 {
			e.pass(t, 250*time.Millisecond, d.Name)
			now = e.drain(t, d, &granted)
		}
		expect(t, "granted", granted, 10+3*(now-began)/1_000_000)
		if e.mini != nil {
			expect(t, "granted in 100 s", granted, 310)
		}
	})
}

// drain takes all there is, counts it, and returns when.
func (e *env) drain(t testing.TB, d bucket.Definition, granted *int64) int64 {
	t.Helper()
	reply := e.acquire(t, d, bucket.Entry{Permits: 1, Count: bucket.PermitsBound, Key: "k"})
	*granted += reply.Results[0].Granted
	return e.micros(reply.Now)
}

// Mistake 3: installing a definition again, unchanged, refilled an empty bucket.
func TestMistake03_InstallingAnUnchangedDefinitionRefillsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		expect(t, "granted", e.one(t, d, 10).Granted, 1)
		before := e.snapshot(t, d.Name)
		result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment})
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusUnchanged)
		expectSame(t, before, e.snapshot(t, d.Name))
		d.Revision = 2 // an edit of a field that Redis does not have
		e.install(t, d)
		expect(t, "left", e.peek(t, d, 1).Remaining, 0)
	})
}

// Mistake 4: apps stood in one joined string and were matched as Lua patterns.
func TestMistake04_AppsMatchExactlyOrNotAtAll(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(100, 1, time.Second)
		d.Apps = []string{"order-service", "payment", "pay"}
		e.install(t, d)
		for _, app := range d.Apps {
			expect(t, app, e.verdictFor(t, d, app), bucket.VerdictDecided)
		}
		for _, app := range []string{"ay", "paymen", "order", "service", "PAY", ".*", "%a+", "[p]ay", "pay$", "payment,pay", "app:pay", "p-y", "*", ""} {
			expect(t, app, e.verdictFor(t, d, app), bucket.VerdictNotListed)
		}
		d.Revision, d.Apps = 2, []string{bucket.AllApps}
		e.install(t, d)
		expect(t, "any app of all", e.verdictFor(t, d, "search"), bucket.VerdictDecided)
		expect(t, "an app called *", e.verdictFor(t, d, "*"), bucket.VerdictNotListed)
	})
}

// verdictFor asks the script itself, for Go refuses names that no app can have.
func (e *env) verdictFor(t testing.TB, d bucket.Definition, app string) bucket.Verdict {
	t.Helper()
	keys := []string{e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, app, "k")}
	raw, err := e.RawAcquire(t.Context(), d.Algorithm, keys, app, bucket.ShapeOf(d.Facts()), 0, 1, 1)
	check(t, err)
	c := e.callOf(t, d, "any", bucket.Entry{Permits: 1, Count: 1, Key: "k"})
	reply, err := bucket.DecodeReply(raw, &c)
	check(t, err)
	return reply.Verdict
}

// Mistake 5: errors of writes were swallowed, so a Redis out of memory granted without end.
func TestMistake05_ARedisOutOfMemoryGrantsNothingAndChangesNothing(t *testing.T) {
	server := testenv.OwnRedis(t)
	e := newEnv(t, server.Addr, "")
	d := definition(10, 1, time.Hour)
	e.install(t, d)
	e.one(t, d, 8)
	before := e.snapshot(t, d.Name)
	check(t, e.rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for range 5 {
		if reply, err := e.Acquire(t.Context(), e.call(t, d, bucket.Entry{Permits: 1, Count: 1})); err == nil {
			t.Fatalf("granted without memory to remember it: %+v", reply)
		}
	}
	edited := d
	edited.Revision, edited.Rate, edited.Apps = 2, 5, []string{"checkout"}
	if result, err := e.Install(t.Context(), edited, bucket.InstallOptions{Deployment: deployment}); err == nil {
		t.Fatalf("installed without memory: %+v", result)
	}
	if result, err := e.Remove(t.Context(), d.Name, 3, deployment); err == nil {
		t.Fatalf("removed without memory for the tombstone: %+v", result)
	}
	expectSame(t, before, e.snapshot(t, d.Name))
	check(t, e.rdb.ConfigSet(t.Context(), "maxmemory", "0").Err())
	expect(t, "granted of the 2 left", e.acquire(t, d, bucket.Entry{Permits: 1, Count: 5}).Results[0].Granted, 2)
}

// Mistake 6: negative permits filled the bucket, and permits above the maximum were refused as if they could come.
func TestMistake06_PermitsBelowOneAreRefusedAndTooManyIsSaid(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.one(t, d, 4)
		before := e.snapshot(t, d.Name)
		for _, n := range []int64{0, -1, -100, -1 << 63} {
			_, err := e.Acquire(t.Context(), e.call(t, d, bucket.Entry{Permits: n, Count: 1}))
			expectInvalid(t, err, "permits")
			_, err = e.Acquire(t.Context(), e.call(t, d, bucket.Entry{Permits: n}))
			expectInvalid(t, err, "permits")
		}
		keys := []string{e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "", "")}
		shape := bucket.ShapeOf(d.Facts())
		for _, args := range [][]any{{-100, 1}, {0, 1}, {"0.5", 1}, {"x", 1}, {"nan", 1}, {"-inf", 1}, {1, "-0.5"}, {1, "0.5"}, {1, "-inf"}, {1, "nan"}, {1, "inf"}, {1}} {
			raw, err := e.RawAcquire(t.Context(), d.Algorithm, keys, append([]any{"checkout", shape, 0}, args...)...)
			if err == nil || !strings.HasPrefix(err.Error(), "HEADGATE ") {
				t.Fatalf("permits and count %v: %v, %v", args, raw, err)
			}
		}
		result := e.one(t, d, 11)
		expect(t, "code for 11 of 10", result.Code, bucket.CodeTooMany)
		expect(t, "left", result.Remaining, 6)
		expectSame(t, before, e.snapshot(t, d.Name))
	})
}

// Mistake 7: removing the last app, or the bucket, never reached Redis, and left orphans there.
func TestMistake07_RemovingTheLastAppOrTheBucketTakesEffect(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for i, partition := range []string{bucket.PartitionShared, bucket.PartitionApp, bucket.PartitionKey} {
			d := definition(10, 1, time.Second)
			d.Name, d.Apps, d.Partition = fmt.Sprintf("b%d", i), []string{"checkout", "search"}, partition
			e.install(t, d)
			e.one(t, d, 1)
			d.Revision, d.Apps = 2, []string{"search"}
			e.install(t, d)
			expect(t, "dropped app", e.verdictFor(t, d, "checkout"), bucket.VerdictNotListed)
			d.Revision, d.Apps = 3, nil
			e.install(t, d)
			expect(t, "last app", e.verdictFor(t, d, "search"), bucket.VerdictNotListed)
			d.Revision, d.Apps = 4, []string{"search"}
			e.install(t, d)
			e.one(t, d, 1)

			result, err := e.Remove(t.Context(), d.Name, 5, deployment)
			check(t, err)
			expect(t, "status", result.Status, bucket.StatusInstalled)
			expect(t, "removed", e.verdictFor(t, d, "search"), bucket.VerdictRemoved)
			expectNoOrphan(t, e, d.Name)
		}
		names, err := e.IndexedNames(t.Context())
		check(t, err)
		expect(t, "names in the index", len(names), 0)
	})
}

// expectNoOrphan: every key of the bucket that is still there ends by itself.
func expectNoOrphan(t testing.TB, e *env, name string) {
	t.Helper()
	keys, err := e.rdb.Keys(t.Context(), e.DefinitionKey(name)+"*").Result()
	check(t, err)
	for _, key := range keys {
		if ttl := e.rdb.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > 7*24*time.Hour {
			t.Fatalf("%s stays behind with TTL %s", key, ttl)
		}
	}
}

// Mistake 10: "reset in" was negative, the elapsed time, or the whole period with a second left.
func TestMistake10_RetryAndResetAreWhatIsLeftToWait(t *testing.T) {
	e := miniEnv(t)
	d := definition(60, 60, time.Minute)
	e.install(t, d)
	result := e.one(t, d, 60)
	expect(t, "reset of an empty bucket", result.ResetAfter, time.Minute)
	expect(t, "retry for 60 more", result.RetryAfter, time.Minute)
	e.pass(t, 59*time.Second)
	result = e.peek(t, d, 60)
	expect(t, "reset with a second left", result.ResetAfter, time.Second)
	expect(t, "retry with a second left", result.RetryAfter, time.Second)
	expect(t, "retry for what is there", e.peek(t, d, 59).RetryAfter, 0)
	e.pass(t, time.Second-time.Microsecond)
	expect(t, "reset with 1 µs left", e.peek(t, d, 60).ResetAfter, time.Microsecond)
	expect(t, "code with 1 µs left", e.peek(t, d, 60).Code, bucket.CodeLimited)
	e.pass(t, time.Microsecond)
	expect(t, "code after just the wait", e.peek(t, d, 60).Code, bucket.CodeGranted)
	for range 3 {
		e.pass(t, time.Hour)
		expect(t, "reset of a full bucket", e.peek(t, d, 1).ResetAfter, 0)
	}
}

// Mistake 11: the time of the last update advanced by what was spent, so slow use saved up 108 grants in a bucket of 10.
func TestMistake11_SlowUseSavesUpNoMoreThanTheMaximum(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Second)
		e.install(t, d)
		for range 100 {
			expect(t, "granted", e.one(t, d, 1).Granted, 1)
			e.pass(t, 2*time.Second, d.Name)
		}
		granted := int64(0)
		e.drain(t, d, &granted)
		expect(t, "granted at once", granted, 10)
	})
}

// Mistake 13: a TTL rounded down to 0 made the write fail for a fast, small bucket.
func TestMistake13_TheTimeToLiveIsNeverZero(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for i, d := range []bucket.Definition{
			definition(1, bucket.PermitsBound, time.Millisecond),
			definition(1, 1, time.Millisecond),
			definition(1000, 1_000_000, time.Second),
			definition(10, 1, 31*24*time.Hour),
		} {
			d.Name = fmt.Sprintf("b%d", i)
			e.install(t, d)
			reply := e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1})
			expect(t, "granted", reply.Results[0].Granted, 1)
			if e.mini == nil && i == 0 {
				continue // gone again before one could look; that it was granted shows that the write was taken
			}
			ttl := e.rdb.PTTL(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val()
			least := max(time.Millisecond, reply.Results[0].ResetAfter-100*time.Millisecond)
			if e.mini == nil && i < 3 {
				least = -2 // may be gone too
			}
			if ttl < least || ttl > reply.Results[0].ResetAfter+3*time.Millisecond {
				t.Fatalf("bucket %d full in %s has TTL %s", i, reply.Results[0].ResetAfter, ttl)
			}
		}
	})
}

// Mistake 13: two keys without a common hash tag failed on Cluster.
func TestMistake13_AllKeysOfABucketShareASlot(t *testing.T) {
	for _, prefix := range []string{"", "team-a", "x:y"} {
		e := bucket.New(nil, prefix)
		for _, name := range []string{"b", "A.b_c-9", strings.Repeat("n", 128)} {
			want := slot(name)
			expect(t, "slot of the definition", slot(e.DefinitionKey(name)), want)
			expect(t, "slot of usage", slot(e.UsageKey(name, 29_000_000)), want)
			for _, partition := range partitions {
				for _, key := range []string{"k", "{", "}", "{}", "a{b}c", "}{", "\x00", "{other}", "\r\n"} {
					expect(t, "slot of state", slot(e.StateKey(name, partition, "checkout", key)), want)
				}
			}
		}
	}
}

var partitions = []string{bucket.PartitionShared, bucket.PartitionApp, bucket.PartitionKey, bucket.PartitionAppKey}

// slot is Redis Cluster's hash slot of a key: CRC16 (XMODEM) of the first non-empty {tag}, else of the key.
func slot(key string) uint16 {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}

// Mistake 14: booleans and fractions were lost between Lua and Redis: false became nil, 0.7 became 0.
func TestMistake14_RepliesAreWholeNumbersAndStrings(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(7, 3, 31*24*time.Hour)
		d.Apps = []string{"checkout"}
		e.install(t, d)
		keys := []string{e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "", "")}
		ask := func(keys []string, args ...any) []any {
			raw, err := e.RawAcquire(t.Context(), d.Algorithm, keys, args...)
			check(t, err)
			return raw.([]any)
		}
		shape := bucket.ShapeOf(d.Facts())
		replies := [][]any{
			ask(keys, "checkout", shape, 0, 5, 1),
			ask(keys, "checkout", shape, 1, 5, 1), // limited, with 2 days and a fraction to wait
			ask(keys, "checkout", shape, 1, 1, 0),
			ask(keys, "checkout", shape, 1, 8, 1),
			ask(keys, "checkout", shape, 1, 5, -1),
			ask(keys, "checkout", "token_bucket.key.1", 1, 5, 1),
			ask(keys[:1], "checkout", "", 0),
			ask(keys, "other", shape, 1, 1, 1),
			ask([]string{e.DefinitionKey("none")}, "checkout", "", 0),
		}
		lengths := []int{9, 9, 9, 9, 9, 5, 5, 4, 4}
		for i, reply := range replies {
			expect(t, fmt.Sprintf("length of %v", reply), len(reply), lengths[i])
			for _, item := range reply {
				switch item.(type) {
				case int64, string:
				default:
					t.Fatalf("%T in %v", item, reply)
				}
			}
		}
		wait := micros(replies[1][7].(int64))
		want := 3 * d.Period / 3 // 2 left of 5 wanted: 3 missing, at 3 a period
		if wait > want || wait < want-10*time.Second {
			t.Fatalf("retry after %s, want %s", wait, want)
		}
	})
}

// Mistake 14: scripts made keys inside. After a life of the bucket there are those that Go formed, and no others.
func TestMistake14_ScriptsTouchOnlyDeclaredKeys(t *testing.T) {
	e := realEnv(t)
	d := definition(10, 1, time.Second)
	d.Partition, d.Apps = bucket.PartitionApp, []string{"checkout"}
	e.install(t, d)
	e.one(t, d, 1)
	d.Revision, d.Rate = 2, 2
	e.install(t, d)
	keys, err := e.rdb.Keys(t.Context(), strings.TrimSuffix(e.IndexKey(), "index")+"*").Result()
	check(t, err)
	slices.Sort(keys)
	want := []string{e.IndexKey(), e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "checkout", "")}
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		t.Fatalf("keys %q, want %q", keys, want)
	}
}

func expectSame(t testing.TB, before, after map[string]string) {
	t.Helper()
	for key, value := range before {
		if after[key] != value {
			t.Fatalf("%s changed from %q to %q", key, value, after[key])
		}
	}
	expect(t, "number of fields", len(after), len(before))
}

func expectInvalid(t testing.TB, err error, field string) {
	t.Helper()
	var invalid *bucket.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field {
		t.Fatalf("want an InvalidError of %s, got %v", field, err)
	}
}
