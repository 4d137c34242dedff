package store

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/migrations"
)

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string    // "" for one that this program does not know: a newer version made it
	Applied bool      // in this database
	At      time.Time // when it was applied; zero where the database does not tell
}

// Migrations lists the steps that this program knows and those that the database has beyond, by version, and tells which
// are applied. It changes nothing. CodeUnavailable.
func (s *Store) Migrations(ctx context.Context) ([]Migration, error) {
	steps, err := s.knownMigrations()
	if err != nil {
		return nil, internal(err)
	}
	var applied []struct {
		VersionID int64
		Tstamp    *time.Time
	}
	err = s.readOne(ctx, func(db *gorm.DB) error {
		err := db.Table("goose_db_version").Select("version_id, tstamp").Where("version_id > 0 AND is_applied = ?", true).Order("id").Find(&applied).Error
		if isNoTable(err) { // an empty database
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, row := range applied {
		i, known := slices.BinarySearchFunc(steps, row.VersionID, func(m Migration, v int64) int { return int(m.Version - v) })
		if !known {
			steps = slices.Insert(steps, i, Migration{Version: row.VersionID})
		}
		steps[i].Applied, steps[i].At = true, orZero(row.Tstamp)
	}
	return steps, nil
}

// knownMigrations reads the names of the files, which begin with their versions.
func (s *Store) knownMigrations() ([]Migration, error) {
	_, folder := s.migrate.dialect()
	files, err := fs.ReadDir(migrations.Files, folder)
	if err != nil {
		return nil, err
	}
	var steps []Migration
	for _, file := range files { // by name, hence by version
		number, name, _ := strings.Cut(strings.TrimSuffix(file.Name(), ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Migration{Version: version, Name: name})
	}
	return steps, nil
}

// CheckSchema refuses a database that lacks migrations of this version, in words for the command line. One that a newer
// version has taken further is fine. CodeUnavailable.
func (s *Store) CheckSchema(ctx context.Context) error {
	steps, err := s.Migrations(ctx)
	if err != nil {
		return err
	}
	missing := 0
	for _, m := range steps {
		if !m.Applied {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Errorf(`the database lacks %d of this version's migrations; "admin migrate" makes them, and so does the start of "admin serve"`, missing)
	}
	return nil
}
