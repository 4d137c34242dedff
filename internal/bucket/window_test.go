package bucket_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// granted are the permits granted in the period that ends at an instant, that instant included and its first not.
func granted(grants []windowGrant, from, to int64) int64 {
	n := int64(0)
	for _, g := range slices.Backward(grants) {
		if g.at <= from {
			break
		}
		if g.at <= to {
			n += g.n
		}
	}
	return n
}

// TestNoWindowHoldsMoreThanMaxAndNothingThatFitsIsRefused: by the grants alone, whatever the scripts keep. Of fixed_window
// a window is aligned, of the others it is any period; sliding_window may be a sixtieth of the period late.
func TestNoWindowHoldsMoreThanMaxAndNothingThatFitsIsRefused(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		r := random(t, 8)
		const period = int64(12_000)
		d := windowed(algorithm, 60, 12*time.Millisecond)
		e.install(t, d)
		var grants []windowGrant
		for range 4000 {
			if e.movable() {
				e.pass(t, time.Duration(r.Int64N(pick[int64](r, 50, 500, 5000)))*time.Microsecond)
			}
			entry := bucket.Entry{Permits: 1 + r.Int64N(pick[int64](r, 3, 30)), Count: 1 + r.Int64N(3)}
			reply := e.acquire(t, d, entry)
			now, got := reply.Now.UnixMicro(), reply.Results[0].Granted*entry.Permits
			from, surely := now-period, now-period
			switch algorithm {
			case bucket.FixedWindow:
				from = now/period*period - 1
				surely = from
			case bucket.SlidingWindow:
				surely = now - period - period/60
			}
			if got > 0 {
				grants = append(grants, windowGrant{now, got})
			}
			if n := granted(grants, from, now); n > d.MaxPermits {
				t.Fatalf("%d permits in the window that ends at %d", n, now)
			}
			if n := granted(grants, surely, now); reply.Results[0].Granted < entry.Count && n+entry.Permits <= d.MaxPermits {
				t.Fatalf("refused %d at %d, though but %d were granted since %d", entry.Permits, now, n, surely)
			}
		}
	})
}

// TestRetryAfterIsTheFirstInstantAtWhichACallIsGranted: not a µs earlier. Likewise nothing counts from ResetAfter on.
func TestRetryAfterIsTheFirstInstantAtWhichACallIsGranted(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		r := random(t, 9)
		d := windowed(algorithm, 40, 17*time.Millisecond)
		e.install(t, d)
		retries := 0
		for range 3000 {
			e.pass(t, time.Duration(r.Int64N(2000))*time.Microsecond)
			n := 1 + r.Int64N(20)
			res := e.one(t, d, n)
			if res.Code == bucket.CodeGranted {
				continue
			}
			retries++
			e.pass(t, res.RetryAfter-time.Microsecond)
			expect(t, "before the retry", e.peek(t, d, n).Code, bucket.CodeLimited)
			e.pass(t, time.Microsecond)
			if at := e.peek(t, d, n); at.Code != bucket.CodeGranted || at.Remaining < n {
				t.Fatalf("%d at the retry: %+v", n, at)
			}
			if retries%5 == 0 {
				e.pass(t, res.ResetAfter-res.RetryAfter-time.Microsecond)
				expect(t, "full before the reset", e.peek(t, d, d.MaxPermits).Code, bucket.CodeLimited)
				e.pass(t, time.Microsecond)
				expect(t, "full at the reset", e.peek(t, d, d.MaxPermits).Code, bucket.CodeGranted)
			}
		}
		if retries < 300 {
			t.Fatalf("only %d calls were refused", retries)
		}
	})
}

// TestWindowStateEndsWithItsWindow: every write sets a time to live, and then nothing is left.
func TestWindowStateEndsWithItsWindow(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 5, 150*time.Millisecond)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		for range 7 {
			reply := e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1})
			e.livesFor(t, key, reply.Results[0].ResetAfter, reply.Now)
		}
		if e.movable() {
			e.pass(t, 160*time.Millisecond)
		}
		testenv.Eventually(t, 2*time.Second, "the state to end", func() bool {
			return e.rdb.Exists(t.Context(), key).Val() == 0
		})
		expect(t, "remaining", e.peek(t, d, 1).Remaining, 5)
	})
}

// livesFor checks that a state lives for so long from a decision on, and hardly longer: Redis rounds to ms, and counts from
// when it writes, which on a busy machine may be later than the decision.
func (e *env) livesFor(t testing.TB, key string, left time.Duration, decided time.Time) {
	t.Helper()
	now, err := e.Time(t.Context())
	check(t, err)
	ends := time.UnixMilli(e.rdb.PExpireTime(t.Context(), key).Val().Milliseconds())
	if e.set != nil {
		ends = e.set.ends(t, e, key)
	}
	if lives := ends.Sub(decided); lives < left || lives > left+now.Sub(decided)+2*time.Millisecond {
		t.Fatalf("lives for %s, though all is back in %s", lives, left)
	}
}

