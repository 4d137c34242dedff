package store

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"
)

// CountSessions counts the sessions that have not ended at now.
func (s *Store) CountSessions(ctx context.Context, now time.Time) (int64, error) {
	var count int64
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Model(&sessionRow{}).Where("expires_at > ?", micros(now)).Count(&count).Error
	})
	return count, err
}

// PoolStats are the figures of the connections, of all pools together.
func (s *Store) PoolStats() sql.DBStats {
	var sum sql.DBStats
	for _, pool := range s.pools {
		one := pool.Stats()
		sum.MaxOpenConnections += one.MaxOpenConnections
		sum.InUse += one.InUse
		sum.Idle += one.Idle
		sum.WaitCount += one.WaitCount
		sum.WaitDuration += one.WaitDuration
	}
	return sum
}
