package bucket_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// Mistake 16: slots of dead holders blocked for ever, and N-1 were admitted because the counter began at 1.
func TestMistake16_AllNSlotsAreAdmittedAndThoseOfDeadHoldersComeBack(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(7, 10*time.Second)
		e.install(t, d)
		for generation := range 3 {
			var admitted atomic.Int64
			var group sync.WaitGroup
			for caller := range 40 {
				group.Go(func() {
					c := e.leaseCall(t, d, "", enter(fmt.Sprintf("%d-%d", generation, caller)))
					e.asked(t, &c)
					if c.Err != nil || c.Reply.Verdict != bucket.VerdictDecided {
						t.Errorf("enter: %+v, %v", c.Reply, c.Err)
					} else if c.Results[0].Code == bucket.LeaseHeld {
						admitted.Add(1)
					}
				})
			}
			group.Wait()
			expect(t, "admitted", admitted.Load(), 7)
			e.pass(t, 10*time.Second, d.Name) // all of them died without a release
			expect(t, "held by the dead", e.lease(t, d, look())[0].Held, 0)
		}
	})
}

// TestConcurrentHoldersNeverExceedTheMaximum: they come and go as fast as they can.
func TestConcurrentHoldersNeverExceedTheMaximum(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(3, time.Minute)
		e.install(t, d)
		var inside, most, granted atomic.Int64
		var group sync.WaitGroup
		for caller := range 16 {
			group.Go(func() {
				for turn := range 40 {
					id := fmt.Sprintf("%d-%d", caller, turn)
					c := e.leaseCall(t, d, "", enter(id))
					if e.asked(t, &c); c.Err != nil {
						t.Errorf("enter: %v", c.Err)
						return
					}
					if c.Results[0].Code != bucket.LeaseHeld {
						continue
					}
					granted.Add(1)
					now := inside.Add(1)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					inside.Add(-1)
					c.Ops[0].Do = bucket.LeaseRelease
					if e.asked(t, &c); c.Err != nil || c.Results[0].Code != bucket.LeaseHeld {
						t.Errorf("release: %+v, %v", c.Results, c.Err)
					}
				}
			})
		}
		group.Wait()
		if most.Load() > 3 || granted.Load() < 40 {
			t.Fatalf("%d inside at once, %d granted", most.Load(), granted.Load())
		}
		expect(t, "held at the end", e.lease(t, d, look())[0].Held, 0)
	})
}

// TestVerdictsOfLeases: what is not decided says why, with the truth where the caller's facts are wrong.
func TestVerdictsOfLeases(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(1, time.Minute)
		ask := func(d bucket.Definition, app string, facts *bucket.Facts) bucket.LeaseCall {
			t.Helper()
			target, err := e.Target(d.Name, app, facts)
			check(t, err)
			c := bucket.LeaseCall{Target: target, Key: "k", Ops: []bucket.LeaseOp{enter("a")}}
			e.asked(t, &c)
			check(t, c.Err)
			return c
		}
		expect(t, "never installed", ask(d, "checkout", nil).Reply.Verdict, bucket.VerdictAbsent)
		d.Apps = []string{"checkout"}
		e.install(t, d)
		expect(t, "another app", ask(d, "search", nil).Reply.Verdict, bucket.VerdictNotListed)
		learned := ask(d, "checkout", nil).Reply
		expect(t, "nothing learned", learned.Verdict, bucket.VerdictStale)
		expect(t, "algorithm learned", learned.Facts.Algorithm, bucket.Concurrency)
		expect(t, "period learned", learned.Facts.Period, time.Minute)
		expect(t, "learned", ask(d, "checkout", learned.Facts).Reply.Facts, learned.Facts)

		d.Revision, d.Partition = 2, bucket.PartitionKey
		e.install(t, d)
		stale := ask(d, "checkout", learned.Facts)
		expect(t, "another partition", stale.Reply.Verdict, bucket.VerdictStale)
		expect(t, "results of a stale call", len(stale.Results), 0)
		expect(t, "with the truth", ask(d, "checkout", stale.Reply.Facts).Reply.Verdict, bucket.VerdictDecided)
		d.Revision, d.MaxPermits = 3, 2
		e.install(t, d)
		decided := ask(d, "checkout", stale.Reply.Facts).Reply
		expect(t, "an older revision", decided.Verdict, bucket.VerdictDecided)
		expect(t, "max learned with it", decided.Facts.MaxPermits, 2)
		_, err := e.Remove(t.Context(), d.Name, 4, deployment)
		check(t, err)
		expect(t, "removed", ask(d, "checkout", decided.Facts).Reply.Verdict, bucket.VerdictRemoved)
	})
}

