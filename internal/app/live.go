package app

import (
	"context"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

var (
	_ api.Figures   = figures.Reader{}
	_ figures.Store = (*store.Store)(nil)
)

// live reads a bucket's state and usage for the API.
type live struct{ engine *bucket.Engine }

func (l live) State(ctx context.Context, b model.Bucket) (api.State, error) {
	seen, err := figures.Look(ctx, l.engine, b.Name)
	if err != nil {
		return api.State{}, err
	}
	now, err := l.engine.Time(ctx)
	return api.State{Present: seen[0].Present, Revision: seen[0].Revision, Permits: seen[0].Permits, Held: seen[0].Held, Now: now}, err
}

func (l live) Usage(ctx context.Context, name string, minutes int, until int64) (api.Usage, error) {
	now, err := l.engine.Time(ctx)
	if err != nil {
		return api.Usage{}, err
	}
	last := api.LastMinute(now, until)
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
