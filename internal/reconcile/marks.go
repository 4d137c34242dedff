package reconcile

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// markLag is how far a mark in Redis may stand behind the one that the database remembers before the state beside it
// counts as lost. A failover to a replica that lags less is no loss.
const markLag = 5 * time.Second

// Another server may stand between noting its marks in the database and writing them to Redis, so a mark that seems
// behind is read again for a moment before it counts.
const (
	confirmFor   = 200 * time.Millisecond
	confirmEvery = 20 * time.Millisecond
)

// mark is one mark of Redis beside what the database remembers of it. A mark is a time by the clock of the master that
// has it, so the clocks of the admin servers don't matter.
type mark struct {
	bucket.Mark
	remembered model.Mark // zero for slots that have a master of their own only now: nothing is known to be lost there
}

// behind tells whether the mark proves a loss. Before the first mark nothing was there to lose.
func (m *mark) behind() bool {
	if m.Err != nil || m.remembered.At.IsZero() {
		return false
	}
	return !m.Stands || m.remembered.At.Sub(m.At) > markLag
}

// lostSlots are the slots whose state a lost mark speaks of: what its master serves now, and what it served when the mark
// was written, for slots may have moved on between the loss and its finding.
func (m *mark) lostSlots() []bucket.SlotRange {
	return []bucket.SlotRange{m.SlotRange, {From: m.remembered.From, To: m.remembered.To}}
}

// checkMarks finds out which masters lost their state, restarts the buckets that were there, and moves the marks on. A
// master that does not answer is left for the next round.
//
// Marks are remembered in the database before they are written to Redis; a server that dies in between leaves Redis a
// tick behind, which is within markLag. They are written only over what was read, so that a Redis that dies in between
// and comes back with an older state keeps the older mark.
func (r *Reconciler) checkMarks(ctx context.Context, deployment string) (lost bool, err error) {
	marks, err := r.compareMarks(ctx)
	if err != nil {
		return false, err
	}
	var good, behind []*mark
	for i := range marks {
		switch m := &marks[i]; {
		case m.Err != nil:
			r.noteError(messageSilent)
		case m.behind():
			behind = append(behind, m)
		default:
			good = append(good, m)
		}
	}
	if err := r.moveMarks(ctx, good); err != nil || len(behind) == 0 {
		return false, err
	}
	r.noteLoss(behind)
	if behind, err = r.beginRestart(ctx, behind); err != nil {
		return true, err
	}
	if err := r.restartLost(ctx, deployment, behind); err != nil {
		return true, err
	}
	return true, r.moveMarks(ctx, behind)
}

// compareMarks reads the marks of both sides.
func (r *Reconciler) compareMarks(ctx context.Context) ([]mark, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	remembered, err := r.store.Marks(ctx)
	if err != nil {
		return nil, err
	}
	sure := r.sawFall() // a mark that stood and is gone needs no second look: it is never moved back
	for began := time.Now(); ; {
		marks, err := r.readMarks(ctx, remembered)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(marks, func(m mark) bool { return m.behind() }) || sure || time.Since(began) >= confirmFor {
			return marks, nil
		}
		select {
		case <-time.After(confirmEvery):
		case <-ctx.Done():
			return nil, redisTrouble(ctx.Err())
		}
	}
}

// readMarks reads the marks of Redis. It fails when no master answers.
func (r *Reconciler) readMarks(ctx context.Context, remembered []model.Mark) ([]mark, error) {
	known := make(map[int]model.Mark, len(remembered))
	var slots []int
	for _, m := range remembered {
		known[m.Slot] = m
		slots = append(slots, m.Slot)
	}
	found, err := r.engine.ReadMarks(ctx, slots...)
	if err != nil {
		return nil, redisTrouble(err)
	}
	marks, answered := make([]mark, len(found)), false
	for i, f := range found {
		marks[i] = mark{f, known[f.Slot]}
		if f.Err == nil {
			answered = true
		} else {
			err = f.Err
		}
	}
	if !answered && len(marks) > 0 {
		return nil, redisTrouble(err)
	}
	return marks, nil
}

