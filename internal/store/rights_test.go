package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// poorUser makes a user of a migrated database that may read it and add to it and nothing else.
func poorUser(t *testing.T) (root database, cfg *mysql.Config) {
	t.Helper()
	dsn := testenv.MySQL(t)
	root = database{"mysql", store.Config{MySQLDSN: dsn}}
	people(t, root.migrated(t), "alice")
	cfg, err := mysql.ParseDSN(dsn)
	ok(t, err)
	name := "poor-" + cfg.DBName
	root.exec(t, "CREATE USER '"+name+"'@'%' IDENTIFIED BY 'test'")
	db := root.sqlDB(t)
	t.Cleanup(func() {
		_, err := db.Exec("DROP USER '" + name + "'@'%'")
		ok(t, err)
	})
	root.exec(t, "GRANT SELECT, INSERT ON "+cfg.DBName+".* TO '"+name+"'@'%'")
	cfg.User, cfg.Passwd = name, "test"
	return root, cfg
}

func wantToldWhy(t *testing.T, err error, words string) {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Code != model.CodeUnavailable || !strings.Contains(e.Message, words) || e.RetryAfter <= 0 {
		t.Errorf("%v does not tell of %q", err, words)
	}
	if e != nil && strings.Contains(e.Message, "audit_head") {
		t.Errorf("people are told of the inside: %s", e.Message)
	}
}

// A right that the database user lacks is said to be that, with where the rights stand, and not to be a fault of ours.
// What needs it works again as soon as it is granted.
func TestRightThatTheDatabaseUserLacksIsSaid(t *testing.T) {
	root, cfg := poorUser(t)
	s := database{"mysql", store.Config{MySQLDSN: cfg.FormatDSN()}}.open(t)
	_, err := s.CreateBucket(t.Context(), "b", definition("alice"), byAlice)
	wantToldWhy(t, err, "lacks a right")
	wantToldWhy(t, err, "docs/security.md")
	if !denied(err) {
		t.Errorf("the log is not told which right: %v", err)
	}
	must(s.User(t.Context(), "alice"))(t)
	ok(t, s.Ping(t.Context()))
	for _, table := range []string{"audit_head", "buckets", "bucket_apps", "bucket_owners", "bucket_labels", "outbox"} {
		root.exec(t, "GRANT UPDATE, DELETE ON "+cfg.DBName+"."+table+" TO '"+cfg.User+"'@'%'")
	}
	bucket(t, s, "b", definition("alice"))
}

// A schema that the serving user can't change is said to be for another user to change.
func TestMigrationByAUserWithoutTheRightSaysWhoIsToDoIt(t *testing.T) {
	root, cfg := poorUser(t)
	root.exec(t, "DELETE FROM goose_db_version WHERE version_id = 11")
	s := database{"mysql", store.Config{MySQLDSN: cfg.FormatDSN()}}.open(t)
	wantToldWhy(t, s.Migrate(t.Context()), `run "admin migrate"`)
}

// A password that was changed under a running server is said to be that by every call, and by the sign of life.
func TestRefusedPasswordIsSaid(t *testing.T) {
	root, cfg := poorUser(t)
	s := database{"mysql", store.Config{MySQLDSN: cfg.FormatDSN()}}.open(t)
	ok(t, s.Ping(t.Context()))
	root.exec(t, "ALTER USER '"+cfg.User+"'@'%' IDENTIFIED BY 'another'")
	endConnections(t, root, cfg.User)
	testenv.Eventually(t, 10*time.Second, "the connections are gone", func() bool { return s.Ping(t.Context()) != nil })
	wantToldWhy(t, s.Ping(t.Context()), "refuses the server's user")
	_, err := s.User(t.Context(), "alice")
	wantToldWhy(t, err, "refuses the server's user")
}

func endConnections(t *testing.T, root database, user string) {
	t.Helper()
	db := root.sqlDB(t)
	rows, err := db.QueryContext(t.Context(), "SELECT id FROM information_schema.processlist WHERE user = ?", user)
	ok(t, err)
	defer func() { ok(t, rows.Close()) }()
	var ids []int64
	for rows.Next() {
		var id int64
		ok(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	ok(t, rows.Err())
	for _, id := range ids {
		_, err := db.ExecContext(t.Context(), fmt.Sprint("KILL ", id))
		ok(t, err)
	}
}

// What the user of a server lacks is named, on each table, without anything being changed; the users that are documented
// lack nothing.
func TestMissingRightsAreNamed(t *testing.T) {
	root, cfg := poorUser(t)
	root.exec(t, "GRANT UPDATE, DELETE ON "+cfg.DBName+".buckets TO '"+cfg.User+"'@'%'")
	poor := database{"mysql", store.Config{MySQLDSN: cfg.FormatDSN()}}.open(t)
	missing := must(poor.MissingRights(t.Context()))(t)
	for _, want := range []string{"UPDATE on audit_head", "UPDATE on outbox", "DELETE on outbox", "DELETE on sessions"} {
		if !slices.Contains(missing, want) {
			t.Errorf("%q is not among %q", want, missing)
		}
	}
	for _, granted := range []string{"UPDATE on buckets", "DELETE on buckets", "INSERT on outbox", "UPDATE on changes", "DELETE on audit_head"} {
		if slices.Contains(missing, granted) {
			t.Errorf("%q is missing for nobody", granted)
		}
	}
	serving := database{"mysql", store.Config{MySQLDSN: documentedUser(t, root.config.MySQLDSN, "sql-serving")}}.open(t)
	if missing := must(serving.MissingRights(t.Context()))(t); len(missing) > 0 {
		t.Errorf("the documented user lacks %q", missing)
	}
	must(root.open(t).User(t.Context(), "alice"))(t)

	onBoth(t, func(t *testing.T, d database) {
		if missing := must(d.migrated(t).MissingRights(t.Context()))(t); len(missing) > 0 {
			t.Errorf("the owner lacks %q", missing)
		}
	})
}
