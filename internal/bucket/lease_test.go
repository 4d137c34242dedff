package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// TestARetriedEnterTakesOneSlot: an enter whose answer was lost is sent again under the same id.
func TestARetriedEnterTakesOneSlot(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(2, time.Minute)
		e.install(t, d)
		for range 3 {
			result := e.lease(t, d, enter("a"))[0]
			expect(t, "code", result.Code, bucket.LeaseHeld)
			expect(t, "held", result.Held, 1)
			expect(t, "free", result.Free, 1)
			expect(t, "expires", result.Expires, time.Minute)
		}
		expect(t, "in one call", e.lease(t, d, enter("b"), enter("b"), enter("a"))[2].Held, 2)
		expect(t, "a third", e.codes(t, d, enter("c")), "-1")
	})
}

// TestReleasingTwiceIsReleasingOnce: also when the slot has been taken by another meanwhile.
func TestReleasingTwiceIsReleasingOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(1, time.Minute)
		e.install(t, d)
		expect(t, "enter, release", e.codes(t, d, enter("a"), release("a")), "1 1")
		expect(t, "state left behind", e.rdb.Exists(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val(), 0)
		expect(t, "another enters, the first releases again", e.codes(t, d, enter("b"), release("a")), "1 0")
		expect(t, "a third", e.codes(t, d, enter("c")), "-1")
		expect(t, "one that never was there", e.codes(t, d, release("z")), "0")
	})
}

// TestALateReleaseFreesNobodyElsesSlot: the holder was held up until after its lease had ended.
func TestALateReleaseFreesNobodyElsesSlot(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(1, time.Minute)
		e.install(t, d)
		e.lease(t, d, enter("slow"))
		e.pass(t, time.Minute, d.Name)
		expect(t, "next enters, slow releases", e.codes(t, d, enter("next"), release("slow")), "1 0")
		expect(t, "held", e.lease(t, d, look())[0].Held, 1)
		expect(t, "a third", e.codes(t, d, enter("third")), "-1")
	})
}

// TestAHolderThatRenewsKeepsItsSlot: over many lease times, and one that does not renew loses it.
func TestAHolderThatRenewsKeepsItsSlot(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(2, time.Minute)
		e.install(t, d)
		e.lease(t, d, enter("a"), enter("b"))
		for range 10 {
			e.pass(t, 40*time.Second, d.Name)
			result := e.lease(t, d, renew("a"))[0]
			expect(t, "code", result.Code, bucket.LeaseHeld)
			expect(t, "expires", result.Expires, time.Minute)
		}
		expect(t, "held", e.lease(t, d, look())[0].Held, 1)
	})
}

// TestALeaseThatEndedIsHeldAgainOnlyWhereThereIsRoom: and the holder is told either way.
func TestALeaseThatEndedIsHeldAgainOnlyWhereThereIsRoom(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(2, time.Minute)
		e.install(t, d)
		e.lease(t, d, enter("a"), enter("b"))
		e.pass(t, time.Minute, d.Name)
		expect(t, "c takes a slot", e.codes(t, d, enter("c")), "1")
		expect(t, "a, then b renew", e.codes(t, d, renew("a"), renew("b")), "2 -1")
		result := e.lease(t, d, renew("b"))[0]
		if result.Expires != 0 || result.RetryAfter <= 0 || result.RetryAfter > time.Minute || result.Held != 2 || result.Free != 0 {
			t.Fatalf("of a lost lease: %+v", result)
		}
	})
}

// TestALeaseEndsAtItsVeryInstant: it is held until the microsecond before.
func TestALeaseEndsAtItsVeryInstant(t *testing.T) {
	e := miniEnv(t)
	d := leased(2, time.Minute)
	e.install(t, d)
	e.lease(t, d, enter("a"))
	e.pass(t, time.Second)
	e.lease(t, d, enter("b"))
	e.pass(t, 59*time.Second-time.Microsecond)
	expect(t, "held just before", e.lease(t, d, look())[0].Held, 2)
	e.pass(t, time.Microsecond)
	expect(t, "held then", e.lease(t, d, look())[0].Held, 1)
	expect(t, "release, renew", e.codes(t, d, release("a"), renew("a")), "0 2")
}

// TestARefusalSaysWhenASlotComesFree: to the microsecond, if nobody renews or releases.
func TestARefusalSaysWhenASlotComesFree(t *testing.T) {
	e := miniEnv(t)
	d := leased(3, time.Minute)
	e.install(t, d)
	for i := range 3 {
		e.lease(t, d, enter(fmt.Sprint(i)))
		e.pass(t, 10*time.Second)
	}
	refused := e.lease(t, d, enter("x"))[0]
	expect(t, "retry after", refused.RetryAfter, 30*time.Second)
	expect(t, "reset after", refused.ResetAfter, 50*time.Second)
	d.Revision, d.MaxPermits = 2, 2
	e.install(t, d)
	expect(t, "retry after with one slot less", e.lease(t, d, look())[0].RetryAfter, 40*time.Second)
	e.pass(t, 40*time.Second-time.Microsecond)
	expect(t, "1 µs before", e.codes(t, d, look(), enter("x")), "-1 -1")
	e.pass(t, time.Microsecond)
	expect(t, "then", e.codes(t, d, look(), enter("x"), look()), "1 1 -1")
}

