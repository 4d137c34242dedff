package bucket_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
)

var ours = bucket.InstallOptions{Deployment: deployment}

// TestOlderOrEqualInstallChangesNothingByteForByte: not the definition, its state, or a TTL.
func TestOlderOrEqualInstallChangesNothingByteForByte(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.Revision = 5
		e.install(t, d)
		e.one(t, d, 3)
		before := e.snapshot(t, d.Name)
		for _, revision := range []int64{1, 4, 5} {
			late := definition(99, 7, time.Minute)
			late.Revision, late.Partition, late.Mode, late.Apps = revision, bucket.PartitionKey, bucket.ModeOff, []string{"x"}
			result, err := e.Install(t.Context(), late, bucket.InstallOptions{Deployment: deployment, Lost: true})
			check(t, err)
			expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusUnchanged, Revision: 5, Deployment: deployment})
			result, err = e.Remove(t.Context(), d.Name, revision, deployment)
			check(t, err)
			expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusUnchanged, Revision: 5, Deployment: deployment})
			expectSame(t, before, e.snapshot(t, d.Name))
		}
	})
}

// TestReadReturnsWhatWasInstalled: field by field, for several names in their order.
func TestReadReturnsWhatWasInstalled(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		a, b, gone := definition(10, 240, time.Hour), definition(7, 7, 31*24*time.Hour), definition(1, 1, time.Second)
		a.Name, b.Name, gone.Name = "a", "b", "gone"
		a.Apps = []string{"checkout", "search"}
		b.Revision, b.Partition, b.Mode, b.MaxWait, b.OnFailure = 1<<53-1, bucket.PartitionAppKey, bucket.ModeShadow, 0, bucket.FailLocal
		e.install(t, a)
		e.install(t, b)
		e.install(t, gone)
		_, err := e.Remove(t.Context(), "gone", 2, deployment)
		check(t, err)
		check(t, e.rdb.HSet(t.Context(), e.DefinitionKey("newer"), "fmt", "3", "whatever", "x").Err())
		check(t, e.rdb.HSet(t.Context(), e.DefinitionKey("odd"), "something", "else").Err())

		found, err := e.Read(t.Context(), "b", "none", "a", "gone", "newer", "odd")
		check(t, err)
		for i, want := range map[int]bucket.Definition{0: b, 2: a} {
			if diff := cmp.Diff(want, found[i].Definition); diff != "" || !found[i].Present || found[i].Deployment != deployment || !found[i].Born.IsZero() {
				t.Fatalf("%+v: %s", found[i], diff)
			}
		}
		for i, want := range map[int]bucket.Installed{
			1: {Definition: bucket.Definition{Name: "none"}},
			3: {Present: true, Tombstone: true, Deployment: deployment, Definition: bucket.Definition{Name: "gone", Revision: 2}},
			4: {Present: true, UnknownFormat: true, Definition: bucket.Definition{Name: "newer"}},
			5: {Present: true, Unreadable: true, Definition: bucket.Definition{Name: "odd"}},
		} {
			if diff := cmp.Diff(want, found[i]); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// TestALateInstallCanNotReviveATombstone: older and equal revisions find the tombstone and leave it, its TTL too.
func TestALateInstallCanNotReviveATombstone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Second)
		d.Revision = 3
		e.install(t, d)
		_, err := e.Remove(t.Context(), d.Name, 4, deployment)
		check(t, err)
		ttl := e.rdb.PTTL(t.Context(), e.DefinitionKey(d.Name)).Val()
		if ttl <= 7*24*time.Hour-time.Minute || ttl > 7*24*time.Hour {
			t.Fatalf("the tombstone stays %s", ttl)
		}
		before := e.snapshot(t, d.Name)
		for _, revision := range []int64{3, 4} {
			d.Revision = revision
			result, err := e.Install(t.Context(), d, ours)
			check(t, err)
			want := bucket.InstallResult{Status: bucket.StatusUnchanged, Revision: 4, Deployment: deployment, Tombstone: true}
			expect(t, "result", result, want)
			expectSame(t, before, e.snapshot(t, d.Name))
		}
		names, err := e.IndexedNames(t.Context())
		check(t, err)
		expect(t, "names in the index", len(names), 0)
		expect(t, "verdict", e.verdictFor(t, d, "checkout"), bucket.VerdictRemoved)
	})
}

