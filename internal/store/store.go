// Package store owns the database: MySQL 8 or MariaDB 10.6+ in production, SQLite for the embedded evaluation. Each
// write saves its rows, its change row and its outbox mark in one transaction, with one time for all of them.
//
// Every error is a *model.Error: CodeUnavailable when the database does not answer (the next call may succeed),
// CodeInternal for a fault of ours, and the codes that the methods name.
package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/headgate/headgate/internal/model"
)

// Config says which database to open. Exactly one of MySQLDSN and SQLitePath is set.
type Config struct {
	MySQLDSN   string      // go-sql-driver form, user:password@tcp(host:port)/name; time zone and charset are forced
	MySQLTLS   *tls.Config // roots and our certificate; TLS and a verified server are demanded then. nil = as the DSN says
	SQLitePath string      // a file, made when missing; its folder must exist

	// SearchBytes bounds the texts of buckets in memory, in which searches look; 0 = 64 MB. What is beyond it is found all
	// the same, but slower.
	SearchBytes int

	RotationGrace time.Duration    // how long a replaced refresh token counts as another tab's, not as reused; 0 = 10 s, < 0 = none
	Now           func() time.Time // nil = time.Now
	Log           *slog.Logger     // nil = slog.Default
	Trace         Trace            // nil = nothing is traced, at no cost
}

// Bounds of one call.
const (
	// callTimeout bounds each call, waits for locks and for a free connection included.
	callTimeout = 10 * time.Second
	// defaultGrace is a slow page load: two tabs that wake together refresh within it.
	defaultGrace = 10 * time.Second
)

// Store is safe for concurrent use.
type Store struct {
	writer  *gorm.DB // the only handle that changes anything
	reader  *gorm.DB // the same as writer on MySQL
	writeTx *sql.TxOptions
	readTx  *sql.TxOptions
	pools   []*sql.DB
	migrate migrator
	catalog *catalog

	grace  time.Duration
	now    func() time.Time
	log    *slog.Logger
	trace  Trace
	system string // kind of database, as traces name it
}

// Open connects and pings; it makes no tables. CodeInvalid for a DSN that can't be read, CodeUnavailable when the
// database can't be reached; the error is one line without the password.
func Open(ctx context.Context, c Config) (*Store, error) {
	s := &Store{grace: c.RotationGrace, now: c.Now, log: c.Log, trace: c.Trace, catalog: newCatalog(c.SearchBytes)}
	if s.grace == 0 {
		s.grace = defaultGrace
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	var err error
	switch {
	case (c.MySQLDSN == "") == (c.SQLitePath == ""):
		err = model.Errorf(model.CodeInvalid, "give either a MySQL DSN or a SQLite file, not both and not neither")
	case c.MySQLDSN != "":
		err = s.openMySQL(ctx, c.MySQLDSN, c.MySQLTLS)
	default:
		err = s.openSQLite(ctx, c.SQLitePath)
	}
	if err != nil {
		if closing := s.Close(); closing != nil {
			s.log.Debug("close after a failed open", "error", closing)
		}
		return nil, err
	}
	return s, nil
}

// Ping asks the database for a sign of life. CodeUnavailable.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for _, pool := range s.pools {
		if err := pool.PingContext(ctx); err != nil {
			if told := translate(err); model.CodeOf(told) != model.CodeInternal {
				return told
			}
			return unavailable(err)
		}
	}
	return nil
}

// Close ends the connections.
func (s *Store) Close() error {
	var failed []error
	for _, pool := range s.pools {
		failed = append(failed, pool.Close())
	}
	return errors.Join(failed...)
}

// gormConfig: no transaction of gorm's own (each write has ours), and no log of its own (errors are returned).
func gormConfig() *gorm.Config {
	return &gorm.Config{SkipDefaultTransaction: true, Logger: logger.Discard}
}
