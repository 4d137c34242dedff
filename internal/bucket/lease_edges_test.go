package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// loseLeases is every way in which a bucket's leases get lost while its definition says after_loss refill.
func (e *env) loseLeases(t *testing.T) map[string]func(d bucket.Definition) {
	return map[string]func(d bucket.Definition){
		"all": func(d bucket.Definition) {
			check(t, e.rdb.Del(t.Context(), e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "checkout", "k")).Err())
			_, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
			check(t, err)
		},
		"state": func(d bucket.Definition) {
			_, err := e.Restart(t.Context(), d.Name, deployment, always)
			check(t, err)
		},
	}
}

// TestAfterALossHoldersComeBackByRenewingAndNewcomersWait: one lease time, after which no lost lease can be held any
// more. So a loss admits nobody too many.
func TestAfterALossHoldersComeBackByRenewingAndNewcomersWait(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for what, lose := range e.loseLeases(t) {
			d := leased(3, time.Minute)
			d.Name = "exports-" + what
			e.install(t, d)
			e.lease(t, d, enter("a"), enter("b"), enter("c"))
			e.pass(t, 30*time.Second, d.Name)
			lose(d)
			result := e.lease(t, d, enter("new"))[0]
			expect(t, what+": a newcomer", result.Code, bucket.LeaseRefused)
			expect(t, what+": free", result.Free, 0)
			if result.RetryAfter > time.Minute || result.RetryAfter < 58*time.Second {
				t.Fatalf("%s: retry after %s, want a lease time", what, result.RetryAfter)
			}
			expect(t, what+": a and b renew", e.codes(t, d, renew("a"), renew("b"), enter("new")), "2 2 -1")
			e.pass(t, 50*time.Second, d.Name)
			expect(t, what+": a newcomer later", e.codes(t, d, renew("a"), renew("b"), look(), enter("new")), "1 1 -1 -1")
			e.pass(t, 10*time.Second, d.Name)
			expect(t, what+": after a lease time", e.codes(t, d, look(), enter("new"), renew("c")), "1 1 -1")
		}
	})
}

// TestAfterALossWithFullNewcomersNeedNotWait, nor after a reset by hand.
func TestAfterALossWithFullNewcomersNeedNotWait(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for what, lose := range e.loseLeases(t) {
			d := leased(1, time.Minute)
			d.Name, d.AfterLoss = "exports-"+what, bucket.LossFull
			e.install(t, d)
			e.lease(t, d, enter("a"))
			lose(d)
			expect(t, what, e.codes(t, d, look(), enter("b"), renew("a")), "1 1 -1")
			_, err := e.Reset(t.Context(), d.Name, deployment)
			check(t, err)
			expect(t, what+" and reset", e.codes(t, d, look(), enter("c"), renew("b")), "1 1 -1")
		}
	})
}

// TestAnEditAfterALossChangesNothingAboutTheWait: the leases lost are of the period of then.
func TestAnEditAfterALossChangesNothingAboutTheWait(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(3, time.Minute)
		_, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
		check(t, err)
		for i, period := range []time.Duration{time.Second, time.Hour} {
			d.Revision, d.Period = int64(2+i), period
			e.install(t, d)
			e.pass(t, 29*time.Second, d.Name)
			expect(t, "before", e.codes(t, d, enter("a")), "-1")
		}
		e.pass(t, 2*time.Second, d.Name)
		expect(t, "after", e.codes(t, d, enter("a")), "1")
	})
}

// TestALoweredMaximumThrowsNobodyOutAndLetsNobodyIn: until enough holders have left. A raised one lets in at once.
func TestALoweredMaximumThrowsNobodyOutAndLetsNobodyIn(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(3, time.Minute)
		e.install(t, d)
		e.lease(t, d, enter("a"), enter("b"), enter("c"))
		d.Revision, d.MaxPermits = 2, 1
		e.install(t, d)
		result := e.lease(t, d, look())[0]
		expect(t, "held", result.Held, 3)
		expect(t, "free", result.Free, 0)
		expect(t, "renewals", e.codes(t, d, renew("a"), renew("b"), renew("c"), enter("a")), "1 1 1 1")
		expect(t, "two leave", e.codes(t, d, release("a"), enter("x"), release("b"), enter("x")), "1 -1 1 -1")
		expect(t, "the last leaves", e.codes(t, d, release("c"), enter("x")), "1 1")
		d.Revision, d.MaxPermits = 3, 2
		e.install(t, d)
		expect(t, "raised", e.codes(t, d, enter("y"), enter("z")), "1 -1")
	})
}

