package migrations_test

import (
	"io/fs"
	"regexp"
	"testing"

	"github.com/headgate/headgate/migrations"
)

// oldestSupported is the last migration of the schema whose servers may run beside this version's. What came before it
// was never released, so that no such server is there.
const oldestSupported = 9

var (
	sqlComment = regexp.MustCompile(`(?m)--.*$`)
	// contracting takes away what an older server beside a newer one still uses, or gives it another shape. Indexes may go.
	contracting = regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN|PRIMARY|DEFAULT|` + name + `\s*(,|;|'|$))|\bRENAME\b|\bTRUNCATE\b|\b(MODIFY|CHANGE)\b|\bALTER\s+COLUMN\b|\bALTER\s+` + name + `\s+(SET|DROP)\b|\bCONVERT\s+TO\b`)
	// demanding asks of rows in a table that is there what an older server does not know of.
	demanding = regexp.MustCompile(`(?i)\bADD\s+(CONSTRAINT|UNIQUE|FOREIGN|CHECK|PRIMARY)\b|\bCREATE\s+(UNIQUE|TRIGGER)\b|\bDELETE\s+FROM\b`)
	// added is a column of a table that is there, COLUMN being a word that may be left out.
	added     = regexp.MustCompile(`(?is)\bADD\s+(COLUMN\b|` + name + `\s+[A-Z])[^,;]*`)
	notColumn = regexp.MustCompile(`(?i)^ADD\s+(INDEX|KEY|FULLTEXT|SPATIAL)\b`)
	demanded  = regexp.MustCompile(`(?i)\bNOT\s+NULL\b`)
	defaulted = regexp.MustCompile(`(?i)\bDEFAULT\b`)
)

const name = "`?[a-z_][a-z0-9_]*`?"

// breaks says what of a migration a server of the version before could not work with, "" if nothing.
func breaks(migration string) string {
	text := sqlComment.ReplaceAllString(migration, "")
	if found := contracting.FindString(text); found != "" {
		return "it takes away or reshapes what an older server uses: " + found
	}
	if found := demanding.FindString(text); found != "" {
		return "it demands what an older server does not give: " + found
	}
	for _, column := range added.FindAllString(text, -1) {
		if !notColumn.MatchString(column) && demanded.MatchString(column) && !defaulted.MatchString(column) {
			return "it adds a column that an older server does not fill: " + column
		}
	}
	return ""
}

// Migrations only expand: what is there stays as it is, and a new column of a table that is there can be left out, so that
// a server of the version before goes on writing beside a newer one. An embedded SQLite file has one server at a time, so
// its tables may be made anew. internal/store tests the schema that comes of it against the oldest supported one.
func TestMigrationsOnlyExpand(t *testing.T) {
	files, err := fs.Glob(migrations.Files, "mysql/*.sql")
	if err != nil || len(files) < oldestSupported {
		t.Fatalf("migrations: %v, %v", files, err)
	}
	for _, path := range files[oldestSupported:] {
		raw, err := fs.ReadFile(migrations.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		if found := breaks(string(raw)); found != "" {
			t.Errorf("%s: %s", path, found)
		}
	}
}

// The rule sees what breaks an older server, and lets pass what does not.
func TestContractingMigrationsAreSeen(t *testing.T) {
	for _, statement := range []string{
		"ALTER TABLE buckets MODIFY rate INT NOT NULL", "ALTER TABLE buckets MODIFY COLUMN rate BIGINT", "ALTER TABLE buckets CHANGE rate speed BIGINT NOT NULL",
		"ALTER TABLE buckets ALTER COLUMN rate SET DEFAULT 1", "ALTER TABLE buckets ALTER rate DROP DEFAULT", "ALTER TABLE buckets DROP COLUMN rate",
		"ALTER TABLE buckets DROP rate", "ALTER TABLE buckets DROP `rate`, ADD COLUMN x INT NULL", "DROP TABLE outbox", "RENAME TABLE outbox TO inbox",
		"ALTER TABLE outbox RENAME COLUMN mark TO sign", "TRUNCATE outbox", "ALTER TABLE members DROP PRIMARY KEY", "ALTER TABLE users ADD UNIQUE KEY u (display_name)",
		"CREATE UNIQUE INDEX u ON users (display_name)", "ALTER TABLE users ADD CONSTRAINT c CHECK (revision > 1)", "CREATE TRIGGER t BEFORE INSERT ON users FOR EACH ROW SET @x = 1",
		"ALTER TABLE users ADD COLUMN x INT NOT NULL", "ALTER TABLE users ADD x INT NOT NULL, ADD y INT NULL DEFAULT 1", "ALTER TABLE users CONVERT TO CHARACTER SET utf8mb4",
		"SET @step = IF(1, 'ALTER TABLE users DROP disabled', 'DO 0')", "DELETE FROM changes",
	} {
		if breaks(statement) == "" {
			t.Errorf("let pass: %s", statement)
		}
	}
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS t (id BIGINT NOT NULL PRIMARY KEY, at DATETIME(6) NOT NULL, UNIQUE KEY t_at (at), CONSTRAINT f FOREIGN KEY (id) REFERENCES users (id))",
		"ALTER TABLE users ADD COLUMN x INT NOT NULL DEFAULT 0", "ALTER TABLE users ADD x INT NULL, ADD COLUMN y BIGINT NULL", "ALTER TABLE users ADD INDEX users_x (x)",
		"CREATE INDEX users_x ON users (x)", "ALTER TABLE users DROP INDEX users_updated", "INSERT IGNORE INTO meta (name, value) VALUES ('a', 'b')",
		"DEALLOCATE PREPARE step", "-- DROP TABLE users\nDO 0",
	} {
		if found := breaks(statement); found != "" {
			t.Errorf("%s: %s", statement, found)
		}
	}
}
