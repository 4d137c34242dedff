package reconcile

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// A repair leaves change rows: one for each bucket while they are few, else one for all of a pass.
const (
	rowsOfAPass = 10
	namesOfARow = 20
)

// What a repair found, as the history tells it.
const (
	reasonLost    = "Redis had lost the definition; it was installed again"
	reasonOlder   = "Redis had an older definition; the present one was installed"
	reasonDeleted = "Redis still had the deleted bucket; it was removed"
	reasonMany    = "Redis differed from the database in many buckets; they were put right"
)

// repaired is a bucket that a repair put right though no edit of it was waiting.
type repaired struct {
	name     string
	revision int64
	reason   string
}

func (r *Reconciler) noteRepaired(name string, done outcome) {
	one := repaired{name, done.revision, reasonOlder}
	switch {
	case done.did == didRemove:
		one.reason = reasonDeleted
	case done.lost:
		one.reason = reasonLost
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repaired = append(r.repaired, one)
}

// recordRepairs leaves the change rows of a pass. Redis was put right before, so that a row may be missing after a crash,
// but never tells of what was not done.
func (r *Reconciler) recordRepairs(ctx context.Context) {
	r.mu.Lock()
	all := r.repaired
	r.repaired = nil
	r.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.pushTimeout)
	defer cancel()
	for _, change := range changesOf(all, r.now()) {
		if err := r.store.AppendChange(ctx, change); err != nil {
			r.log.Error("a repair could not be recorded in the history", "buckets", len(all), "error", err)
			return
		}
	}
}

// changesOf are the rows that tell of repairs.
func changesOf(all []repaired, at time.Time) []model.Change {
	if len(all) > rowsOfAPass {
		return []model.Change{foldedChange(all, at)}
	}
	changes := make([]model.Change, len(all))
	for i, one := range all {
		changes[i] = model.Change{
			At: at, Actor: model.SystemActor, Action: model.ActionBucketRepair, TargetKind: model.TargetBucket, Target: one.name,
			Revision: one.revision, Reason: one.reason,
		}
	}
	return changes
}

// foldedChange is one row for many buckets: how many of each kind, and the first names.
func foldedChange(all []repaired, at time.Time) model.Change {
	slices.SortFunc(all, func(a, b repaired) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	told := struct {
		Buckets int      `json:"buckets"`
		Lost    int      `json:"lost"`
		Older   int      `json:"older"`
		Deleted int      `json:"deleted"`
		Names   []string `json:"first_names"`
	}{Buckets: len(all)}
	for _, one := range all {
		switch one.reason {
		case reasonLost:
			told.Lost++
		case reasonDeleted:
			told.Deleted++
		default:
			told.Older++
		}
		if len(told.Names) < namesOfARow {
			told.Names = append(told.Names, one.name)
		}
	}
	after, _ := json.Marshal(told) // strings and numbers: it can't fail
	return model.Change{
		At: at, Actor: model.SystemActor, Action: model.ActionBucketRepair, TargetKind: model.TargetSystem, Target: model.SyncTarget,
		After: after, Reason: reasonMany, Count: int64(len(all)), Until: at,
	}
}
