package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"io/fs"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/migrations"
)

// migrateTimeout bounds the wait for another server's migration and one's own together.
const migrateTimeout = 10 * time.Minute

// lockWait is how long one question for MySQL's lock waits, in seconds; it is asked again until the context ends.
const lockWait = 5

// migrator opens a connection of its own for migrations, which may take longer than a call may, and locks the database
// against other migrators.
type migrator interface {
	open() (*sql.DB, error)
	lock(ctx context.Context, db *sql.DB) (unlock func(), err error)
	dialect() (name goose.Dialect, folder string)
}

// Migrate brings the schema to the present version and makes the deployment's id, under a lock: of several servers
// that start together one migrates and the others wait.
func (s *Store) Migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	if err := s.migrateLocked(ctx); err != nil {
		if LacksRight(err) {
			return denied(`the database's schema can't be brought up to date by this user: run "admin migrate" as one that may change it, see docs/security.md`, err)
		}
		return &model.Error{Code: model.CodeOf(translate(err)), Message: "the database's schema can't be brought up to date", Cause: err}
	}
	return nil
}

func (s *Store) migrateLocked(ctx context.Context) error {
	db, err := s.migrate.open()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	unlock, err := s.migrate.lock(ctx, db)
	if err != nil {
		return err
	}
	defer unlock()
	dialect, folder := s.migrate.dialect()
	files, err := fs.Sub(migrations.Files, folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	done, err := provider.Up(ctx)
	if err != nil {
		return err
	}
	if len(done) > 0 {
		s.log.Info("database migrated", "steps", len(done), "version", done[len(done)-1].Source.Version)
	}
	return s.prepareMeta(ctx)
}

type mysqlMigrator struct{ cfg *mysql.Config }

func (m *mysqlMigrator) open() (*sql.DB, error) {
	cfg := m.cfg.Clone()
	cfg.ReadTimeout = 0 // an ALTER of a large table takes its time
	return mysqlPool(cfg)
}

func (m *mysqlMigrator) dialect() (name goose.Dialect, folder string) {
	return goose.DialectMySQL, "mysql"
}

// lock holds MySQL's named lock on a connection of its own: it ends with the connection, even if this process dies.
// The name carries the database, because such locks are the whole server's.
func (m *mysqlMigrator) lock(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(m.cfg.DBName))
	name := "headgate.migrate." + hex.EncodeToString(sum[:16])
	for {
		var got sql.NullInt64
		if err = conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, lockWait).Scan(&got); err != nil {
			_ = conn.Close()
			return nil, err
		}
		if got.Int64 == 1 {
			break
		}
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(?)", name)
		_ = conn.Close()
	}, nil
}

type sqliteMigrator struct{ path string }

func (m *sqliteMigrator) open() (*sql.DB, error) {
	return sql.Open(sqlite.DriverName, sqliteDSN(m.path, "_txlock=immediate"))
}

func (m *sqliteMigrator) dialect() (name goose.Dialect, folder string) {
	return goose.DialectSQLite3, "sqlite"
}

func (m *sqliteMigrator) lock(ctx context.Context, _ *sql.DB) (unlock func(), err error) {
	return lockSQLite(ctx, m.path)
}
