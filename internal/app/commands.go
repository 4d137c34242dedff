package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

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
	if cfg.MySQLDSN == "" {
		return errNoDSN
	}
	s, err := openStore(ctx, cfg, log, nil)
	if err != nil {
		return err
	}
	return s.Close()
}

// ErrPending is returned where the schema lacks migrations of this version.
var ErrPending = errors.New("the schema is not up to date")

// MigrateStatus writes a line for each migration, and returns ErrPending when one is missing. It changes nothing.
func MigrateStatus(ctx context.Context, cfg Config, log *slog.Logger, out io.Writer) error {
	s, err := connectDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	steps, err := s.Migrations(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "VERSION\tNAME\tSTATE")
	pending := false
	for _, m := range steps {
		name, state := m.Name, "pending"
		if name == "" {
			name = "(of a newer version)"
		}
		if m.Applied {
			state = "applied " + m.At.UTC().Format(time.RFC3339)
		}
		pending = pending || !m.Applied
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\n", m.Version, name, state)
	}
	if err := table.Flush(); err != nil || !pending {
		return err
	}
	return ErrPending
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

// connectDatabase opens the real database for a command; the embedded one belongs to its running server.
func connectDatabase(ctx context.Context, cfg Config, log *slog.Logger) (*store.Store, error) {
	if cfg.MySQLDSN == "" {
		return nil, errNoDSN
	}
	opened, err := storeConfig(cfg, log)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, opened)
	if err != nil {
		return nil, ofDSN(err)
	}
	return s, nil
}

// openDatabase is connectDatabase for what needs the tables. It refuses a schema that is behind instead of changing it: a
// command that looks, or that was given the wrong database, must not.
func openDatabase(ctx context.Context, cfg Config, log *slog.Logger) (*store.Store, error) {
	s, err := connectDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if err := s.CheckSchema(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func withBoth(ctx context.Context, cfg Config, log *slog.Logger, act func(*store.Store, *reconcile.Reconciler) (string, error)) (string, error) {
	return withEngine(ctx, cfg, log, func(s *store.Store, _ *bucket.Engine, r *reconcile.Reconciler) (string, error) { return act(s, r) })
}
