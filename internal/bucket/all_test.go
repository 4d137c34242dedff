package bucket_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// part is what one call of the app checkout wants of d.
func (e *env) part(t testing.TB, d bucket.Definition, permits int64) bucket.Part {
	t.Helper()
	return bucket.Part{Target: e.target(t, d, "checkout"), Permits: permits, Key: "k"}
}

// all asks for one row of equal calls.
func (e *env) all(t testing.TB, count int64, parts ...bucket.Part) bucket.AllResult {
	t.Helper()
	reply := e.askAll(t, &bucket.AllCall{Entries: []bucket.AllEntry{{Count: count, Parts: parts}}})
	if reply.Stale {
		t.Fatalf("stale: %+v", reply)
	}
	return reply.Entries[0]
}

func (e *env) askAll(t testing.TB, c *bucket.AllCall) bucket.AllReply {
	t.Helper()
	check(t, e.Ask(t.Context(), c))
	check(t, c.Err)
	return c.Reply
}

// named is a bucket of max permits that hardly refills.
func named(name string, max int64) bucket.Definition {
	d := definition(max, 1, time.Hour)
	d.Name = name
	return d
}

// TestAllOrNothing: a row is granted as far as every bucket has enough, and no bucket gives more than that.
func TestAllOrNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, b := named("a", 10), named("b", 3)
		e.install(t, a)
		e.install(t, b)
		r := e.all(t, 5, e.part(t, a, 2), e.part(t, b, 1))
		expect(t, "granted", r.Granted, 3)
		expect(t, "left of a", r.Parts[0].Remaining, 4)
		expect(t, "left of b", r.Parts[1].Remaining, 0)
		for i := int64(1); i <= 5; i++ {
			expect(t, fmt.Sprintf("a refuses call %d", i), r.Parts[0].Refuses(i, r.Granted), false)
			expect(t, fmt.Sprintf("b refuses call %d", i), r.Parts[1].Refuses(i, r.Granted), i > 3)
		}
		expect(t, "retry of a", r.Parts[0].RetryAfter, 0)
		if wait := r.Parts[1].RetryAfter; wait > time.Hour || wait < time.Hour-time.Minute {
			t.Fatalf("retry of b after %s, want an hour", wait)
		}
		expect(t, "a by itself", e.peek(t, a, 1).Remaining, 4)
	})
}

// Mistake 9: calls that were refused counted against the limit, or against the other limits of a composite.
func TestMistake09_ARefusedCallOfSeveralBucketsChargesNone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		all := []bucket.Definition{named("roomy", 100), named("tight", 1), named("other", 100)}
		for _, d := range all {
			e.install(t, d)
		}
		parts := []bucket.Part{e.part(t, all[0], 5), e.part(t, all[1], 1), e.part(t, all[2], 7)}
		expect(t, "granted", e.all(t, 1, parts...).Granted, 1)
		var before []map[string]string
		for _, d := range all {
			before = append(before, e.snapshot(t, d.Name))
		}
		for range 20 {
			expect(t, "granted", e.all(t, 3, parts...).Granted, 0)
		}
		for i, d := range all {
			expectSame(t, before[i], e.snapshot(t, d.Name))
		}
	})
}

// TestPartsOfOneStateAddUp: also where each alone would be granted, or would not be too many.
func TestPartsOfOneStateAddUp(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d, other := named("b", 10), named("other", 10)
		e.install(t, d)
		e.install(t, other)
		r := e.all(t, 3, e.part(t, d, 1), e.part(t, other, 1), e.part(t, d, 3))
		expect(t, "granted", r.Granted, 2)
		expect(t, "left", r.Parts[0].Remaining, 2)
		expect(t, "left, said by the other part", r.Parts[2].Remaining, 2)
		expect(t, "left of the other", r.Parts[1].Remaining, 8)
		expect(t, "too many", e.all(t, 1, e.part(t, d, 5), e.part(t, d, 5)).Parts[0].TooMany, false)
		r = e.all(t, 1, e.part(t, other, 1), e.part(t, d, 6), e.part(t, d, 5))
		expect(t, "granted of too many", r.Granted, 0)
		expect(t, "too many", r.Parts[1].TooMany && r.Parts[2].TooMany, true)
		expect(t, "too many of the other", r.Parts[0].TooMany, false)
		expect(t, "left of the other", r.Parts[0].Remaining, 8)
	})
}