// moveMarks remembers the next marks and writes them to Redis, each where Redis still has what was read: else it lost its
// state meanwhile, which the next round finds, or another server moved its mark. Of several marks in one range, as
// are left when slots come together again under one master, only the first is kept.
func (r *Reconciler) moveMarks(ctx context.Context, marks []*mark) error {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	var next []model.Mark
	var move []*mark
	var forget []int
	for i, m := range marks {
		if i > 0 && marks[i-1].From == m.From {
			forget = append(forget, m.Slot)
			continue
		}
		at, moves := nextMark(m.Clock, m.remembered.At, r.marksSeen[m.Slot], r.tick)
		r.marksSeen[m.Slot] = m.remembered.At
		if moves || isClaim(m.At) {
			next = append(next, model.Mark{Slot: m.Slot, From: m.From, To: m.To, At: at})
			move = append(move, m)
		} else {
			r.stands(m.Slot, m.At)
		}
	}
	if len(next) == 0 {
		return nil
	}
	if err := r.store.SetMarks(ctx, next, forget); err != nil {
		return err
	}
	for i, m := range move {
		r.marksSeen[m.Slot] = next[i].At
		if m.At.After(next[i].At) {
			continue // another server's
		}
		if _, err := r.engine.MoveMark(ctx, &m.Mark, next[i].At); err != nil {
			return redisTrouble(err)
		}
		r.stands(m.Slot, m.At)
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

// While a loss is dealt with, the mark is a random time in the first years after 1970, which no clock tells: a claim. It
// is behind, so that a server that dies meanwhile leaves the loss to be found again; and if Redis loses its state once
// more, the claim is gone with what was restarted, so that the mark which ends the restart can't be written over it.
var claimsEnd = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

func isClaim(at time.Time) bool { return !at.IsZero() && at.Before(claimsEnd) }

func newClaim() time.Time { return time.UnixMicro(1 + rand.Int64N(claimsEnd.UnixMicro()-1)).UTC() }

// claimTurns bounds how often a claim is tried again because another server wrote at the same moment.
const claimTurns = 5

// beginRestart puts a claim in place of each lost mark, or takes over the one that another server put there: both then
// restart the same buckets, which is harmless. It returns those marks that still are behind.
func (r *Reconciler) beginRestart(ctx context.Context, lost []*mark) (behind []*mark, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	for _, m := range lost {
		for range claimTurns {
			if m.Stands && isClaim(m.At) || !m.behind() {
				break
			}
			if _, err := r.engine.MoveMark(ctx, &m.Mark, newClaim()); err != nil {
				return nil, redisTrouble(err)
			}
		}
		if m.behind() {
			behind = append(behind, m)
		}
	}
	return behind, nil
}

// stillLost tells whether none of the marks has been put right meanwhile, by another server.
func (r *Reconciler) stillLost(ctx context.Context, lost []*mark) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	slots := make([]int, len(lost))
	for i, m := range lost {
		slots[i] = m.Slot
	}
	found, err := r.engine.PeekMarks(ctx, slots...)
	if err != nil {
		return false, redisTrouble(err)
	}
	return slices.ContainsFunc(found, func(at time.Time) bool { return at.Before(claimsEnd) }), nil
}

// stands notes a mark that Redis has, for marksFell.
func (r *Reconciler) stands(slot int, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.standing[slot] = at
}

// sawFall tells, once, that marksFell has seen a mark go.
func (r *Reconciler) sawFall() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	fell := r.fell
	r.fell = false
	return fell
}

// marksFell tells whether a mark that this process saw in Redis is gone or has gone back: a cheap look, made often, that
// touches no database. A Redis that does not answer is the matter of the next round.
func (r *Reconciler) marksFell(ctx context.Context) bool {
	r.mu.Lock()
	slots := make([]int, 0, len(r.standing))
	for slot := range r.standing {
		slots = append(slots, slot)
	}
	r.mu.Unlock()
	if len(slots) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, r.watchEvery)
	defer cancel()
	found, err := r.engine.PeekMarks(ctx, slots...)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, slot := range slots {
		if found[i].Before(r.standing[slot].Add(-markLag)) {
			r.fell = true
			delete(r.standing, slot) // the round looks closer, and notes what stands then
			return true
		}
	}
	return false
}