// TestAChangedPeriodCountsFromTheNextRenewal: until then a lease ends when its holder was told.
func TestAChangedPeriodCountsFromTheNextRenewal(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(2, time.Hour)
		e.install(t, d)
		e.lease(t, d, enter("a"), enter("b"))
		d.Revision, d.Period = 2, 10*time.Second
		e.install(t, d)
		expect(t, "expires", e.lease(t, d, renew("a"))[0].Expires, 10*time.Second)
		e.pass(t, 11*time.Second, d.Name)
		expect(t, "held", e.lease(t, d, look())[0].Held, 1)
		expect(t, "the renewed one has ended", e.codes(t, d, release("a"), enter("c"), enter("d")), "0 1 -1")
		e.pass(t, time.Hour-12*time.Second, d.Name)
		expect(t, "held of b", e.lease(t, d, look())[0].Held, 1)
	})
}

// TestAClockSetBackFreezesNoSlot: each lease keeps the time that it had left, and even a refused enter makes it so.
func TestAClockSetBackFreezesNoSlot(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, back := range []time.Duration{2 * time.Second, time.Hour, 30 * 24 * time.Hour} {
			d := leased(2, time.Minute)
			d.Name = "exports-" + back.String()
			e.install(t, d)
			e.pass(t, back+time.Hour, d.Name)
			e.lease(t, d, enter("a"))
			e.pass(t, 30*time.Second, d.Name)
			e.lease(t, d, enter("b"))
			e.pass(t, -back, d.Name)
			peeked := e.lease(t, d, look())[0]
			refused := e.lease(t, d, enter("c"))[0]
			for what, r := range map[string]bucket.LeaseResult{"peeked": peeked, "refused": refused} {
				expect(t, what+" held", r.Held, 2)
				if r.RetryAfter > 30*time.Second || r.RetryAfter < 28*time.Second || r.ResetAfter > time.Minute || r.ResetAfter < 58*time.Second {
					t.Fatalf("%s: %+v", what, r)
				}
			}
			e.pass(t, 30*time.Second, d.Name)
			expect(t, "after what a had left", e.codes(t, d, look(), renew("b"), enter("c"), enter("d")), "1 1 1 -1")
		}
	})
}

// TestAClockSlightlyBehindIsWaitedForByLeases: an instant that has passed does not come again.
func TestAClockSlightlyBehindIsWaitedForByLeases(t *testing.T) {
	e := miniEnv(t)
	d := leased(1, time.Minute)
	e.install(t, d)
	e.lease(t, d, enter("a"))
	e.pass(t, time.Minute)
	e.lease(t, d, enter("b"))
	e.pass(t, -900*time.Millisecond)
	result := e.lease(t, d, renew("b"))[0]
	expect(t, "expires", result.Expires, time.Minute+900*time.Millisecond)
	expect(t, "a stays out", e.codes(t, d, renew("a"), release("a")), "-1 0")
	e.pass(t, time.Minute+900*time.Millisecond-time.Microsecond)
	expect(t, "just before", e.codes(t, d, look()), "-1")
	e.pass(t, time.Microsecond)
	expect(t, "then", e.codes(t, d, look()), "1")
}

// TestManyLeasesMoveWithAClockSetBack: all of them at once, each with the time that it had left.
func TestManyLeasesMoveWithAClockSetBack(t *testing.T) {
	e := miniEnv(t)
	d := leased(300, time.Minute)
	e.install(t, d)
	e.pass(t, 2*time.Hour)
	for i := range 3 {
		e.pass(t, 10*time.Second)
		ops := make([]bucket.LeaseOp, 100)
		for j := range ops {
			ops[j] = enter(fmt.Sprintf("%d-%d", i, j))
		}
		e.lease(t, d, ops...)
	}
	e.pass(t, -time.Hour)
	expect(t, "refused", e.codes(t, d, enter("x")), "-1")
	expect(t, "held", e.lease(t, d, look())[0].Held, 300)
	e.pass(t, 30*time.Second)
	for _, want := range []int64{200, 100, 0} {
		e.pass(t, 10*time.Second)
		expect(t, "held later", e.lease(t, d, look())[0].Held, want)
	}
}

