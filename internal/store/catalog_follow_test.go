package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func wantFound(t testing.TB, s *store.Store, text string, want ...string) {
	t.Helper()
	got := bucketNames(must(s.Buckets(t.Context(), model.BucketQuery{Search: text}))(t).Items)
	if !slices.Equal(got, want) {
		t.Errorf("the search for %q finds %v, want %v", text, got, want)
	}
}

func described(text string) model.Definition {
	d := definition("alice")
	d.Description = text
	return d
}

// A backup that is brought back under a running server is what lists show from then on, also when more has happened since
// the backup was brought back than had happened between.
func TestListsFollowARestoredDatabase(t *testing.T) {
	for name, since := range map[string]int{"nothing since": 0, "as much since": 2, "more since": 9} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, d database) {
				s := d.migrated(t)
				people(t, s, "alice")
				b := bucket(t, s, "one", described("before the backup"))
				backup := must(s.AuditHead(t.Context()))(t)
				must(s.UpdateBucket(t.Context(), "one", b.Revision, described("after the backup"), byAlice))(t)
				bucket(t, s, "two", described("after the backup"))
				wantFound(t, s, "after", "one", "two")

				d.unguarded(t)
				d.exec(t, "DELETE FROM changes WHERE id > ?", backup.Seq)
				d.exec(t, "UPDATE audit_head SET seq = ?, hash = ?", backup.Seq, backup.Hash[:])
				d.exec(t, "UPDATE buckets SET description = 'before the backup', revision = 1 WHERE name = 'one'")
				d.exec(t, "UPDATE buckets SET deleted = ? WHERE name = 'two'", true)
				logins(t, s, since)
				wantFound(t, s, "after")
				wantFound(t, s, "before", "one")
			})
		})
	}
}

// A server that nobody asked for a list in a long time finds the rows that would tell what happened removed by
// retention; it misses nothing all the same.
func TestListsMissNothingOfARemovedHistory(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		busy := d.migrated(t)
		idle := d.open(t)
		people(t, busy, "alice")
		b := bucket(t, busy, "one", described("apples"))
		wantFound(t, idle, "apples", "one")
		must(busy.UpdateBucket(t.Context(), "one", b.Revision, described("plums"), byAlice))(t)
		last := must(busy.AuditHead(t.Context()))(t)
		note := must(json.Marshal(audit.PruneNote{To: last.Seq, Hash: last.Hash.String()}))(t)
		ok(t, busy.AppendChange(t.Context(), model.Change{Action: model.ActionAuditPrune, TargetKind: model.TargetSystem, After: note}))
		must(busy.DeleteChanges(t.Context(), last.Seq, 1000))(t)
		wantFound(t, idle, "plums", "one")
		wantFound(t, idle, "apples")
	})
}

// An import makes hundreds of changes in one transaction; another server's lists have all of them.
func TestListsFollowAnImport(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s, other := d.migrated(t), d.open(t)
		people(t, s, "alice")
		bucket(t, s, "b0000", described("by hand"))
		wantFound(t, other, "by hand", "b0000")
		var wanted model.Wanted
		for i := range 1100 { // more than one reading takes
			wanted.Buckets = append(wanted.Buckets, model.WantedBucket{Name: fmt.Sprintf("b%04d", i), Definition: described("imported")})
		}
		must(s.Import(t.Context(), wanted, byAlice, false))(t)
		wantFound(t, other, "by hand")
		all := collect(t, 200, func(cursor string) (model.Page[model.Bucket], error) {
			return other.Buckets(t.Context(), model.BucketQuery{Search: "imported", Limit: 200, Cursor: cursor})
		})
		if len(all) != 1100 {
			t.Errorf("%d buckets of an import are listed, want 1100", len(all))
		}
	})
}

// Lists that are read while others edit are each one of a moment: a bucket that stays as it is is in all of them, once.
func TestListsHoldStillWhileOthersEdit(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		people(t, servers[0], "alice")
		for _, name := range numbered("still", 5) {
			bucket(t, servers[0], name, described("kept"))
		}
		errs := together(6, func(i int) error {
			s, name := servers[i%2], fmt.Sprintf("moving%d", i)
			for round := range 8 {
				if i < 3 { // half of them edit
					b, err := s.CreateBucket(t.Context(), name, described("kept for a while"), byAlice)
					if err == nil {
						_, err = s.DeleteBucket(t.Context(), name, b.Revision, byAlice)
					}
					if err != nil {
						return err
					}
					continue
				}
				page, err := s.Buckets(t.Context(), model.BucketQuery{Search: "KEPT", Sort: []string{"", "-updated_at"}[round%2]})
				if err != nil {
					return err
				}
				still := slices.DeleteFunc(bucketNames(page.Items), func(name string) bool { return !strings.HasPrefix(name, "still") })
				if slices.Sort(still); !slices.Equal(still, numbered("still", 5)) {
					return fmt.Errorf("the list has %v", still)
				}
			}
			return nil
		})
		for _, err := range errs {
			ok(t, err)
		}
	})
}
