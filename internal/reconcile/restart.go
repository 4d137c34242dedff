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
func (r *Reconciler) lossOf(head model.SyncHead, lost []*mark) (l loss, ok bool) {
	slots := r.engine.Slots(head.Name, head.Shards)
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
	before, after := r.Status(), ""
	next := func(ctx context.Context) ([]model.SyncRow, bool, error) {
		rows, err := r.store.SyncRows(ctx, after, rowPage)
		if err != nil || len(rows) == 0 {
			return nil, false, err
		}
		after = rows[len(rows)-1].Name
		still, err := r.stillLost(ctx, lost)
		return rows, still, err
	}
	err := inBatches(ctx, next, func(ctx context.Context, rows []model.SyncRow) error {
		return r.restartPage(ctx, deployment, rows, lost)
	})
	if err != nil {
		return err
	}
	now := r.Status()
	r.log.Warn("the loss is dealt with", "restarted", now.Restarted-before.Restarted,
		"reinstalled", now.Reinstalled-before.Reinstalled)
	return nil
}

// restartPage brings those of some buckets of which something was lost, and restarts what was there of them, even if they
// could not be brought. A definition that was lost is born anew by its install; the engine leaves alone what began after
// the last mark, for that was restarted or installed since the loss, by an earlier try, another server or a save.
func (r *Reconciler) restartPage(ctx context.Context, deployment string, rows []model.SyncRow, lost []*mark) error {
	losses := map[string]loss{}
	rows = slices.DeleteFunc(rows, func(row model.SyncRow) bool {
		l, ok := r.lossOf(row.SyncHead, lost)
		losses[row.Name] = l
		return !ok
	})
	found, err := r.read(ctx, namesOf(rows)...)
	if err != nil {
		return err
	}
	names, err := r.installGone(ctx, deployment, rows, found)
	if err != nil {
		return err
	}
	push := func(ctx context.Context, name string) error { return r.pushInPass(ctx, deployment, name, 0, true) }
	if found, err = r.bring(ctx, deployment, names, true, push); err != nil {
		return err
	}
	var restarts []bucket.BatchRestart
	for i, name := range names {
		if f := found[i]; f.Present && !f.Tombstone {
			restarts = append(restarts, bucket.BatchRestart{Name: name, Shards: max(1, f.Shards), Lost: losses[name].before, In: losses[name].in})
		}
	}
	return r.restartAll(ctx, deployment, restarts)
}

// restartAll restarts buckets. The new mark waits until every one of them was reached.
func (r *Reconciler) restartAll(ctx context.Context, deployment string, restarts []bucket.BatchRestart) error {
	if len(restarts) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	restarted := int64(0)
	for i, result := range r.engine.RestartAll(bounded, deployment, restarts) {
		switch err := result.Err; {
		case err != nil && !isReply(err):
			return redisTrouble(err)
		case err != nil:
			r.log.Error("a bucket could not be restarted after the loss", "bucket", restarts[i].Name, "error", err)
			if err := r.endsPass(ctx, redisTrouble(err)); err != nil {
				return err
			}
		case result.Status == bucket.StatusInstalled:
			restarted++
		}
	}
	r.update(func(s *Status) { s.Restarted += restarted })
	return nil
}
