package bucket_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// sharded counts by key in so many shards.
func sharded(shards int) bucket.Definition {
	d := definition(5, 1, time.Hour)
	d.Partition, d.Shards, d.AfterLoss = bucket.PartitionKey, shards, bucket.LossFull
	return d
}

// keyedOne acquires one permit for a key, as a caller who believes in d.
func (e *env) keyedOne(t testing.TB, d bucket.Definition, key string) bucket.Reply {
	t.Helper()
	return e.ask(t, d, bucket.Entry{Permits: 1, Count: 1, Key: key})
}

// oneKeyEach is a key for each shard.
func (e *env) oneKeyEach(t testing.TB, d bucket.Definition) []string {
	t.Helper()
	target := e.target(t, d, "checkout")
	all := make([]string, d.Shards)
	for n, found := 0, 0; found < d.Shards; n++ {
		key := fmt.Sprintf("{user}:%d", n)
		if at := target.Shard(key); all[at] == "" {
			all[at] = key
			found++
		}
	}
	return all
}

// TestEveryShardEnforcesByItself: with state beside its own copy of the definition, in a slot of its own.
func TestEveryShardEnforcesByItself(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := sharded(bucket.ShardsBound)
		e.install(t, d)
		slots := map[uint16]bool{}
		for shard, key := range e.oneKeyEach(t, d) {
			for i := range int64(6) {
				reply := e.keyedOne(t, d, key)
				expect(t, "verdict", reply.Verdict, bucket.VerdictDecided)
				expect(t, "granted", reply.Results[0].Granted, max(0, min(1, 5-i)))
			}
			state := e.ShardStateKey(d.Name, d.Partition, d.Shards, "", key)
			expect(t, "states", e.rdb.Exists(t.Context(), state).Val(), 1)
			expect(t, "slot of definition and state", slot(e.DefinitionKeys(d.Name, d.Shards)[shard]), slot(state))
			slots[slot(state)] = true
		}
		if len(slots) < bucket.ShardsBound-2 {
			t.Fatalf("%d shards lie in %d slots", bucket.ShardsBound, len(slots))
		}
	})
}

// TestAnEditReachesEveryShard: of the limit and of nothing but the revision; and Read tells when a copy differs.
func TestAnEditReachesEveryShard(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := sharded(8)
		e.install(t, d)
		keys := e.oneKeyEach(t, d)
		for _, key := range keys {
			e.keyedOne(t, d, key)
		}
		d.Revision, d.MaxPermits = 2, 3
		e.install(t, d)
		for _, key := range keys {
			reply := e.keyedOne(t, d, key)
			expect(t, "revision", reply.Revision, 2)
			expect(t, "left of 3", reply.Results[0].Remaining, 2)
		}
		expect(t, "damaged", e.read(t, d.Name).Damaged, false)
		check(t, e.rdb.HSet(t.Context(), e.DefinitionKeys(d.Name, 8)[5], "max", 4).Err())
		expect(t, "damaged where one copy differs", e.read(t, d.Name).Damaged, true)
	})
}

func (e *env) read(t testing.TB, name string) bucket.Installed {
	t.Helper()
	found, err := e.Read(t.Context(), name)
	check(t, err)
	return found[0]
}

// TestALostCopyIsInstalledAgainUnderAnEqualRevision: as after a loss of data, and the others keep what they have.
func TestALostCopyIsInstalledAgainUnderAnEqualRevision(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := sharded(8)
		d.AfterLoss = bucket.LossRefill
		e.install(t, d)
		keys := e.oneKeyEach(t, d)
		for _, key := range keys {
			e.keyedOne(t, d, key)
		}
		e.pass(t, 10*time.Millisecond, d.Name)
		check(t, e.rdb.Del(t.Context(), e.DefinitionKeys(d.Name, 8)[3]).Err())
		expect(t, "verdict", e.keyedOne(t, d, keys[3]).Verdict, bucket.VerdictAbsent)
		expect(t, "missing", e.read(t, d.Name).Missing, 1)
		result, err := e.Install(t.Context(), d, ours)
		check(t, err)
		expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusUnchanged, Revision: 1, Deployment: deployment})
		expectCopies(t, e, d)
		for shard, key := range keys {
			want := int64(3)
			if shard == 3 {
				want = 0 // it starts from empty, as the definition says
			}
			expect(t, fmt.Sprintf("left in shard %d", shard), e.keyedOne(t, d, key).Results[0].Remaining, want)
		}
	})
}

