package measure

import "testing"

func TestEventsKeepKeyTimeAndVerdict(t *testing.T) {
	for _, c := range []struct {
		offset  int64
		key     int
		allowed bool
	}{{0, -1, true}, {1, 0, false}, {maxOffset, KeysBound - 1, true}, {123_456_789, 999_999, false}} {
		e := newEvent(c.offset, c.key, c.allowed)
		if e.Offset() != c.offset || e.Key() != max(c.key, 0) || e.Refused() == c.allowed {
			t.Errorf("%+v became %v", c, e)
		}
	}
}

func TestSlotsCoverTheRangeWithoutGapOrOverlap(t *testing.T) {
	for slot := range slots {
		edge := upperEdge(slot)
		if slotOf(edge) != slot || slot+1 < slots && slotOf(edge+1) != slot+1 {
			t.Fatalf("slot %d ends at %d, which is in slot %d, and the next in %d", slot, edge, slotOf(edge), slotOf(edge+1))
		}
	}
	if slotOf(longest) != slots-1 {
		t.Errorf("the longest falls into slot %d of %d", slotOf(longest), slots)
	}
}