// TestAShadowPartStopsNobody: it says that it would have refused, takes nothing then, and the others are taken.
func TestAShadowPartStopsNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, shadow := named("a", 10), named("shadow", 5)
		shadow.Mode = bucket.ModeShadow
		e.install(t, a)
		e.install(t, shadow)
		r := e.all(t, 4, e.part(t, a, 1), e.part(t, shadow, 2))
		expect(t, "granted", r.Granted, 4)
		expect(t, "left", r.Parts[0].Remaining, 6)
		expect(t, "left of the shadow", r.Parts[1].Remaining, 1)
		expect(t, "the shadow refuses the second call", r.Parts[1].Refuses(2, r.Granted), false)
		expect(t, "the shadow refuses the third call", r.Parts[1].Refuses(3, r.Granted), true)
		r = e.all(t, 1, e.part(t, shadow, 6), e.part(t, a, 1))
		expect(t, "granted beside too many of a shadow", r.Granted, 1)
		expect(t, "too many", r.Parts[0].TooMany, true)
		r = e.all(t, 2, e.part(t, shadow, 1), e.part(t, a, 5))
		expect(t, "granted", r.Granted, 1)
		r = e.all(t, 1, e.part(t, shadow, 1), e.part(t, a, 5))
		expect(t, "granted", r.Granted, 0)
	})
}

// TestARefusedCallTakesNothingFromAShadow: a shadow takes with the calls that are granted only.
func TestARefusedCallTakesNothingFromAShadow(t *testing.T) {
	e := miniEnv(t)
	a, shadow := named("a", 2), named("shadow", 50)
	shadow.Mode = bucket.ModeShadow
	e.install(t, a)
	e.install(t, shadow)
	expect(t, "granted", e.all(t, 9, e.part(t, shadow, 1), e.part(t, a, 1)).Granted, 2)
	expect(t, "left of the shadow", e.peek(t, shadow, 1).Remaining, 48)
}

// TestAPartThatIsOffNeitherCountsNorRefuses: and its decision names no rule that could be given back to.
func TestAPartThatIsOffNeitherCountsNorRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, off := named("a", 10), named("off", 1)
		off.Mode = bucket.ModeOff
		e.install(t, a)
		e.install(t, off)
		r := e.all(t, 9, e.part(t, off, 7), e.part(t, a, 1))
		expect(t, "granted", r.Granted, 9)
		want := bucket.PartResult{Verdict: bucket.VerdictDecided, Revision: 1, Facts: r.Parts[0].Facts, Able: 9, Remaining: 1}
		if diff := cmp.Diff(want, r.Parts[0]); diff != "" {
			t.Fatal(diff)
		}
		expect(t, "states", e.rdb.Exists(t.Context(), e.StateKey("off", off.Partition, "", "")).Val(), 0)
		expect(t, "rule of acquire", e.acquire(t, off, bucket.Entry{Permits: 1, Count: 1}).RuleID, 0)
	})
}

// TestPartsThatAreNotConfigured refuse their call, or pass if the caller says so; each tells why.
func TestPartsThatAreNotConfigured(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, foreign, gone, absent := named("a", 10), named("foreign", 10), named("gone", 10), named("absent", 10)
		foreign.Apps = []string{"search"}
		for _, d := range []bucket.Definition{a, foreign, gone} {
			e.install(t, d)
		}
		_, err := e.Remove(t.Context(), "gone", 2, deployment)
		check(t, err)
		verdicts := map[string]bucket.Verdict{
			"foreign": bucket.VerdictNotListed, "gone": bucket.VerdictRemoved, "absent": bucket.VerdictAbsent,
		}
		left := int64(10)
		for _, d := range []bucket.Definition{foreign, gone, absent} {
			for _, learned := range []bool{true, false} {
				odd := e.part(t, d, 1)
				if !learned {
					odd.Target, err = e.Target(d.Name, "checkout", nil)
					check(t, err)
				}
				c := &bucket.AllCall{Entries: []bucket.AllEntry{{Count: 1, Parts: []bucket.Part{e.part(t, a, 1), odd}}}}
				r := e.askAll(t, c).Entries[0]
				expect(t, d.Name+": granted", r.Granted, 0)
				expect(t, d.Name+": verdict", r.Parts[1].Verdict, verdicts[d.Name])
				expect(t, d.Name+": a could", r.Parts[0].Able, 1)
				expect(t, d.Name+": left", r.Parts[0].Remaining, left)
				c.PassNotConfigured = true
				left--
				r = e.askAll(t, c).Entries[0]
				expect(t, d.Name+": granted if passed", r.Granted, 1)
				expect(t, d.Name+": verdict if passed", r.Parts[1].Verdict, verdicts[d.Name])
				expect(t, d.Name+": left if passed", r.Parts[0].Remaining, left)
			}
		}
	})
}

