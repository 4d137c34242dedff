package app

import (
	"context"
	"fmt"

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
	s := api.System{
		Version:  h.app.cfg.Version,
		Embedded: h.app.cfg.Embedded,
		Database: h.database(ctx),
		Redis:    h.redis(ctx),
		Pending:  status.Pending,
	}
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
	if err := h.app.store.Ping(ctx); err != nil {
		part.OK, part.Message = false, "The database does not answer."
	}
	return part
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
	part.Version = found.Version
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
