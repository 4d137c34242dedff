package auth_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

const password = "correct horse battery"

// cheap keeps the tests quick; what they check does not depend on the cost.
var cheap = auth.Hashing{MemoryKiB: 64, Passes: 1, Threads: 1}

var here = auth.Client{Address: "192.0.2.1", UserAgent: "test", RequestID: "request-1"}

// world is a login service on a real database, with a clock that the test moves.
type world struct {
	*auth.Service
	store *store.Store
	log   bytes.Buffer
	mu    sync.Mutex
	now   time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s, err := store.Open(t.Context(), store.Config{SQLitePath: filepath.Join(t.TempDir(), "test.db"), Now: w.time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.store = s
	w.Service = w.service(t, testKey(1))
	return w
}

// service makes another service on the same database, as a second server would be.
func (w *world) service(t *testing.T, keys ...[]byte) *auth.Service {
	t.Helper()
	s, err := auth.New(auth.Config{
		Store: w.store, Keys: keys, Hashing: cheap, Now: w.time, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) user(t *testing.T, name string, role model.Role) model.User {
	t.Helper()
	hash, err := w.HashPassword(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	u, err := w.store.CreateUser(t.Context(), model.User{Name: name, Role: role, PasswordHash: hash}, model.Origin{Actor: model.SystemActor})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (w *world) login(t *testing.T, name string) auth.Grant {
	t.Helper()
	g, err := w.Login(t.Context(), name, password, here)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// actions lists the history's actions about one user, newest first.
func (w *world) actions(t *testing.T, user string) []model.Action {
	t.Helper()
	page, err := w.store.Changes(context.Background(), model.ChangeQuery{TargetKind: model.TargetUser, Target: user})
	if err != nil {
		t.Fatal(err)
	}
	var list []model.Action
	for _, c := range page.Items {
		list = append(list, c.Action)
	}
	return list
}

func testKey(n byte) []byte { return bytes.Repeat([]byte{n}, auth.KeyBytes) }

func wantCode(t *testing.T, err error, want model.Code) {
	t.Helper()
	if got := model.CodeOf(err); got != want {
		t.Fatalf("code %q, want %q (%v)", got, want, err)
	}
}
