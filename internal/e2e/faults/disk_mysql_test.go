package faults_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

// fullable is a database server whose room can be used up: on a small disk, or, where none may be mounted, by a bound on its
// one data file, of which InnoDB says the same.
func fullable(t *testing.T) (database *testenv.MySQLServer, fill func() (free func())) {
	t.Helper()
	if disk := newDisk(t, 200); disk.small {
		return testenv.OwnMySQLIn(t, disk.dir), func() (free func()) { return disk.fill(t, 0) }
	}
	database = testenv.OwnMySQLIn(t, "", "--innodb-file-per-table=0", "--innodb-data-file-path=ibdata1:12M:autoextend:max:40M", "--innodb-autoextend-increment=1")
	db, err := sql.Open("mysql", database.Database(t))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return database, func() (free func()) { return fillTable(t, db) }
}

// fillTable writes into a table until no row fits any more, large ones first.
func fillTable(t *testing.T, db *sql.DB) (free func()) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), "CREATE TABLE ballast (body LONGTEXT NOT NULL)")
	must(t, err)
	for size := 1 << 20; size > 100; size /= 4 {
		for err = nil; err == nil; {
			_, err = db.ExecContext(t.Context(), "INSERT INTO ballast VALUES (?)", strings.Repeat("x", size))
		}
	}
	return func() {
		_, err := db.ExecContext(t.Context(), "DROP TABLE ballast")
		must(t, err)
	}
}

// The disk of a database server is full: who saves is told so and what to do, as with the embedded database, and once there
// is room again servers go on without a restart of anything.
func TestFullDiskOfTheDatabaseServerRefusesSavesSaysWhyAndLosesNone(t *testing.T) {
	t.Parallel()
	database, fill := fullable(t)
	redis := testenv.OwnRedis(t)
	w := newWorld(t, onRedis(t, database.Database(t), redis.Addr, redis.Addr).calm(), 1)
	w.isFull(fill)
}