// TestRemoveBeforeInstallLeavesATombstone: a removal that overtakes its install wins.
func TestRemoveBeforeInstallLeavesATombstone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		result, err := e.Remove(t.Context(), "b", 2, deployment)
		check(t, err)
		expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusInstalled, Revision: 2, Deployment: deployment, Tombstone: true})
		result, err = e.Install(t.Context(), definition(10, 1, time.Second), ours)
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusUnchanged)
		d := definition(10, 1, time.Second)
		d.Revision, d.AfterLoss = 3, bucket.LossFull
		e.install(t, d)
		expect(t, "left", e.peek(t, d, 1).Remaining, 10)
	})
}

// TestRecreatingUnderATombstoneIsANewGeneration: revisions go on, the tombstone's end is lifted, state starts as after
// data loss.
func TestRecreatingUnderATombstoneIsANewGeneration(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, policy := range []string{bucket.LossRefill, bucket.LossFull} {
			d := definition(10, 1, time.Hour)
			d.Name, d.AfterLoss = "b-"+policy, policy
			e.install(t, d)
			e.one(t, d, 4)
			first := e.generation(t, d)
			_, err := e.Remove(t.Context(), d.Name, 2, deployment)
			check(t, err)
			d.Revision = 3
			e.install(t, d)
			if e.generation(t, d) <= first {
				t.Fatal("the generation did not go on")
			}
			expect(t, "ttl", e.rdb.PTTL(t.Context(), e.DefinitionKey(d.Name)).Val(), time.Duration(-1))
			want := int64(0)
			if policy == bucket.LossFull {
				want = 10
			}
			expect(t, "left", e.peek(t, d, 1).Remaining, want)
			names, err := e.IndexedNames(t.Context())
			check(t, err)
			expect(t, "indexed", slices.Contains(names, d.Name), true)
		}
	})
}

func (e *env) generation(t testing.TB, d bucket.Definition) int64 {
	t.Helper()
	found, err := e.Read(t.Context(), d.Name)
	check(t, err)
	return found[0].Generation
}

// TestANewPartitionIsANewGeneration: as is a new algorithm or number of shards, and nothing else is.
func TestANewPartitionIsANewGeneration(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.one(t, d, 4)
		last := e.generation(t, d)
		edit := func(what string, anew bool, left int64, change func()) {
			t.Helper()
			d.Revision++
			change()
			e.pass(t, 2*time.Millisecond, d.Name)
			e.install(t, d)
			now := e.generation(t, d)
			expect(t, what+" begins a generation", now != last, anew)
			expect(t, what+" leaves", e.peek(t, d, 1).Remaining, left)
			last = now
		}
		edit("an app", false, 6, func() { d.Apps = []string{"checkout"} })
		edit("a mode", false, 6, func() { d.Mode = bucket.ModeShadow })
		edit("a policy", false, 6, func() { d.AfterLoss, d.OnFailure = bucket.LossFull, bucket.FailClosed })
		edit("a rate", false, 6, func() { d.Rate = 2 })
		edit("a partition", true, 10, func() { d.Partition = bucket.PartitionApp })
		edit("another partition", true, 0, func() { d.Partition, d.AfterLoss = bucket.PartitionKey, bucket.LossRefill })
		edit("shards", true, 10, func() { d.Shards, d.AfterLoss = 4, bucket.LossFull })
		edit("fewer shards", true, 0, func() { d.Shards, d.AfterLoss = 3, bucket.LossRefill })
		before := e.generation(t, d)
		d.Revision, d.Algorithm, d.MaxPermits = d.Revision+1, bucket.SlidingLog, 3
		e.install(t, d)
		if last = e.generation(t, d); last == before {
			t.Fatal("another algorithm began no generation")
		}
		edit("an algorithm", true, 10, func() { d.Algorithm, d.MaxPermits, d.AfterLoss = bucket.TokenBucket, 10, bucket.LossFull })
	})
}

