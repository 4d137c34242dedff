package app

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
)

// The consumers' interfaces are satisfied here or by the packages themselves.
var (
	_ api.Store       = (*store.Store)(nil)
	_ auth.Store      = (*store.Store)(nil)
	_ auth.KeyStore   = (*store.Store)(nil)
	_ reconcile.Store = (*store.Store)(nil)
	_ api.Pusher      = pusher{}
	_ api.Live        = live{}
	_ api.Health      = health{}
)

// pusher lets the API push without knowing reconcile.
type pusher struct{ reconciler *reconcile.Reconciler }

func (p pusher) Push(ctx context.Context, name string) error {
	_, err := p.reconciler.Push(ctx, name)
	return err
}

// live reads a bucket's state and usage for the API.
type live struct{ engine *bucket.Engine }

func (l live) State(ctx context.Context, b model.Bucket) (api.State, error) {
	installed, err := l.engine.Read(ctx, b.Name)
	if err != nil {
		return api.State{}, err
	}
	state := api.State{Present: installed[0].Present && !installed[0].Tombstone, Revision: installed[0].Revision}
	if state.Now, err = l.engine.Time(ctx); err != nil || !state.Present {
		return state, err
	}
	state.Permits, err = l.permits(ctx, installed[0].Definition)
	return state, err
}

// permits peeks into the one state that all callers share; nil for a bucket with several states, or none that counts.
func (l live) permits(ctx context.Context, d bucket.Definition) (*int64, error) {
	if d.Partition != bucket.PartitionShared || len(d.Apps) == 0 || d.Mode == bucket.ModeOff {
		return nil, nil
	}
	app := d.Apps[0]
	if app == bucket.AllApps {
		app = "headgate-console" // any name is listed by "*"
	}
	target, err := l.engine.Target(d.Name, app, d.Facts())
	if err != nil {
		return nil, err
	}
	reply, err := l.engine.Acquire(ctx, bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1}}})
	if err != nil || reply.Verdict != bucket.VerdictDecided {
		return nil, err
	}
	return &reply.Results[0].Remaining, nil
}

func (l live) Usage(ctx context.Context, name string, minutes int) (api.Usage, error) {
	now, err := l.engine.Time(ctx)
	if err != nil {
		return api.Usage{}, err
	}
	last := now.Unix() / 60
	rows, err := l.engine.ReadUsage(ctx, name, last-int64(minutes)+1, last)
	if err != nil {
		return api.Usage{}, err
	}
	usage := api.Usage{Now: now, Rows: make([]api.UsageRow, len(rows))}
	for i, r := range rows {
		usage.Rows[i] = api.UsageRow{Minute: r.Minute, App: r.App, Granted: r.Granted, Limited: r.Limited, ShadowLimited: r.ShadowLimited}
	}
	return usage, nil
}

// healthTimeout bounds each question to a part, so that the System page comes even when a part hangs.
const healthTimeout = 2 * time.Second
