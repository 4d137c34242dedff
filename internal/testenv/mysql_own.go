package testenv

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// MySQLServer is a database server of one test's own, to be killed and started again. It needs the binary of the
// distribution.
type MySQLServer struct {
	dir     string
	program string
	args    []string
	cfg     *mysql.Config
	process *process
}

// OwnMySQL starts a MariaDB or MySQL for this test alone, on a free loopback port. What it has committed survives Stop.
func OwnMySQL(t testing.TB) *MySQLServer {
	t.Helper()
	return OwnMySQLIn(t, "")
}

// OwnMySQLIn is OwnMySQL with its data in a folder, such as one on a small disk: about 130 MB at the start.
func OwnMySQLIn(t testing.TB, folder string, args ...string) *MySQLServer {
	t.Helper()
	s, err := newMySQLIn(folder, append([]string{"--innodb-flush-log-at-trx-commit=1"}, args...)...)
	if s != nil {
		t.Cleanup(s.remove)
	}
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return s
}

// Database makes an empty database and returns its DSN.
func (s *MySQLServer) Database(t testing.TB) string {
	t.Helper()
	db, err := sql.Open("mysql", s.cfg.FormatDSN())
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	defer func() { _ = db.Close() }()
	own := s.cfg.Clone()
	own.DBName = randomName("headgate_test_")
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+own.DBName+" CHARACTER SET utf8mb4"); err != nil {
		t.Fatalf("testenv: create a database: %v", err)
	}
	return own.FormatDSN()
}

// Stop kills the server with SIGKILL, as a crash would.
func (s *MySQLServer) Stop() { s.process.kill() }

// Start starts the server again on the same port and data, with further arguments from now on.
func (s *MySQLServer) Start(t testing.TB, more ...string) {
	t.Helper()
	s.args = append(s.args, more...)
	if err := s.start(); err != nil {
		t.Fatalf("testenv: start the database server again: %v", err)
	}
}

// newMySQL makes a data folder in a temporary place and starts the distribution's server on it. Whatever the error, what
// it returns is to be removed.
func newMySQL(args ...string) (*MySQLServer, error) { return newMySQLIn("", args...) }

// newMySQLIn is newMySQL in a folder; "" is the usual one for temporary files.
func newMySQLIn(folder string, args ...string) (*MySQLServer, error) {
	program, ok := lookPath("mariadbd", "mysqld")
	if !ok {
		return nil, errors.New(mysqlMissing)
	}
	dir, err := os.MkdirTemp(folder, "headgate-mysql-")
	if err != nil {
		return nil, err
	}
	s := &MySQLServer{dir: dir, program: program}
	data := filepath.Join(dir, "data")
	if err := initMySQL(program, data); err != nil {
		return s, err
	}
	// The server reads one statement a line.
	const account = "CREATE USER IF NOT EXISTS 'headgate'@'127.0.0.1' IDENTIFIED BY 'test';\nGRANT ALL ON *.* TO 'headgate'@'127.0.0.1' WITH GRANT OPTION;\n"
	initFile := filepath.Join(dir, "init.sql")
	if err := os.WriteFile(initFile, []byte(account), 0o600); err != nil {
		return s, err
	}
	port, err := FreePort()
	if err != nil {
		return s, err
	}
	s.args = append(append([]string{"--no-defaults"}, mysqlArgs(dir, data, initFile, port)...), args...)
	s.cfg = mysqlConfig(fmt.Sprintf("127.0.0.1:%d", port), "headgate", "test")
	return s, s.start()
}

func (s *MySQLServer) start() (err error) {
	if s.process, err = startProcess(s.program, s.args...); err != nil {
		return err
	}
	return s.process.waitReady(time.Minute, func() error { return pingMySQL(s.cfg) })
}

func (s *MySQLServer) remove() {
	if s.process != nil {
		s.process.kill()
	}
	_ = os.RemoveAll(s.dir)
}
