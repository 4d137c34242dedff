package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// pages reads every row and, after it, what Redis has of it, page by page.
func (r *Reconciler) pages(ctx context.Context, do func(rows []model.SyncRow, found []reading) error) error {
	after := ""
	for {
		rows, err := r.store.SyncRows(ctx, after, rowPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		names := make([]string, len(rows))
		for i, row := range rows {
			names[i] = row.Name
		}
		found, err := r.read(ctx, names...)
		if err != nil {
			return err
		}
		if err := do(rows, found); err != nil {
			return err
		}
		after = names[len(names)-1]
	}
}

// repair compares everything with Redis and pushes what differs. What carries an outbox mark is left to the outbox.
func (r *Reconciler) repair(ctx context.Context, deployment string) error {
	// The index first: a bucket that is made after this is in neither set, and one before it has its row.
	indexed, err := r.indexed(ctx)
	if err != nil {
		return err
	}
	before := r.Status()
	err = r.pages(ctx, func(rows []model.SyncRow, found []reading) error {
		var wrong []model.SyncRow
		for i, row := range rows {
			listed := indexed[row.Name]
			delete(indexed, row.Name)
			switch {
			case row.Mark != 0:
			case decide(row, found[i], deployment) != actKeep:
				wrong = append(wrong, row)
			case listed == row.Deleted:
				if err := r.reindex(ctx, deployment, row, found[i]); err != nil {
					return err
				}
			}
		}
		return each(ctx, wrong, func(ctx context.Context, row model.SyncRow) error {
			return r.mend(ctx, deployment, row)
		})
	})
	if err != nil {
		return err
	}
	if err := r.findOrphans(ctx, slices.Sorted(maps.Keys(indexed))); err != nil {
		return err
	}
	r.noteRepair(before)
	return nil
}

// mend pushes a bucket that Redis was found to differ in. It is marked first, so that people see it as pending for as
// long as Redis refuses it.
func (r *Reconciler) mend(ctx context.Context, deployment string, row model.SyncRow) error {
	if err := r.store.MarkDirty(ctx, row.Name); err != nil {
		return err
	}
	return r.pushInPass(ctx, deployment, row.Name, 0, true)
}

// reindex writes once more what is there already: the engine then puts the index right.
func (r *Reconciler) reindex(ctx context.Context, deployment string, row model.SyncRow, found reading) error {
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	return r.endsPass(ctx, r.write(bounded, deployment, row, found, &outcome{}))
}

func (r *Reconciler) indexed(ctx context.Context) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	names, err := r.engine.IndexedNames(ctx)
	if err != nil {
		return nil, redisTrouble(err)
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set, nil
}

// findOrphans reports the definitions that only Redis has. Nobody deleted them here, so they are not ours to remove:
// the database may be an older one, or another's.
func (r *Reconciler) findOrphans(ctx context.Context, candidates []string) error {
	var orphans []string
	for page := range slices.Chunk(candidates, rowPage) {
		found, err := r.read(ctx, page...)
		if err != nil {
			return err
		}
		for i, f := range found {
			if f.Present && !f.Tombstone {
				orphans = append(orphans, page[i])
			}
		}
	}
	r.noteOrphans(orphans)
	return nil
}

// indices are the positions of a slice, to walk two slices side by side.
func indices[T any](items []T) []int {
	list := make([]int, len(items))
	for i := range list {
		list[i] = i
	}
	return list
}
