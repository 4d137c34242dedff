package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// Limits of the MySQL connection. A DSN may set shorter or longer timeouts.
const (
	dialTimeout  = 5 * time.Second
	readTimeout  = callTimeout
	maxConns     = 20
	connLifetime = 5 * time.Minute // shorter than the idle timeouts of proxies in between
)

// Numbers of MySQL's errors.
const (
	mysqlRowChanged         = 1020 // newer MariaDB: a row that was read has changed since
	mysqlDiskFull           = 1021
	mysqlTooManyConnections = 1040
	mysqlDatabaseDenied     = 1044
	mysqlAccessDenied       = 1045
	mysqlNoDatabase         = 1049
	mysqlShutdown           = 1053
	mysqlDuplicate          = 1062
	mysqlTableFull          = 1114 // InnoDB says so also when the disk is full
	mysqlTableDenied        = 1142
	mysqlColumnDenied       = 1143
	mysqlNoTable            = 1146
	mysqlLockTimeout        = 1205
	mysqlDeadlock           = 1213
	mysqlRightDenied        = 1227
	mysqlReadOnly           = 1290
	mysqlInterrupted        = 1317
	mysqlKilled             = 1927
	mysqlReadOnlyTx         = 1836
)

// CheckDSN tells what Open would find wrong with a DSN before it connects. CodeInvalid, without the password.
func CheckDSN(dsn string, secured *tls.Config) error {
	cfg, err := mysqlConfig(dsn, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return secure(cfg, secured)
}

func (s *Store) openMySQL(ctx context.Context, dsn string, secured *tls.Config) error {
	cfg, err := mysqlConfig(dsn, s.log)
	if err != nil {
		return err
	}
	if err := secure(cfg, secured); err != nil {
		return err
	}
	pool, err := mysqlPool(cfg)
	if err != nil {
		return err
	}
	s.pools = append(s.pools, pool)
	pool.SetMaxOpenConns(maxConns)
	pool.SetMaxIdleConns(maxConns)
	pool.SetConnMaxLifetime(connLifetime)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := pool.PingContext(ctx); err != nil {
		return mysqlOpenError(cfg, err)
	}
	db, err := gorm.Open(gormmysql.New(sameEverywhere(gormmysql.Config{Conn: pool, DSNConfig: cfg})), gormConfig())
	if err != nil {
		return unavailable(err)
	}
	s.writer, s.reader, s.system = db, db, "mysql"
	if err := s.traceStatements(db); err != nil {
		return err
	}
	// Each statement of a write sees what was committed before it, so that a check after a lock sees the truth; a read
	// of several statements sees one moment.
	s.writeTx = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	s.readTx = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	s.migrate = &mysqlMigrator{cfg: cfg}
	return nil
}

// sameEverywhere keeps gorm from writing other SQL for MariaDB (INSERT … RETURNING, LOCK IN SHARE MODE) than for MySQL
// (FOR SHARE, NULL for a number to be given): all get what all know, so what is tested on one is what the other is sent.
func sameEverywhere(c gormmysql.Config) gormmysql.Config {
	c.DisableWithReturning, c.DontSupportForShareClause, c.DontSupportNullAsDefaultValue = true, true, true
	return c
}

func mysqlPool(cfg *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, badDSN()
	}
	return sql.OpenDB(connector), nil
}

// mysqlConfig reads a DSN and forces what the store relies on: UTC times, 4-byte characters, strict values (too long a
// text is an error, never cut), no transaction that nobody began, matched rows counted.
func mysqlConfig(dsn string, log *slog.Logger) (*mysql.Config, error) {
	cfg, err := mysql.ParseDSN(dsn)
	// A network that the driver does not know is, more often than not, a DSN without its "@tcp".
	if err != nil || cfg.DBName == "" || cfg.Net != "tcp" && cfg.Net != "unix" {
		return nil, badDSN()
	}
	cfg.ParseTime, cfg.Loc, cfg.ClientFoundRows, cfg.InterpolateParams = true, time.UTC, true, true
	cfg.MultiStatements = false
	if err := cfg.Apply(mysql.Charset("utf8mb4", "utf8mb4_bin")); err != nil {
		return nil, badDSN()
	}
	cfg.Logger = driverLog{log}
	defaultTo(&cfg.Timeout, dialTimeout)
	defaultTo(&cfg.ReadTimeout, readTimeout)
	defaultTo(&cfg.WriteTimeout, readTimeout)
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["autocommit"] = "1"
	cfg.Params["time_zone"] = "'+00:00'"
	cfg.Params["sql_mode"] = "'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION'"
	if cfg.Params["innodb_lock_wait_timeout"] == "" {
		cfg.Params["innodb_lock_wait_timeout"] = "5" // s; well within callTimeout
	}
	return cfg, nil
}

// secure demands TLS with the given roots and certificate, unless the DSN says otherwise, which is refused.
func secure(cfg *mysql.Config, secured *tls.Config) error {
	switch {
	case secured == nil:
		return nil
	case cfg.Net != "tcp":
		return model.Errorf(model.CodeInvalid, "TLS goes over tcp(host:port), not over a socket")
	case cfg.TLSConfig != "" && cfg.TLSConfig != "true":
		return model.Errorf(model.CodeInvalid, "a CA or a certificate is set, so the connection is secured and verified: leave tls=%s out", cfg.TLSConfig)
	}
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return badDSN()
	}
	cfg.TLSConfig, cfg.TLS, cfg.AllowFallbackToPlaintext = "", secured.Clone(), false
	cfg.TLS.ServerName = host
	return nil
}

func defaultTo(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// badDSN does not carry the driver's error: it may quote a part of the password.
func badDSN() error {
	return model.Errorf(model.CodeInvalid, "the MySQL DSN can't be read: it must be user:password@tcp(host:port)/database, or @unix(socket)")
}

// mysqlOpenError says in one line what is wrong with the connection, without the password.
func mysqlOpenError(cfg *mysql.Config, err error) error {
	where := "the database server at " + cfg.Addr
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		switch refused.Number {
		case mysqlAccessDenied:
			return model.Errorf(model.CodeUnavailable, "%s refuses the user %q: check the name and the password, and whether it may come only over TLS", where, cfg.User)
		case mysqlNoDatabase:
			return model.Errorf(model.CodeUnavailable, "%s has no database %q", where, cfg.DBName)
		case mysqlDatabaseDenied:
			return model.Errorf(model.CodeUnavailable, "%s does not let the user %q use the database %q", where, cfg.User, cfg.DBName)
		}
	}
	return model.Errorf(model.CodeUnavailable, "%s can't be reached: %s", where, oneLine(err))
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// driverLog takes the driver's remarks on broken connections: the error itself is returned to the caller as well.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Print(v ...any) { l.log.Debug("mysql driver", "remark", v) }
