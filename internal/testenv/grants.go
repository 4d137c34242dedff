package testenv

import (
	"crypto/rand"
	"database/sql"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// DocumentedUser creates the database user whose statements stand in a document in the block ```BLOCK, under a name of
// the test's own and for the one database of the DSN, and returns the DSN of that user. It is dropped at the end.
func DocumentedUser(t testing.TB, dsn, document, block string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	found := regexp.MustCompile("(?s)```" + block + "\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("testenv: %s has no block %s", document, block)
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	statements := string(found[1])
	user := regexp.MustCompile(`CREATE USER '([^']+)'@'%' IDENTIFIED BY '([^']+)'`).FindStringSubmatch(statements)
	if user == nil {
		t.Fatalf("testenv: %s creates no user in the block %s", document, block)
	}
	own := "headgate-" + rand.Text()[:16]
	statements = strings.NewReplacer("'"+user[1]+"'", "'"+own+"'", " headgate.", " "+cfg.DBName+".").Replace(statements)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP USER '" + own + "'@'%'"); err != nil {
			t.Logf("testenv: drop %s: %v", own, err)
		}
		_ = db.Close()
	})
	for statement := range strings.SplitSeq(statements, ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("testenv: %s: %v", strings.TrimSpace(statement), err)
		}
	}
	cfg.User, cfg.Passwd = own, user[2]
	return cfg.FormatDSN()
}
