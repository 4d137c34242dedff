package reconcile

import (
	"context"
	"slices"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// repair compares everything with Redis and pushes what differs. What carries an outbox mark is left to the outbox.
func (r *Reconciler) repair(ctx context.Context, deployment string) error {
	c, err := r.beginComparison(ctx)
	if err != nil {
		return err
	}
	return r.finish(ctx, deployment, c)
}

// repairPage compares some rows. It writes nothing for those that are equal.
func (r *Reconciler) repairPage(ctx context.Context, deployment string, p page) error {
	found, err := r.read(ctx, namesOf(p.rows)...)
	if err != nil {
		return err
	}
	var wrong []model.SyncRow
	var had []reading // of the wrong ones
	var unlisted []bucket.BatchInstall
	for i, row := range p.rows {
		switch {
		case row.Mark != 0:
		case decide(row, found[i], deployment) != actKeep:
			wrong, had = append(wrong, row), append(had, found[i])
		case p.listed[i] == row.Deleted:
			if !row.Deleted {
				unlisted = append(unlisted, bucket.BatchInstall{Definition: definitionOf(row.Bucket)})
			} else if err := r.reindex(ctx, deployment, row, found[i]); err != nil {
				return err
			}
		}
	}
	if err := r.reindexAll(ctx, deployment, unlisted); err != nil {
		return err
	}
	names, err := r.installGone(ctx, deployment, wrong, had)
	if err != nil {
		return err
	}
	mend := func(ctx context.Context, name string) error { return r.mend(ctx, deployment, name) }
	if len(names) < batchFrom {
		return each(ctx, names, mend)
	}
	_, err = r.bring(ctx, deployment, names, true, mend)
	return err
}

func namesOf(rows []model.SyncRow) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	return names
}

// mend pushes a bucket that Redis was found to differ in. It is marked first, so that people see it as pending for as
// long as Redis refuses it.
func (r *Reconciler) mend(ctx context.Context, deployment, name string) error {
	if err := r.store.MarkDirty(ctx, name); err != nil {
		return err
	}
	return r.pushInPass(ctx, deployment, name, 0, true)
}

// reindexAll is reindex for many living buckets.
func (r *Reconciler) reindexAll(ctx context.Context, deployment string, all []bucket.BatchInstall) error {
	if len(all) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	for _, result := range r.engine.InstallAll(bounded, deployment, all) {
		if result.Err != nil {
			return r.endsPass(ctx, redisTrouble(result.Err))
		}
	}
	return nil
}

// reindex writes once more what is there already: the engine then puts the index right.
func (r *Reconciler) reindex(ctx context.Context, deployment string, row model.SyncRow, found reading) error {
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	_, err := r.write(bounded, deployment, row, found, &outcome{})
	return r.endsPass(ctx, err)
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

// findOrphans reports the definitions that only Redis has.
func (r *Reconciler) findOrphans(ctx context.Context, candidates []string) error {
	orphans, err := r.orphansOf(ctx, candidates)
	if err == nil {
		r.noteOrphans(orphans)
	}
	return err
}

// orphansOf are those of the names under which Redis has a definition. Nobody deleted them here, so they are not ours to
// remove: the database may be an older one, or another's.
func (r *Reconciler) orphansOf(ctx context.Context, candidates []string) (orphans []string, err error) {
	for page := range slices.Chunk(candidates, rowPage) {
		found, err := r.read(ctx, page...)
		if err != nil {
			return nil, err
		}
		for i, f := range found {
			if f.Present && !f.Tombstone {
				orphans = append(orphans, page[i])
			}
		}
	}
	return orphans, nil
}
