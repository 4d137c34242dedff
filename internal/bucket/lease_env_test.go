package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// leased is a bucket of max leases of a period each, shared by all apps.
func leased(max int64, period time.Duration) bucket.Definition {
	d := definition(max, 1, period)
	d.Name, d.Algorithm = "exports", bucket.Concurrency
	return d
}

func enter(id string) bucket.LeaseOp   { return bucket.LeaseOp{Do: bucket.LeaseEnter, ID: id} }
func renew(id string) bucket.LeaseOp   { return bucket.LeaseOp{Do: bucket.LeaseRenew, ID: id} }
func release(id string) bucket.LeaseOp { return bucket.LeaseOp{Do: bucket.LeaseRelease, ID: id} }
func look() bucket.LeaseOp             { return bucket.LeaseOp{Do: bucket.LeasePeek} }

// lease does ops in one call for the first of the bucket's apps, under the key "k" where keys count.
func (e *env) lease(t testing.TB, d bucket.Definition, ops ...bucket.LeaseOp) []bucket.LeaseResult {
	t.Helper()
	return e.leaseOf(t, d, "k", ops...).Results
}

func (e *env) leaseOf(t testing.TB, d bucket.Definition, key string, ops ...bucket.LeaseOp) bucket.LeaseCall {
	t.Helper()
	c := e.leaseCall(t, d, key, ops...)
	e.asked(t, &c)
	check(t, c.Err)
	if c.Reply.Verdict != bucket.VerdictDecided {
		t.Fatalf("lease: %+v", c.Reply)
	}
	return c
}

// asked asks c, which then has what came of it.
func (e *env) asked(t testing.TB, c *bucket.LeaseCall) {
	t.Helper()
	_ = e.Ask(t.Context(), c)
}

func (e *env) leaseCall(t testing.TB, d bucket.Definition, key string, ops ...bucket.LeaseOp) bucket.LeaseCall {
	t.Helper()
	target := e.target(t, d, "checkout")
	return bucket.LeaseCall{Target: target, Shard: target.Shard(key), Key: key, Ops: ops}
}

// codes does ops, each in a call of its own, and returns their codes.
func (e *env) codes(t testing.TB, d bucket.Definition, ops ...bucket.LeaseOp) string {
	t.Helper()
	all := ""
	for _, op := range ops {
		all += fmt.Sprintf("%d ", e.lease(t, d, op)[0].Code)
	}
	return all[:max(0, len(all)-1)]
}

// ageLeases takes d off the instants of a state of leases, whose first member's is negative.
func (e *env) ageLeases(t testing.TB, key string, d time.Duration) {
	t.Helper()
	ctx := t.Context()
	ttl := e.rdb.PTTL(ctx, key).Val() - d.Truncate(time.Millisecond)
	if ttl <= 0 {
		check(t, e.rdb.Del(ctx, key).Err())
		return
	}
	members, err := e.rdb.ZRangeWithScores(ctx, key, 0, -1).Result()
	check(t, err)
	for _, m := range members {
		us := float64(d.Microseconds())
		if m.Score > 0 {
			us = -us
		}
		check(t, e.rdb.ZAdd(ctx, key, redis.Z{Member: m.Member, Score: m.Score + us}).Err())
	}
	check(t, e.rdb.PExpire(ctx, key, ttl).Err())
}

// leaseSnapshot is the state of leases and when it expires; for "nothing changed".
func (e *env) leaseSnapshot(t testing.TB, d bucket.Definition) string {
	t.Helper()
	key := e.StateKey(d.Name, d.Partition, "checkout", "k")
	members, err := e.rdb.ZRangeWithScores(t.Context(), key, 0, -1).Result()
	check(t, err)
	return fmt.Sprintf("%.0f until %s", members, e.rdb.PExpireTime(t.Context(), key).Val())
}
