package store_test

import (
	"database/sql"
	"io/fs"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/migrations"
)

// migratedTo brings an empty database to an early version, as an installation of that time left it.
func (d database) migratedTo(t testing.TB, version int64) *sql.DB {
	t.Helper()
	db := d.sqlDB(t)
	dialect := map[string]goose.Dialect{"mysql": goose.DialectMySQL, "sqlite": goose.DialectSQLite3}[d.name]
	files := must(fs.Sub(migrations.Files, d.name))(t)
	provider := must(goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true)))(t)
	must(provider.UpTo(t.Context(), version))(t)
	return db
}

const oldRow = `INSERT INTO changes (at, actor, action, target_kind, target, revision, reason, address, request_id)
	VALUES ('2025-01-01 00:00:00', 'old', 'login', 'user', 'old', 0, '', '', '')`

// Rows from before the chain stay, are told apart, and the chain begins behind them. On MySQL a migration that was
// broken off after some of its statements is made good by the next one.
func TestChainBeginsBehindTheRowsOfEarlierVersions(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		db := d.migratedTo(t, 1)
		for range 3 {
			_, err := db.ExecContext(t.Context(), oldRow)
			ok(t, err)
		}
		if d.name == "mysql" {
			d.migratedTo(t, 2)
			_, err := db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id = 2")
			ok(t, err)
		}
		s := d.migrated(t)
		if r := wantVerified(t, s); r.Unchained != 3 || r.Last != 0 {
			t.Errorf("report %+v", r)
		}
		logins(t, s, 2)
		r := wantVerified(t, s)
		if head := must(s.AuditHead(t.Context()))(t); r.Unchained != 3 || r.First != 4 || r.Last != 5 || head.First != 4 {
			t.Errorf("report %+v, head %+v", r, head)
		}
		// A server of the earlier version can't add a row that is not in the chain.
		if _, err := db.ExecContext(t.Context(), oldRow); d.name == "mysql" && err == nil {
			t.Error("a row was added past the chain")
		}
		d.unguarded(t)
		d.exec(t, "UPDATE changes SET prev_hash = NULL, hash = NULL WHERE id = 4")
		wantFault(t, verified(t, s), audit.Altered, 4)
	})
}