// TestWhatIsRefusedOrLookedAtWritesNothing: nor does a release of what is not there.
func TestWhatIsRefusedOrLookedAtWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(2, time.Minute)
		e.install(t, d)
		e.lease(t, d, enter("a"))
		e.pass(t, time.Second, d.Name)
		e.lease(t, d, enter("b"))
		before := e.leaseSnapshot(t, d)
		e.lease(t, d, enter("c"), renew("d"), release("e"), look())
		expect(t, "state", e.leaseSnapshot(t, d), before)
		e.pass(t, 59*time.Second+time.Millisecond, d.Name) // a has ended
		before = e.leaseSnapshot(t, d)
		e.lease(t, d, look(), release("a"))
		expect(t, "state with a lease that ended", e.leaseSnapshot(t, d), before)
		expect(t, "free", e.lease(t, d, look())[0].Free, 1)
	})
}

// TestTheStateExpiresWithItsLastLease: not before, and hardly later.
func TestTheStateExpiresWithItsLastLease(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(5, time.Minute)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		ttl := func(what string, want time.Duration) {
			t.Helper()
			got := e.rdb.PTTL(t.Context(), key).Val()
			if slack := 2 * time.Second; got > want+2*time.Millisecond || got < want-slack || e.mini != nil && got != want+time.Millisecond {
				t.Fatalf("TTL %s: %s, want %s", what, got, want)
			}
		}
		e.lease(t, d, enter("a"))
		ttl("of one lease", time.Minute)
		e.pass(t, 30*time.Second, d.Name)
		e.lease(t, d, enter("b"))
		ttl("of a later lease", time.Minute)
		e.lease(t, d, release("b"))
		ttl("after the later one was released", 30*time.Second)
		e.pass(t, 30*time.Second+time.Millisecond, d.Name)
		expect(t, "state after the last lease", e.rdb.Exists(t.Context(), key).Val(), 0)
	})
}

// TestDeadLeasesAreDropped: they don't pile up beside one that lives on.
func TestDeadLeasesAreDropped(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(4, time.Minute)
		e.install(t, d)
		for i := range 10 {
			for j := range 3 {
				expect(t, "dies", e.codes(t, d, enter(fmt.Sprintf("dies-%d-%d", i, j))), "1")
			}
			e.lease(t, d, enter("lives"))
			e.pass(t, 40*time.Second, d.Name)
			e.lease(t, d, renew("lives"))
			e.pass(t, 20*time.Second, d.Name)
		}
		e.lease(t, d, renew("lives"))
		expect(t, "members", e.rdb.ZCard(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val(), 2)
	})
}

// TestOpsOfOneCallAreDoneInOrder: each sees what those before it did.
func TestOpsOfOneCallAreDoneInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(2, time.Minute)
		e.install(t, d)
		results := e.lease(t, d, enter("a"), enter("b"), enter("c"), release("a"), enter("c"), release("a"), look(), renew("a"), renew("b"))
		var codes []bucket.LeaseCode
		var held []int64
		for _, r := range results {
			codes, held = append(codes, r.Code), append(held, r.Held)
		}
		expect(t, "codes", fmt.Sprint(codes), "[1 1 -1 1 1 0 -1 -1 1]")
		expect(t, "held", fmt.Sprint(held), "[1 2 2 1 2 2 2 2 2]")
	})
}

// TestEachPartitionHasItsOwnSlots: apps and keys, over the shards of a bucket.
func TestEachPartitionHasItsOwnSlots(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, partition := range partitions {
			d := leased(1, time.Minute)
			d.Name, d.Partition = "exports-"+partition, partition
			if bucket.Keyed(partition) {
				d.Shards = 64
			}
			e.install(t, d)
			granted := int64(0)
			for _, key := range []string{"k", "{", "}", "a:b", "k\x00", "k\r\n"} {
				c := e.leaseOf(t, d, key, enter(fmt.Sprintf("of-%x", key)), enter("another"))
				granted += c.Results[1].Held
				if bucket.Keyed(partition) {
					expect(t, "held of each key", c.Results[1].Held, 1)
					expect(t, "code of another", c.Results[1].Code, bucket.LeaseRefused)
				}
			}
			if !bucket.Keyed(partition) {
				expect(t, "held of all", granted, 6)
			}
		}
	})
}