// TestStateOfAnotherAlgorithmCountsAsAbsent: whichever way the bucket is edited, the value there is replaced at the first
// grant and not before.
func TestStateOfAnotherAlgorithmCountsAsAbsent(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.one(t, d, 10)
		key := e.StateKey(d.Name, d.Partition, "", "")
		d.Revision, d.Algorithm, d.AfterLoss = 2, bucket.Concurrency, bucket.LossFull
		e.install(t, d)
		expect(t, "peek, release, renew", e.codes(t, d, look(), release("a")), "1 0")
		expect(t, "type before a grant", e.rdb.Type(t.Context(), key).Val(), "string")
		expect(t, "enter", e.codes(t, d, renew("a"), enter("b"), release("a")), "2 1 1")
		expect(t, "type", e.rdb.Type(t.Context(), key).Val(), "zset")
		expect(t, "held", e.lease(t, d, look())[0].Held, 1)
		d.Revision, d.AfterLoss = 3, bucket.LossRefill
		e.install(t, d)
		expect(t, "held after an edit of another field", e.lease(t, d, look())[0].Held, 1)

		d.Revision, d.Partition = 4, bucket.PartitionApp
		e.install(t, d)
		d.Revision, d.Partition = 5, bucket.PartitionShared
		e.install(t, d)
		expect(t, "held of another generation", e.lease(t, d, look())[0].Held, 0)
		e.pass(t, time.Hour, d.Name)
		expect(t, "its lease", e.codes(t, d, release("b"), enter("c"), look()), "0 1 1")
		expect(t, "members", e.rdb.ZCard(t.Context(), key).Val(), 2)
	})
}

// TestLeasesOfAnUnknownFormatAreLeftAlone: a later version's.
func TestLeasesOfAnUnknownFormatAreLeftAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(3, time.Minute)
		e.install(t, d)
		key := e.StateKey(d.Name, d.Partition, "", "")
		check(t, e.rdb.ZAdd(t.Context(), key, redis.Z{Score: -5, Member: "3:1f:0"}, redis.Z{Score: 9e15, Member: "a"}).Err())
		before := e.leaseSnapshot(t, d)
		for _, op := range []bucket.LeaseOp{enter("a"), renew("a"), release("a"), look()} {
			c := e.leaseCall(t, d, "", op)
			e.asked(t, &c)
			check(t, c.Err)
			expect(t, "verdict", c.Reply.Verdict, bucket.VerdictUnknownFormat)
		}
		expect(t, "state", e.leaseSnapshot(t, d), before)
	})
}

// TestModesOfLeases: off grants without state; shadow decides as enforce does, and what is over the limit takes nothing.
func TestModesOfLeases(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := leased(1, time.Minute)
		d.Mode = bucket.ModeOff
		e.install(t, d)
		for _, r := range e.lease(t, d, enter("a"), enter("b"), renew("c")) {
			expect(t, "in off", r, bucket.LeaseResult{Code: bucket.LeaseHeld, Free: 1, Expires: time.Minute})
		}
		expect(t, "release and peek in off", e.codes(t, d, release("a"), look()), "1 1")
		expect(t, "state in off", e.rdb.Exists(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val(), 0)
		d.Revision, d.Mode = 2, bucket.ModeShadow
		e.install(t, d)
		expect(t, "shadow", e.codes(t, d, enter("a"), enter("b"), release("b"), renew("a")), "1 -1 0 1")
		d.Revision, d.Mode = 3, bucket.ModeEnforce
		e.install(t, d)
		expect(t, "enforce again", e.codes(t, d, renew("a"), enter("b")), "1 -1")
	})
}

// TestARedisOutOfMemoryGrantsNoLease, but takes releases.
func TestARedisOutOfMemoryGrantsNoLease(t *testing.T) {
	server := testenv.OwnRedis(t)
	e := newEnv(t, server.Addr, "")
	d := leased(2, time.Minute)
	e.install(t, d)
	e.lease(t, d, enter("a"))
	before := e.leaseSnapshot(t, d)
	check(t, e.rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for _, op := range []bucket.LeaseOp{enter("b"), enter("a"), renew("b")} {
		c := e.leaseCall(t, d, "", op)
		e.asked(t, &c)
		if c.Err == nil {
			t.Fatalf("%+v without memory to remember it: %+v", op, c.Results)
		}
		expect(t, "state", e.leaseSnapshot(t, d), before)
	}
	expect(t, "release, peek", e.codes(t, d, release("a"), look()), "1 1")
}