// TestAStalePartTakesNothingAnywhere: and the truth is told of each, also to who has learned nothing.
func TestAStalePartTakesNothingAnywhere(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, b := named("a", 10), named("b", 10)
		b.Partition = bucket.PartitionKey
		e.install(t, a)
		e.install(t, b)
		stale, err := e.Target("b", "checkout", a.Facts()) // believes that it is shared
		check(t, err)
		unlearned, err := e.Target("b", "checkout", nil)
		check(t, err)
		for _, target := range []*bucket.Target{stale, unlearned} {
			c := &bucket.AllCall{Entries: []bucket.AllEntry{
				{Count: 1, Parts: []bucket.Part{e.part(t, a, 1), {Target: target, Permits: 1}}},
				{Count: 1, Parts: []bucket.Part{e.part(t, a, 1)}},
			}}
			reply := e.askAll(t, c)
			expect(t, "stale", reply.Stale, true)
			expect(t, "a", reply.Entries[0].Parts[0].Verdict, bucket.VerdictDecided)
			expect(t, "b", reply.Entries[0].Parts[1].Verdict, bucket.VerdictStale)
			expect(t, "the truth", reply.Entries[0].Parts[1].Facts.Partition, bucket.PartitionKey)
			expect(t, "granted", reply.Entries[0].Granted+reply.Entries[1].Granted, 0)
			expect(t, "left", e.peek(t, a, 1).Remaining, 10)
		}
	})
}

// TestAPartOfUnknownFormatIsNotTouched: nor is anything else taken for its call; other calls are decided.
func TestAPartOfUnknownFormatIsNotTouched(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, b := named("a", 10), named("b", 10)
		e.install(t, a)
		e.install(t, b)
		ask := func(what string) {
			t.Helper()
			before := e.snapshot(t, "b")
			c := &bucket.AllCall{PassNotConfigured: true, Entries: []bucket.AllEntry{
				{Count: 1, Parts: []bucket.Part{e.part(t, a, 1), e.part(t, b, 1)}},
				{Count: 2, Parts: []bucket.Part{e.part(t, a, 1)}},
			}}
			reply := e.askAll(t, c)
			expect(t, what+": granted", reply.Entries[0].Granted, 0)
			expect(t, what+": verdict", reply.Entries[0].Parts[1].Verdict, bucket.VerdictUnknownFormat)
			expect(t, what+": granted by the other", reply.Entries[1].Granted, 2)
			expectSame(t, before, e.snapshot(t, "b"))
		}
		state := e.StateKey("b", b.Partition, "", "")
		check(t, e.rdb.Set(t.Context(), state, "3something", time.Hour).Err())
		ask("a newer state")
		check(t, e.rdb.Del(t.Context(), state).Err())
		e.setHead(t, e.DefinitionKey("b"), headShape, "leaky_cup.shared.1")
		b.Algorithm = bucket.TokenBucket
		c := &bucket.AllCall{Entries: []bucket.AllEntry{{Count: 1, Parts: []bucket.Part{e.part(t, a, 1), e.part(t, b, 1)}}}}
		reply := e.askAll(t, c)
		expect(t, "stale by an unknown algorithm", reply.Stale, true)
		expect(t, "verdict", reply.Entries[0].Parts[1].Verdict, bucket.VerdictUnknownFormat)
		check(t, e.rdb.HSet(t.Context(), e.DefinitionKey("b"), "head", "3 of another form").Err())
		ask("a newer definition")
	})
}

