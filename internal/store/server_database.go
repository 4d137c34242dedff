package store

import (
	"context"
	"strings"

	"gorm.io/gorm"
)

// Kinds of databases, as Version tells them.
const (
	kindMySQL   = "mysql"
	kindMariaDB = "mariadb"
	kindSQLite  = "sqlite"
)

// Version asks the database what it is: mysql, mariadb or sqlite, and its version, e.g. "10.11.6". CodeUnavailable.
func (s *Store) Version(ctx context.Context) (kind, version string, err error) {
	kind, query := kindSQLite, "SELECT sqlite_version()"
	if s.reader.Name() == kindMySQL {
		kind, query = kindMySQL, "SELECT VERSION()"
	}
	var text string
	if err := s.readOne(ctx, func(db *gorm.DB) error { return db.Raw(query).Scan(&text).Error }); err != nil {
		return kind, "", err
	}
	if strings.Contains(strings.ToLower(text), kindMariaDB) {
		kind = kindMariaDB
	}
	version, _, _ = strings.Cut(text, "-") // what follows names the build
	return kind, version, nil
}