// TestLeaseCallsThatCannotBeAreRefused: before they are sent, with the field at fault.
func TestLeaseCallsThatCannotBeAreRefused(t *testing.T) {
	e := realEnv(t)
	d := leased(1, time.Minute)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	refused := func(field, key string, ops ...bucket.LeaseOp) {
		t.Helper()
		c := e.leaseCall(t, d, key, ops...)
		e.asked(t, &c)
		expectInvalid(t, c.Err, field)
	}
	refused("ops", "k")
	refused("ops", "k", make([]bucket.LeaseOp, bucket.EntriesBound+1)...)
	refused("op", "k", bucket.LeaseOp{ID: "a"})
	refused("op", "k", bucket.LeaseOp{Do: "steal", ID: "a"})
	refused("key", "", enter("a"))
	refused("key", strings.Repeat("k", bucket.KeyBound+1), enter("a"))
	for _, id := range []string{"", "2:1f:0", "a b", "a\x00", "é", "{a}", strings.Repeat("a", 65)} {
		refused("lease", "k", enter(id))
		refused("lease", "k", look(), release(id))
	}
	c := e.leaseCall(t, d, "k", enter(strings.Repeat("a", 64)), enter("A-z_09"), look())
	c.Shard = 1
	e.asked(t, &c)
	expectInvalid(t, c.Err, "shard")
	tokens := definition(1, 1, time.Second)
	e.install(t, tokens)
	c = e.leaseCall(t, tokens, "", enter("a"))
	e.asked(t, &c)
	expectInvalid(t, c.Err, "algorithm")
	acquire := e.call(t, d, bucket.Entry{Permits: 1, Count: 1, Key: "k"})
	_, err := e.Acquire(t.Context(), acquire)
	expectInvalid(t, err, "algorithm")
}

// TestTheLeaseScriptRefusesWhatGoWouldNotSend: other clients may.
func TestTheLeaseScriptRefusesWhatGoWouldNotSend(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(1, time.Minute)
		e.install(t, d)
		e.lease(t, d, enter("a"))
		before := e.leaseSnapshot(t, d)
		definition, state := e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "", "")
		shape := bucket.ShapeOf(d.Facts())
		for _, args := range [][]any{
			{"enter"}, {"enter", ""}, {"enter", "2:1f:0"}, {"release", "2:1f"}, {"Enter", "a"}, {"", ""}, {"open", "a"},
			{"release", "a", "enter", "b c"}, {"release", "a", "enter"}, {"enter", strings.Repeat("a", 65)}, {},
		} {
			raw, err := e.RawLease(t.Context(), []string{definition, state}, append([]any{"checkout", shape, 1}, args...)...)
			if err == nil || !strings.HasPrefix(err.Error(), "HEADGATE ") {
				t.Fatalf("%v: %v, %v", args, raw, err)
			}
		}
		for _, keys := range [][]string{{definition}, {definition, state, state}} {
			if raw, err := e.RawLease(t.Context(), keys, "checkout", shape, 1, "enter", "b"); err == nil {
				t.Fatalf("%d keys: %v", len(keys), raw)
			}
		}
		expect(t, "state", e.leaseSnapshot(t, d), before)
		raw, err := e.RawLease(t.Context(), []string{definition, state}, "*", shape, 1, "enter", "b")
		check(t, err)
		expect(t, "an app called *", fmt.Sprint(raw.([]any)[0], raw.([]any)[3]), "0 2")
	})
}

// TestAnswersThatAreNoneAreErrors: a script of another version, or a proxy's idea.
func TestAnswersThatAreNoneAreErrors(t *testing.T) {
	d := leased(1, time.Minute)
	e := bucket.New(nil, "")
	target, err := e.Target(d.Name, "checkout", d.Facts())
	check(t, err)
	whole := []any{int64(1), int64(5), int64(1), int64(3), "", int64(1), int64(1), int64(0), int64(6), int64(6), int64(6)}
	decode := func(reply any) error {
		return bucket.DecodeLease(reply, &bucket.LeaseCall{Target: target, Ops: []bucket.LeaseOp{enter("a")}})
	}
	check(t, decode(whole))
	changed := func(at int, value any) []any {
		reply := append([]any{}, whole...)
		reply[at] = value
		return reply
	}
	for i, reply := range []any{
		nil, "OK", []any{}, whole[:10], append(append([]any{}, whole...), int64(1)), changed(0, int64(7)), changed(5, int64(3)),
		changed(5, int64(-2)), changed(6, int64(-1)), changed(8, int64(-1)), changed(9, "1"), changed(10, int64(1)<<62), changed(4, "3 x"),
	} {
		if decode(reply) == nil {
			t.Errorf("answer %d was taken: %v", i, reply)
		}
	}
	var own *bucket.InvalidError
	if errors.As(decode(nil), &own) {
		t.Error("a broken answer is not the caller's fault")
	}
}
