package faults_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

// fullable is a database server whose room can be used up: on a small disk, or, where none may be mounted, by a bound on its
// one data file, of which InnoDB says the same. To raise that takes a restart.
func fullable(t *testing.T) (database *testenv.MySQLServer, fill func() (free func())) {
	t.Helper()
	if disk := newDisk(t, 200); disk.small {
		return testenv.OwnMySQLIn(t, disk.dir), func() (free func()) { return disk.fill(t, 0) }
	}
	megabytes := 32
	bound := func() string {
		return fmt.Sprintf("--innodb-data-file-path=ibdata1:12M:autoextend:max:%dM", megabytes)
	}
	database = testenv.OwnMySQLIn(t, "", "--innodb-file-per-table=0", "--innodb-autoextend-increment=1", bound())
	db, err := sql.Open("mysql", database.Database(t))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE ballast (body LONGTEXT NOT NULL)")
	must(t, err)
	return database, func() (free func()) {
		fillTable(t, db)
		return func() {
			database.Stop()
			megabytes += 16
			database.Start(t, bound())
		}
	}
}

// fillTable writes into a table until no row fits any more, large ones first.
func fillTable(t *testing.T, db *sql.DB) {
	t.Helper()
	for size := 1 << 20; size > 100; size /= 4 {
		for err := error(nil); err == nil; {
			_, err = db.ExecContext(t.Context(), "INSERT INTO ballast VALUES (?)", strings.Repeat("x", size))
		}
	}
}

// The disk of a database server is full: who saves is told so and what to do, as with the embedded database, and once there
// is room again the admin servers go on without a restart.
func TestFullDiskOfTheDatabaseServerRefusesSavesSaysWhyAndLosesNone(t *testing.T) {
	t.Parallel()
	database, fill := fullable(t)
	redis := testenv.OwnRedis(t)
	w := newWorld(t, onRedis(t, database.Database(t), redis.Addr, redis.Addr).calm(), 1)
	w.isFull(fill)
}
