package app

import (
	"context"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

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
	err = l.peek(ctx, &installed[0].Definition, &state)
	return state, err
}

// peek looks into the one state that all callers share. A bucket with several states, or one that does not count, is
// left alone.
func (l live) peek(ctx context.Context, d *bucket.Definition, state *api.State) error {
	if d.Partition != bucket.PartitionShared || len(d.Apps) == 0 || d.Mode == bucket.ModeOff {
		return nil
	}
	app := d.Apps[0]
	if app == bucket.AllApps {
		app = "headgate-console" // any name is listed by "*"
	}
	target, err := l.engine.Target(d.Name, app, d.Facts())
	if err != nil {
		return err
	}
	if d.Algorithm == bucket.Concurrency {
		return l.peekLeases(ctx, target, state)
	}
	reply, err := l.engine.Acquire(ctx, bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1}}})
	if err == nil && reply.Verdict == bucket.VerdictDecided {
		state.Permits = &reply.Results[0].Remaining
	}
	return err
}

func (l live) peekLeases(ctx context.Context, target *bucket.Target, state *api.State) error {
	call := bucket.LeaseCall{Target: target, Ops: []bucket.LeaseOp{{Do: bucket.LeasePeek}}}
	_ = l.engine.Ask(ctx, &call) // tells no more than call.Err
	if call.Err == nil && call.Reply.Verdict == bucket.VerdictDecided {
		state.Permits, state.Held = &call.Results[0].Free, &call.Results[0].Held
	}
	return call.Err
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
