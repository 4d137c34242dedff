package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// TestABrandNewBucketStartsFull: whatever after_loss says.
func TestABrandNewBucketStartsFull(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		expect(t, "left", e.peek(t, d, 1).Remaining, 10)
	})
}

// TestAfterALossStateStartsAsTheDefinitionSays: with refill from empty at the new installation, so that a flush grants
// no burst; with full from full. For definitions lost and for state lost alone.
func TestAfterALossStateStartsAsTheDefinitionSays(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		lose := map[string]func(d bucket.Definition){
			"definition": func(d bucket.Definition) {
				check(t, e.rdb.Del(t.Context(), e.DefinitionKey(d.Name)).Err())
				result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
				check(t, err)
				expect(t, "status", result.Status, bucket.StatusInstalled)
			},
			"state": func(d bucket.Definition) {
				result, err := e.Restart(t.Context(), d.Name, deployment, always)
				check(t, err)
				expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusInstalled, Revision: 1, Deployment: deployment})
			},
		}
		for what, lost := range lose {
			for _, partition := range partitions {
				for policy, want := range map[string][3]int64{bucket.LossRefill: {0, 3, 10}, bucket.LossFull: {10, 10, 10}} {
					d := definition(10, 1, time.Minute)
					d.Name, d.Partition, d.AfterLoss = fmt.Sprintf("b-%s-%s-%s", what, partition, policy), partition, policy
					e.install(t, d)
					e.one(t, d, 5)
					e.pass(t, 10*time.Millisecond, d.Name)
					check(t, e.rdb.Del(t.Context(), e.StateKey(d.Name, partition, "checkout", "k")).Err())
					lost(d)
					expect(t, what+" at once", e.peek(t, d, 1).Remaining, want[0])
					e.pass(t, 3*time.Minute, d.Name)
					expect(t, what+" 3 min later", e.peek(t, d, 1).Remaining, want[1])
					e.pass(t, 7*time.Minute, d.Name)
					expect(t, what+" 10 min later", e.peek(t, d, 1).Remaining, want[2])
				}
			}
		}
	})
}

// TestAFlushedRedisGrantsNoBurst: on a server of its own, which is killed and comes back empty.
func TestAFlushedRedisGrantsNoBurst(t *testing.T) {
	server := testenv.OwnRedis(t)
	e := newEnv(t, server.Addr, "")
	d := definition(1000, 1, time.Hour)
	e.install(t, d)
	e.one(t, d, 1000)
	server.Stop()
	server.Start(t)
	expect(t, "verdict", e.verdictFor(t, d, "checkout"), bucket.VerdictAbsent)
	_, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
	check(t, err)
	expect(t, "granted after the loss", e.one(t, d, 1).Granted, 0)
}

// TestSurvivingStateOfALostDefinitionIsNotUsed: it belongs to another generation.
func TestSurvivingStateOfALostDefinitionIsNotUsed(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.Partition, d.AfterLoss = bucket.PartitionKey, bucket.LossFull
		e.install(t, d)
		e.one(t, d, 10)
		e.pass(t, 10*time.Millisecond, d.Name)
		check(t, e.rdb.Del(t.Context(), e.DefinitionKey(d.Name)).Err())
		if e.mini == nil {
			began, err := e.Time(t.Context())
			check(t, err)
			testenv.Eventually(t, time.Second, "2 ms to pass", func() bool {
				now, err := e.Time(t.Context())
				check(t, err)
				return now.Sub(began) > 2*time.Millisecond
			})
		}
		_, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: true})
		check(t, err)
		expect(t, "left", e.peek(t, d, 1).Remaining, 10)
	})
}

// TestRestartNeedsADefinition: there is nothing to restart without one, nor under a tombstone.
func TestRestartNeedsADefinition(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		result, err := e.Restart(t.Context(), "b", deployment, always)
		check(t, err)
		expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusAbsent})
		_, err = e.Remove(t.Context(), "b", 7, deployment)
		check(t, err)
		before := e.snapshot(t, "b")
		result, err = e.Restart(t.Context(), "b", deployment, always)
		check(t, err)
		expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusAbsent, Revision: 7, Tombstone: true})
		expectSame(t, before, e.snapshot(t, "b"))
	})
}

// TestARestartDoneTwiceIsDoneOnce: several servers, and one that tries again, find the same loss; a bucket that starts
// full must not be filled by each of them.
func TestARestartDoneTwiceIsDoneOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.AfterLoss = bucket.LossFull
		e.install(t, d)
		e.pass(t, 10*time.Millisecond, d.Name)
		lost, err := e.Time(t.Context())
		check(t, err)
		testenv.Eventually(t, time.Second, "the clock of Redis moves on", func() bool {
			e.pass(t, time.Millisecond, d.Name)
			now, err := e.Time(t.Context())
			return err == nil && now.Sub(lost) > 2*time.Millisecond
		})
		result, err := e.Restart(t.Context(), d.Name, deployment, lost)
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusInstalled)
		e.one(t, d, 10)
		before := e.snapshot(t, d.Name)
		result, err = e.Restart(t.Context(), d.Name, deployment, lost)
		check(t, err)
		expect(t, "result", result, bucket.InstallResult{Status: bucket.StatusUnchanged, Revision: 1, Deployment: deployment})
		expectSame(t, before, e.snapshot(t, d.Name))
	})
}
