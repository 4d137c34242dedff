package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

// A command that was given the wrong database, or one that is behind, says so and makes no table there. "admin migrate"
// alone does, and "admin serve".
func TestCommandsLeaveASchemaThatIsBehindAlone(t *testing.T) {
	cfg := Defaults()
	addr, prefix := testenv.Redis(t)
	cfg.MySQLDSN, cfg.RedisURL, cfg.RedisPrefix = testenv.MySQL(t), "redis://"+addr+"/0", prefix
	var out bytes.Buffer
	commands := map[string]func(context.Context, Config, *slog.Logger) error{
		"export": func(ctx context.Context, c Config, log *slog.Logger) error { return Export(ctx, c, log, &out) },
		"import": func(ctx context.Context, c Config, log *slog.Logger) error {
			file := "format: " + defsFormat + "\napps: []\nbuckets: []\n"
			return Import(ctx, c, log, strings.NewReader(file), ImportOptions{Reason: "a test", DryRun: true}, &out)
		},
		"user": func(ctx context.Context, c Config, log *slog.Logger) error {
			return WithPeople(ctx, c, log, func(p *People) error { return p.List(ctx, &out) })
		},
		"sync status": func(ctx context.Context, c Config, log *slog.Logger) error {
			_, err := SyncStatus(ctx, c, log)
			return err
		},
		"sync repair": func(ctx context.Context, c Config, log *slog.Logger) error {
			_, err := SyncNow(ctx, c, log)
			return err
		},
	}
	for name, run := range commands {
		if err := run(t.Context(), cfg, quiet()); err == nil || !strings.Contains(err.Error(), "admin migrate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := MigrateStatus(t.Context(), cfg, quiet(), &out); !errors.Is(err, ErrPending) || !strings.Contains(out.String(), "first_light  pending") {
		t.Errorf("the status of an empty database: %v\n%s", err, out.String())
	}
	if err := Migrate(t.Context(), cfg, quiet()); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := MigrateStatus(t.Context(), cfg, quiet(), &out); err != nil || strings.Contains(out.String(), "pending") {
		t.Errorf("the status after it: %v\n%s", err, out.String())
	}
	for name, run := range commands {
		if err := run(t.Context(), cfg, quiet()); err != nil {
			t.Errorf("%s after it: %v", name, err)
		}
	}
}
