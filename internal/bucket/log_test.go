package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// TestOneASecondAndFiveAMinuteTogether: the example of an earlier system, whose eight lines say of each call which of the
// two rules let it pass. A call is granted when both do.
func TestOneASecondAndFiveAMinuteTogether(t *testing.T) {
	onClocks(t, func(t *testing.T, e *env) {
		second, minute := windowed(bucket.SlidingLog, 1, time.Second), windowed(bucket.SlidingLog, 5, time.Minute)
		second.Name, minute.Name = "1-a-second", "5-a-minute"
		e.install(t, second)
		e.install(t, minute)
		calls := []struct {
			after  time.Duration
			passed string
		}{
			{0, "true true"}, {0, "false true"}, {1, "true true"}, {1, "true true"},
			{1, "true true"}, {1, "true true"}, {1, "true false"}, {61, "true true"},
		}
		for i, call := range calls {
			e.pass(t, call.after*time.Second)
			a, b := e.peek(t, second, 1), e.peek(t, minute, 1)
			passed := fmt.Sprint(a.Code == bucket.CodeGranted, b.Code == bucket.CodeGranted)
			expect(t, fmt.Sprintf("line %d: 1 a second and 5 a minute let pass", i+1), passed, call.passed)
			switch i {
			case 1:
				expect(t, "wait for the second", a.RetryAfter, time.Second)
				expect(t, "left of the minute", b.Remaining, 4)
			case 6:
				expect(t, "wait for the minute", b.RetryAfter, 55*time.Second)
				expect(t, "reset of the minute", b.ResetAfter, 59*time.Second)
			}
			if passed == "true true" {
				e.one(t, second, 1)
				e.one(t, minute, 1)
			}
		}
	})
}

// TestALogEntryTakesAtMost24Bytes: beyond the key itself, however many permits it stands for.
func TestALogEntryTakesAtMost24Bytes(t *testing.T) {
	e := realEnv(t)
	d := windowed(bucket.SlidingLog, bucket.EntriesMax, time.Hour)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	key := e.StateKey(d.Name, d.Partition, "", "user:1234567")
	usage := func() int64 { return e.rdb.MemoryUsage(t.Context(), key, 0).Val() }
	instants := map[int64]bool{}
	first, beside := int64(0), e.emptyListUsage(t, key)
	for i := range 4000 {
		reply := e.acquire(t, d, bucket.Entry{Permits: 1 + int64(i%20), Count: 1, Key: "user:1234567"})
		instants[reply.Now.UnixMicro()] = true
		if i == 0 {
			first = usage()
		}
		if n := int64(len(instants)); n == 100 || n == 1000 || i == 3999 {
			if each := float64(usage()-beside) / float64(n); each > 24 {
				t.Fatalf("%.1f bytes an entry with %d entries", each, n)
			}
		}
	}
	t.Logf("%d bytes with one entry, %.1f an entry with %d", first, float64(usage()-beside)/float64(len(instants)), len(instants))
}

// emptyListUsage is what a key takes that holds a list of two small numbers.
func (e *env) emptyListUsage(t testing.TB, key string) int64 {
	t.Helper()
	ctx := t.Context()
	check(t, e.rdb.RPush(ctx, key, 1, 2).Err())
	defer func() { check(t, e.rdb.Del(ctx, key).Err()) }()
	return e.rdb.MemoryUsage(ctx, key, 0).Val()
}

// TestALogOfManyEntriesIsExact: while thousands of entries expire, a call that takes nothing finds those that still
// count, and the one that it has to wait for.
func TestALogOfManyEntriesIsExact(t *testing.T) {
	onClocks(t, func(t *testing.T, e *env) {
		r := random(t, 10)
		d := windowed(bucket.SlidingLog, bucket.EntriesMax, time.Minute)
		e.install(t, d)
		var grants []windowGrant
		for range 3000 {
			e.pass(t, time.Duration(1+r.Int64N(10_000))*time.Microsecond)
			n := 1 + r.Int64N(30)
			expect(t, "granted", e.one(t, d, n).Granted, 1)
			grants = append(grants, windowGrant{e.now.UnixMicro(), n})
		}
		for range 200 {
			e.pass(t, time.Duration(r.Int64N(400_000))*time.Microsecond)
			n := 1 + r.Int64N(bucket.EntriesMax)
			got, left := e.peek(t, d, n), e.now.UnixMicro()-time.Minute.Microseconds()
			used, retry := int64(0), time.Duration(0)
			for _, g := range grants {
				if g.at > left {
					used += g.n
				}
			}
			over := used + n - d.MaxPermits
			for _, g := range grants {
				if over > 0 && g.at > left {
					over -= g.n
					retry = micros(g.at - left)
				}
			}
			expect(t, "left", got.Remaining, d.MaxPermits-used)
			expect(t, "retry", got.RetryAfter, retry)
		}
	})
}

// TestAGiveBackBehindManyRecordsIsDropped: it would have to change the totals of all that came later.
func TestAGiveBackBehindManyRecordsIsDropped(t *testing.T) {
	onClocks(t, func(t *testing.T, e *env) {
		d := windowed(bucket.SlidingLog, 2000, time.Hour)
		e.install(t, d)
		var replies []bucket.Reply
		for range 1200 {
			e.pass(t, time.Millisecond)
			replies = append(replies, e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1}))
		}
		for _, give := range []struct {
			index int
			given bool
		}{{0, false}, {198, false}, {199, true}, {199, false}, {1199, true}, {1198, true}} {
			g := bucket.GiveBack{
				Target: e.target(t, d, "checkout"), Permits: 1, At: replies[give.index].Now, RuleID: replies[give.index].RuleID,
			}
			check(t, e.Ask(t.Context(), &g))
			check(t, g.Err)
			expect(t, fmt.Sprint("given back of call ", give.index), g.Given, give.given)
		}
		expect(t, "left", e.peek(t, d, 1).Remaining, 803)
		last := e.peek(t, d, 2000)
		expect(t, "reset", last.ResetAfter, time.Hour-2*time.Millisecond)
		e.pass(t, last.RetryAfter)
		expect(t, "all is back", e.peek(t, d, 2000).Remaining, 2000)
	})
}
