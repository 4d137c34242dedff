package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
)

// Every algorithm, also at its bounds, comes back from the database and stands in the history as it was saved.
func TestEachAlgorithmComesBackAsItWasSaved(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		for i, want := range []model.Definition{
			{Algorithm: model.TokenBucket, MaxPermits: 1_000_000_000, Rate: 1_000_000_000, Period: time.Millisecond},
			{Algorithm: model.FixedWindow, MaxPermits: 1_000_000_000, Period: 31 * 24 * time.Hour, Partition: model.PartitionKey, Shards: 64},
			{Algorithm: model.SlidingWindow, MaxPermits: 1, Period: time.Millisecond, Partition: model.PartitionAppKey, Shards: 2},
			{Algorithm: model.SlidingLog, MaxPermits: 100_000, Period: time.Minute, Partition: model.PartitionApp},
			{Algorithm: model.Concurrency, MaxPermits: 100_000, Period: time.Second},
		} {
			want.Owners = []string{"alice"}
			want.SetDefaults()
			name := string(want.Algorithm)
			if diff := cmp.Diff(want, bucket(t, s, name, want).Definition); diff != "" {
				t.Errorf("%s: answer of the write (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(want, must(s.Bucket(t.Context(), name))(t).Definition); diff != "" {
				t.Errorf("%s: read again (-want +got):\n%s", name, diff)
			}
			next := definition("alice")
			next.Algorithm, next.Rate = model.Algorithms[(i+1)%len(model.Algorithms)], 0
			if next.Algorithm.HasRate() {
				next.Rate = 7
			}
			next.SetDefaults()
			must(s.UpdateBucket(t.Context(), name, 1, next, byAlice))(t)
			if diff := cmp.Diff(next, must(s.Bucket(t.Context(), name))(t).Definition); diff != "" {
				t.Errorf("%s turned into %s (-want +got):\n%s", name, next.Algorithm, diff)
			}
			newest := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket, Target: name, Limit: 1}))(t).Items[0]
			if got, want := string(newest.Before)+string(newest.After), string(model.DefinitionJSON(&want))+string(model.DefinitionJSON(&next)); got != want {
				t.Errorf("%s: the history has\n%s\nwant\n%s", name, got, want)
			}
		}
	})
}

func TestStoreRefusesWhatAnAlgorithmDoesNotTake(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		for field, change := range map[string]func(*model.Definition){
			"rate":        func(d *model.Definition) { d.Algorithm = model.FixedWindow },
			"max_permits": func(d *model.Definition) { d.Algorithm, d.Rate, d.MaxPermits = model.SlidingLog, 0, 100_001 },
			"period_ms":   func(d *model.Definition) { d.Algorithm, d.Rate, d.Period = model.Concurrency, 0, 999*time.Millisecond },
			"shards":      func(d *model.Definition) { d.Shards = 2 },
		} {
			bad := definition("alice")
			change(&bad)
			_, err := s.CreateBucket(t.Context(), "b", bad, byAlice)
			wantCode(t, err, model.CodeInvalid, field)
		}
	})
}
