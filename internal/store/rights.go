package store

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"

	"gorm.io/gorm"

	"github.com/headgate/headgate/migrations"
)

// neededRights are those on tables of which a server needs fewer than INSERT, UPDATE and DELETE: history is added to, and
// its head moved.
var neededRights = map[string][]string{"changes": {"INSERT"}, "audit_checkpoints": {"INSERT"}, "audit_head": {"UPDATE"}}

// madeTable finds the tables in migrations.
var madeTable = regexp.MustCompile(`(?m)^CREATE TABLE IF NOT EXISTS (\w+)`)

// ourTables are those that migrations make; who shares the database with us may have others there.
func ourTables() (names []string, err error) {
	files, err := fs.Glob(migrations.Files, "mysql/*.sql")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(migrations.Files, file)
		if err != nil {
			return nil, err
		}
		for _, found := range madeTable.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names, nil
}

// MissingRights names what a server does and its database user may not do, such as "DELETE on outbox": none on SQLite,
// which has no users. It tries each on no row, since grants of roles and patterns are hard to read, and changes nothing.
// CodeUnavailable.
func (s *Store) MissingRights(ctx context.Context) (missing []string, err error) {
	if s.system != "mysql" {
		return nil, nil
	}
	ours, err := ourTables()
	if err != nil {
		return nil, internal(err)
	}
	var tables []struct{ Name, Col string }
	err = s.readOne(ctx, func(db *gorm.DB) error {
		return db.Raw("SELECT table_name AS name, MIN(column_name) AS col FROM information_schema.columns "+
			"WHERE table_schema = DATABASE() AND table_name IN ? GROUP BY table_name ORDER BY table_name", ours).Scan(&tables).Error
	})
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		rights, few := neededRights[table.Name]
		if !few {
			rights = []string{"INSERT", "UPDATE", "DELETE"}
		}
		for _, right := range rights {
			err := s.readOne(ctx, func(db *gorm.DB) error { return db.Exec(onNoRow(right, table.Name, table.Col)).Error })
			if LacksRight(err) {
				missing = append(missing, right+" on "+table.Name)
			}
		}
	}
	return missing, nil
}

// onNoRow is a statement that needs a right on a table and does nothing.
func onNoRow(right, table, column string) string {
	switch right {
	case "INSERT":
		return fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM %[1]s WHERE 1 = 0", "`"+table+"`", "`"+column+"`")
	case "UPDATE":
		return fmt.Sprintf("UPDATE %[1]s SET %[2]s = %[2]s WHERE 1 = 0", "`"+table+"`", "`"+column+"`")
	default:
		return fmt.Sprintf("DELETE FROM %s WHERE 1 = 0", "`"+table+"`")
	}
}
