package bucket_test

import (
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// The random stories compare edits with a model; these say in figures what an edit must and must not do.

// TestAnEditClampsToALowerMaximumAndNeverRefills: for state that is settled at the edit and for state that follows later.
func TestAnEditClampsToALowerMaximumAndNeverRefills(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, partition := range partitions {
			d := definition(100, 1, time.Hour)
			d.Name, d.Partition = "b-"+partition, partition
			e.install(t, d)
			e.one(t, d, 30)
			edit := func(what string, max, left int64) {
				t.Helper()
				d.Revision++
				d.MaxPermits = max
				e.install(t, d)
				expect(t, partition+": "+what, e.peek(t, d, 1).Remaining, left)
			}
			edit("raised", 1000, 70)
			edit("lowered", 40, 40)
			edit("raised again", 100, 40)
			edit("lowered below", 1, 1)
		}
	})
}

// TestAnUnusedKeyIsNotFilledByARaisedMaximum: a key without state gets what the emptiest key whose state has expired
// could have, and the new maximum only when every key must have reached it.
func TestAnUnusedKeyIsNotFilledByARaisedMaximum(t *testing.T) {
	e := miniEnv(t)
	d := definition(10, 1, time.Second)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	e.pass(t, 3*time.Second)
	d.Revision, d.MaxPermits = 2, 100
	e.install(t, d)
	expect(t, "at the edit", e.peek(t, d, 1).Remaining, 10)
	e.pass(t, 5*time.Second)
	expect(t, "5 s later", e.peek(t, d, 1).Remaining, 10)
	e.pass(t, 25*time.Second)
	expect(t, "30 s later", e.peek(t, d, 1).Remaining, 30)
	e.pass(t, 69*time.Second)
	expect(t, "99 s later", e.peek(t, d, 1).Remaining, 99)
	e.pass(t, time.Second)
	expect(t, "100 s later", e.peek(t, d, 1).Remaining, 100)
}

// TestAKeyExpiredUnderAShorterRefillStartsNoHigherThanItCouldBe: emptied, its state gone, then refill is made longer.
func TestAKeyExpiredUnderAShorterRefillStartsNoHigherThanItCouldBe(t *testing.T) {
	e := miniEnv(t)
	d := definition(10, 10, time.Second)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	e.pass(t, time.Minute)
	e.one(t, d, 10)
	e.pass(t, 1010*time.Millisecond) // full again, and its state gone
	expect(t, "states", len(e.rdb.Keys(t.Context(), "*:s:*").Val()), 0)
	d.Revision, d.MaxPermits, d.Rate, d.Period = 2, 1000, 1, time.Hour
	e.install(t, d)
	expect(t, "at the edit", e.peek(t, d, 1).Remaining, 10)
	e.pass(t, 2*time.Hour)
	expect(t, "2 h later", e.peek(t, d, 1).Remaining, 2) // as if it had been emptied just before the edit
}

// TestManyEditsLeaveAKeyNoMoreThanItHad: more than the definition remembers; then it starts empty at the oldest one
// that is remembered.
func TestManyEditsLeaveAKeyNoMoreThanItHad(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(1000, 1, time.Hour)
		d.Partition = bucket.PartitionKey
		e.install(t, d)
		e.one(t, d, 100)
		for i := range int64(8) {
			d.Revision, d.Rate = d.Revision+1, 2+i
			e.install(t, d)
		}
		expect(t, "after 8 edits", e.peek(t, d, 1).Remaining, 900)
		d.Revision, d.Rate = d.Revision+1, 100
		e.install(t, d)
		expect(t, "after 9 edits", e.peek(t, d, 1).Remaining, 0)
		e.pass(t, 2*time.Hour, d.Name)
		expect(t, "2 h later", e.peek(t, d, 1).Remaining, 200)
		reply := e.acquire(t, d, bucket.Entry{Permits: 1, Key: "unused"})
		expect(t, "left for an unused key", reply.Results[0].Remaining, 200)
	})
}

// TestTheRateBeforeAnEditCountsUpToTheEdit: and the new one from then on, for keys that were not touched in between.
func TestTheRateBeforeAnEditCountsUpToTheEdit(t *testing.T) {
	e := miniEnv(t)
	d := definition(1000, 1, time.Second)
	d.Partition = bucket.PartitionAppKey
	e.install(t, d)
	e.one(t, d, 1000)
	e.pass(t, 100*time.Second)
	d.Revision, d.Rate = 2, 3
	e.install(t, d)
	e.pass(t, 100*time.Second)
	d.Revision, d.Rate = 3, 1
	e.install(t, d)
	e.pass(t, 50*time.Second)
	expect(t, "100·1 + 100·3 + 50·1", e.peek(t, d, 1).Remaining, 450)
}
