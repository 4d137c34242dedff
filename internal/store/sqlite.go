package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// sqlitePragmas: wait up to 8 s for another process' write, and check references.
const sqlitePragmas = "_pragma=busy_timeout(8000)&_pragma=foreign_keys(1)"

const sqliteReaders = 8

// Result codes of SQLite; the low byte of an extended code is the primary one.
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteNoMemory   = 7
	sqliteReadOnly   = 8
	sqliteInterrupt  = 9
	sqliteIOError    = 10
	sqliteFull       = 13
	sqliteCantOpen   = 14
	sqliteIOWrite    = 778 // of the I/O errors
	sqlitePrimaryKey = 1555
	sqliteUnique     = 2067
)

// openSQLite opens one connection for writes and a few for reads. SQLite has one writer at a time: within this process
// writes queue for that connection, and against other processes BEGIN IMMEDIATE waits its turn, so that no transaction
// has to turn from a reader into a writer, which would fail at once with "database is locked".
func (s *Store) openSQLite(ctx context.Context, path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return sqliteOpenError(path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	unlock, err := lockSQLite(ctx, absolute)
	if err != nil {
		return sqliteOpenError(path, err)
	}
	defer unlock()
	if err := makePrivate(absolute); err != nil {
		return sqliteOpenError(path, err)
	}
	s.writer, err = s.sqlitePool(ctx, absolute, 1, "_txlock=immediate")
	if err == nil {
		// The mode is kept in the file. Changing it needs the file for itself, hence under the lock.
		err = s.writer.WithContext(ctx).Exec("PRAGMA journal_mode = WAL").Error
	}
	if err == nil {
		s.reader, err = s.sqlitePool(ctx, absolute, sqliteReaders, "_pragma=query_only(1)")
	}
	if err != nil {
		return sqliteOpenError(path, err)
	}
	s.system = "sqlite"
	if err := errors.Join(s.traceStatements(s.writer), s.traceStatements(s.reader)); err != nil {
		return err
	}
	s.readTx = &sql.TxOptions{ReadOnly: true}
	s.migrate = &sqliteMigrator{path: absolute}
	return nil
}

// makePrivate makes a missing database file for this system user alone: it holds password hashes. SQLite gives its
// journal files the same mode.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func (s *Store) sqlitePool(ctx context.Context, path string, conns int, option string) (*gorm.DB, error) {
	pool, err := sql.Open(sqlite.DriverName, sqliteDSN(path, option))
	if err != nil {
		return nil, err
	}
	s.pools = append(s.pools, pool)
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	if err := pool.PingContext(ctx); err != nil {
		return nil, err
	}
	return gorm.Open(sqlite.Dialector{Conn: pool}, gormConfig())
}

func sqliteDSN(path, option string) string {
	file := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return file.String() + "?" + sqlitePragmas + "&" + option
}

// lockSQLite takes the lock of a database file across processes: an exclusive transaction on a small file beside it,
// which the system releases even when the process dies.
func lockSQLite(ctx context.Context, path string) (unlock func(), err error) {
	pool, err := sql.Open(sqlite.DriverName, sqliteDSN(path+".lock", "_txlock=exclusive"))
	if err != nil {
		return nil, err
	}
	for {
		tx, err := pool.BeginTx(ctx, nil)
		if err == nil {
			return func() { _ = tx.Rollback(); _ = pool.Close() }, nil
		}
		if !isBusy(err) || sleep(ctx, 50*time.Millisecond) != nil {
			_ = pool.Close()
			return nil, err
		}
	}
}

func sqliteOpenError(path string, err error) error {
	return model.Errorf(model.CodeUnavailable, "the database file %s can't be opened: %s", path, oneLine(err))
}