// TestAnEditOfMaxKeepsWhatWasGranted: a lower max leaves nothing, a higher one the difference, also to keys.
func TestAnEditOfMaxKeepsWhatWasGranted(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		for i, partition := range []string{bucket.PartitionShared, bucket.PartitionKey} {
			d := windowed(algorithm, 10, time.Hour)
			d.Name, d.Partition = fmt.Sprintf("b%d", i), partition
			e.install(t, d)
			e.one(t, d, 7)
			for _, step := range []struct{ max, left int64 }{{4, 0}, {20, 13}, {7, 0}, {9, 2}} {
				d.Revision++
				d.MaxPermits = step.max
				e.install(t, d)
				expect(t, fmt.Sprintf("%s: left of %d", partition, step.max), e.peek(t, d, 1).Remaining, step.left)
			}
			expect(t, "granted", e.acquire(t, d, bucket.Entry{Permits: 1, Count: 9, Key: "k"}).Results[0].Granted, 2)
			if partition == bucket.PartitionKey {
				fresh := e.acquire(t, d, bucket.Entry{Permits: 1, Key: "never seen"}).Results[0]
				expect(t, "left for a key that was never used", fresh.Remaining, 9)
			}
		}
	})
}

// TestAnEditOfThePeriodKeepsWhatWasGrantedInTheNewOne, if it was the last thing granted.
func TestAnEditOfThePeriodKeepsWhatWasGrantedInTheNewOne(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 10, time.Minute)
		e.install(t, d)
		e.one(t, d, 7)
		e.pass(t, 20*time.Second)
		for i, period := range []time.Duration{time.Hour, 30 * time.Second} {
			d.Revision++
			d.Period = period
			e.install(t, d)
			expect(t, fmt.Sprint("left after edit ", i), e.peek(t, d, 1).Remaining, 3)
		}
		e.pass(t, 11*time.Second)
		want := int64(10)
		if algorithm == bucket.SlidingWindow {
			// The edit to an hour took all that was granted for granted in its sub-bucket's last instant: the edit itself.
			want = 3
		}
		expect(t, "left 31 s after the grant", e.peek(t, d, 1).Remaining, want)
		e.pass(t, 20*time.Second)
		expect(t, "left 51 s after the grant", e.peek(t, d, 1).Remaining, 10)
	})
}

// TestAKeyThatExpiredUnderAShorterPeriodStartsNoHigherThanItCouldBe: its state is gone, though what it was granted may
// count in the longer period. Partitions that the edit can list are known not to be used, and start full.
func TestAKeyThatExpiredUnderAShorterPeriodStartsNoHigherThanItCouldBe(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		keyed, shared := windowed(algorithm, 10, time.Second), windowed(algorithm, 10, time.Second)
		keyed.Partition = bucket.PartitionKey
		shared.Name = "shared"
		for _, d := range []bucket.Definition{keyed, shared} {
			e.install(t, d)
			e.one(t, d, 10)
		}
		e.pass(t, 10*time.Second)
		keyed.Revision, keyed.MaxPermits, keyed.Period = 2, 25, time.Minute
		shared.Revision, shared.MaxPermits, shared.Period = 2, 25, time.Minute
		e.install(t, keyed)
		e.install(t, shared)
		expect(t, "left in the shared partition", e.peek(t, shared, 1).Remaining, 25)
		expect(t, "left for the key", e.peek(t, keyed, 1).Remaining, 15)
		e.one(t, keyed, 1)
		expect(t, "left for the key that is used again", e.peek(t, keyed, 1).Remaining, 14)
		e.pass(t, 62*time.Second)
		expect(t, "left for the key a period later", e.peek(t, keyed, 1).Remaining, 25)
	})
}

// TestWindowsOfALostBucketGrowFromNothing: a flush grants no burst.
func TestWindowsOfALostBucketGrowFromNothing(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		e.pass(t, time.Hour-123_457*time.Microsecond) // to the beginning of a window
		d := windowed(algorithm, 60, time.Minute)
		lost := bucket.InstallOptions{Deployment: deployment, Lost: true}
		_, err := e.Install(t.Context(), d, lost)
		check(t, err)
		expect(t, "at birth", e.one(t, d, 1).RetryAfter, time.Second)
		e.pass(t, 30*time.Second)
		expect(t, "after half a period", e.acquire(t, d, bucket.Entry{Permits: 1, Count: 100}).Results[0].Granted, 30)
		expect(t, "the next", e.one(t, d, 1).RetryAfter, time.Second)
		e.pass(t, time.Second)
		expect(t, "a second later", e.acquire(t, d, bucket.Entry{Permits: 1, Count: 100}).Results[0].Granted, 1)
		e.pass(t, 29*time.Second)
		want := int64(29)
		if algorithm == bucket.FixedWindow {
			want = 60
		}
		expect(t, "a period after birth", e.peek(t, d, 1).Remaining, want)
	})
}

