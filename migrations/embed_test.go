package migrations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/migrations"
)

// shape is what a migration makes, without the dialect: "table: column column …".
func shape(t *testing.T, path string) []string {
	t.Helper()
	text, err := fs.ReadFile(migrations.Files, path)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?ms)^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)^\)`)
	column := regexp.MustCompile(`(?m)^  ([a-z]\w*) `)
	var tables []string
	for _, match := range table.FindAllStringSubmatch(string(text), -1) {
		var columns []string
		for _, name := range column.FindAllStringSubmatch(match[2], -1) {
			columns = append(columns, name[1])
		}
		tables = append(tables, match[1]+": "+strings.Join(columns, " "))
	}
	return tables
}

// The two dialects stay in step: the same files, tables and columns.
func TestBothDialectsMakeTheSameTables(t *testing.T) {
	mysql, err := fs.Glob(migrations.Files, "mysql/*.sql")
	if err != nil || len(mysql) == 0 {
		t.Fatalf("migrations for MySQL: %v, %v", mysql, err)
	}
	sqlite, err := fs.Glob(migrations.Files, "sqlite/*.sql")
	if err != nil || len(sqlite) != len(mysql) {
		t.Fatalf("%d migrations for SQLite, %d for MySQL; %v", len(sqlite), len(mysql), err)
	}
	for _, path := range mysql {
		first, second := shape(t, path), shape(t, strings.Replace(path, "mysql/", "sqlite/", 1))
		if !slices.Equal(first, second) {
			t.Errorf("%s makes\n%s\nbut on SQLite\n%s", path, strings.Join(first, "\n"), strings.Join(second, "\n"))
		}
	}
	if made := shape(t, mysql[0]); len(made) != 11 {
		t.Errorf("the first migration makes %d tables, want 11: %v", len(made), made)
	}
}

// released is the digest of the migrations that servers in use have run: MySQL's up to oldestSupported, then SQLite's.
const released = "3d69c143ad0f013e85d29662fb5b8aa08ab56529d3f5e5ff9335868d67df5350"

// A migration that was released is never edited: a database that has run it would not get the edit.
func TestReleasedMigrationsAreNotEdited(t *testing.T) {
	sum := sha256.New()
	for _, dialect := range []string{"mysql", "sqlite"} {
		files, err := fs.Glob(migrations.Files, dialect+"/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files[:oldestSupported] {
			text, err := fs.ReadFile(migrations.Files, path)
			if err != nil {
				t.Fatal(err)
			}
			sum.Write(text)
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != released {
		t.Errorf("the released migrations are not what they were: %s", got)
	}
}
