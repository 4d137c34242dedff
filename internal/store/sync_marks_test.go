package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
)

// The mark of a Redis that is no Cluster is there from the start, and no mark is ever lowered.
func TestMarksOnlyGrow(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		none := []model.Mark{{Slot: model.NoSlot, From: 0, To: 16383}}
		if got := must(s.Marks(t.Context()))(t); !cmp.Equal(got, none) {
			t.Errorf("first marks %+v, want %+v", got, none)
		}
		at := newClock().Now().Truncate(time.Microsecond)
		whole := model.Mark{Slot: model.NoSlot, From: 0, To: 16383, At: at}
		low, high := model.Mark{Slot: 0, From: 0, To: 5460, At: at}, model.Mark{Slot: 12000, From: 10923, To: 16383, At: at}
		ok(t, s.SetMarks(t.Context(), []model.Mark{high, whole, low}, nil))
		if got, want := must(s.Marks(t.Context()))(t), []model.Mark{whole, low, high}; !cmp.Equal(got, want) {
			t.Errorf("marks %+v, want %+v", got, want)
		}
		later, earlier := low, high
		later.At, later.To, earlier.At, earlier.To = at.Add(time.Second), 99, at.Add(-time.Second), 16000
		ok(t, s.SetMarks(t.Context(), []model.Mark{later, earlier}, nil))
		earlier.At = at
		if got, want := must(s.Marks(t.Context()))(t), []model.Mark{whole, later, earlier}; !cmp.Equal(got, want) {
			t.Errorf("marks %+v, want %+v", got, want)
		}
	})
}

func TestForgottenMarksAreGone(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		at := newClock().Now().Truncate(time.Microsecond)
		mark := func(slot int) model.Mark { return model.Mark{Slot: slot, From: slot, To: slot, At: at} }
		ok(t, s.SetMarks(t.Context(), []model.Mark{mark(0), mark(7), mark(100)}, nil))
		ok(t, s.SetMarks(t.Context(), []model.Mark{mark(0)}, []int{7, 100, 5000}))
		got := must(s.Marks(t.Context()))(t)
		if len(got) != 2 || got[1] != mark(0) {
			t.Errorf("marks %+v", got)
		}
	})
}

// Servers side by side move the marks of many masters without getting in each other's way.
func TestMarksAreMovedSideBySide(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		at := newClock().Now().Truncate(time.Microsecond)
		const servers, masters = 10, 20
		for _, err := range together(servers, func(i int) error {
			var marks []model.Mark
			for n := range masters {
				slot := n
				if i%2 == 1 {
					slot = masters - 1 - n
				}
				marks = append(marks, model.Mark{Slot: slot, From: slot, To: slot, At: at.Add(time.Duration(i) * time.Second)})
			}
			return s.SetMarks(t.Context(), marks, nil)
		}) {
			ok(t, err)
		}
		for _, m := range must(s.Marks(t.Context()))(t)[1:] {
			if want := at.Add((servers - 1) * time.Second); !m.At.Equal(want) {
				t.Errorf("slot %d: %v, want the latest, %v", m.Slot, m.At, want)
			}
		}
	})
}
