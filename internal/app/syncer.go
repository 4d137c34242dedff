package app

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
)

var _ api.Syncer = syncer{}

// syncer tells the API how far Redis and the SDK instances have followed.
type syncer struct {
	reconciler *reconcile.Reconciler
	engine     *bucket.Engine
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

func (s syncer) SystemSync(context.Context) (api.SystemSync, error) {
	status := s.reconciler.Status()
	told := api.SystemSync{
		State: string(status.State), Since: status.Since.UTC(), Pending: status.Pending, Drifted: status.Drifted,
		Orphans: status.OrphanCount, OrphanNames: status.Orphans,
		LastPass: instant(status.LastPass), LastRepair: instant(status.LastRepair), LastLoss: instant(status.LastLoss),
	}
	if status.State != reconcile.StateOK {
		told.Message = status.LastError
	}
	return told, nil
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
