package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
)

// commandOrigin signs what an operator does on the server's command line.
var commandOrigin = model.Origin{Actor: model.SystemActor, Reason: "command line"}

// OpenAPI returns the API's OpenAPI 3.1 document.
func OpenAPI() []byte { return api.OpenAPI() }

// Migrate brings the schema of the configured database to this version.
func Migrate(ctx context.Context, cfg Config, log *slog.Logger) error {
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	return s.Close()
}

// SyncNow compares all of Redis with the database, mends what differs and tells what it found.
func SyncNow(ctx context.Context, cfg Config, log *slog.Logger) (string, error) {
	return withBoth(ctx, cfg, log, func(_ *store.Store, r *reconcile.Reconciler) (string, error) {
		if err := r.Repair(ctx); err != nil {
			return "", err
		}
		st := r.Status()
		counts := fmt.Sprintf("%d mended, %d only in Redis and left alone", st.Mended, st.OrphanCount)
		if st.Pending > 0 {
			return "", fmt.Errorf("%d buckets could not be brought to Redis (%s); the log says why, and \"admin serve\" goes on trying", st.Pending, counts)
		}
		return "Redis equals the database: " + counts + ".", nil
	})
}

// Adopt makes the configured Redis this deployment's own.
func Adopt(ctx context.Context, cfg Config, log *slog.Logger) (string, error) {
	return withBoth(ctx, cfg, log, func(s *store.Store, r *reconcile.Reconciler) (string, error) {
		if err := r.Adopt(ctx); err != nil {
			return "", err
		}
		id, err := s.DeploymentID(ctx)
		if err != nil {
			return "", err
		}
		change := model.Change{Actor: commandOrigin.Actor, Action: model.ActionRedisAdopt, TargetKind: model.TargetSystem, Target: id, Reason: commandOrigin.Reason}
		return fmt.Sprintf("Redis belongs to deployment %s now.", id), s.AppendChange(ctx, change)
	})
}

// NewIdentity gives the database a deployment id of its own.
func NewIdentity(ctx context.Context, cfg Config, log *slog.Logger) (string, error) {
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	id, err := s.NewDeploymentID(ctx, commandOrigin)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("This database is deployment %s now. Start \"admin serve\" with a Redis of its own.", id), nil
}

// openDatabase opens the real database for a command; the embedded one belongs to its running server.
func openDatabase(ctx context.Context, cfg Config, log *slog.Logger) (*store.Store, error) {
	if cfg.MySQLDSN == "" {
		return nil, errors.New("HEADGATE_MYSQL_DSN is not set, e.g. user:password@tcp(127.0.0.1:3306)/headgate")
	}
	return openStore(ctx, cfg, log, nil)
}

func withBoth(ctx context.Context, cfg Config, log *slog.Logger, act func(*store.Store, *reconcile.Reconciler) (string, error)) (string, error) {
	return withEngine(ctx, cfg, log, func(s *store.Store, _ *bucket.Engine, r *reconcile.Reconciler) (string, error) { return act(s, r) })
}
