package store_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// oldestSupported is the migration that servers of the oldest supported version end at; migrations/expand_test.go has it too.
const oldestSupported = 9

// column is what a statement of a server can meet in a column.
type column struct {
	kind     string // "bigint", "varchar(64)"
	nullable bool
	filled   bool // the database fills it when an INSERT leaves it out
}

// schema is a database's columns by "table.column", and what its tables demand of rows.
type schema struct {
	columns map[string]column
	demands map[string]bool // unique keys, foreign keys, triggers
}

// displayWidth is what MariaDB adds to the integers, and MySQL 8 does not.
var displayWidth = regexp.MustCompile(`^((?:big|medium|small)?int)\(\d+\)`)

func readSchema(t *testing.T, db *sql.DB) schema {
	t.Helper()
	s := schema{columns: map[string]column{}, demands: map[string]bool{}}
	each(t, db, `SELECT table_name, column_name, column_type, CONCAT(is_nullable = 'YES', column_default IS NOT NULL OR extra LIKE '%auto_increment%')
		FROM information_schema.columns WHERE table_schema = DATABASE()`, func(c [4]string) {
		s.columns[c[0]+"."+c[1]] = column{displayWidth.ReplaceAllString(c[2], "$1"), c[3][0] == '1', c[3] != "00"}
	})
	each(t, db, `SELECT table_name, constraint_type, constraint_name, '' FROM information_schema.table_constraints WHERE table_schema = DATABASE()`,
		func(c [4]string) { s.demands[strings.Join(c[:3], " ")] = true })
	each(t, db, `SELECT event_object_table, 'TRIGGER', trigger_name, '' FROM information_schema.triggers WHERE trigger_schema = DATABASE()`,
		func(c [4]string) { s.demands[strings.Join(c[:3], " ")] = true })
	return s
}

func each(t *testing.T, db *sql.DB, query string, found func([4]string)) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	ok(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c [4]string
		ok(t, rows.Scan(&c[0], &c[1], &c[2], &c[3]))
		found(c)
	}
	ok(t, rows.Err())
}

// breaks lists what a server of the older schema can't do on the newer one.
func (older schema) breaks(newer schema) (faults []string) {
	tables := map[string]bool{}
	for name, was := range older.columns {
		table, _, _ := strings.Cut(name, ".")
		tables[table] = true
		if is, there := newer.columns[name]; !there {
			faults = append(faults, name+" is gone")
		} else if is != was {
			faults = append(faults, fmt.Sprintf("%s was %+v and is %+v", name, was, is))
		}
	}
	for name, is := range newer.columns {
		table, _, _ := strings.Cut(name, ".")
		if _, was := older.columns[name]; !was && tables[table] && !is.filled {
			faults = append(faults, name+" is filled by nobody")
		}
	}
	for demand := range newer.demands {
		table, _, _ := strings.Cut(demand, " ")
		if tables[table] && !older.demands[demand] {
			faults = append(faults, "a demand that was not there: "+demand)
		}
	}
	return faults
}

// What a server of the oldest supported version reads and writes, it still can on the present schema: each column is there
// and as it was, what came to its tables fills itself, and no table demands more of a row.
func TestOldestSupportedServerCanUseThePresentSchema(t *testing.T) {
	d := database{"mysql", store.Config{MySQLDSN: testenv.MySQL(t)}}
	db := d.migratedTo(t, oldestSupported)
	older := readSchema(t, db)
	if len(older.columns) < 150 || len(older.demands) < 30 {
		t.Fatalf("%d columns and %d demands were read", len(older.columns), len(older.demands))
	}
	d.migrated(t)
	for _, fault := range older.breaks(readSchema(t, db)) {
		t.Error(fault)
	}
	for statement, seen := range map[string]string{
		"ALTER TABLE buckets MODIFY description VARCHAR(10) NOT NULL":         "buckets.description was",
		"ALTER TABLE buckets DROP COLUMN max_wait_ms":                         "buckets.max_wait_ms is gone",
		"ALTER TABLE users ADD COLUMN later INT NOT NULL":                     "users.later is filled by nobody",
		"ALTER TABLE users ADD UNIQUE KEY users_display (display_name, name)": "a demand that was not there: users UNIQUE users_display",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		ok(t, err)
		if faults := strings.Join(older.breaks(readSchema(t, db)), "\n"); !strings.Contains(faults, seen) {
			t.Errorf("%s: seen is only\n%s", statement, faults)
		}
	}
}
