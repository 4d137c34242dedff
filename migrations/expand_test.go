package migrations_test

import (
	"io/fs"
	"regexp"
	"testing"

	"github.com/headgate/headgate/migrations"
)

var (
	sqlComment = regexp.MustCompile(`(?m)--.*$`)
	// contracting takes away what an older server beside a newer one still uses.
	contracting = regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN)\b|\bRENAME\b|\bTRUNCATE\b`)
	addColumn   = regexp.MustCompile(`(?is)\bADD\s+COLUMN\b[^,;]*`)
	demanded    = regexp.MustCompile(`(?i)\bNOT\s+NULL\b`)
	defaulted   = regexp.MustCompile(`(?i)\bDEFAULT\b`)
)

// Migrations only expand: no table or column goes or gets another name, and a new column of a table that is there can be
// left out, so that a server of the version before goes on writing beside a newer one. An embedded SQLite file has one
// server at a time, so its tables may be made anew.
func TestMigrationsOnlyExpand(t *testing.T) {
	files, err := fs.Glob(migrations.Files, "mysql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("migrations: %v, %v", files, err)
	}
	for _, path := range files {
		raw, err := fs.ReadFile(migrations.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		text := sqlComment.ReplaceAllString(string(raw), "")
		if found := contracting.FindString(text); found != "" {
			t.Errorf("%s takes away what an older server uses: %s", path, found)
		}
		for _, column := range addColumn.FindAllString(text, -1) {
			if demanded.MatchString(column) && !defaulted.MatchString(column) {
				t.Errorf("%s adds a column that an older server does not fill: %s", path, column)
			}
		}
	}
}