// TestAForeignDeploymentIsRefused: install, remove and restart leave its definition as it is, until it is adopted.
func TestAForeignDeploymentIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.one(t, d, 4)
		before := e.snapshot(t, d.Name)
		want := bucket.InstallResult{Status: bucket.StatusForeign, Revision: 1, Deployment: deployment}
		d.Revision = 2
		result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: "other"})
		check(t, err)
		expect(t, "install", result, want)
		result, err = e.Remove(t.Context(), d.Name, 2, "other")
		check(t, err)
		expect(t, "remove", result, want)
		result, err = e.Restart(t.Context(), d.Name, "other", always)
		check(t, err)
		expect(t, "restart", result, want)
		expectSame(t, before, e.snapshot(t, d.Name))

		check(t, e.Adopt(t.Context(), "other"))
		result, err = e.Install(t.Context(), d, bucket.InstallOptions{Deployment: "other"})
		check(t, err)
		expect(t, "after adopting", result, bucket.InstallResult{Status: bucket.StatusInstalled, Revision: 2, Deployment: "other"})
		expect(t, "left", e.peek(t, d, 1).Remaining, 6)
	})
}

// TestAnUnknownFormatIsLeftUntouched: of a definition, of a state, and of the caller.
func TestAnUnknownFormatIsLeftUntouched(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.one(t, d, 4)
		state := e.StateKey(d.Name, d.Partition, "", "")
		refuses := func(what string, key, field, value string) {
			t.Helper()
			if field == "" {
				check(t, e.rdb.Set(t.Context(), key, value, time.Hour).Err())
			} else {
				check(t, e.rdb.HSet(t.Context(), key, field, value).Err())
			}
			before := e.snapshot(t, d.Name)
			reply := e.ask(t, d, bucket.Entry{Permits: 1, Count: 1})
			expect(t, what, reply.Verdict, bucket.VerdictUnknownFormat)
			edited := d
			edited.Revision, edited.Rate = 2, 2
			result, err := e.Install(t.Context(), edited, ours)
			check(t, err)
			expect(t, what+": install", result.Status, bucket.StatusUnknownFormat)
			expectSame(t, before, e.snapshot(t, d.Name))
		}
		good := e.rdb.Get(t.Context(), state).Val()
		refuses("a newer state", state, "", "3"+good[1:])
		refuses("a state of no form", state, "", "2garbage")
		refuses("an empty state", state, "", "")
		check(t, e.rdb.Set(t.Context(), state, good, time.Hour).Err())
		e.one(t, d, 1)

		check(t, e.rdb.HSet(t.Context(), e.DefinitionKey(d.Name), "head", "3 of another form").Err())
		check(t, e.rdb.HDel(t.Context(), e.DefinitionKey(d.Name), "fast").Err())
		refuses("a newer definition", e.DefinitionKey(d.Name), "fmt", "3")
		before := e.snapshot(t, d.Name)
		result, err := e.Remove(t.Context(), d.Name, 9, deployment)
		check(t, err)
		expect(t, "remove", result.Status, bucket.StatusUnknownFormat)
		result, err = e.Restart(t.Context(), d.Name, deployment, always)
		check(t, err)
		expect(t, "restart", result.Status, bucket.StatusUnknownFormat)
		if err := e.Adopt(t.Context(), "other"); err == nil {
			t.Fatal("adopted a definition that it does not understand")
		}
		expectSame(t, before, e.snapshot(t, d.Name))
	})
}

