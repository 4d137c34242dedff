package app

import (
	"context"
	"maps"
	"slices"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// behindShown is how many buckets of one instance are named.
const behindShown = 20

// Instances lists the live SDK instances, with the buckets of which they have not learned the present revision.
func (s syncer) Instances(ctx context.Context) ([]api.SystemInstance, error) {
	found, err := s.engine.Instances(ctx)
	if err != nil {
		return nil, &model.Error{Code: model.CodeUnavailable, Message: "Redis does not answer now", Cause: err}
	}
	present, err := s.presentRevisions(ctx, found)
	if err != nil {
		return nil, err
	}
	all := make([]api.SystemInstance, len(found))
	for i := range found {
		one := &found[i]
		all[i] = api.SystemInstance{
			ID: one.ID, App: one.App, Host: one.Host, Version: one.Version, Buckets: len(one.Buckets) + one.More,
			Started: one.Started(), LastSeen: one.Seen,
		}
		for _, name := range slices.Sorted(maps.Keys(one.Buckets)) {
			if revision := one.Buckets[name]; revision < present[name] {
				all[i].BehindCount++
				if len(all[i].Behind) < behindShown {
					all[i].Behind = append(all[i].Behind, api.BehindBucket{Bucket: name, Revision: revision, Present: present[name]})
				}
			}
		}
	}
	return all, nil
}

// revisionsAtOnce bounds the names of one question to the database.
const revisionsAtOnce = 1000

// presentRevisions are those of the buckets in use that live; Redis may not have them yet.
func (s syncer) presentRevisions(ctx context.Context, found []bucket.Instance) (map[string]int64, error) {
	used := map[string]bool{}
	for i := range found {
		for name := range found[i].Buckets {
			used[name] = true
		}
	}
	present := make(map[string]int64, len(used))
	for names := range slices.Chunk(slices.Sorted(maps.Keys(used)), revisionsAtOnce) {
		heads, err := s.store.SyncHeadsOf(ctx, names)
		if err != nil {
			return nil, err
		}
		for name, head := range heads {
			if !head.Deleted {
				present[name] = head.Revision
			}
		}
	}
	return present, nil
}
