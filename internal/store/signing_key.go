package store

import (
	"context"
	"encoding/hex"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

type signingKeyRow struct {
	ID        int64 `gorm:"primaryKey"`
	Secret    string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	SignsFrom time.Time
}

func (signingKeyRow) TableName() string { return "signing_keys" }

// SigningKeys returns the keys of the deployment's sessions, by the time from which they sign. The first call of all
// servers keeps fresh as the first key, unless an earlier version has kept one.
func (s *Store) SigningKeys(ctx context.Context, fresh []byte) ([]model.SigningKey, error) {
	var rows []signingKeyRow
	err := s.readOne(ctx, func(db *gorm.DB) error { return keysBySigning(db, &rows) })
	if err == nil && len(rows) == 0 {
		rows, err = s.firstSigningKey(ctx, fresh)
	}
	if err != nil {
		return nil, err
	}
	keys := make([]model.SigningKey, len(rows))
	for i, row := range rows {
		secret, err := hex.DecodeString(row.Secret)
		if err != nil {
			return nil, internal(err)
		}
		keys[i] = model.SigningKey{Secret: secret, CreatedAt: row.CreatedAt.UTC(), SignsFrom: row.SignsFrom.UTC()}
	}
	return keys, nil
}

func keysBySigning(db *gorm.DB, rows *[]signingKeyRow) error {
	return db.Order("signs_from, id").Find(rows).Error
}

func (s *Store) firstSigningKey(ctx context.Context, fresh []byte) ([]signingKeyRow, error) {
	var rows []signingKeyRow
	err := s.write(ctx, func(t *tx) error {
		rows = nil
		if err := t.lockKeys(); err != nil {
			return err
		}
		if err := keysBySigning(t.DB, &rows); err != nil || len(rows) > 0 {
			return err
		}
		row := signingKeyRow{Secret: hex.EncodeToString(fresh), CreatedAt: t.now, SignsFrom: t.now}
		var kept []metaRow
		if err := t.Find(&kept, "name = ?", metaKey).Error; err != nil {
			return err
		}
		if len(kept) > 0 {
			row.Secret = kept[0].Value
		}
		rows = []signingKeyRow{row}
		if err := t.Create(&rows).Error; err != nil {
			return err
		}
		return t.dropMetaKey()
	})
	return rows, err
}

// RotateSigningKey makes a new signing key and tells whether it did: of several servers that find the key too old, one
// does. With r.Now the older keys and all sessions go.
func (s *Store) RotateSigningKey(ctx context.Context, r model.KeyRotation, o model.Origin) (bool, error) {
	rotated := false
	err := s.write(ctx, func(t *tx) error {
		rotated = false
		if err := t.lockKeys(); err != nil {
			return err
		}
		var newest []signingKeyRow
		if err := t.Order("created_at DESC, id DESC").Limit(1).Find(&newest).Error; err != nil {
			return err
		}
		if r.OlderThan > 0 && len(newest) > 0 && t.now.Sub(newest[0].CreatedAt) <= r.OlderThan {
			return nil
		}
		if r.Now {
			if err := t.dropKeysAndSessions(); err != nil {
				return err
			}
		}
		row := signingKeyRow{Secret: hex.EncodeToString(r.Secret), CreatedAt: t.now, SignsFrom: t.now.Add(r.Lead)}
		if err := t.Create(&row).Error; err != nil {
			return err
		}
		rotated = true
		return t.appendChange(o, model.Change{
			Action: model.ActionKeysRotate, TargetKind: model.TargetSystem, After: model.KeysRotatedJSON(row.SignsFrom, r.Now),
		})
	})
	return rotated, err
}

// DropSigningKeys removes the keys that have not signed since a time, because a newer one did, and tells how many.
func (s *Store) DropSigningKeys(ctx context.Context, notSince time.Time, o model.Origin) (int64, error) {
	var count int64
	err := s.write(ctx, func(t *tx) error {
		count = 0
		if err := t.lockKeys(); err != nil {
			return err
		}
		var rows []signingKeyRow
		if err := keysBySigning(t.DB, &rows); err != nil {
			return err
		}
		var gone []int64
		for i := 1; i < len(rows); i++ {
			if !rows[i].SignsFrom.After(notSince) {
				gone = append(gone, rows[i-1].ID)
			}
		}
		if len(gone) == 0 {
			return nil
		}
		deleted := t.Where("id IN ?", gone).Delete(&signingKeyRow{})
		if count = deleted.RowsAffected; deleted.Error != nil {
			return deleted.Error
		}
		return t.appendChange(o, model.Change{
			Action: model.ActionKeysDrop, TargetKind: model.TargetSystem, After: model.KeysDroppedJSON(count),
		})
	})
	return count, err
}

func (t *tx) dropKeysAndSessions() error {
	if err := t.Where("id > 0").Delete(&signingKeyRow{}).Error; err != nil {
		return err
	}
	return t.Where("id <> ''").Delete(&sessionRow{}).Error
}

// lockKeys makes those who change the keys queue.
func (t *tx) lockKeys() error {
	_, err := t.lockMeta(metaKeysLock)
	return err
}

// dropMetaKey removes the key of an earlier version, once it is kept among the others.
func (t *tx) dropMetaKey() error { return t.Where("name = ?", metaKey).Delete(&metaRow{}).Error }
