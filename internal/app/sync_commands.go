package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
)

// shownBuckets bounds the list of buckets that a command prints, so that a lost Redis does not fill the terminal.
const shownBuckets = 200

// SyncStatus tells whose Redis it is, what waits for it, the marks that show data loss, and which SDK instances live. It
// writes nothing.
func SyncStatus(ctx context.Context, cfg Config, log *slog.Logger) (string, error) {
	return withEngine(ctx, cfg, log, func(s *store.Store, e *bucket.Engine, _ *reconcile.Reconciler) (string, error) {
		var out strings.Builder
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		if err := tellOwner(ctx, table, s, e); err != nil {
			return "", err
		}
		pending, err := s.CountDirty(ctx)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(table, "pending\t%d buckets wait to be brought to Redis\n", pending)
		if err := tellMarks(ctx, table, s, e); err != nil {
			return "", err
		}
		instances, err := e.Instances(ctx)
		if err != nil {
			return "", fmt.Errorf("redis: %w", err)
		}
		_, _ = fmt.Fprintf(table, "instances\t%d SDK instances are alive\n", len(instances))
		for _, i := range instances {
			_, _ = fmt.Fprintf(table, "\t%s at %s, SDK %s, %d buckets in use\n", i.App, i.Host, i.Version, len(i.Buckets)+i.More)
		}
		err = table.Flush()
		return strings.TrimRight(out.String(), "\n"), err
	})
}

func tellOwner(ctx context.Context, table *tabwriter.Writer, s *store.Store, e *bucket.Engine) error {
	deployment, err := s.DeploymentID(ctx)
	if err != nil {
		return err
	}
	owner, err := e.Owner(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(table, "deployment\t%s\n", deployment)
	switch owner {
	case deployment:
		_, _ = fmt.Fprintln(table, "redis\tours")
	case "":
		_, _ = fmt.Fprintln(table, "redis\tnobody's yet")
	default:
		_, _ = fmt.Fprintf(table, "redis\tbelongs to deployment %s; \"admin sync adopt\" takes it over\n", owner)
	}
	return nil
}

// tellMarks prints each mark beside what the database remembers of it.
func tellMarks(ctx context.Context, table *tabwriter.Writer, s *store.Store, e *bucket.Engine) error {
	remembered, err := s.Marks(ctx)
	if err != nil {
		return err
	}
	known := map[int]model.Mark{}
	var slots []int
	for _, m := range remembered {
		known[m.Slot], slots = m, append(slots, m.Slot)
	}
	marks, err := e.ReadMarks(ctx, slots...)
	if err != nil {
		return err
	}
	for _, m := range marks {
		what := "no mark yet"
		switch last := known[m.Slot].At; {
		case m.Err != nil:
			what = "its master does not answer"
		case !m.Stands && !last.IsZero():
			what = "its mark is gone: the state was lost"
		case m.Stands:
			what = fmt.Sprintf("mark of %s, remembered %s", m.At.Format(time.RFC3339), last.Format(time.RFC3339))
		}
		_, _ = fmt.Fprintf(table, "slots %d-%d\t%s\n", m.From, m.To, what)
	}
	return nil
}

// SyncDiff compares all of Redis with the database, writes nothing, and prints what differs. That something differs is an
// error, so that scripts hear of it.
func SyncDiff(ctx context.Context, cfg Config, log *slog.Logger) (string, error) {
	return withEngine(ctx, cfg, log, func(_ *store.Store, _ *bucket.Engine, r *reconcile.Reconciler) (string, error) {
		var out strings.Builder
		table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		pending, drifted := 0, 0
		orphans, err := r.Differences(ctx, func(c reconcile.Comparison) {
			if c.Pending() {
				pending++
			} else {
				drifted++
			}
			if pending+drifted <= shownBuckets {
				_, _ = fmt.Fprintf(table, "%s\tdatabase %d\tRedis %d\t%s\n", c.Row.Name, c.Row.Revision, c.RedisRevision, differs(c))
			}
		})
		if err != nil {
			return "", err
		}
		if hidden := pending + drifted - shownBuckets; hidden > 0 {
			_, _ = fmt.Fprintf(table, "… and %d more\n", hidden)
		}
		for _, name := range orphans[:min(len(orphans), shownBuckets)] {
			_, _ = fmt.Fprintf(table, "%s\tdatabase –\tRedis\tonly Redis has it; it is left alone\n", name)
		}
		_ = table.Flush() // to memory
		if pending+drifted == 0 {
			_, _ = fmt.Fprintf(&out, "Redis equals the database; %d only in Redis.", len(orphans))
			return out.String(), nil
		}
		return strings.TrimRight(out.String(), "\n"), fmt.Errorf("%d buckets wait for a push, %d differ; \"admin sync repair\" puts them right", pending, drifted)
	})
}

func differs(c reconcile.Comparison) string {
	what := strings.Join(c.Drift, ", ")
	if what == "" {
		what = "pending"
	}
	if c.Message != "" {
		what += " (" + c.Message + ")"
	}
	return what
}

// withEngine is withBoth for what asks Redis itself too.
func withEngine(ctx context.Context, cfg Config, log *slog.Logger, act func(*store.Store, *bucket.Engine, *reconcile.Reconciler) (string, error)) (string, error) {
	if err := cfg.Validate(); err != nil {
		return "", err
	}
	redis.SetLogger(poolLog{log})
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	rdb, err := connectRedis(&cfg)
	if err != nil {
		return "", err
	}
	defer func() { _ = rdb.Close() }()
	if err := rdb.Ping(ctx).Err(); err != nil {
		return "", fmt.Errorf("redis does not answer: %w", err)
	}
	engine := bucket.New(rdb, cfg.RedisPrefix)
	return act(s, engine, reconcile.New(reconcile.Config{Store: s, Engine: engine, Log: log}))
}
