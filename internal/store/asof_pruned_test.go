package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
)

// After old rows were pruned, what the kept rows cover is answered as before, and what they don't is said to be unknown.
func TestAsOfAfterPruningAnswersTheKeptHistoryAndOwnsUpToTheRest(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		moments := lived(t, s, now, 120)
		cut := moments[len(moments)/2]
		now.move(time.Second)
		pruned := must(s.Changes(t.Context(), model.ChangeQuery{To: cut.at.Add(time.Microsecond), Limit: 1}))(t).Items[0].ID
		ok(t, s.AppendChange(t.Context(), model.Change{
			Actor: model.SystemActor, Action: model.ActionAuditPrune, TargetKind: model.TargetSystem, After: json.RawMessage(fmt.Sprintf(`{"to":%d}`, pruned)),
		}))
		must(s.DeleteChanges(t.Context(), pruned, 10_000))(t)
		since, gone, err := s.KeptSince(t.Context())
		ok(t, err)
		if !gone || !since.After(cut.at) {
			t.Fatalf("kept since %v, pruned up to %v", since, cut.at)
		}
		for _, m := range moments {
			people, known, err := s.PeopleAsOf(t.Context(), m.at)
			ok(t, err)
			covered := !m.at.Before(since)
			if known != covered || covered && !cmp.Equal(people, m.people) {
				t.Fatalf("people at %v, kept since %v: known %v, %v", m.at, since, known, people)
			}
			overlays, known, err := s.OverlaysAsOf(t.Context(), m.at)
			ok(t, err)
			if known != covered || covered && !cmp.Equal(covering(overlays), covering(m.overlays)) {
				t.Fatalf("break-glass at %v, kept since %v: known %v, %v", m.at, since, known, overlays)
			}
			for _, name := range []string{"a", "b", "c"} {
				got, err := s.BucketAsOf(t.Context(), name, m.at)
				if model.CodeOf(err) == model.CodeNotFound {
					continue
				}
				ok(t, err)
				want, living := m.buckets[name]
				switch {
				case !covered && got.State != model.AsOfUnknown:
					t.Fatalf("%s at %v, kept since %v: %+v", name, m.at, since, got)
				case covered && (got.State == model.AsOfInForce) != living:
					t.Fatalf("%s at %v: %+v, though living is %v", name, m.at, got, living)
				case covered && living && (!cmp.Equal(*got.Definition, want.Definition) || got.Revision != 0 && got.Revision != want.Revision):
					t.Fatalf("%s at %v: %+v, want %+v", name, m.at, got, want)
				}
			}
			if covered {
				members := must(s.MembersAsOf(t.Context(), []string{model.AllApps}, m.at))(t)
				if diff := cmp.Diff(m.members, members); diff != "" {
					t.Fatalf("members at %v (-want +got):\n%s", m.at, diff)
				}
			}
		}
	})
}

// covering is what overlays cover: who started one that began in pruned rows is not known.
func covering(overlays []model.Overlay) []string {
	var list []string
	for _, o := range overlays {
		list = append(list, fmt.Sprint(o.ID, " ", o.Covers()))
	}
	return list
}
