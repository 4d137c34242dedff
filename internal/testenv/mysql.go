package testenv

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

const mysqlMissing = "no MySQL or MariaDB for the tests: set HEADGATE_TEST_MYSQL_DSN, or run a Docker engine, or install mariadbd (Debian: apt-get install mariadb-server)"

var sharedMySQL = sync.OnceValues(findMySQL)

// MySQL returns the DSN of a fresh, empty database on a real MariaDB or MySQL server (parseTime, UTC, utf8mb4). The
// database is dropped when the test ends.
func MySQL(t testing.TB) string {
	t.Helper()
	server, err := sharedMySQL()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	db, err := sql.Open("mysql", server.FormatDSN())
	if err != nil {
		t.Fatalf("testenv: open the server: %v", err)
	}
	name := randomName("headgate_test_")
	if _, err := db.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4"); err != nil {
		t.Fatalf("testenv: create a database: %v", err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP DATABASE IF EXISTS " + name); err != nil {
			t.Logf("testenv: drop %s: %v", name, err)
		}
		_ = db.Close()
	})
	own := server.Clone()
	own.DBName = name
	return own.FormatDSN()
}

func findMySQL() (*mysql.Config, error) {
	if dsn := os.Getenv("HEADGATE_TEST_MYSQL_DSN"); dsn != "" {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, fmt.Errorf("HEADGATE_TEST_MYSQL_DSN: %w", err)
		}
		return withDefaults(cfg), nil
	}
	var failed []error
	if dockerAnswers() {
		env := map[string]string{"MARIADB_ROOT_PASSWORD": "test", "MYSQL_ROOT_PASSWORD": "test", "MARIADB_ROOT_HOST": "%", "MYSQL_ROOT_HOST": "%"}
		account := func(addr string) *mysql.Config { return mysqlConfig(addr, "root", "test") }
		addr, err := startContainer(mysqlImage, "3306/tcp", env, func(addr string) error { return pingMySQL(account(addr)) })
		if err == nil {
			return account(addr), nil
		}
		failed = append(failed, fmt.Errorf("container: %w", err))
	}
	cfg, err := startMySQL()
	if err != nil {
		return nil, errors.Join(append(failed, err)...)
	}
	return cfg, nil
}

func withDefaults(cfg *mysql.Config) *mysql.Config {
	cfg.ParseTime, cfg.Loc, cfg.DBName = true, time.UTC, ""
	return cfg
}

func mysqlConfig(addr, user, password string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd = "tcp", addr, user, password
	return withDefaults(cfg)
}

// startMySQL starts the server that the test binary shares, tuned for tests: nothing needs to survive a power cut.
func startMySQL() (*mysql.Config, error) {
	s, err := newMySQL("--innodb-flush-log-at-trx-commit=0")
	if s != nil {
		atExit(s.remove)
	}
	if err != nil {
		return nil, err
	}
	return s.cfg, nil
}

func mysqlArgs(dir, data, initFile string, port int) []string {
	args := []string{
		// A tmpdir of its own: at its start a server removes the temporary tables of others that it finds there.
		"--datadir=" + data, "--tmpdir=" + dir, "--socket=" + filepath.Join(dir, "s"), "--pid-file=" + filepath.Join(dir, "pid"),
		fmt.Sprintf("--port=%d", port), "--bind-address=127.0.0.1", "--skip-name-resolve", "--init-file=" + initFile,
		"--skip-log-bin", "--innodb-buffer-pool-size=64M", "--max-connections=500",
	}
	return append(args, asRoot()...)
}

// initMySQL makes the system tables: MariaDB by its script, MySQL by the server itself.
func initMySQL(server, data string) error {
	name, args := server, append([]string{"--no-defaults", "--initialize-insecure", "--datadir=" + data}, asRoot()...)
	if script, ok := lookPath("mariadb-install-db", "mysql_install_db"); ok && !strings.HasSuffix(server, "mysqld") {
		name, args = script, append([]string{"--no-defaults", "--datadir=" + data, "--skip-test-db", "--auth-root-authentication-method=normal"}, asRoot()...)
	}
	// A folder for temporary files of its own, as the server has it: several may be made at the same time.
	p, err := startProcessIn([]string{"TMPDIR=" + filepath.Dir(data)}, name, args...)
	if err != nil {
		return err
	}
	<-p.exited
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %s", name, p.output)
	}
	return nil
}

// asRoot says so when the tests run as root, as in a container: the server refuses that unless told.
func asRoot() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

func pingMySQL(cfg *mysql.Config) error {
	cfg = cfg.Clone()
	cfg.Logger = &mysql.NopLogger{} // a server that is starting is nothing to write about
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	return db.Ping()
}
