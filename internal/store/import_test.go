package store_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// While an import runs, which may take minutes, buckets that it does not name are edited as always, also those of apps that
// the file names as they are. Only who would change such an app waits.
func TestEditsOfOtherBucketsGoOnDuringAnImport(t *testing.T) {
	d := database{"mysql", store.Config{MySQLDSN: testenv.MySQL(t)}}
	s := d.migrated(t)
	people(t, s, "alice", "omar")
	must(s.CreateApp(t.Context(), model.App{Name: "shop", Members: []model.Member{{User: "omar", Role: model.AppViewer}}}, byAlice))(t)
	other, named := bucket(t, s, "other", definition("alice", "shop")), bucket(t, s, "named", definition("alice", "shop"))

	// Somebody holds the bucket that the import wants, so that the import stands still in its transaction.
	db, err := sql.Open("mysql", d.config.MySQLDSN)
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	holder, err := db.BeginTx(t.Context(), nil)
	ok(t, err)
	t.Cleanup(func() { _ = holder.Rollback() })
	var id int64
	ok(t, holder.QueryRowContext(t.Context(), "SELECT id FROM buckets WHERE name = 'named' FOR UPDATE").Scan(&id))

	changed := definition("alice", "shop")
	changed.Rate = 7
	wanted := model.Wanted{
		Apps:    []model.WantedApp{{Name: "shop", Members: []model.Member{{User: "omar", Role: model.AppViewer}}}},
		Buckets: []model.WantedBucket{{Name: "named", Definition: changed}},
	}
	imported := make(chan error, 1)
	go func() {
		_, err := s.Import(context.WithoutCancel(t.Context()), wanted, byAlice, false)
		imported <- err
	}()
	waiting := "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT%buckets%named%FOR UPDATE'"
	testenv.Eventually(t, 10*time.Second, "the import waits for the bucket", func() bool { return d.count(t, waiting) > 0 })

	// Less than the import waits for one lock, after which it would let go of all and begin again.
	soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := s.UpdateBucket(soon, "other", other.Revision, changed, byAlice); err != nil {
		t.Errorf("another bucket of the app can't be edited meanwhile: %v", err)
	}
	ok(t, holder.Rollback())
	ok(t, <-imported)
	if b := must(s.Bucket(t.Context(), "named"))(t); b.Rate != 7 || b.Revision != named.Revision+1 {
		t.Errorf("imported: %+v", b)
	}
	if app := must(s.App(t.Context(), "shop"))(t); app.Revision != 1 {
		t.Errorf("the app was touched: %+v", app)
	}
}
