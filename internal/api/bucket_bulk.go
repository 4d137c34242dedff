package api

import (
	"context"
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// BulkEdit makes one change to each of many buckets, or to none of them.
type BulkEdit struct {
	Buckets []BulkTarget `json:"buckets" doc:"1..500, each once"`
	Change  BulkChange   `json:"change"`
	Reason  string       `json:"reason,omitempty" doc:"why, for the history; needed but for a dry run"`
	DryRun  bool         `json:"dry_run,omitempty" doc:"only tell what would change"`
}

// BulkTarget is a bucket with the revision that the change is based on.
type BulkTarget struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision" doc:"that the change is based on; 412 when it is not the present one"`
}

// BulkChange says what becomes different; what is left out stays as it is.
type BulkChange struct {
	SetLabels    map[string]string `json:"set_labels,omitempty" doc:"labels that each bucket shall have; one that is there gets this value"`
	RemoveLabels []string          `json:"remove_labels,omitempty" doc:"keys of labels"`
	AddOwners    []string          `json:"add_owners,omitempty"`
	RemoveOwners []string          `json:"remove_owners,omitempty"`
	Mode         model.Mode        `json:"mode,omitempty"`
}

// BulkEdited tells what a bulk edit did, or what it would do.
type BulkEdited struct {
	Changed   []BulkBucket `json:"changed" doc:"by name"`
	Unchanged []string     `json:"unchanged" doc:"buckets that were so already; they were left alone"`
}

// BulkBucket is a bucket as a bulk edit leaves it.
type BulkBucket struct {
	Name     string            `json:"name"`
	Revision int64             `json:"revision" doc:"the new one"`
	Labels   map[string]string `json:"labels"`
	Owners   []string          `json:"owners"`
	Mode     model.Mode        `json:"mode"`
	Sync     Sync              `json:"sync"`
}

func (s *server) updateBuckets(ctx context.Context, in *struct{ Body BulkEdit }) (*struct{ Body BulkEdited }, error) {
	body := &in.Body
	change := model.BulkChange(body.Change)
	targets := make([]model.BulkTarget, len(body.Buckets))
	for i, t := range body.Buckets {
		targets[i] = model.BulkTarget{Name: t.Name, Base: t.Revision}
	}
	var reason error
	if !body.DryRun {
		reason = model.ValidateReason(body.Reason)
	}
	// The list comes first: nothing is looked for before its bound is known to hold.
	if err := together("the request", model.ValidateBulkTargets(targets), change.Validate(), reason); err != nil {
		return nil, err
	}
	if err := s.mayChangeAll(ctx, targets, &change); err != nil {
		return nil, err
	}
	result, err := s.Store.UpdateBuckets(ctx, targets, change, originOf(ctx, body.Reason), body.DryRun)
	if err != nil {
		return nil, s.changedMeanwhile(ctx, targets, &change, err)
	}
	if !body.DryRun {
		s.pushAll(ctx, result.Changed)
	}
	return &struct{ Body BulkEdited }{showBulk(result)}, nil
}

// changedMeanwhile names the buckets where another write came between the check and the edit.
func (s *server) changedMeanwhile(ctx context.Context, targets []model.BulkTarget, change *model.BulkChange, err error) error {
	if code := model.CodeOf(err); code != model.CodeStale && code != model.CodeNotFound {
		return err
	}
	if named := s.mayChangeAll(ctx, targets, change); named != nil {
		return named
	}
	return err
}

// pushAll brings saved revisions to Redis, as push does for one, and notes with each bucket how far it got.
func (s *server) pushAll(ctx context.Context, changed []model.Bucket) {
	if len(changed) == 0 {
		return
	}
	names := make([]string, len(changed))
	for i := range changed {
		names[i] = changed[i].Name
	}
	log := s.log.With("buckets", len(names), "request_id", callOf(ctx).requestID)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterAnswer)
	defer cancel()
	if err := s.Pusher.PushAll(bounded, names); err != nil {
		log.WarnContext(ctx, "buckets not pushed yet", "cause", err)
	}
	bounded, cancel = context.WithTimeout(context.WithoutCancel(ctx), afterAnswer)
	defer cancel()
	heads, err := s.Store.SyncHeadsOf(bounded, names)
	if err != nil {
		log.WarnContext(ctx, "sync state not read", "cause", err)
	}
	for i := range changed {
		installed := heads[names[i]].InstalledRevision
		changed[i].Sync = model.SyncState{InstalledRevision: installed, Pending: installed < changed[i].Revision}
	}
}

func showBulk(result model.BulkResult) BulkEdited {
	shown := BulkEdited{Changed: make([]BulkBucket, len(result.Changed)), Unchanged: append([]string{}, result.Unchanged...)}
	slices.Sort(shown.Unchanged)
	for i, b := range result.Changed {
		shown.Changed[i] = BulkBucket{
			Name: b.Name, Revision: b.Revision, Labels: b.Labels, Owners: b.Owners, Mode: b.Mode, Sync: showSync(b.Revision, b.Sync),
		}
	}
	return shown
}
