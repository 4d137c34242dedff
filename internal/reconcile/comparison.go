package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// leisure is the part of the time between two comparisons that one may take. It compares some rows at each step, so that
// people are served meanwhile as if there were none.
const leisure = 0.8

// comparison is one way through all rows of the database, and the index of Redis, page by page.
type comparison struct {
	indexed map[string]bool // of Redis, without the names that came by
	after   string          // the last of them
	before  Status
	began   time.Time
	worked  time.Duration // of the steps
	gap     time.Duration // from the beginning of one step to the next
}

// page is some rows, each with whether the index of Redis lists it.
type page struct {
	rows   []model.SyncRow
	listed []bool
}

// beginComparison also gives up a comparison that is under way.
func (r *Reconciler) beginComparison(ctx context.Context) (*comparison, error) {
	// The index first: a bucket that is made after this is in neither set, and one before it has its row.
	indexed, err := r.indexed(ctx)
	if err != nil {
		return nil, err
	}
	steps := float64(len(indexed)/r.stepRows + 1)
	c := &comparison{
		indexed: indexed, before: r.Status(), began: time.Now(), gap: time.Duration(leisure * float64(r.repairEvery) / steps),
	}
	r.comparing, r.compared = nil, c.began
	r.mu.Lock()
	r.drifted = nil // of a comparison that was broken off
	r.mu.Unlock()
	return c, nil
}

// next reads up to limit rows; more is false when there are none left.
func (c *comparison) next(ctx context.Context, store Store, limit int) (p page, more bool, err error) {
	rows, err := store.SyncRows(ctx, c.after, limit)
	if err != nil || len(rows) == 0 {
		return page{}, false, err
	}
	p = page{rows: rows, listed: make([]bool, len(rows))}
	for i, row := range rows {
		p.listed[i] = c.indexed[row.Name]
		delete(c.indexed, row.Name)
	}
	c.after = rows[len(rows)-1].Name
	return p, true, nil
}

// finish compares what is left, as fast as it goes.
func (r *Reconciler) finish(ctx context.Context, deployment string, c *comparison) error {
	next := func(ctx context.Context) (page, bool, error) { return c.next(ctx, r.store, rowPage) }
	err := inBatches(ctx, next, func(ctx context.Context, p page) error { return r.repairPage(ctx, deployment, p) })
	if err != nil {
		return err
	}
	return r.endComparison(ctx, c)
}

func (r *Reconciler) endComparison(ctx context.Context, c *comparison) error {
	if err := r.findOrphans(ctx, slices.Sorted(maps.Keys(c.indexed))); err != nil {
		return err
	}
	r.noteRepair(c.before)
	return nil
}

// step goes on with the comparison under way by one page, alone in this process, or begins the one that is due. As soon as
// a page differs, all that is left is compared at once: what befell it may have befallen others. wait is how long from now
// to the next step.
func (r *Reconciler) step(ctx context.Context) (wait time.Duration, err error) {
	release, err := r.alone(ctx)
	if err != nil {
		return r.repairEvery, err
	}
	defer release()
	if due := r.repairEvery - time.Since(r.compared); r.comparing == nil && due > 0 {
		return due, nil // somebody asked for one meanwhile
	}
	began := time.Now()
	ended, err := r.comparePage(ctx)
	r.recordRepairs(ctx)
	if ctx.Err() != nil {
		return r.repairEvery, ctx.Err()
	}
	c := r.comparing
	if c != nil {
		c.worked += time.Since(began)
	}
	if !ended && err == nil {
		return max(0, c.gap-time.Since(began)), nil
	}
	r.comparing = nil
	r.noteState(err)
	if r.observe != nil && c != nil {
		r.observe(true, c.worked, err)
	}
	return max(0, r.repairEvery-time.Since(r.compared)), err
}

// comparePage writes nothing before Redis is known to be ours. Whether its marks stand Run looks at more often than it steps.
func (r *Reconciler) comparePage(ctx context.Context) (ended bool, err error) {
	deployment, err := r.owned(ctx)
	if err != nil {
		return false, err
	}
	if r.comparing == nil {
		c, err := r.beginComparison(ctx)
		if err != nil {
			return false, err
		}
		r.comparing = c
	}
	c := r.comparing
	mended := r.Status().Mended
	p, more, err := c.next(ctx, r.store, r.stepRows)
	if err == nil && more {
		err = r.repairPage(ctx, deployment, p)
	}
	if err != nil {
		return false, err
	}
	switch {
	case r.Status().Mended != mended:
		return true, r.finish(ctx, deployment, c)
	case len(p.rows) < r.stepRows:
		return true, r.endComparison(ctx, c)
	}
	return false, nil
}
