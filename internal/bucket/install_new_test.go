package bucket_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
)

// The short way to write a definition of which Redis has nothing writes what the long way writes. An edit that changes
// nothing but the revision goes the long way and leaves all else as it was; over a tombstone the long way writes all anew.
func TestANewDefinitionIsWrittenTheLongWayToo(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, d := range manyKinds() {
			for _, lost := range []bool{false, true} {
				what := fmt.Sprintf("%+v, lost %v", d, lost)
				result, err := e.Install(t.Context(), d, bucket.InstallOptions{Deployment: deployment, Lost: lost})
				check(t, err)
				expect(t, what, result, bucket.InstallResult{Status: bucket.StatusInstalled, Revision: d.Revision, Deployment: deployment})
				born := e.isSound(t, d)
				expect(t, what+": born then", !born.IsZero(), lost && d.AfterLoss == bucket.LossRefill)
				first := e.snapshot(t, d.Name)

				edited := d
				edited.Revision++
				e.install(t, edited)
				e.isSound(t, edited)
				same(t, what+", edited", first, e.snapshot(t, d.Name), 1)

				_, err = e.Remove(t.Context(), d.Name, d.Revision+2, deployment)
				check(t, err)
				again := d
				again.Revision += 3
				e.install(t, again)
				e.isSound(t, again)
				same(t, what+", made again", first, e.snapshot(t, d.Name), 1, 6, 7, 8, 9)
				check(t, e.rdb.Del(t.Context(), e.DefinitionKey(d.Name)).Err())
			}
		}
	})
}

// same fails the test unless two snapshots have the same in all fields, but for the revision, some words of the head, and
// "fast", which isSound compares with the head.
func same(t *testing.T, what string, first, second map[string]string, butFor ...int) {
	t.Helper()
	masked := func(snapshot map[string]string) map[string]string {
		words := strings.Split(snapshot["head"], " ")
		for _, i := range butFor {
			words[i] = "any"
		}
		snapshot = maps.Clone(snapshot)
		snapshot["head"] = strings.Join(words, " ")
		delete(snapshot, "rev")
		delete(snapshot, "fast")
		return snapshot
	}
	if diff := cmp.Diff(masked(first), masked(second)); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

// isSound fails the test unless Redis has a definition that tells the same in all its fields, and returns when it was born.
func (e *env) isSound(t *testing.T, d bucket.Definition) time.Time {
	t.Helper()
	found, err := e.Read(t.Context(), d.Name)
	check(t, err)
	if diff := cmp.Diff(d, found[0].Definition); diff != "" || found[0].Damaged || found[0].Unreadable {
		t.Fatalf("%+v: %s", found[0], diff)
	}
	return found[0].Born
}

// manyKinds are definitions of every algorithm with small, common and the largest limits.
func manyKinds() (all []bucket.Definition) {
	limits := []bucket.Definition{definition(1, 1, time.Second), definition(10, 240, time.Hour), definition(7, 3, time.Second), definition(1e9, 1e9-1, 31*24*time.Hour)}
	for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog, bucket.Concurrency} {
		for i, d := range limits {
			d.Algorithm, d.Mode = algorithm, []string{bucket.ModeEnforce, bucket.ModeShadow, bucket.ModeOff}[i%3]
			d.AfterLoss = []string{bucket.LossRefill, bucket.LossFull}[i%2]
			switch algorithm {
			case bucket.TokenBucket:
			case bucket.Concurrency:
				d.Rate, d.MaxWait, d.MaxPermits, d.Period = 1, 0, min(d.MaxPermits, 100), min(d.Period, time.Hour)
			default:
				d.MaxWait, d.MaxPermits = 0, min(d.MaxPermits, 1000)
				d.Rate, d.Period = d.MaxPermits, min(d.Period, 24*time.Hour)
			}
			if i == 1 {
				d.Apps, d.Partition = []string{"checkout", "search"}, bucket.PartitionAppKey
			}
			all = append(all, d)
		}
	}
	many := definition(50, 20, time.Minute)
	many.Apps = nil
	for i := range 120 {
		many.Apps = append(many.Apps, fmt.Sprintf("app-%03d", i))
	}
	return append(all, many)
}
