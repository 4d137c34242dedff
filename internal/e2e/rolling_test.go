package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// nextMigration is a schema change as a later release may bring it: a table, columns in tables that every write touches,
// and an index. It has what the rules of migrations/expand_test.go allow.
const nextMigration = `-- +goose Up
CREATE TABLE IF NOT EXISTS next_release (id BIGINT NOT NULL PRIMARY KEY) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
ALTER TABLE buckets ADD COLUMN next_note VARCHAR(100) NULL, ADD COLUMN next_flag BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE changes ADD COLUMN next_note VARCHAR(100) NULL;
ALTER TABLE outbox ADD COLUMN next_count INT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN next_note VARCHAR(100) NULL;
ALTER TABLE users ADD COLUMN next_flag BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX buckets_next ON buckets (next_flag, name);
`

// nextRelease builds the program of a release whose schema is one step further: this one's code and one migration more,
// laid over the sources without touching them.
func nextRelease(t *testing.T) (program string) {
	t.Helper()
	folder := t.TempDir()
	migration, overlay := filepath.Join(folder, "next.sql"), filepath.Join(folder, "overlay.json")
	place, err := filepath.Abs("../../migrations/mysql/90000_next.sql")
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{place: migration}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{migration: []byte(nextMigration), overlay: replace} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := adminenv.Build(folder, []string{"-race", "-overlay", overlay}, "admin"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "admin")
}

// A rolling upgrade: a server of a newer schema starts beside one of this release, brings the schema further while people
// edit, and both are edited through. The older one goes on, is killed and starts again on the newer schema, and goes on
// alone when the newer one is taken back. No answered save is lost, and the history of both is one that verifies.
func TestOlderServerWorksBesideANewerSchema(t *testing.T) {
	g := newGround(t, nil)
	older := startAdmin(t, g.settings, "serve")
	root := older.login("admin", adminPassword)
	root.people()
	saves := &saved{}
	saves.through(root)
	testenv.Eventually(t, time.Minute, "saves are under way", func() bool { return saves.answered() > 3 })

	newer := startProgram(t, nextRelease(t), g.settings, "serve")
	newer.WaitReady()
	atMigration := saves.answered()
	saves.through(newer.login("admin", adminPassword))
	testenv.Eventually(t, time.Minute, "both servers are saved through", func() bool { return saves.answered() > atMigration+10 })
	saves.end()

	older.Kill()
	again := startAdmin(t, g.settings, "serve")
	root = again.login("admin", adminPassword)
	root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 5, "by the older, started anew"), "restarted"))
	if err := newer.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v", err)
	}
	root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 5, "by the older, alone"), "alone"))

	for _, name := range saves.names {
		if got := root.must(http.StatusOK, http.MethodGet, "/buckets/"+name, nil, nil); syncState(got.Body) != "synced" {
			t.Errorf("%s is %s", name, syncState(got.Body))
		}
	}
	for _, command := range [][]string{{"sync", "diff"}, {"audit", "verify"}} {
		if code, printed := runAdmin(t, g.settings, command...); code != 0 {
			t.Errorf("admin %v: %d\n%s", command, code, printed)
		}
	}
}

// saved makes one bucket after the other through servers, and knows which were answered.
type saved struct {
	mu     sync.Mutex
	people int
	names  []string
	ended  atomic.Bool
	under  sync.WaitGroup
}

// through begins to save through the server where somebody is logged in.
func (s *saved) through(p *person) {
	s.people++
	who := s.people
	s.under.Go(func() {
		for n := 1; !s.ended.Load(); n++ {
			name := fmt.Sprintf("saved-%d-%d", who, n)
			if status, ok := p.try(http.MethodPost, "/buckets", withName(definition(1, 5, "a save"), name)); !ok || status != http.StatusCreated {
				p.t.Errorf("%s: %d", name, status)
				return
			}
			s.mu.Lock()
			s.names = append(s.names, name)
			s.mu.Unlock()
		}
	})
}

func (s *saved) answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.names)
}

func (s *saved) end() {
	s.ended.Store(true)
	s.under.Wait()
}
