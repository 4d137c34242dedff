package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// documentedUser is a user of docs/security.md.
func documentedUser(t testing.TB, dsn, block string) string {
	t.Helper()
	return testenv.DocumentedUser(t, dsn, "../../docs/security.md", block)
}

// denied tells whether MySQL refused for want of a right.
func denied(err error) bool {
	var refused *mysql.MySQLError
	return errors.As(err, &refused) && refused.Number == 1142
}

// The users of docs/security.md do their work with the rights that are listed there, and the one that serves can change
// no history. A table that a later migration adds must be added to that page.
func TestDocumentedUsersCanDoTheirWorkAndNoMore(t *testing.T) {
	root := testenv.MySQL(t)
	migrating := store.Config{MySQLDSN: documentedUser(t, root, "sql-migrating")}
	database{"mysql", migrating}.migrated(t)

	dsn := documentedUser(t, root, "sql-serving")
	serving := database{"mysql", store.Config{MySQLDSN: dsn}}
	s := serving.migrated(t) // finds nothing to do
	people(t, s, "alice")
	admins(t, s, "root")
	apps(t, s, "pay")
	ok(t, writeAlot(t.Context(), s, 1, 3))
	ok(t, s.DeleteApp(t.Context(), must(s.CreateApp(t.Context(), model.App{Name: "gone"}, byAlice))(t).Name, 1, byAlice))
	must(s.AuditKey(t.Context(), audit.NewKey()))(t)
	point := checkpoint(t, s, newSigner(t), time.Now())
	checkRights(t, serving.sqlDB(t))

	maintenance := database{"mysql", store.Config{MySQLDSN: documentedUser(t, root, "sql-maintenance")}}
	m := maintenance.open(t)
	r := must(audit.VerifySource(t.Context(), m, audit.Expect{}, []audit.Checkpoint{point}, nil))(t)
	if !r.OK() {
		t.Fatalf("found %+v", r.Faults)
	}
	note := must(json.Marshal(audit.PruneNote{To: point.Seq, Hash: point.Hash.String(), Checkpoint: point.String()}))(t)
	ok(t, m.AppendChange(t.Context(), model.Change{Action: model.ActionAuditPrune, After: note}))
	if n := must(m.DeleteChanges(t.Context(), point.Seq, 1000))(t); n != point.Seq {
		t.Errorf("%d rows deleted, want %d", n, point.Seq)
	}
	wantVerified(t, s)
	if _, err := maintenance.sqlDB(t).ExecContext(t.Context(), "UPDATE changes SET actor = 'x'"); !denied(err) {
		t.Errorf("the maintenance user may alter history: %v", err)
	}
	if err := maintenance.sqlDB(t).QueryRowContext(t.Context(), "SELECT password_hash FROM users").Scan(new(string)); !denied(err) {
		t.Errorf("the maintenance user may read passwords: %v", err)
	}
}

// checkRights tries to update and to delete in every table, touching no row.
func checkRights(t *testing.T, db *sql.DB) {
	t.Helper()
	fixed := []string{"changes", "audit_checkpoints", "goose_db_version"}
	rows, err := db.QueryContext(t.Context(), "SELECT table_name, MIN(column_name) FROM information_schema.columns WHERE table_schema = DATABASE() GROUP BY table_name")
	ok(t, err)
	defer func() { ok(t, rows.Close()) }()
	columns := map[string]string{}
	for rows.Next() {
		var table, column string
		ok(t, rows.Scan(&table, &column))
		columns[table] = column
	}
	ok(t, rows.Err())
	for table, column := range columns {
		_, update := db.ExecContext(t.Context(), "UPDATE `"+table+"` SET `"+column+"` = `"+column+"` WHERE 1 = 0")
		_, remove := db.ExecContext(t.Context(), "DELETE FROM `"+table+"` WHERE 1 = 0")
		switch {
		case slices.Contains(fixed, table):
			if !denied(update) || !denied(remove) {
				t.Errorf("the serving user may change %s: %v, %v", table, update, remove)
			}
		case table == "audit_head":
			if update != nil || !denied(remove) {
				t.Errorf("audit_head: update %v, delete %v", update, remove)
			}
		case update != nil || remove != nil:
			t.Errorf("docs/security.md gives the serving user too little on %s: %v, %v", table, update, remove)
		}
	}
	if _, err := db.ExecContext(t.Context(), "TRUNCATE changes"); !denied(err) {
		t.Errorf("the serving user may empty the history: %v", err)
	}
}
