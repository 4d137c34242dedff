package mysqlsyntax_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // values of literals, which the parser can't do without
)

// fewest is less than the tests send, and more than a handful of them would.
const fewest = 150

// MySQL 8 reads every statement that the store's tests send. HEADGATE_TEST_STATEMENTS names a file that a run of them has
// written; without one they are run here.
func TestMySQLReadsWhatTheStoreSends(t *testing.T) {
	path := os.Getenv("HEADGATE_TEST_STATEMENTS")
	if path == "" {
		path = filepath.Join(t.TempDir(), "statements")
		run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "./internal/store")
		run.Dir = "../.."
		run.Env = append(os.Environ(), "HEADGATE_TEST_STATEMENTS="+path)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	seen := map[string]bool{}
	for statement := range strings.Lines(read(t, path)) {
		if statement = strings.TrimSpace(statement); statement == "" || seen[statement] {
			continue
		}
		seen[statement] = true
		wantRead(t, statement)
	}
	if len(seen) < fewest {
		t.Errorf("only %d statements were recorded", len(seen))
	}
	t.Logf("%d different statements", len(seen))
}

// And the migrations, with the statements that they prepare.
func TestMySQLReadsTheMigrations(t *testing.T) {
	paths, err := filepath.Glob("../../migrations/mysql/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("migrations: %v, %v", paths, err)
	}
	prepared := regexp.MustCompile(`(?s)'((?:ALTER|DO) (?:[^']|'')*)'`)
	steps := 0
	for _, path := range paths {
		text := read(t, path)
		wantRead(t, text)
		for _, found := range prepared.FindAllStringSubmatch(text, -1) {
			wantRead(t, strings.ReplaceAll(found[1], "''", "'"))
			steps++
		}
	}
	if steps < 2 {
		t.Errorf("%d prepared statements were found", steps)
	}
}

// The parser is no judge unless it refuses what MariaDB alone knows.
func TestTheParserRefusesWhatMariaDBAloneKnows(t *testing.T) {
	for _, statement := range []string{
		"INSERT INTO users (name) VALUES ('a') RETURNING id",
		"SET STATEMENT max_statement_time = 1 FOR SELECT 1",
		"CREATE OR REPLACE TABLE t (id INT)",
		"CREATE TABLE t (id UUID)",
		"CREATE TABLE t (a INT) WITH SYSTEM VERSIONING",
		"SELECT * FROM t LIMIT 1 ROWS EXAMINED 5",
	} {
		if _, _, err := parser.New().Parse(statement, "", ""); err == nil {
			t.Errorf("it reads %s", statement)
		}
	}
}

func wantRead(t *testing.T, statements string) {
	t.Helper()
	if _, _, err := parser.New().Parse(statements, "utf8mb4", "utf8mb4_bin"); err != nil {
		t.Errorf("%.300s: %v", statements, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