// TestFewerShardsLeaveNoCopyBehind: who still believes in a shard that is gone finds a tombstone there, learns the truth
// at the definition, and nowhere is the old limit still enforced.
func TestFewerShardsLeaveNoCopyBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		before := sharded(64)
		e.install(t, before)
		keys := e.oneKeyEach(t, before)
		for _, key := range keys {
			e.keyedOne(t, before, key)
		}
		for _, shards := range []int{8, 1, 3} {
			after := sharded(shards)
			after.Revision = before.Revision + 1
			e.install(t, after)
			for shard, key := range keys {
				reply := e.keyedOne(t, before, key)
				want := bucket.VerdictRemoved
				if shard < shards && shards > 1 {
					want = bucket.VerdictStale
				}
				expect(t, fmt.Sprintf("shard %d of %d, now %d", shard, before.Shards, shards), reply.Verdict, want)
				expect(t, "verdict of who has learned", e.keyedOne(t, after, key).Verdict, bucket.VerdictDecided)
			}
			expectCopies(t, e, after)
			before, keys = after, e.oneKeyEach(t, after)
		}
	})
}

// expectCopies: the definition and the copies that d has are all that is there, but for tombstones.
func expectCopies(t testing.TB, e *env, d bucket.Definition) {
	t.Helper()
	found := e.read(t, d.Name)
	expect(t, "damaged", found.Damaged, false)
	expect(t, "missing", found.Missing, 0)
	wanted := map[string]bool{}
	for _, key := range e.DefinitionKeys(d.Name, d.Shards) {
		wanted[key] = true
	}
	for _, key := range e.DefinitionKeys(d.Name, bucket.ShardsBound) {
		head := strings.Join(e.head(t, key), " ")
		if wanted[key] != (head != "" && !strings.HasPrefix(head, "2 gone ")) {
			t.Fatalf("%s has %q", key, head)
		}
	}
}

// TestALateInstallOfMoreShardsLeavesNoCopyBehind: it is refused where the newer definition is, and takes back what it
// left beside it.
func TestALateInstallOfMoreShardsLeavesNoCopyBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		newer := sharded(3)
		newer.Revision = 3
		e.install(t, newer)
		late := sharded(64)
		late.Revision = 2
		result, err := e.Install(t.Context(), late, ours)
		check(t, err)
		expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusUnchanged, Revision: 3, Deployment: deployment})
		expectCopies(t, e, newer)

		_, err = e.Remove(t.Context(), newer.Name, 5, deployment)
		check(t, err)
		late.Revision = 4
		_, err = e.Install(t.Context(), late, ours)
		check(t, err)
		for _, key := range e.DefinitionKeys(newer.Name, bucket.ShardsBound) {
			if head := strings.Join(e.head(t, key), " "); head != "" && !strings.HasPrefix(head, "2 gone ") {
				t.Fatalf("%s has %q", key, head)
			}
		}
	})
}

