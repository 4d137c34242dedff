package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// SessionsOf lists the living sessions of a user, the one used last first.
func (s *Store) SessionsOf(ctx context.Context, userID int64) ([]model.Session, error) {
	var rows []sessionRow
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Where("user_id = ? AND expires_at > ?", userID, micros(s.now())).Order("rotated_at DESC, id").Find(&rows).Error
	})
	sessions := make([]model.Session, len(rows))
	for i := range rows {
		sessions[i] = rows[i].session()
	}
	return sessions, err
}

// EndSession ends the session of a user that has a public id, with a change row. CodeNotFound.
func (s *Store) EndSession(ctx context.Context, userID int64, publicID string, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		user, err := userByID(t.DB, userID)
		if err != nil {
			return err
		}
		var rows []sessionRow
		if err := t.Where("user_id = ? AND expires_at > ?", userID, t.now).Find(&rows).Error; err != nil {
			return err
		}
		for i := range rows {
			session := rows[i].session()
			if session.PublicID() != publicID {
				continue
			}
			gone := t.Where("id = ?", session.ID).Delete(&sessionRow{})
			if gone.Error != nil {
				return gone.Error
			}
			if gone.RowsAffected == 0 { // it was ended in this very moment
				return notFound("session")
			}
			return t.recordUser(user, o, model.Change{Action: model.ActionSessionEnd, After: model.SessionsEndedJSON(publicID, 1)})
		}
		return notFound("session")
	})
}

// EndSessions ends all sessions of a user but the one with the id keep ("" = none) and tells how many, with a change row
// if there were any. CodeNotFound when there is no such user.
func (s *Store) EndSessions(ctx context.Context, userID int64, keep string, o model.Origin) (int64, error) {
	var count int64
	err := s.write(ctx, func(t *tx) error {
		user, err := userByID(t.DB, userID)
		if err != nil {
			return err
		}
		gone := t.Where("user_id = ? AND id <> ?", userID, keep).Delete(&sessionRow{})
		if count = gone.RowsAffected; gone.Error != nil || count == 0 {
			return gone.Error
		}
		return t.recordUser(user, o, model.Change{Action: model.ActionSessionEnd, After: model.SessionsEndedJSON("", count)})
	})
	return count, err
}
