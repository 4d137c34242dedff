package reconcile

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// markLag is how far the mark in Redis may stand behind the one that the database remembers before its state counts as
// lost. A failover to a replica that lags less is no loss.
const markLag = 5 * time.Second

// Another server may stand between noting its mark in the database and writing it to Redis, so a mark that seems behind
// is read again for a moment before it counts.
const (
	confirmFor   = 200 * time.Millisecond
	confirmEvery = 20 * time.Millisecond
)

// checkMarks finds out whether Redis lost state, restarts every bucket if so, and moves the mark on.
//
// A mark is a time by the clock of Redis, so the clocks of the admin servers don't matter. It is remembered in the
// database before it is written to Redis; a server that dies in between leaves Redis a tick behind, which is within
// markLag. After a loss the new mark is written only when every bucket was restarted, so that a server that dies
// while restarting leaves the loss to be found again.
func (r *Reconciler) checkMarks(ctx context.Context, deployment string) (lost bool, err error) {
	remembered, behind, err := r.compareMarks(ctx)
	if err != nil {
		return false, err
	}
	if !behind {
		return false, r.moveMark(ctx, remembered, remembered)
	}
	r.noteLoss(remembered)
	if err := r.restartAll(ctx, deployment, remembered); err != nil {
		return true, err
	}
	return true, r.moveMark(ctx, remembered, time.Time{})
}

// compareMarks reads both marks.
func (r *Reconciler) compareMarks(ctx context.Context) (remembered time.Time, behind bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	remembered, err = r.store.EpochMark(ctx)
	if err != nil {
		return remembered, false, err
	}
	for began := time.Now(); ; {
		mark, ok, err := r.engine.ReadMark(ctx)
		if err != nil {
			return remembered, false, redisTrouble(err)
		}
		behind = isBehind(mark, ok, remembered)
		if !behind || time.Since(began) >= confirmFor {
			return remembered, behind, nil
		}
		select {
		case <-time.After(confirmEvery):
		case <-ctx.Done():
			return remembered, false, redisTrouble(ctx.Err())
		}
	}
}

// isBehind tells whether a mark in Redis (ok: there is one) proves a loss. Before the first mark nothing was there to
// lose.
func isBehind(mark time.Time, ok bool, remembered time.Time) bool {
	if remembered.IsZero() {
		return false
	}
	return !ok || remembered.Sub(mark) > markLag
}

// moveMark remembers the next mark and writes it to Redis, unless Redis lost its state since the comparison (its mark is
// behind floor) or another server moved its mark further.
func (r *Reconciler) moveMark(ctx context.Context, remembered, floor time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	clock, err := r.engine.Time(ctx)
	if err != nil {
		return redisTrouble(err)
	}
	next, move := nextMark(clock, remembered, r.markSeen, r.tick)
	r.markSeen = remembered
	if !move && !floor.IsZero() {
		return nil
	}
	if err := r.store.SetEpochMark(ctx, next); err != nil {
		return err
	}
	r.markSeen = next
	mark, ok, err := r.engine.ReadMark(ctx)
	if err != nil {
		return redisTrouble(err)
	}
	if isBehind(mark, ok, floor) || mark.After(next) {
		return nil // the next round finds the loss, for the database remembers more than Redis
	}
	if err := r.engine.WriteMark(ctx, next); err != nil {
		return redisTrouble(err)
	}
	return nil
}

// nextMark is the clock of Redis while that runs ahead of the mark. Where it stands behind (another machine has taken
// over, whose clock is slow) the mark goes on by one step for all servers together: only one that finds the mark where
// it saw it last moves it. Else the lag that shows a loss would shrink with every server more.
func nextMark(clock, remembered, seen time.Time, step time.Duration) (next time.Time, move bool) {
	if clock.After(remembered) {
		return clock, true
	}
	return remembered.Add(step), remembered.Equal(seen)
}

// restartAll begins every bucket's state anew, as after_loss says, after bringing its definition. It stops when
// another server has done so: the mark then stands again.
func (r *Reconciler) restartAll(ctx context.Context, deployment string, remembered time.Time) error {
	before := r.Status()
	err := r.pages(ctx, func(rows []model.SyncRow, found []reading) error {
		_, behind, err := r.compareMarks(ctx)
		if err != nil || !behind {
			return err
		}
		return each(ctx, indices(rows), func(ctx context.Context, i int) error {
			return r.restart(ctx, deployment, rows[i], found[i], remembered)
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
func (r *Reconciler) restart(ctx context.Context, deployment string, row model.SyncRow, found reading, remembered time.Time) error {
	err := r.pushInPass(ctx, deployment, row.Name, 0, true)
	if err != nil || row.Deleted || !found.Present || found.Tombstone {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	result, err := r.engine.Restart(bounded, row.Name, deployment, remembered)
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
