package reconcile

import (
	"context"
	"sync"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// bring makes Redis equal to the present rows of many buckets, in round trips whose number does not grow with theirs. It
// does for each what push does, by the same rules: Redis is read first and the row after it; and a bucket counts as
// brought only when Redis was seen to have the revision of a row that was read later. What is more than an install of one
// definition, or did not go that way, is left to alone, one by one: deletes, raised revisions, several shards, failures.
// It returns what Redis had under the names before.
func (r *Reconciler) bring(ctx context.Context, deployment string, names []string, repair bool, alone func(context.Context, string) error) ([]reading, error) {
	found, err := r.read(ctx, names...)
	if err != nil {
		return nil, err
	}
	rows, err := r.store.SyncRowsOf(ctx, names)
	if err != nil {
		return nil, err
	}
	var singles []string
	lost := map[string]bool{}
	var settled []model.Installed
	var installs []bucket.BatchInstall
	for i, name := range names {
		row, ok := rows[name]
		switch {
		case !ok:
			singles = append(singles, name)
		case decide(row, found[i], deployment) == actKeep:
			settled = settle(settled, row.SyncHead)
		case decide(row, found[i], deployment) == actWrite && isPlain(row, found[i]):
			known := row.InstalledRevision > 0
			lost[name] = known && !found[i].Present
			installs = append(installs, bucket.BatchInstall{Definition: definitionOf(row.Bucket), Lost: known}) // as write has it
		default:
			singles = append(singles, name)
		}
	}
	more, brought, err := r.installAll(ctx, deployment, installs, lost, repair)
	if err != nil {
		return nil, err
	}
	settled = append(settled, brought...)
	if len(settled) > 0 {
		if err := r.store.MarkInstalledAll(ctx, settled); err != nil {
			return nil, err
		}
	}
	return found, each(ctx, append(singles, more...), alone)
}

// installGone installs those of some rows of which Redis, read after them, has nothing though it had the present revision: all
// that is left of them to decide is whether they changed meanwhile, which the reading of their heads afterwards tells. It
// returns the names of the others, and of those that could not be brought like this.
func (r *Reconciler) installGone(ctx context.Context, deployment string, rows []model.SyncRow, found []reading) (others []string, err error) {
	lost := map[string]bool{}
	var installs []bucket.BatchInstall
	for i, row := range rows {
		if !found[i].Present && row.Settled() && isPlain(row, found[i]) {
			lost[row.Name] = true
			installs = append(installs, bucket.BatchInstall{Definition: definitionOf(row.Bucket), Lost: true})
		} else {
			others = append(others, row.Name)
		}
	}
	alone, settled, err := r.installAll(ctx, deployment, installs, lost, true)
	if err == nil && len(settled) > 0 {
		err = r.store.MarkInstalledAll(ctx, settled)
	}
	return append(others, alone...), err
}

// isPlain tells whether a bucket stands in one place, and stood in no more.
func isPlain(row model.SyncRow, found reading) bool {
	return !row.Deleted && row.Bucket.Shards == 1 && !found.Unreadable && (!found.Present || found.Tombstone || found.Shards <= 1)
}

// installAll installs, reads the rows' heads afterwards, counts as lost what lost says, and returns what is left to be
// brought one by one and what is to be noted as installed.
func (r *Reconciler) installAll(ctx context.Context, deployment string, installs []bucket.BatchInstall, lost map[string]bool, repair bool) (alone []string, settled []model.Installed, err error) {
	if len(installs) == 0 {
		return nil, nil, nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	results := r.engine.InstallAll(bounded, deployment, installs)
	cancel()
	var names []string
	var brought []bucket.BatchInstall
	for i, result := range results {
		if result.Err == nil && result.Status == bucket.StatusInstalled {
			brought, names = append(brought, installs[i]), append(names, installs[i].Name)
		} else {
			alone = append(alone, installs[i].Name)
		}
	}
	heads, err := r.store.SyncHeadsOf(ctx, names)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range brought {
		head, ok := heads[one.Name]
		if !ok || head.Deleted || head.Revision != one.Revision {
			alone = append(alone, one.Name) // changed meanwhile
			continue
		}
		r.count(one.Name, outcome{revision: one.Revision, did: didInstall, lost: lost[one.Name]}, repair)
		settled = settle(settled, head)
	}
	return alone, settled, nil
}

// settle adds a bucket that Redis has at the head's revision, unless the database knows that.
func settle(list []model.Installed, head model.SyncHead) []model.Installed {
	if head.Settled() {
		return list
	}
	return append(list, model.Installed{Name: head.Name, Revision: head.Revision, Mark: head.Mark})
}

// inBatches hands on one batch after the other, a few of them at a time, until there are no more or one fails. It returns
// when all that began have ended.
func inBatches[T any](ctx context.Context, next func(context.Context) (batch T, more bool, err error), do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, pageWorkers)
	for ctx.Err() == nil {
		batch, more, err := next(ctx)
		if err != nil {
			cancel(err)
		}
		if err != nil || !more {
			break
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, batch); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
