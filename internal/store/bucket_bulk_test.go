package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// Of bulk edits that are made at once of the same buckets, named in different orders and by different servers, one is made
// and the others are refused as a whole: no bucket is changed twice, and none without the rest of its edit.
func TestBulkEditsAtOnceAreAllOrNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s, other := d.migrated(t), d.open(t)
		people(t, s, "alice")
		var targets []model.BulkTarget
		for i := range 12 {
			name := fmt.Sprintf("b%02d", i)
			_, err := s.CreateBucket(t.Context(), name, model.Definition{Owners: []string{"alice"}, MaxPermits: 10, Rate: 10}, byAlice)
			ok(t, err)
			targets = append(targets, model.BulkTarget{Name: name, Base: 1})
		}
		refusals := make([]error, 6)
		var group sync.WaitGroup
		for i := range refusals {
			server, own := []*store.Store{s, other}[i%2], slices.Clone(targets[i%3:])
			if i%2 == 1 {
				slices.Reverse(own)
			}
			change := model.BulkChange{SetLabels: map[string]string{"by": fmt.Sprint(i)}}
			group.Go(func() {
				_, refusals[i] = server.UpdateBuckets(t.Context(), own, change, byAlice, false)
			})
		}
		group.Wait()
		winner := slices.Index(refusals, nil)
		for i, err := range refusals {
			if i != winner {
				wantCode(t, err, model.CodeStale)
			}
		}
		if winner < 0 {
			t.Fatal("no bulk edit was made")
		}
		for i, target := range targets {
			b := must(s.Bucket(t.Context(), target.Name))(t)
			revision, by := int64(1), ""
			if i >= winner%3 {
				revision, by = 2, fmt.Sprint(winner)
			}
			if b.Revision != revision || b.Labels["by"] != by {
				t.Errorf("%s is at revision %d with %v; the edit made was %d", b.Name, b.Revision, b.Labels, winner)
			}
		}
		if rows, want := d.count(t, "SELECT COUNT(*) FROM changes WHERE action = 'bucket.update'"), len(targets)-winner%3; rows != want {
			t.Errorf("%d change rows, want %d", rows, want)
		}
	})
}