// TestBesideAnUnknownFormatNoStateOfTheBucketIsWritten: not even one that lies ahead of the clock.
func TestBesideAnUnknownFormatNoStateOfTheBucketIsWritten(t *testing.T) {
	e := miniEnv(t)
	d := named("b", 10)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	e.pass(t, 2*time.Hour)
	e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1, Key: "known"})
	check(t, e.rdb.Set(t.Context(), e.StateKey("b", d.Partition, "", "newer"), "3something", time.Hour).Err())
	e.pass(t, -time.Hour)
	before := e.snapshot(t, "b")
	target := e.target(t, d, "checkout")
	r := e.all(t, 1, bucket.Part{Target: target, Permits: 1, Key: "known"}, bucket.Part{Target: target, Permits: 1, Key: "newer"})
	expect(t, "granted", r.Granted, 0)
	expectSame(t, before, e.snapshot(t, "b"))
}

// TestAllCallsOfARedisOutOfMemoryTakeNothing: not even from the first bucket that is written.
func TestAllCallsOfARedisOutOfMemoryTakeNothing(t *testing.T) {
	server := testenv.OwnRedis(t)
	e := newEnv(t, server.Addr, "")
	a, b := named("a", 10), named("b", 10)
	e.install(t, a)
	e.install(t, b)
	e.all(t, 1, e.part(t, a, 2), e.part(t, b, 3))
	before := []map[string]string{e.snapshot(t, "a"), e.snapshot(t, "b")}
	check(t, e.rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	c := &bucket.AllCall{Entries: []bucket.AllEntry{{Count: 1, Parts: []bucket.Part{e.part(t, a, 1), e.part(t, b, 1)}}}}
	check(t, e.Ask(t.Context(), c))
	if c.Err == nil {
		t.Fatalf("granted without memory to remember it: %+v", c.Reply)
	}
	expectSame(t, before[0], e.snapshot(t, "a"))
	expectSame(t, before[1], e.snapshot(t, "b"))
}

// TestConcurrentAllCallsNeverSplit: whatever is granted was taken from both, and as much as there was.
func TestConcurrentAllCallsNeverSplit(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, b := named("a", 100), named("b", 60)
		e.install(t, a)
		e.install(t, b)
		var granted atomic.Int64
		var group sync.WaitGroup
		for i := range 10 {
			parts := []bucket.Part{e.part(t, a, 1), e.part(t, b, 1)}
			if i%2 == 1 {
				slices.Reverse(parts)
			}
			group.Go(func() {
				for range 10 {
					c := &bucket.AllCall{Entries: []bucket.AllEntry{{Count: 1, Parts: parts}}}
					if err := e.Ask(t.Context(), c); err != nil || c.Err != nil {
						t.Errorf("ask: %v, %v", err, c.Err)
						return
					}
					granted.Add(c.Reply.Entries[0].Granted)
				}
			})
		}
		group.Wait()
		expect(t, "granted", granted.Load(), 60)
		expect(t, "left of a", e.peek(t, a, 1).Remaining, 40)
	})
}

// TestManyKeysTravelInOneAllCall: a global bucket and one per user, for many users at once.
func TestManyKeysTravelInOneAllCall(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		global, user := named("global", 700), named("user", 2)
		user.Partition = bucket.PartitionKey
		e.install(t, global)
		e.install(t, user)
		c := &bucket.AllCall{}
		target := e.target(t, user, "checkout")
		for i := range bucket.PartsBound / 2 {
			c.Entries = append(c.Entries, bucket.AllEntry{Count: 2, Parts: []bucket.Part{
				e.part(t, global, 1), {Target: target, Permits: 1, Key: fmt.Sprintf("{%d}\n", i)},
			}})
		}
		reply := e.askAll(t, c)
		for i, r := range reply.Entries {
			want := int64(2)
			if i >= 350 {
				want = 0
			}
			expect(t, fmt.Sprintf("granted to user %d", i), r.Granted, want)
			expect(t, fmt.Sprintf("left of user %d", i), r.Parts[1].Remaining, 2-want)
		}
	})
}

