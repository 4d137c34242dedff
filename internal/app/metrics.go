package app

import (
	"context"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/telemetry"
)

// openMetrics makes what counts. It counts whether or not anybody may ask: that costs next to nothing.
func (a *App) openMetrics() {
	a.metrics = telemetry.New(a.cfg.Version, a.reading)
}

// reading asks all parts at once, each for a bounded time.
func (a *App) reading(ctx context.Context) telemetry.Reading {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	var r telemetry.Reading
	var parts sync.WaitGroup
	parts.Go(func() { r.Database = a.readDatabase(ctx) })
	parts.Go(func() { r.Redis = a.readRedis(ctx) })
	parts.Go(func() {
		if count, err := a.store.CountSessions(ctx, time.Now()); err == nil {
			r.Sessions = &count
		}
	})
	parts.Go(func() { r.Audit = a.readAudit(ctx) })
	r.Sync, r.UsagePassedOver = a.readSync(), a.roller.PassedOver()
	parts.Wait()
	return r
}

func (a *App) readDatabase(ctx context.Context) telemetry.Part {
	began := time.Now()
	err := a.store.Ping(ctx)
	took, pool := time.Since(began), a.store.PoolStats()
	return telemetry.Part{
		Up: err == nil, Answer: took, Used: pool.InUse, Idle: pool.Idle, Most: pool.MaxOpenConnections,
		Waits: pool.WaitCount, Waited: pool.WaitDuration,
	}
}

func (a *App) readRedis(ctx context.Context) telemetry.Part {
	began := time.Now()
	err := a.rdb.Ping(ctx).Err()
	took, pool := time.Since(began), a.rdb.PoolStats()
	return telemetry.Part{
		Up: err == nil, Answer: took, Used: int(pool.TotalConns) - int(pool.IdleConns), Idle: int(pool.IdleConns),
		TimedOut: int64(pool.Timeouts),
	}
}

func (a *App) readSync() telemetry.Sync {
	s := a.reconciler.Status()
	return telemetry.Sync{
		State: string(s.State), Pending: s.Pending, Orphans: s.OrphanCount, Repaired: s.LastRepair,
		Installed: s.Installed, Reinstalled: s.Reinstalled, Removed: s.Removed, Raised: s.Raised, Mended: s.Mended, Restarted: s.Restarted,
	}
}

func (a *App) readAudit(ctx context.Context) *telemetry.Audit {
	head, err := a.store.AuditHead(ctx)
	if err != nil {
		return nil
	}
	newest, _, err := a.store.LastCheckpoint(ctx)
	if err != nil {
		return nil
	}
	return &telemetry.Audit{Rows: head.Seq - head.First + 1, Last: head.Seq, Checkpoint: newest.Seq, Checkpointed: newest.At}
}

// Push is what the API asks for after a commit.
func (p pusher) Push(ctx context.Context, name string) error {
	began, end := time.Now(), func(error) {}
	if p.tracing != nil {
		ctx, end = p.tracing.Push(ctx, name)
	}
	_, err := p.reconciler.Push(ctx, name)
	end(err)
	if p.observe != nil && model.CodeOf(err) != model.CodeNotFound {
		p.observe(time.Since(began), err)
	}
	return err
}

// PushAll counts as one push: what is observed is how long a save waits for Redis.
func (p pusher) PushAll(ctx context.Context, names []string) error {
	began := time.Now()
	err := p.reconciler.PushAll(ctx, names)
	if p.observe != nil {
		p.observe(time.Since(began), err)
	}
	return err
}
