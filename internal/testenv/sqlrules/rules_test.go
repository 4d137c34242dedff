package sqlrules_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/testenv/sqlrules"
	"github.com/headgate/headgate/migrations"
)

// Each of these works on one of the supported databases and not on another, or not alike.
var oneSided = []string{
	"INSERT INTO users (name) VALUES ('a') RETURNING id",
	"DELETE FROM users WHERE id = 1 returning name",
	"INSERT INTO meta (name, value) VALUES ('a', 'b') AS new ON DUPLICATE KEY UPDATE value = new.value",
	"SELECT * FROM users WHERE id = 1 FOR SHARE",
	"SELECT * FROM users u JOIN apps a FOR UPDATE OF u",
	"SELECT * FROM users u, LATERAL (SELECT 1) x",
	"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')) t",
	"SELECT after_json->>'$.name' FROM changes",
	"SELECT 1 MEMBER OF ('[1]')",
	"SELECT NEXTVAL(s)", "SELECT NEXT VALUE FOR s", "CREATE SEQUENCE s",
	"CREATE OR REPLACE TABLE t (id INT)",
	"ALTER TABLE users ADD COLUMN IF NOT EXISTS a INT", "ALTER TABLE users DROP KEY IF EXISTS a",
	"CREATE INDEX IF NOT EXISTS i ON users (name)", "ALTER TABLE IF EXISTS users ADD COLUMN a INT",
	"CREATE TRIGGER IF NOT EXISTS t BEFORE UPDATE ON changes FOR EACH ROW SET @a = 1",
	"CREATE TABLE t (id UUID NOT NULL)", "ALTER TABLE t ADD COLUMN a INET6",
	"CREATE TABLE t (name VARCHAR(9), KEY k ((LOWER(name))))",
	"CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1))", "CREATE TABLE t (a INT, b INT AS (a + 1) PERSISTENT)",
	"ALTER TABLE t ADD KEY k (a) INVISIBLE", "CREATE TABLE t (a INT) WITH SYSTEM VERSIONING",
	"CREATE TABLE t (a TEXT NOT NULL DEFAULT 'x')", "CREATE TABLE t (a INT DEFAULT (1 + 1))",
	"CREATE TABLE t (a VARCHAR(9) COLLATE utf8mb4_0900_ai_ci)", "CREATE TABLE t (a VARCHAR(9) COLLATE utf8mb4_uca1400_ai_ci)",
	"SELECT * FROM users WHERE name REGEXP '^a'",
	"SELECT id FROM users EXCEPT SELECT user_id FROM members",
	"SELECT ANY_VALUE(name) FROM users",
	"SET STATEMENT max_statement_time = 1 FOR SELECT 1", "SELECT /*+ x */ @@max_execution_time",
	"EXECUTE IMMEDIATE 'SELECT 1'",
	"ALTER TABLE users ADD KEY k (name), ALGORITHM = NOCOPY",
	"SELECT * FROM users FETCH FIRST 1 ROWS ONLY",
	"SELECT name || 'x' FROM users", `SELECT "name" FROM users`,
	"SHOW SLAVE STATUS",
	"SET @step = IF(1 = 0, 'ALTER TABLE users ADD COLUMN IF NOT EXISTS a INT', 'DO 0')",
}

func TestSyntaxThatOneDatabaseLacksIsFound(t *testing.T) {
	for _, statement := range oneSided {
		if sqlrules.Check(statement) == nil {
			t.Errorf("nothing is found wrong with %s", statement)
		}
	}
}

// What people write into texts is no syntax, whatever it looks like; nor is a name in quotes, or a comment.
func TestTextsNamesAndCommentsAreNoSyntax(t *testing.T) {
	for _, statement := range []string{
		`INSERT INTO changes (reason) VALUES ('it''s \' RETURNING -> "x" || -- y')`,
		"SELECT `returning`, `->` FROM `users` -- FOR SHARE\n WHERE id = 1 /* LATERAL */ LIMIT 1 # RETURNING",
		"SELECT * FROM users WHERE id = 1 LOCK IN SHARE MODE",
		"SELECT * FROM users WHERE id = 1 FOR UPDATE SKIP LOCKED", // both know it, MariaDB from 10.6 on
		"INSERT INTO meta (name, value) VALUES ('a', 'b') ON DUPLICATE KEY UPDATE value = VALUES(value)",
		"INSERT INTO changes (reason) VALUES ('ALTER TABLE users ADD COLUMN IF NOT EXISTS a INT')",
	} {
		if err := sqlrules.Check(statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func mysqlMigrations(t *testing.T) map[string]string {
	t.Helper()
	paths, err := fs.Glob(migrations.Files, "mysql/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("migrations: %v, %v", paths, err)
	}
	all := map[string]string{}
	for _, path := range paths {
		text, err := fs.ReadFile(migrations.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	return all
}

var sqlComment = regexp.MustCompile(`(?m)--\s.*$|--$`)

// All databases understand the migrations.
func TestMigrationsAreInWhatAllDatabasesKnow(t *testing.T) {
	for path, text := range mysqlMigrations(t) {
		for statement := range strings.SplitSeq(sqlComment.ReplaceAllString(text, ""), ";") {
			if err := sqlrules.Check(statement); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// reserved are words that one of the databases takes for its own from some version on, and that look like names. Words
// that all of them reserve (KEY, ORDER) need no list: no server takes them.
var reserved = strings.Fields(`array cube cume_dist dense_rank empty except first_value function grouping groups intersect
	intersection json_table lag last_value lateral lead library manual minus nth_value ntile of offset over parallel percent_rank
	qualify rank recursive returning row rows row_number sets stored system tablesample vector virtual window portion period
	do_domain_ids ignore_domain_ids page_checksum partition current_role delete_domain_ids master_bind master_ssl_verify_server_cert
	stats_auto_recalc stats_persistent stats_sample_pages parse_vcol_expr ref_system_id rowtype`)

// Migrations name columns, keys and tables without quotes, so no name may be a word of anybody's.
func TestMigrationsNameNothingThatADatabaseReserves(t *testing.T) {
	name := regexp.MustCompile(`(?im)^\s+([a-z_]\w*)\s+[A-Z]+|\b(?:TABLE(?: IF NOT EXISTS)?|KEY|CONSTRAINT|ADD COLUMN)\s+([a-z_]\w*)`)
	names := 0
	for path, text := range mysqlMigrations(t) {
		for _, found := range name.FindAllStringSubmatch(sqlComment.ReplaceAllString(text, ""), -1) {
			word := strings.ToLower(found[1] + found[2])
			names++
			if slices.Contains(reserved, word) {
				t.Errorf("%s names something %s, which one of the databases keeps for itself", path, word)
			}
		}
	}
	if names < 100 {
		t.Errorf("only %d names were found", names)
	}
}

// Values go, and a statement stays.
func TestNormalizeLeavesAStatement(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT * FROM `users`\n WHERE id IN (1,2, 3) AND name = 'it''s'": "SELECT * FROM `users` WHERE id IN (1) AND name = 'x'",
		"INSERT INTO t (a,b) VALUES (1,'z',NULL),(2,_binary'y',NULL)":     "INSERT INTO t (a,b) VALUES (1)",
	} {
		if got := sqlrules.Normalize(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
