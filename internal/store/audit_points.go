package store

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/audit"
)

// metaAuditKey is the name in table meta of the seed (hex) of a key for checkpoints, where the operator gave none.
const metaAuditKey = "audit_key"

// checkpointRow is one signed checkpoint. Like changes, they are only ever inserted, except by retention.
type checkpointRow struct {
	Seq       int64 `gorm:"primaryKey;autoIncrement:false"`
	Chain     string
	FirstSeq  int64
	Hash      []byte
	At        time.Time
	PublicKey []byte
	Signature []byte
}

func (checkpointRow) TableName() string { return "audit_checkpoints" }

func (r *checkpointRow) checkpoint() audit.Checkpoint {
	c := audit.Checkpoint{
		Chain: r.Chain, First: r.FirstSeq, Seq: r.Seq, At: r.At.UTC(), Key: ed25519.PublicKey(r.PublicKey), Signature: r.Signature,
	}
	if len(r.Hash) == audit.HashBytes {
		c.Hash = audit.Hash(r.Hash) // another length was not written by us, and its signature does not fit the zero hash
	}
	return c
}

// AddCheckpoint keeps a checkpoint. It tells false, and changes nothing, when there is one of that row already: of
// several servers one comes first.
func (s *Store) AddCheckpoint(ctx context.Context, c audit.Checkpoint) (added bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		row := checkpointRow{
			Seq: c.Seq, Chain: c.Chain, FirstSeq: c.First, Hash: c.Hash[:], At: micros(c.At), PublicKey: c.Key, Signature: c.Signature,
		}
		err := t.Create(&row).Error
		added = err == nil
		if isDuplicate(err) {
			return nil
		}
		return err
	})
	return added, err
}

// Checkpoints reads up to limit checkpoints of rows behind number after, oldest first.
func (s *Store) Checkpoints(ctx context.Context, after int64, limit int) ([]audit.Checkpoint, error) {
	return s.checkpoints(ctx, func(db *gorm.DB) *gorm.DB { return db.Where("seq > ?", after).Order("seq").Limit(limit) })
}

// LastCheckpoint is the newest checkpoint; ok is false where there is none.
func (s *Store) LastCheckpoint(ctx context.Context) (c audit.Checkpoint, ok bool, err error) {
	return firstOf(s.checkpoints(ctx, func(db *gorm.DB) *gorm.DB { return db.Order("seq DESC").Limit(1) }))
}

func firstOf(found []audit.Checkpoint, err error) (audit.Checkpoint, bool, error) {
	if err != nil || len(found) == 0 {
		return audit.Checkpoint{}, false, err
	}
	return found[0], true, nil
}

func (s *Store) checkpoints(ctx context.Context, which func(*gorm.DB) *gorm.DB) ([]audit.Checkpoint, error) {
	var rows []checkpointRow
	err := s.readOne(ctx, func(db *gorm.DB) error { return which(db).Find(&rows).Error })
	found := make([]audit.Checkpoint, len(rows))
	for i := range rows {
		found[i] = rows[i].checkpoint()
	}
	return found, err
}

// AuditKey returns the seed of the key that this database keeps for its checkpoints. If there is none it keeps fresh
// and returns that; with a nil fresh it asks only. CodeNotFound.
func (s *Store) AuditKey(ctx context.Context, fresh []byte) ([]byte, error) {
	var rows []metaRow
	find := func(db *gorm.DB) error { return db.Find(&rows, "name = ?", metaAuditKey).Error }
	err := s.readOne(ctx, find)
	if err == nil && len(rows) == 0 && fresh != nil {
		err = s.write(ctx, func(t *tx) error {
			row := metaRow{metaAuditKey, hex.EncodeToString(fresh)}
			if err := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
				return err
			}
			return find(t.DB)
		})
	}
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, notFound("key")
	}
	seed, err := hex.DecodeString(rows[0].Value)
	if err != nil {
		return nil, internal(err)
	}
	return seed, nil
}
