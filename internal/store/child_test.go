package store_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// childVariable names a SQLite file; set, it makes this test binary a server that migrates it and writes to it.
const childVariable = "HEADGATE_STORE_TEST_CHILD"

const (
	childProcesses = 3
	childWriters   = 4
	childWrites    = 10 // by each writer
)

func childMain(path string) int {
	if err := childWork(context.Background(), path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func childWork(ctx context.Context, path string) error {
	s, err := store.Open(ctx, store.Config{SQLitePath: path})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	for _, err := range together(childWriters, func(i int) error {
		for n := range childWrites {
			app := model.App{Name: fmt.Sprintf("app-%d-%d-%d", os.Getpid(), i, n)}
			if _, err := s.CreateApp(ctx, app, byAlice); err != nil {
				return err
			}
			if _, err := s.Apps(ctx, model.AppQuery{}); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Several processes start on one missing SQLite file at the same time, migrate it and write to it as fast as they can:
// none is told that the database is locked, and nothing is lost.
func TestSQLiteServesSeveralProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "head gate?#%.db")
	for _, err := range together(childProcesses, func(int) error {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), childVariable+"="+path)
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}) {
		ok(t, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database is not in the file that was asked for, or others may read it: %v, %v", info, err)
	}
	s := database{"sqlite", store.Config{SQLitePath: path}}.open(t)
	all := collect(t, 200, func(cursor string) (model.Page[model.App], error) {
		return s.Apps(t.Context(), model.AppQuery{Limit: 200, Cursor: cursor})
	})
	if want := childProcesses * childWriters * childWrites; len(all) != want {
		t.Errorf("%d apps, want %d", len(all), want)
	}
}
