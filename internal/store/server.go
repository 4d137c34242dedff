package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// serverRow is an admin server that runs, or did until lately.
type serverRow struct {
	ID        string `gorm:"primaryKey"`
	Host      string
	Version   string
	SyncState string
	Draining  bool
	StartedAt time.Time
	SeenAt    time.Time
}

func (serverRow) TableName() string { return "servers" }

// Bounds of what a server tells of itself, in characters. Longer texts are cut.
const (
	hostBound    = 255
	versionBound = 64
)

// BeatServer notes that a server runs; SeenAt is now, whatever it says. It leaves no change row: nobody changed anything.
func (s *Store) BeatServer(ctx context.Context, one model.Server) error {
	return s.write(ctx, func(t *tx) error {
		row := serverRow{
			ID: one.ID, Host: clip(one.Host, hostBound), Version: clip(one.Version, versionBound), SyncState: one.SyncState,
			Draining: one.Draining, StartedAt: micros(one.StartedAt), SeenAt: t.now,
		}
		replace := clause.OnConflict{
			Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"sync_state", "draining", "seen_at"}),
		}
		return t.Clauses(replace).Create(&row).Error
	})
}

// LeaveServer takes a server out that ends. One that is not there is no error.
func (s *Store) LeaveServer(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error { return t.Delete(&serverRow{}, "id = ?", id).Error })
}

// ForgetServers takes out the servers that have not beaten since a time: they ended without a word.
func (s *Store) ForgetServers(ctx context.Context, before time.Time) error {
	return s.write(ctx, func(t *tx) error { return t.Delete(&serverRow{}, "seen_at < ?", micros(before)).Error })
}

// Servers lists the servers that beat within model.ServerForgotten, the longest running first.
func (s *Store) Servers(ctx context.Context) ([]model.Server, error) {
	var rows []serverRow
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Where("seen_at >= ?", micros(s.now().Add(-model.ServerForgotten))).Order("started_at, id").Find(&rows).Error
	})
	all := make([]model.Server, len(rows))
	for i, r := range rows {
		all[i] = model.Server{
			ID: r.ID, Host: r.Host, Version: r.Version, SyncState: r.SyncState, Draining: r.Draining,
			StartedAt: r.StartedAt.UTC(), SeenAt: r.SeenAt.UTC(),
		}
	}
	return all, err
}
