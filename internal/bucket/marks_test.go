package bucket_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// theMark reads the one mark of a Redis that is no Cluster.
func (e *env) theMark(t *testing.T) bucket.Mark {
	t.Helper()
	marks, err := e.ReadMarks(t.Context(), 7, 8) // slots mean nothing here
	check(t, err)
	if len(marks) != 1 || marks[0].Err != nil || marks[0].Slot != bucket.NoSlot || marks[0].SlotRange != bucket.AllSlots {
		t.Fatalf("marks %+v", marks)
	}
	return marks[0]
}

// TestTheMarkIsKept: to the microsecond, under the same key as ever, and its absence is told.
func TestTheMarkIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		m := e.theMark(t)
		expect(t, "a mark", m.Stands, false)
		moved, err := e.MoveMark(t.Context(), &m, m.Clock)
		check(t, err)
		expect(t, "moved", moved, true)
		again := e.theMark(t)
		expect(t, "a mark", again.Stands, true)
		expect(t, "the mark", again.At, m.At)
		expect(t, "the mark", e.rdb.Get(t.Context(), e.MarkKey(bucket.NoSlot)).Val(), fmt.Sprint(m.At.UnixMicro()))
		peeked, err := e.PeekMarks(t.Context(), bucket.NoSlot)
		check(t, err)
		expect(t, "the mark", peeked[0], m.At)
		check(t, e.rdb.Del(t.Context(), e.MarkKey(bucket.NoSlot)).Err())
		peeked, err = e.PeekMarks(t.Context(), bucket.NoSlot)
		check(t, err)
		expect(t, "no mark", peeked[0].IsZero(), true)
	})
}

// TestMarkIsMovedOnlyIfItIsWhatWasRead: so that a Redis that lost its state after the reading, or went back to an old
// snapshot, keeps what shows it.
func TestMarkIsMovedOnlyIfItIsWhatWasRead(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		m := e.theMark(t)
		old := m.Clock.Add(-time.Hour)
		_, err := e.MoveMark(t.Context(), &m, m.Clock)
		check(t, err)
		for what, came := range map[string]func() error{
			"gone": func() error { return e.rdb.Del(t.Context(), e.MarkKey(bucket.NoSlot)).Err() },
			"old": func() error {
				return e.rdb.Set(t.Context(), e.MarkKey(bucket.NoSlot), old.UnixMicro(), 0).Err()
			},
		} {
			m := e.theMark(t)
			check(t, came())
			moved, err := e.MoveMark(t.Context(), &m, m.Clock.Add(time.Second))
			check(t, err)
			expect(t, what+": moved", moved, false)
			expect(t, what+": what stands", m.At, e.theMark(t).At)
			expect(t, what+": stands", m.Stands, what == "old")
		}
	})
}

// TestMarkThatIsNoNumberIsAnError: and not taken for a loss.
func TestMarkThatIsNoNumberIsAnError(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		check(t, e.rdb.Set(t.Context(), e.MarkKey(bucket.NoSlot), "banana", 0).Err())
		marks, err := e.ReadMarks(t.Context())
		check(t, err)
		if marks[0].Err == nil {
			t.Fatalf("marks %+v", marks)
		}
	})
}

// TestEachMasterOfAClusterHasItsMark: one for each range of slots in a row, at the slot that was asked for.
func TestEachMasterOfAClusterHasItsMark(t *testing.T) {
	cluster := testenv.Cluster(t, testenv.ClusterReplicas(0))
	e := bucket.New(cluster.Client(t), "")
	marks, err := e.ReadMarks(t.Context())
	check(t, err)
	expect(t, "marks", len(marks), 3)
	covered := 0
	for i := range marks {
		m := &marks[i]
		check(t, m.Err)
		expect(t, "slot", m.Slot, m.From)
		expect(t, "the range begins at", m.From, covered)
		covered = m.To + 1
		moved, err := e.MoveMark(t.Context(), m, m.Clock)
		check(t, err)
		expect(t, "moved", moved, true)
		if n := cluster.Admin(cluster.MasterOf(t, m.From)).DBSize(t.Context()).Val(); n != 1 {
			t.Errorf("the master of slot %d has %d keys, want its own mark", m.From, n)
		}
	}
	expect(t, "slots covered", covered, bucket.Slots)

	cluster.MigrateSlot(t, 100, cluster.Nodes[0], cluster.Nodes[2]) // five ranges now
	marks, err = e.ReadMarks(t.Context(), 5461, 6000, 0)
	check(t, err)
	var at []int
	for _, m := range marks {
		at = append(at, m.Slot)
	}
	expect(t, "marks", fmt.Sprint(at), fmt.Sprint([]int{0, 100, 101, 5461, 6000, 10922}))
}

// TestMarkKeysFallIntoTheirSlots: every slot has a tag, the smallest number of that slot.
func TestMarkKeysFallIntoTheirSlots(t *testing.T) {
	e := miniEnv(t)
	for slot := range bucket.Slots {
		if got := bucket.SlotOfKey(e.MarkKey(slot)); got != slot {
			t.Fatalf("%s is in slot %d, not %d", e.MarkKey(slot), got, slot)
		}
	}
}

// TestRestartOfARangeLeavesOtherShards: only the shards that lie in it begin anew.
func TestRestartOfARangeLeavesOtherShards(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(5, 1, time.Hour)
		d.Partition, d.Shards = bucket.PartitionKey, 4
		e.install(t, d)
		heads := func() (all []string) {
			for _, key := range e.DefinitionKeys(d.Name, d.Shards) {
				all = append(all, e.rdb.HGet(t.Context(), key, "head").Val())
			}
			return all
		}
		before, slots := heads(), e.Slots(d.Name, d.Shards)
		lost := bucket.SlotRange{From: slots[2], To: slots[2]}
		result, err := e.Restart(t.Context(), d.Name, deployment, always, lost)
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusInstalled)
		for i, head := range heads() {
			expect(t, fmt.Sprintf("copy %d changed", i), head != before[i], i == 2)
		}
		found, err := e.Read(t.Context(), d.Name)
		check(t, err)
		expect(t, "damaged", found[0].Damaged, false)
		nowhere := slots[0]
		for slices.Contains(slots, nowhere) {
			nowhere = (nowhere + 1) % bucket.Slots
		}
		result, err = e.Restart(t.Context(), d.Name, deployment, always, bucket.SlotRange{From: nowhere, To: nowhere})
		check(t, err)
		expect(t, "status", result.Status, bucket.StatusUnchanged)
	})
}
