package bucket_test

import (
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// The mistakes that earlier window limiters made, each as a test that fails if it comes back.

// Mistake 8: EXPIRE renewed at every accept made a fixed window slide for ever.
func TestMistake08_NoGrantMovesTheEndOfAFixedWindow(t *testing.T) {
	onClocks(t, func(t *testing.T, e *env) {
		d := windowed(bucket.FixedWindow, 100, 24*time.Hour)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		first := e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1})
		ends := first.Now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		for range 20 {
			e.pass(t, 3*time.Minute)
			reply := e.acquire(t, d, bucket.Entry{Permits: 1, Count: 1})
			expect(t, "end of the window", reply.Now.Add(reply.Results[0].ResetAfter), ends)
			e.livesFor(t, key, ends.Sub(reply.Now), reply.Now)
		}
	})
}

// Mistake 8: a counter whose EXPIRE was lost blocked for ever.
func TestMistake08_AStateWithoutATimeToLiveBlocksNobody(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 3, 50*time.Millisecond)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		e.one(t, d, 3)
		check(t, e.rdb.Persist(t.Context(), key).Err())
		if e.set != nil {
			e.set.persist(t, e, key)
		}
		if e.movable() {
			e.pass(t, 110*time.Millisecond)
		}
		testenv.Eventually(t, 2*time.Second, "the permits to be back", func() bool { return e.peek(t, d, 3).Code == bucket.CodeGranted })
		e.one(t, d, 3)
		reply := e.acquire(t, d, bucket.Entry{Permits: 1})
		e.livesFor(t, key, reply.Results[0].ResetAfter, reply.Now)
	})
}

// Mistake 9: denied calls counted against the limit, so that whoever went on asking was never let in again.
func TestMistake09_ARefusedCallCountsNothing(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 5, time.Hour)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		for range 10 {
			e.one(t, d, 6)
			expect(t, "keys after calls for too many", e.rdb.Exists(t.Context(), key).Val(), 0)
		}
		e.one(t, d, 3)
		before := e.stateText(t, key)
		for range 50 {
			res := e.acquire(t, d, bucket.Entry{Permits: 3, Count: 2}, bucket.Entry{Permits: 4, Count: 1}, bucket.Entry{Permits: 2}).Results
			expect(t, "granted", res[0].Granted+res[1].Granted, 0)
		}
		expect(t, "the state", e.stateText(t, key), before)
		expect(t, "granted of the rest", e.one(t, d, 2).Granted, 1)
	})
}

// Mistake 10: "reset in" was 60 with one second left, negative, or the time elapsed.
func TestMistake10_ResetOfAWindowIsWhatIsLeftOfIt(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) {
		d := windowed(algorithm, 5, time.Minute)
		e.install(t, d)
		e.pass(t, e.now.Truncate(time.Minute).Add(time.Minute).Sub(e.now)) // to the full minute
		expect(t, "reset of an unused window", e.peek(t, d, 1).ResetAfter, 0)
		e.one(t, d, 5)
		e.pass(t, 59*time.Second)
		want := time.Second
		if algorithm == bucket.SlidingWindow {
			want += time.Second // a sixtieth of the period
		}
		res := e.one(t, d, 1)
		expect(t, "reset with a second left", res.ResetAfter, want)
		expect(t, "retry with a second left", res.RetryAfter, want)
		e.pass(t, want)
		expect(t, "reset when it is over", e.peek(t, d, 1).ResetAfter, 0)
	})
}

// Mistake 12: two requests in the same instant were one, because the log's member was the instant.
func TestMistake12_GrantsOfOneInstantAllCount(t *testing.T) {
	onWindowClocks(t, func(t *testing.T, e *env, algorithm string) { // whose clocks stand still
		d := windowed(algorithm, 5, time.Minute)
		e.install(t, d)
		for i := range int64(5) {
			expect(t, "left", e.one(t, d, 1).Remaining, 4-i)
		}
		expect(t, "the sixth", e.one(t, d, 1).Code, bucket.CodeLimited)
	})
}

// Mistake 15: counting and then adding in two round trips let callers through together.
func TestMistake15_ConcurrentCallersNeverExceedAWindow(t *testing.T) {
	for _, algorithm := range windowAlgorithms {
		t.Run(algorithm, func(t *testing.T) {
			e := realEnv(t)
			d := windowed(algorithm, 40, 31*24*time.Hour)
			e.install(t, d)
			total := int64(0)
			for _, reply := range concurrently(t, e, d, 10, 20) {
				total += reply.Results[0].Granted
			}
			expect(t, "granted of 40", total, 40)

			short := windowed(algorithm, 40, 10*time.Millisecond)
			short.Name = "short"
			e.install(t, short)
			var grants []windowGrant
			for _, reply := range concurrently(t, e, short, 10, 200) {
				grants = append(grants, windowGrant{reply.Now.UnixMicro(), reply.Results[0].Granted})
			}
			slices.SortFunc(grants, func(a, b windowGrant) int { return int(a.at - b.at) })
			for i, g := range grants {
				from := g.at - 10_000
				if algorithm == bucket.FixedWindow {
					from = g.at/10_000*10_000 - 1
				}
				if n := granted(grants[:i+1], from, g.at); n > 40 {
					t.Fatalf("%d permits in the window that ends at %d", n, g.at)
				}
			}
		})
	}
}