// TestConcurrentInstallsOfDifferentShardsEndAsTheNewest: whatever order they come in.
func TestConcurrentInstallsOfDifferentShardsEndAsTheNewest(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for round := range 5 {
			var group sync.WaitGroup
			var newest bucket.Definition
			for i, shards := range []int{4, 16, 2, 1, 64, 8} {
				d := sharded(shards)
				d.Name = fmt.Sprintf("b%d", round)
				d.Revision = int64(1 + i)
				newest = d
				group.Go(func() {
					if _, err := e.Install(t.Context(), d, ours); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			// What was interrupted, the next repair ends.
			_, err := e.Install(t.Context(), newest, ours)
			check(t, err)
			expectCopies(t, e, newest)
		}
	})
}

// TestRemoveReachesEveryShard: also when the definition itself was lost, and its copies survived on other nodes.
func TestRemoveReachesEveryShard(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, lost := range []bool{false, true} {
			d := sharded(16)
			d.Name = fmt.Sprintf("b-%v", lost)
			e.install(t, d)
			if lost {
				check(t, e.rdb.Del(t.Context(), e.DefinitionKey(d.Name)).Err())
			}
			_, err := e.Remove(t.Context(), d.Name, 2, deployment)
			check(t, err)
			for _, key := range e.oneKeyEach(t, d) {
				expect(t, "verdict", e.keyedOne(t, d, key).Verdict, bucket.VerdictRemoved)
			}
			for _, key := range e.DefinitionKeys(d.Name, 16) {
				if ttl := e.rdb.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > 7*24*time.Hour {
					t.Fatalf("%s stays %s", key, ttl)
				}
			}
		}
	})
}

// TestResetFillsEveryPartition: of all shards, and of a bucket without; the revision stays.
func TestResetFillsEveryPartition(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, shards := range []int{1, 64} {
			d := sharded(shards)
			d.Name, d.AfterLoss = fmt.Sprintf("b%d", shards), bucket.LossRefill
			e.install(t, d)
			keys := e.oneKeyEach(t, d)
			for _, key := range keys {
				expect(t, "granted", e.ask(t, d, bucket.Entry{Permits: 5, Count: 1, Key: key}).Results[0].Granted, 1)
			}
			e.pass(t, 10*time.Millisecond, d.Name)
			result, err := e.Reset(t.Context(), d.Name, deployment)
			check(t, err)
			expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusInstalled, Revision: 1, Deployment: deployment})
			for _, key := range keys {
				expect(t, "left", e.ask(t, d, bucket.Entry{Permits: 1, Key: key}).Results[0].Remaining, 5)
			}
			expect(t, "damaged", e.read(t, d.Name).Damaged, false)
		}
		result, err := e.Reset(t.Context(), "none", deployment)
		check(t, err)
		expect(t, "status where nothing is", result.Status, bucket.StatusAbsent)
	})
}

// TestResetKeyFillsOnePartition: and no other, of whatever algorithm.
func TestResetKeyFillsOnePartition(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
			d := sharded(16)
			d.Name, d.Algorithm, d.Period = "b-"+algorithm, algorithm, 24*time.Hour
			e.install(t, d)
			for _, key := range []string{"a", "b"} {
				e.ask(t, d, bucket.Entry{Permits: 2, Count: 1, Key: key})
			}
			target := e.target(t, d, "checkout")
			check(t, e.ResetKey(t.Context(), target, "a"))
			expect(t, algorithm+": left of a", e.ask(t, d, bucket.Entry{Permits: 1, Key: "a"}).Results[0].Remaining, 5)
			expect(t, algorithm+": left of b", e.ask(t, d, bucket.Entry{Permits: 1, Key: "b"}).Results[0].Remaining, 3)
			expectInvalid(t, e.ResetKey(t.Context(), target, ""), "key")
		}
		unlearned, err := e.Target("b", "checkout", nil)
		check(t, err)
		expectInvalid(t, e.ResetKey(t.Context(), unlearned, "a"), "facts")
	})
}

// TestAdoptTakesEveryShard: so that the new deployment can edit all of them.
func TestAdoptTakesEveryShard(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := sharded(8)
		e.install(t, d)
		check(t, e.Adopt(t.Context(), "other"))
		expect(t, "damaged", e.read(t, d.Name).Damaged, false)
		d.Revision, d.MaxPermits = 2, 7
		result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: "other"})
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusInstalled)
		expect(t, "damaged after an edit", e.read(t, d.Name).Damaged, false)
	})
}
