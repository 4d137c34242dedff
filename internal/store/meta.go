package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// The names in table meta.
const (
	metaDeployment = "deployment_id"
	metaEpoch      = "epoch_mark"  // the mark of a Redis that is no Cluster, RFC 3339; "" = none yet (see sync_marks.go)
	metaKey        = "signing_key" // hex; where an earlier version kept its only key
	metaKeysLock   = "keys_lock"   // locked by whoever changes the signing keys
	metaAdmins     = "admins_lock" // locked by whoever may take away an admin, so that two such writes queue
)

type metaRow struct {
	Name  string `gorm:"primaryKey"`
	Value string
}

func (metaRow) TableName() string { return "meta" }

// prepareMeta makes the rows that must be there; present ones stay.
func (s *Store) prepareMeta(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		rows := []metaRow{{metaDeployment, newDeploymentID()}, {metaEpoch, ""}, {metaAdmins, ""}, {metaKeysLock, ""}}
		return t.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error
	})
}

// newDeploymentID is 128 random bits in hex.
func newDeploymentID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: it ends the program instead
	return hex.EncodeToString(id[:])
}

// DeploymentID is this database's identity, made by the first Migrate.
func (s *Store) DeploymentID(ctx context.Context) (string, error) { return s.meta(ctx, metaDeployment) }

// NewDeploymentID replaces the identity, for a cloned database, and returns the new one.
func (s *Store) NewDeploymentID(ctx context.Context, o model.Origin) (string, error) {
	id := newDeploymentID()
	err := s.write(ctx, func(t *tx) error {
		old, err := t.lockMeta(metaDeployment)
		if err != nil {
			return err
		}
		if err := t.setMeta(metaDeployment, id); err != nil {
			return err
		}
		return t.appendChange(o, model.Change{
			Action: model.ActionIdentityReset, TargetKind: model.TargetSystem, Target: metaDeployment,
			Before: deploymentJSON(old), After: deploymentJSON(id),
		})
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

func deploymentJSON(id string) json.RawMessage {
	return json.RawMessage(`{"deployment_id":"` + id + `"}`)
}

func (s *Store) meta(ctx context.Context, name string) (string, error) {
	var row metaRow
	err := s.readOne(ctx, func(db *gorm.DB) error { return db.Take(&row, "name = ?", name).Error })
	return row.Value, err
}

func (t *tx) lockMeta(name string) (value string, err error) {
	var row metaRow
	err = forUpdate(t.DB).Take(&row, "name = ?", name).Error
	return row.Value, err
}

func (t *tx) setMeta(name, value string) error {
	return t.Model(&metaRow{}).Where("name = ?", name).Update("value", value).Error
}
