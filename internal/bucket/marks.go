package bucket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// NoSlot names the mark of a Redis that is no Cluster.
const NoSlot = -1

// SlotRange are the slots From..To of a Redis Cluster, both included.
type SlotRange struct{ From, To int }

// AllSlots is what one server holds that is no Cluster.
var AllSlots = SlotRange{0, Slots - 1}

// Has tells whether a slot is in the range.
func (r SlotRange) Has(slot int) bool { return r.From <= slot && slot <= r.To }

// Mark is a mark that shows data loss, as found in Redis. A master that lost what it had lost its marks too, or went back
// to older ones.
type Mark struct {
	Slot      int       // of its key; NoSlot where Redis is no Cluster
	SlotRange           // what its master serves in a row, Slot among it
	Stands    bool      // there is one; At is the zero time otherwise
	At        time.Time // what it says, to the microsecond
	Clock     time.Time // the time of that master at the reading
	Err       error     // that master did not answer, or not with a mark; nothing else is known then
	text      string    // word for word, for MoveMark
}

var epochScript = compose("head", "", "epoch")

// slotTags has for every slot the smallest whole number that, in decimal, is a hash tag of that slot.
var slotTags = sync.OnceValue(func() *[Slots]string {
	var tags [Slots]string
	for n, left := 0, Slots; left > 0; n++ {
		tag := strconv.Itoa(n)
		if slot := slotOf(tag); tags[slot] == "" {
			tags[slot] = tag
			left--
		}
	}
	return &tags
})

// ReadMarks reads the marks of every master that serves slots, in the order of the slots: on a Cluster, for each range of
// slots in a row that a master serves, those at the slots `at`, and where none of them is in the range the one at its
// first slot. Elsewhere it is the one mark of that Redis.
func (e *Engine) ReadMarks(ctx context.Context, at ...int) ([]Mark, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	ranges, err := e.ranges(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the slots of the masters: %w", err)
	}
	marks := e.marksOf(ranges, at)
	requests := make([]request, len(marks))
	for i := range marks {
		requests[i] = newRequest(epochScript, 1, 0)
		requests[i].args = append(requests[i].args, e.keys.mark(marks[i].Slot))
	}
	for i, s := range e.sendAll(ctx, requests) {
		marks[i].read(s)
	}
	return marks, nil
}

// marksOf are the marks to be read.
func (e *Engine) marksOf(ranges []SlotRange, at []int) []Mark {
	if !e.cluster() {
		return []Mark{{Slot: NoSlot, SlotRange: AllSlots}}
	}
	at = slices.Sorted(slices.Values(at))
	var marks []Mark
	for _, r := range ranges {
		before := len(marks)
		for _, slot := range at {
			if r.Has(slot) {
				marks = append(marks, Mark{Slot: slot, SlotRange: r})
			}
		}
		if len(marks) == before {
			marks = append(marks, Mark{Slot: r.From, SlotRange: r})
		}
	}
	return marks
}

// ranges asks who serves what. Slots that no master serves now are in none.
func (e *Engine) ranges(ctx context.Context) ([]SlotRange, error) {
	if !e.cluster() {
		return []SlotRange{AllSlots}, nil
	}
	served, err := e.rdb.ClusterSlots(ctx).Result()
	if err != nil {
		return nil, err
	}
	ranges := make([]SlotRange, len(served))
	for i, s := range served {
		ranges[i] = SlotRange{s.Start, s.End}
	}
	slices.SortFunc(ranges, func(a, b SlotRange) int { return a.From - b.From })
	return ranges, nil
}

func (e *Engine) cluster() bool {
	_, ok := e.rdb.(*redis.ClusterClient)
	return ok
}

// read takes over what the script answered.
func (m *Mark) read(s sent) (moved bool) {
	if m.Err = s.err; m.Err != nil {
		return false
	}
	t := tupleOf(s.value)
	clock, text, done := t.int(), t.string(), t.int()
	if m.Err = t.end(); m.Err != nil {
		return false
	}
	m.Clock, m.text, m.Stands, m.At = time.UnixMicro(clock).UTC(), text, text != "", time.Time{}
	if m.Stands {
		us, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			m.Err = fmt.Errorf("the mark is no number: %q", text)
			return false
		}
		m.At = time.UnixMicro(us).UTC()
	}
	return done == 1
}

// MoveMark writes a mark, to the microsecond, if it still is what was read, and has in m what stands there now. So a
// Redis that lost its state after the reading keeps the mark that shows it.
func (e *Engine) MoveMark(ctx context.Context, m *Mark, at time.Time) (moved bool, err error) {
	if e.broken != nil {
		return false, e.broken
	}
	value, err := e.run(ctx, epochScript, []string{e.keys.mark(m.Slot)}, m.text, strconv.FormatInt(at.UnixMicro(), 10))
	moved = m.read(sent{value, err})
	if m.Err != nil {
		return false, fmt.Errorf("move the mark: %w", m.Err)
	}
	return moved, nil
}

// PeekMarks reads what marks say, in the order of the slots: the cheap half of ReadMarks, for those who look often. A
// mark that is not there, or is no number, is the zero time.
func (e *Engine) PeekMarks(ctx context.Context, slots ...int) ([]time.Time, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	pipe := e.rdb.Pipeline()
	cmds := make([]*redis.StringCmd, len(slots))
	for i, slot := range slots {
		cmds[i] = pipe.Get(ctx, e.keys.mark(slot))
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("read the marks: %w", err)
	}
	marks := make([]time.Time, len(slots))
	for i, cmd := range cmds {
		if us, err := cmd.Int64(); err == nil {
			marks[i] = time.UnixMicro(us).UTC()
		} else if cmd.Err() != nil && !errors.Is(cmd.Err(), redis.Nil) {
			return nil, fmt.Errorf("read the marks: %w", cmd.Err())
		}
	}
	return marks, nil
}

// Slots are the slots that hold a bucket with so many shards: of each copy of its definition, with the state beside it.
func (e *Engine) Slots(name string, shards int) []int {
	keys := e.keys.definitions(name, shards)
	slots := make([]int, len(keys))
	for i, key := range keys {
		slots[i] = slotOf(tagOf(key))
	}
	return slots
}