// TestDamageIsOverwrittenWhole: what no version writes is nobody's, so it neither keeps a bucket out nor leaves a trace.
func TestDamageIsOverwrittenWhole(t *testing.T) {
	for what, damage := range map[string]func(ctx context.Context, e *env, key string) error{
		"no format, one field": func(ctx context.Context, e *env, key string) error {
			check(t, e.rdb.Del(ctx, key).Err())
			return e.rdb.HSet(ctx, key, "max", "5").Err()
		},
		"its format taken out": func(ctx context.Context, e *env, key string) error { return e.rdb.HDel(ctx, key, "fmt").Err() },
		"no owner":             func(ctx context.Context, e *env, key string) error { return e.rdb.HDel(ctx, key, "dep").Err() },
		"no head":              func(ctx context.Context, e *env, key string) error { return e.rdb.HDel(ctx, key, "head").Err() },
		"a head of no form":    func(ctx context.Context, e *env, key string) error { return e.rdb.HSet(ctx, key, "head", "2 x").Err() },
		"a revision of no form": func(ctx context.Context, e *env, key string) error {
			return e.rdb.HSet(ctx, key, "rev", "banana", "head", "").Err()
		},
		"a field of nobody's": func(ctx context.Context, e *env, key string) error { return e.rdb.HSet(ctx, key, "banana", "1").Err() },
	} {
		t.Run(what, func(t *testing.T) {
			onBoth(t, func(t *testing.T, e *env) {
				d := definition(10, 1, time.Hour)
				d.AfterLoss = bucket.LossFull
				e.install(t, d)
				e.one(t, d, 4)
				check(t, damage(t.Context(), e, e.DefinitionKey(d.Name)))
				d.Revision = 2
				result, err := e.Install(t.Context(), d, ours)
				check(t, err)
				expect(t, "install", result.Status, bucket.StatusInstalled)
				expect(t, "a caller is decided", e.ask(t, d, bucket.Entry{Permits: 1, Count: 1}).Verdict, bucket.VerdictDecided)
				fresh := d
				fresh.Name = "fresh"
				e.install(t, fresh)
				expect(t, "fields", e.fields(t, d.Name), e.fields(t, fresh.Name))

				check(t, damage(t.Context(), e, e.DefinitionKey(d.Name)))
				result, err = e.Remove(t.Context(), d.Name, 3, deployment)
				check(t, err)
				expect(t, "remove", result, bucket.InstallResult{Status: bucket.StatusInstalled, Revision: 3, Deployment: deployment, Tombstone: true})
				expect(t, "fields of the tombstone", e.fields(t, d.Name), "dep fmt gone head rev rid")
			})
		})
	}
}

// TestAHistoryThatCannotBeReadCountsAsNotKept: callers are still decided, and granted no more than by the oldest rule left.
func TestAHistoryThatCannotBeReadCountsAsNotKept(t *testing.T) {
	damages := map[string]func(ctx context.Context, e *env, key string) error{
		"no form": func(ctx context.Context, e *env, key string) error {
			return e.rdb.HSet(ctx, key, "hist", "x;1,2").Err()
		},
		"gone": func(ctx context.Context, e *env, key string) error { return e.rdb.HDel(ctx, key, "hist").Err() },
	}
	for what, damage := range damages {
		for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
			t.Run(what+"/"+algorithm, func(t *testing.T) {
				onBoth(t, func(t *testing.T, e *env) {
					d := definition(10, 10, time.Hour)
					d.Algorithm, d.Partition = algorithm, bucket.PartitionKey
					e.install(t, d)
					e.one(t, d, 4)
					d.Revision, d.MaxPermits = 2, 20
					if algorithm != bucket.TokenBucket {
						d.Rate = 20
					}
					e.install(t, d)
					check(t, damage(t.Context(), e, e.DefinitionKey(d.Name)))
					if !e.read(t, d.Name).Damaged {
						t.Error("the damage is not seen")
					}
					for _, key := range []string{"k", "never used"} {
						reply := e.acquire(t, d, bucket.Entry{Permits: 1, Key: key})
						if left := reply.Results[0].Remaining; left > 20 {
							t.Errorf("%s has %d left", key, left)
						}
					}
					d.Revision = 3
					e.install(t, d)
					expect(t, "damaged still", e.read(t, d.Name).Damaged, false)
				})
			})
		}
	}
}

