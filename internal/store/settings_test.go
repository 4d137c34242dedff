package store_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// serverSettings are settings of a whole database server, such as its administrator may have chosen.
type serverSettings struct {
	name, mode, charset, zone, isolation string
	autocommit                           string
}

var settingsOfServers = []serverSettings{
	{"as MySQL 8 comes", "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", "utf8mb4", "SYSTEM", "REPEATABLE READ", "1"},
	{"as MariaDB 10 comes, in Latin letters", "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", "latin1", "+05:45", "READ COMMITTED", "1"},
	{"ANSI, and everything serial", "ANSI,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES", "latin1", "-11:00", "SERIALIZABLE", "1"},
	{"lenient and by hand", "", "ascii", "+13:00", "READ UNCOMMITTED", "0"},
}

// What is set at the database server, sql_mode, character set, time zone, isolation and autocommit, changes nothing of
// what is kept: texts, names, times, order, and that no editor overwrites another.
func TestSettingsOfTheDatabaseServerDoNotMatter(t *testing.T) {
	server := testenv.OwnMySQLWith(t)
	for _, c := range settingsOfServers {
		t.Run(c.name, func(t *testing.T) {
			dsn := databaseUnder(t, server.Database(t), c)
			clk := newClock()
			d := database{"mysql", store.Config{MySQLDSN: portable(t, dsn), Now: clk.Now}}
			servers := []*store.Store{d.migrated(t), d.open(t)}
			textsAndNamesAreKept(t, servers)
			rowsArePlain(t, dsn)
			editorsLoseNothing(t, servers)
			wantVerified(t, servers[1])
		})
	}
}

// databaseUnder gives the server other settings and returns an empty database that was made under them.
func databaseUnder(t *testing.T, dsn string, c serverSettings) string {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	ok(t, err)
	defer func() { _ = db.Close() }()
	cfg, err := mysql.ParseDSN(dsn)
	ok(t, err)
	name := cfg.DBName + "_bare"
	for _, statement := range []string{
		"SET GLOBAL sql_mode = '" + c.mode + "'", "SET GLOBAL character_set_server = " + c.charset, "SET GLOBAL time_zone = '" + c.zone + "'",
		"SET GLOBAL TRANSACTION ISOLATION LEVEL " + c.isolation, "SET GLOBAL autocommit = " + c.autocommit,
		"CREATE DATABASE " + name + " CHARACTER SET " + c.charset,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		ok(t, err)
	}
	cfg.DBName = name
	return cfg.FormatDSN()
}

// fourByteText has what a narrow character set or collation would lose or take for the same.
const fourByteText = "a á A Å ß ss 🦀 𝒳 日本語 'quoted' \"doubly\" \\ back ` %_ \u200d"

func textsAndNamesAreKept(t *testing.T, servers []*store.Store) {
	t.Helper()
	s := servers[0]
	for _, name := range []string{"alice", "alice2"} {
		must(s.CreateUser(t.Context(), model.User{Name: name, DisplayName: fourByteText, Role: model.RoleMember, PasswordHash: "hash"}, byAlice))(t)
	}
	apps(t, s, "pay", "Pay", "PAY")
	names := []string{"b", "B", "a", "a-B", "a-b", "Z"}
	for _, name := range names {
		d := definition("alice", "pay", "PAY")
		d.Description = fourByteText + name
		bucket(t, s, name, d)
	}
	for _, name := range names {
		b := must(servers[1].Bucket(t.Context(), name))(t)
		if b.Name != name || b.Description != fourByteText+name || !slices.Equal(b.Apps, []string{"PAY", "pay"}) {
			t.Errorf("%s came back as %s with %q, apps %v", name, b.Name, b.Description, b.Apps)
		}
	}
	if got := must(servers[1].User(t.Context(), "alice"))(t).DisplayName; got != fourByteText {
		t.Errorf("the display name came back as %q", got)
	}
	slices.SortFunc(names, cmp.Compare)
	page := must(servers[1].Buckets(t.Context(), model.BucketQuery{}))(t)
	if got := bucketNames(page.Items); !slices.Equal(got, names) {
		t.Errorf("the list is in the order %v, want that of the bytes, %v", got, names)
	}
}

// rowsArePlain looks past the store at what was written: times of UTC, also for a session in the server's own time zone,
// and texts in UTF-8, not in what another character set made of it and would take back.
func rowsArePlain(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	ok(t, err)
	defer func() { _ = db.Close() }()
	var at, text string
	ok(t, db.QueryRowContext(t.Context(), "SELECT CAST(updated_at AS CHAR), HEX(description) FROM buckets WHERE name = 'b'").Scan(&at, &text))
	if at != "2026-03-01 12:00:00.123456" {
		t.Errorf("the time is kept as %s, want that of UTC", at)
	}
	if want := fmt.Sprintf("%X", fourByteText+"b"); text != want {
		t.Errorf("the text is kept as %s, want its UTF-8, %s", text, want)
	}
}

func editorsLoseNothing(t *testing.T, servers []*store.Store) {
	t.Helper()
	names := numbered("app", 12)
	apps(t, servers[0], names...)
	b := must(servers[0].Bucket(t.Context(), "b"))(t)
	for _, err := range together(len(names), func(i int) error { return addApp(t, servers[i%2], names[i]) }) {
		ok(t, err)
	}
	got := must(servers[1].Bucket(t.Context(), "b"))(t)
	if want := slices.Concat([]string{"PAY"}, names, []string{"pay"}); !slices.Equal(got.Apps, want) || got.Revision != b.Revision+int64(len(names)) {
		t.Errorf("revision %d with apps %v, want %d with %v", got.Revision, got.Apps, b.Revision+int64(len(names)), want)
	}
	var won int
	for _, err := range together(8, func(i int) error {
		_, err := servers[i%2].CreateBucket(t.Context(), "once", definition("alice"), byAlice)
		return err
	}) {
		if err == nil {
			won++
		} else {
			wantCode(t, err, model.CodeTaken)
		}
	}
	if won != 1 {
		t.Errorf("%d creates of one name went through, want 1", won)
	}
	checkChain(t, servers[0], "b")
}
