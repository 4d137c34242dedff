// Package store owns the database: MySQL 8 or MariaDB 10.6+ in production, SQLite for the embedded evaluation. Each
// write saves its rows, its change row and its outbox mark in one transaction, with one time for all of them.
//
// Every error is a *model.Error: CodeUnavailable when the database does not answer (the next call may succeed),
// CodeInternal for a fault of ours, and the codes that the methods name.
package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Config says which database to open. Exactly one of MySQLDSN and SQLitePath is set.
type Config struct {
	MySQLDSN   string // go-sql-driver form, user:password@tcp(host:port)/name; time zone and charset are forced
	SQLitePath string // a file, made when missing; its folder must exist

	RotationGrace time.Duration    // how long a replaced refresh token counts as another tab's, not as reused; 0 = 10 s, < 0 = none
	Now           func() time.Time // nil = time.Now
	Log           *slog.Logger     // nil = slog.Default
}

// Store is safe for concurrent use.
type Store struct{}

// Open connects and pings; it makes no tables. CodeInvalid for a DSN that can't be read, CodeUnavailable when the
// database can't be reached; the error is one line without the password.
func Open(ctx context.Context, c Config) (*Store, error) { return nil, errNotYet }

// Migrate brings the schema to the present version and makes the deployment's id, under a lock: of several servers
// that start together one migrates and the others wait.
func (s *Store) Migrate(ctx context.Context) error { return errNotYet }

// Ping asks the database for a sign of life. CodeUnavailable.
func (s *Store) Ping(ctx context.Context) error { return errNotYet }

// Close ends the connections.
func (s *Store) Close() error { return errNotYet }

var errNotYet = model.Errorf(model.CodeInternal, "this is not there yet")
