package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// loss is what a bucket has to do with the lost marks.
type loss struct {
	in     []bucket.SlotRange
	before time.Time // what began later was restarted or installed since
}

// lossOf tells what of a bucket was lost; ok is false when nothing was. Of the marks that concern it the latest counts:
// state of before that is gone at least where this mark was.
func (r *Reconciler) lossOf(row model.SyncRow, lost []*mark) (l loss, ok bool) {
	shards := 1
	if row.Bucket != nil {
		shards = row.Bucket.Shards
	}
	slots := r.engine.Slots(row.Name, shards)
	for _, m := range lost {
		ranges := m.lostSlots()
		concerns := func(slot int) bool {
			return slices.ContainsFunc(ranges, func(in bucket.SlotRange) bool { return in.Has(slot) })
		}
		if slices.ContainsFunc(slots, concerns) {
			l.in, ok = append(l.in, ranges...), true
			if m.remembered.At.After(l.before) {
				l.before = m.remembered.At
			}
		}
	}
	return l, ok
}

// restartLost begins the state of the buckets that lay beside lost marks anew, as after_loss says, after bringing their
// definitions. It stops when another server has done so: the marks then stand again.
func (r *Reconciler) restartLost(ctx context.Context, deployment string, lost []*mark) error {
	before := r.Status()
	err := r.pages(ctx, func(rows []model.SyncRow, found []reading) error {
		if still, err := r.stillLost(ctx, lost); err != nil || !still {
			return err
		}
		return each(ctx, indices(rows), func(ctx context.Context, i int) error {
			l, ok := r.lossOf(rows[i], lost)
			if !ok {
				return nil
			}
			return r.restart(ctx, deployment, rows[i], found[i], l)
		})
	})
	if err != nil {
		return err
	}
	after := r.Status()
	r.log.Warn("the loss is dealt with", "restarted", after.Restarted-before.Restarted,
		"reinstalled", after.Reinstalled-before.Reinstalled)
	return nil
}

// restart brings one bucket and restarts what was there of it, even if it could not be brought. A definition that was
// lost is born anew by its install; the engine leaves alone what began after the last mark, for that was restarted or
// installed since the loss, by an earlier try, another server or a save.
func (r *Reconciler) restart(ctx context.Context, deployment string, row model.SyncRow, found reading, l loss) error {
	err := r.pushInPass(ctx, deployment, row.Name, 0, true)
	if err != nil || row.Deleted || !found.Present || found.Tombstone {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	result, err := r.engine.Restart(bounded, row.Name, deployment, l.before, l.in...)
	switch {
	case err != nil && !isReply(err):
		return redisTrouble(err) // the new mark waits until every bucket was reached
	case err != nil:
		r.log.Error("a bucket could not be restarted after the loss", "bucket", row.Name, "error", err)
		return r.endsPass(ctx, redisTrouble(err))
	}
	if result.Status == bucket.StatusInstalled {
		r.update(func(s *Status) { s.Restarted++ })
	}
	return nil
}
