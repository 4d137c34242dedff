package app

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
)

var _ api.Syncer = syncer{}

// syncer tells the API how far Redis and the SDK instances have followed.
type syncer struct {
	reconciler *reconcile.Reconciler
	engine     *bucket.Engine
	store      *store.Store
}

func (s syncer) BucketSync(ctx context.Context, name string) (api.BucketSync, error) {
	c, err := s.reconciler.Compare(ctx, name)
	if err != nil {
		return api.BucketSync{}, err
	}
	told := api.BucketSync{
		Revision: c.Row.Revision, InstalledRevision: c.Row.InstalledRevision, RedisRevision: c.RedisRevision,
		Drift: c.Drift, Pending: c.Pending(), Message: c.Message,
	}
	if took, ok := c.Took(); ok {
		ms := took.Milliseconds()
		told.TookMS = &ms
	}
	instances, err := figures.Reader{Engine: s.engine}.Instances(ctx, name)
	if err != nil {
		return told, &model.Error{Code: model.CodeUnavailable, Message: "Redis does not answer now", Cause: err}
	}
	for _, i := range instances {
		told.Instances = append(told.Instances, api.SyncInstance{
			ID: i.ID, App: i.App, Host: i.Host, Version: i.Version, Revision: i.Revision, LastSeen: i.Seen,
		})
	}
	return told, nil
}

func (s syncer) SystemSync(ctx context.Context) (api.SystemSync, error) {
	status := s.reconciler.Status()
	told := api.SystemSync{
		State: string(status.State), Since: status.Since.UTC(), Pending: status.Pending, Drifted: status.Drifted,
		Orphans: status.OrphanCount, OrphanNames: status.Orphans,
		LastPass: instant(status.LastPass), LastRepair: instant(status.LastRepair), LastLoss: instant(status.LastLoss),
	}
	if status.State != reconcile.StateOK {
		told.Message = status.LastError
	}
	told.LastDrift = instant(status.LastDrift)
	for _, d := range status.Drift {
		told.Drift = append(told.Drift, api.Drifted{Bucket: d.Name, Fields: d.Fields})
	}
	waiting, err := s.store.PendingBuckets(ctx, pendingShown)
	if model.CodeOf(err) == model.CodeUnavailable {
		return told, nil // that the database is away is what the page is to tell
	}
	for i := range waiting {
		told.PendingBuckets = append(told.PendingBuckets, showPending(&waiting[i], status.State))
	}
	return told, err
}

// pendingShown is how many waiting buckets are named.
const pendingShown = 100

// showPending tells why a bucket waits. One that was not tried yet waits for what holds up every push.
func showPending(p *model.PendingBucket, state reconcile.State) api.PendingBucket {
	reason, message := model.SyncReasonOf(p.LastError), p.LastError
	if reason == model.SyncOnItsWay {
		switch state {
		case reconcile.StateRedisDown:
			reason = model.SyncSilent
		case reconcile.StateForeign:
			reason = model.SyncForeign
		}
		message = reason.Message()
	}
	return api.PendingBucket{
		Bucket: p.Name, Deleted: p.Deleted, Revision: p.Revision, InstalledRevision: p.InstalledRevision, ChangedAt: p.ChangedAt,
		Reason: reason, Message: message, Attempts: p.Attempts, NextAt: p.NextAt,
	}
}

func (s syncer) Reconcile(ctx context.Context) error { return s.reconciler.Repair(ctx) }

// instant is a time for the API; nil for none.
func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}
