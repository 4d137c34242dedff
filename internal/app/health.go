package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/reconcile"
)

// health tells the API how the parts are.
type health struct{ app *App }

func (h health) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return h.app.store.Ping(ctx)
}

func (h health) System(ctx context.Context) api.System {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	status := h.app.reconciler.Status()
	s := api.System{Version: h.app.cfg.Version, Embedded: h.app.cfg.Embedded, Pending: status.Pending}
	var parts sync.WaitGroup // side by side: one that hangs leaves the others their time
	parts.Go(func() { s.Database = h.database(ctx) })
	parts.Go(func() { s.Redis = h.redis(ctx) })
	parts.Go(func() { s.Servers, s.ServersKnown = h.servers(ctx) })
	parts.Wait()
	s.Owner.Deployment, _ = h.app.store.DeploymentID(ctx)
	s.Owner.Redis = status.Owner
	s.Owner.Ours = status.State != reconcile.StateForeign
	return s
}

func (h health) database(ctx context.Context) api.Part {
	part := api.Part{Kind: "mysql", OK: true}
	if h.app.cfg.Embedded {
		part.Kind = "sqlite"
	}
	began := time.Now()
	err := h.app.store.Ping(ctx)
	part.TookUS = microseconds(time.Since(began))
	if err == nil {
		part.Kind, part.Version, err = h.app.store.Version(ctx)
	}
	if err != nil {
		part.OK, part.TookUS, part.Message = false, nil, "The database does not answer."
	}
	return part
}

// servers lists the admin servers; known is false when the database does not tell.
func (h health) servers(ctx context.Context) (shown []api.AdminServer, known bool) {
	all, err := h.app.store.Servers(ctx)
	now := time.Now()
	for i := range all {
		one := &all[i]
		shown = append(shown, api.AdminServer{
			ID: one.ID, Host: one.Host, Version: one.Version, State: one.State(now), SyncState: one.SyncState,
			This: one.ID == h.app.self.ID, StartedAt: one.StartedAt, SeenAt: one.SeenAt,
		})
	}
	return shown, err == nil
}

func microseconds(d time.Duration) *int64 {
	us := d.Microseconds()
	return &us
}

func (h health) redis(ctx context.Context) api.Part {
	part := api.Part{Kind: "redis", OK: true}
	if h.app.cfg.Embedded {
		part.Kind = "embedded"
	}
	found, err := h.app.engine.Health(ctx)
	if err != nil {
		part.OK, part.Message = false, "Redis does not answer; saved changes wait and reach it when it is back."
		return part
	}
	part.Version, part.TookUS = found.Version, microseconds(found.RoundTrip)
	if found.Server != "" && !h.app.cfg.Embedded {
		part.Kind = found.Server
	}
	if warning := policyWarning(found); warning != "" {
		part.Warnings = append(part.Warnings, warning)
	}
	return part
}

// policyWarning names a maxmemory-policy that lets Redis drop state, which can't be told from state that ended.
func policyWarning(found bucket.Health) string {
	if found.MaxMemoryPolicy == "" || found.MaxMemoryPolicy == "noeviction" {
		return ""
	}
	return fmt.Sprintf("Redis has maxmemory-policy %s and may drop the state of buckets; set noeviction.", found.MaxMemoryPolicy)
}