// TestWindowsWaitForAClockSlightlyBehindAndFollowOneFarBehind: neither frees what was granted, nor freezes it.
func TestWindowsWaitForAClockSlightlyBehindAndFollowOneFarBehind(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 10, time.Minute)
		e.install(t, d)
		e.pass(t, 24*time.Hour)
		e.one(t, d, 10)
		e.pass(t, -time.Second)
		expect(t, "left a second before", e.one(t, d, 1).Remaining, 0)
		e.pass(t, -12*time.Hour)
		expect(t, "left half a day before", e.one(t, d, 1).Remaining, 0)
		e.pass(t, 62*time.Second)
		expect(t, "left a period later", e.peek(t, d, 1).Remaining, 10)
	})
}

// TestWindowsWorkUnderAClockOf1970, which is before the instant that state counts from.
func TestWindowsWorkUnderAClockOf1970(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		e.pass(t, time.Unix(5, 0).Sub(e.now))
		d := windowed(algorithm, 10, 10*time.Second)
		e.install(t, d)
		for i := range int64(10) {
			expect(t, "left", e.one(t, d, 1).Remaining, 9-i)
			e.pass(t, time.Millisecond)
		}
		refused := e.one(t, d, 1)
		expect(t, "the next", refused.Code, bucket.CodeLimited)
		e.pass(t, refused.RetryAfter)
		expect(t, "when it says", e.one(t, d, 1).Code, bucket.CodeGranted)
	})
}

// TestStateOfAnotherAlgorithmIsAbsent: a bucket that changes its algorithm starts anew, whatever stands at its keys.
func TestStateOfAnotherAlgorithmIsAbsent(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		all := append([]string{bucket.TokenBucket, bucket.Concurrency}, windowAlgorithms...)
		for _, from := range all {
			for _, to := range all {
				if from == to || to == bucket.Concurrency {
					continue
				}
				d := windowed(from, 10, time.Hour)
				d.Name = from + "-" + to
				e.install(t, d)
				if from == bucket.Concurrency {
					e.lease(t, d, enter("a"), enter("b"))
				} else {
					e.one(t, d, 4)
					e.one(t, d, 3)
				}
				d.Revision, d.Algorithm, d.AfterLoss = 2, to, bucket.LossFull
				e.install(t, d)
				expect(t, d.Name+": left", e.peek(t, d, 1).Remaining, 10)
				expect(t, d.Name+": left after the next grant", e.one(t, d, 4).Remaining, 6)
			}
		}
	})
}

// TestWindowStateOfAnUnknownFormatIsLeftUntouched: a newer version may have written it.
func TestWindowStateOfAnUnknownFormatIsLeftUntouched(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 10, time.Hour)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		for _, items := range [][]any{{"3:something:newer"}, {"2garbage"}, {"3", "0", "5", "6"}, {"21", "0", "5"}, {"21", "0"}} {
			check(t, e.rdb.Del(t.Context(), key).Err())
			switch {
			case algorithm == bucket.SlidingLog && len(items) > 1:
				check(t, e.rdb.RPush(t.Context(), key, items...).Err())
			case algorithm != bucket.SlidingLog && len(items) == 1:
				check(t, e.rdb.Set(t.Context(), key, items[0], time.Hour).Err())
			default:
				continue
			}
			before := e.stateText(t, key)
			expect(t, fmt.Sprint(items), e.ask(t, d, bucket.Entry{Permits: 1, Count: 1}).Verdict, bucket.VerdictUnknownFormat)
			expect(t, "the state", e.stateText(t, key), before)
		}
	})
}

// stateText is what a state's key holds, and until when.
func (e *env) stateText(t testing.TB, key string) string {
	t.Helper()
	ctx := t.Context()
	text := fmt.Sprint(e.rdb.Get(ctx, key).Val())
	if e.rdb.Type(ctx, key).Val() == "list" {
		text = fmt.Sprint(e.rdb.LRange(ctx, key, 0, -1).Val())
	}
	return text + " until " + e.rdb.PExpireTime(ctx, key).Val().String()
}