// TestAHashWithoutAFormatTellsNoRevision: it keeps out neither an equal nor an older one, and is no loss that goes unseen.
func TestAHashWithoutAFormatTellsNoRevision(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.AfterLoss = bucket.LossRefill
		check(t, e.rdb.HSet(t.Context(), e.DefinitionKey(d.Name), "rev", "9", "dep", "other", "max", "5").Err())
		result, err := e.Install(t.Context(), d, ours)
		check(t, err)
		expect(t, "install", result.Status, bucket.StatusInstalled)
		if born := e.read(t, d.Name).Born; born.IsZero() {
			t.Error("the state begins full, though a definition may have been lost")
		}
	})
}

// TestAnUnknownAlgorithmIsNotDecided: a newer version may have installed one.
func TestAnUnknownAlgorithmIsNotDecided(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		e.setHead(t, e.DefinitionKey(d.Name), headShape, "leaky_cup.shared.1")
		expect(t, "verdict", e.verdictFor(t, d, "checkout"), bucket.VerdictUnknownFormat)
		target, err := e.Target(d.Name, "checkout", nil)
		check(t, err)
		reply, err := e.Acquire(t.Context(), bucket.Call{Target: target})
		check(t, err)
		expect(t, "verdict for who has learned nothing", reply.Verdict, bucket.VerdictUnknownFormat)
	})
}

// TestInstallRefusesWhatItCanNotEnforce: with the field, before Redis is asked.
func TestInstallRefusesWhatItCanNotEnforce(t *testing.T) {
	e := bucket.New(nil, "")
	for field, change := range map[string]func(d *bucket.Definition){
		"algorithm":        func(d *bucket.Definition) { d.Algorithm = "leaky_cup" },
		"shards":           func(d *bucket.Definition) { d.Shards = 2 }, // of partition shared
		"partition":        func(d *bucket.Definition) { d.Partition = "user" },
		"mode":             func(d *bucket.Definition) { d.Mode = "" },
		"on_redis_failure": func(d *bucket.Definition) { d.OnFailure = "maybe" },
		"after_loss":       func(d *bucket.Definition) { d.AfterLoss = "half" },
		"name":             func(d *bucket.Definition) { d.Name = "a{b}" },
		"revision":         func(d *bucket.Definition) { d.Revision = 0 },
		"max_permits":      func(d *bucket.Definition) { d.MaxPermits = 1_000_000_001 },
		"rate":             func(d *bucket.Definition) { d.MaxPermits, d.Period = 1_000_000_000, 31*24*time.Hour },
		"period":           func(d *bucket.Definition) { d.Period = 1500 * time.Microsecond },
		"max_wait":         func(d *bucket.Definition) { d.MaxWait = -time.Second },
		"apps[1]":          func(d *bucket.Definition) { d.Apps = []string{"a", "*"} },
	} {
		d := definition(10, 1, time.Second)
		change(&d)
		_, err := e.Install(t.Context(), d, ours)
		expectInvalid(t, err, field)
	}
	_, err := e.Install(t.Context(), definition(10, 1, time.Second), bucket.InstallOptions{})
	expectInvalid(t, err, "deployment")
}

// TestAThousandAppsAreInstalledAndRemoved: more than one HSET can carry.
func TestAThousandAppsAreInstalledAndRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.Partition, d.Apps = bucket.PartitionApp, nil
		for i := range bucket.AppsBound {
			d.Apps = append(d.Apps, fmt.Sprintf("app-%d", i))
		}
		e.install(t, d)
		e.one(t, d, 4)
		d.Revision, d.Rate = 2, 2 // settles every app
		e.install(t, d)
		found, err := e.Read(t.Context(), d.Name)
		check(t, err)
		expect(t, "apps", len(found[0].Apps), bucket.AppsBound)
		expect(t, "left", e.peek(t, d, 1).Remaining, 6)
		_, err = e.Remove(t.Context(), d.Name, 3, deployment)
		check(t, err)
		keys, err := e.rdb.Keys(t.Context(), e.DefinitionKey(d.Name)+":s*").Result()
		check(t, err)
		expect(t, "states left behind", len(keys), 0)
	})
}