// TestAnAllCallThatCanNotBeAskedIsRefused: with the field, before Redis is asked.
func TestAnAllCallThatCanNotBeAskedIsRefused(t *testing.T) {
	e := &env{Engine: bucket.New(nil, "")}
	keyed, leases := named("keyed", 5), named("leases", 5)
	keyed.Partition, leases.Algorithm = bucket.PartitionKey, bucket.Concurrency
	good := e.part(t, keyed, 1)
	stranger := good
	stranger.Target = e.target(t, keyed, "search")
	for field, entries := range map[string][]bucket.AllEntry{
		"parts":     {},
		"count":     {{Count: 0, Parts: []bucket.Part{good}}},
		"permits":   {{Count: 1, Parts: []bucket.Part{{Target: good.Target, Key: "k"}}}},
		"key":       {{Count: 1, Parts: []bucket.Part{{Target: good.Target, Permits: 1}}}},
		"app":       {{Count: 1, Parts: []bucket.Part{good, stranger}}},
		"algorithm": {{Count: 1, Parts: []bucket.Part{good, e.part(t, leases, 1)}}},
	} {
		c := &bucket.AllCall{Entries: entries}
		check(t, e.Ask(t.Context(), c))
		expectInvalid(t, c.Err, field)
	}
	many := &bucket.AllCall{Entries: []bucket.AllEntry{{Count: 1, Parts: slices.Repeat([]bucket.Part{good}, bucket.PartsBound+1)}}}
	check(t, e.Ask(t.Context(), many))
	expectInvalid(t, many.Err, "parts")
	none := &bucket.AllCall{Entries: []bucket.AllEntry{{Count: 1}}}
	check(t, e.Ask(t.Context(), none))
	expectInvalid(t, none.Err, "parts")
}

// TestAcquireAllRefusesWhatMakesNoSense: the script itself, for clients in other languages.
func TestAcquireAllRefusesWhatMakesNoSense(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := named("b", 10)
		e.install(t, d)
		shape := bucket.ShapeOf(d.Facts())
		definition, state := e.DefinitionKey("b"), e.StateKey("b", d.Partition, "", "")
		before := e.snapshot(t, "b")
		for _, args := range [][]any{
			{"checkout"}, {"checkout", 0, 0}, {"checkout", "x", 0}, {"checkout", 3, 0, shape, 0, 1, 1, 1, 1}, {"checkout", 1, 0, shape},
			{"checkout", 1, 0, shape, 0}, {"checkout", 1, 0, shape, 0, 1}, {"checkout", 1, 0, shape, 0, 1, 1}, {"checkout", 1, 0, shape, 0, 1, 1, 1},
			{"checkout", 1, 0, shape, 0, 1, 1, 2, 1}, {"checkout", 1, 0, shape, 0, 1, 1, 0, 1}, {"checkout", 1, 0, shape, 0, 0, 1, 1, 1},
			{"checkout", 1, 0, shape, 0, -1, 1, 1, 1}, {"checkout", 1, 0, shape, 0, 1, 1, 1, 0}, {"checkout", 1, 0, shape, 0, 1, 1, 1, -5},
			{"checkout", 1, 0, shape, 0, 1, 1, 1, "0.5"}, {"checkout", 1, 0, shape, 0, "nan", 1, 1, 1}, {"checkout", 1, 0, shape, 0, "inf", 1, 1, 1},
			{"checkout", 1, 0, shape, 0, 1, 2, 1, 1}, {"checkout", 1, 0, shape, 0, 1, 2, 1, 1, 1, 1},
		} {
			for _, tokenOnly := range []bool{true, false} {
				raw, err := e.RawAcquireAll(t.Context(), tokenOnly, []string{definition, state}, args...)
				if err == nil || !strings.HasPrefix(err.Error(), "HEADGATE ") {
					t.Fatalf("%v: %v, %v", args, raw, err)
				}
			}
		}
		raw, err := e.RawAcquireAll(t.Context(), true, []string{definition, state}, "*", 1, 0, shape, 0, 1, 1, 1, 1)
		check(t, err)
		expect(t, "an app called *", fmt.Sprint(raw.([]any)[2:5]), "[0 1 2]")
		expectSame(t, before, e.snapshot(t, "b"))
	})
}
