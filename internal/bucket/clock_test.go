package bucket_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
)

// TestAClockSlightlyBehindIsWaitedFor: up to 1 s nothing refills and nothing is lost.
func TestAClockSlightlyBehindIsWaitedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Second)
		e.install(t, d)
		e.pass(t, time.Minute, d.Name)
		e.one(t, d, 10)
		e.pass(t, -900*time.Millisecond, d.Name)
		result := e.one(t, d, 1)
		expect(t, "granted while behind", result.Granted, 0)
		if result.RetryAfter > 1900*time.Millisecond || result.RetryAfter < 1500*time.Millisecond {
			t.Fatalf("retry after %s, want 0.9 s to catch up and 1 s to refill", result.RetryAfter)
		}
		e.pass(t, 900*time.Millisecond+3*time.Second, d.Name)
		expect(t, "left after catching up and 3 s", e.peek(t, d, 1).Remaining, 3)
	})
}

// TestAClockFarBehindNeitherFreezesNorFills: the level is kept and refills from the new time on, also when every call
// is refused.
func TestAClockFarBehindNeitherFreezesNorFills(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, partition := range []string{bucket.PartitionShared, bucket.PartitionKey} {
			d := definition(10, 1, time.Second)
			d.Name, d.Partition = "b-"+partition, partition
			e.install(t, d)
			e.pass(t, time.Minute, d.Name)
			e.one(t, d, 8)
			e.pass(t, -time.Hour, d.Name)
			expect(t, "peeked", e.peek(t, d, 1).Remaining, 2)
			expect(t, "left of a refused call", e.one(t, d, 5).Remaining, 2)
			for i := range int64(3) {
				e.pass(t, time.Second, d.Name)
				expect(t, "left of a refused call", e.one(t, d, 10).Remaining, 3+i)
			}
			expect(t, "granted", e.one(t, d, 5).Granted, 1)
		}
	})
}

// TestADefinitionFromTheFutureDoesNotFreeze: installed and born before the clock stepped back.
func TestADefinitionFromTheFutureDoesNotFreeze(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, partition := range partitions {
			d := definition(10, 1, time.Second)
			d.Name, d.Partition = "b-"+partition, partition
			_, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
			check(t, err)
			d.Revision, d.MaxPermits, d.Rate = 2, 20, 2
			e.install(t, d)
			e.pass(t, -time.Hour, d.Name)
			granted := int64(0)
			e.drain(t, d, &granted)
			if granted > 20 {
				t.Fatalf("granted %d, more than once the maximum", granted)
			}
			e.pass(t, 30*time.Second, d.Name)
			granted = 0
			e.drain(t, d, &granted)
			if granted < 10 || granted > 20 {
				t.Fatalf("granted %d half a minute later", granted)
			}
			d.Revision, d.Rate = 3, 1 // an edit pulls the instants to the new time
			e.install(t, d)
			granted = 0
			e.drain(t, d, &granted)
			e.pass(t, 5*time.Second, d.Name)
			expect(t, partition+": left after 5 s", e.peek(t, d, 1).Remaining, 5)
		}
	})
}

// TestAnEditAfterTheClockSteppedBackPullsOlderRulesToTheClock: else they would count until the clock has caught up.
func TestAnEditAfterTheClockSteppedBackPullsOlderRulesToTheClock(t *testing.T) {
	e := miniEnv(t)
	d := definition(100, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	e.one(t, d, 100)
	e.pass(t, 2*time.Hour)
	d.Revision, d.Rate = 2, 2
	e.install(t, d)
	e.pass(t, -time.Hour)
	d.Revision, d.Rate = 3, 100
	e.install(t, d)
	e.pass(t, 30*time.Minute)
	expect(t, "left of an hour at 1 and half an hour at 100", e.peek(t, d, 1).Remaining, 51)
}

// TestAnEditWhileTheClockIsWaitedForRefillsNothing: the edit's instant lies before that of the last grant.
func TestAnEditWhileTheClockIsWaitedForRefillsNothing(t *testing.T) {
	e := miniEnv(t)
	d := definition(10, 1, time.Second)
	d.Partition = bucket.PartitionKey
	e.install(t, d)
	e.pass(t, time.Minute)
	e.one(t, d, 10)
	e.pass(t, -500*time.Millisecond)
	d.Revision, d.Rate = 2, 10
	e.install(t, d)
	e.pass(t, 500*time.Millisecond)
	expect(t, "left", e.peek(t, d, 1).Remaining, 0)
	e.pass(t, 500*time.Millisecond)
	expect(t, "left half a second later", e.peek(t, d, 1).Remaining, 5)
}

// TestBornSlightlyAheadIsWaitedFor: a failover to a clock half a second behind does not fill the bucket.
func TestBornSlightlyAheadIsWaitedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Second)
		_, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
		check(t, err)
		e.pass(t, -500*time.Millisecond, d.Name)
		expect(t, "left", e.peek(t, d, 1).Remaining, 0)
		e.pass(t, 2500*time.Millisecond, d.Name)
		expect(t, "left 2 s after birth", e.peek(t, d, 1).Remaining, 2)
	})
}

// TestAClockOf1970Works: a machine without a clock battery boots there.
func TestAClockOf1970Works(t *testing.T) {
	e := miniEnv(t)
	e.now = time.Unix(5, 0)
	e.mini.SetTime(e.now)
	d := definition(10, 1, time.Second)
	e.install(t, d)
	e.one(t, d, 10)
	e.pass(t, 4*time.Second)
	expect(t, "left", e.peek(t, d, 1).Remaining, 4)
	e.pass(t, 50*365*24*time.Hour)
	expect(t, "left 50 years later", e.one(t, d, 1).Remaining, 9)
}

// TestStepsOfTheClockFollowTheModel: random steps forth and back, within and beyond what is waited for.
func TestStepsOfTheClockFollowTheModel(t *testing.T) {
	e := miniEnv(t)
	r := random(t, 7)
	for range *rounds {
		e.mini.FlushAll()
		e.now = miniStart
		e.mini.SetTime(e.now)
		d := definition(spread(r, 1, 1000), spread(r, 1, 1000), time.Duration(spread(r, 1, 10_000))*time.Millisecond)
		e.install(t, d)
		m := newModel(d, e.now.UnixMicro()-int64(time.Hour), 0, false)
		e.pass(t, time.Minute)
		key := e.StateKey(d.Name, d.Partition, "", "")
		for range 60 {
			entry := bucket.Entry{Permits: spread(r, 1, d.MaxPermits), Count: int64(r.IntN(4))}
			reply := e.acquire(t, d, entry)
			if e.rdb.Exists(t.Context(), key).Val() == 0 {
				delete(m.parts, key)
			}
			want := m.take(key, e.now.UnixMicro(), entry)
			want.Mark = reply.Results[0].Mark // what a step leaves for give-backs
			if diff := cmp.Diff(want, reply.Results[0]); diff != "" {
				t.Fatalf("%+v at %s: %s", entry, e.now, diff)
			}
			step := time.Duration(spread(r, 1, 3_000_000)) * time.Microsecond
			if r.IntN(3) == 0 {
				step = -step
			}
			e.pass(t, step)
		}
	}
}
