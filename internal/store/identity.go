package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// metaFlowKey is the key that seals a single sign-on in progress, in hex; made when first asked for.
const metaFlowKey = "sign_on_key"

type identityRow struct {
	Issuer    string `gorm:"primaryKey"`
	Subject   string `gorm:"primaryKey"`
	UserID    int64
	CreatedBy string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	UsedAt    *time.Time
}

func (identityRow) TableName() string { return "identities" }

// LinkIdentity lets the person whom a provider calls subject log in as a user. CodeNotFound for the user, CodeTaken
// when the identity is linked to somebody already, CodeInvalid.
func (s *Store) LinkIdentity(ctx context.Context, user string, i model.Identity, o model.Origin) error {
	if err := i.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		person, err := userByName(forShare(t.DB), user)
		if err != nil {
			return err
		}
		if person.Service {
			return model.Errorf(model.CodeInvalid, "%s is a service account, which never logs in", user)
		}
		err = t.Create(&identityRow{
			Issuer: i.Issuer, Subject: i.Subject, UserID: person.ID, CreatedBy: o.Actor, CreatedAt: t.now,
		}).Error
		if isDuplicate(err) {
			return model.Errorf(model.CodeTaken, "this identity is linked to a user already; unlink it there first")
		}
		if err != nil {
			return err
		}
		return t.recordUser(person, o, model.Change{Action: model.ActionUserLink, After: identityJSON(i.Issuer, i.Subject)})
	})
}

// UnlinkIdentity takes an identity from a user and ends the user's sessions, since one of them may have been begun with
// it. CodeNotFound for the user or the identity.
func (s *Store) UnlinkIdentity(ctx context.Context, user string, i model.Identity, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		person, err := userByName(forUpdate(t.DB), user)
		if err != nil {
			return err
		}
		gone := t.Where("issuer = ? AND subject = ? AND user_id = ?", i.Issuer, i.Subject, person.ID).Delete(&identityRow{})
		if gone.Error == nil && gone.RowsAffected == 0 {
			return notFound("identity")
		}
		if gone.Error != nil {
			return gone.Error
		}
		if err := t.Where("user_id = ?", person.ID).Delete(&sessionRow{}).Error; err != nil {
			return err
		}
		return t.recordUser(person, o, model.Change{Action: model.ActionUserUnlink, Before: identityJSON(i.Issuer, i.Subject)})
	})
}

// Identities lists who a user is at providers, the oldest link first. CodeNotFound for the user.
func (s *Store) Identities(ctx context.Context, user string) ([]model.Identity, error) {
	list := []model.Identity{}
	err := s.read(ctx, func(db *gorm.DB) error {
		person, err := userByName(db, user)
		if err != nil {
			return err
		}
		var rows []identityRow
		if err := db.Where("user_id = ?", person.ID).Order("created_at, issuer, subject").Find(&rows).Error; err != nil {
			return err
		}
		for _, r := range rows {
			list = append(list, r.identity(person.Name))
		}
		return nil
	})
	return list, err
}

func (r *identityRow) identity(user string) model.Identity {
	i := model.Identity{Issuer: r.Issuer, Subject: r.Subject, User: user, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC()}
	if r.UsedAt != nil {
		i.UsedAt = r.UsedAt.UTC()
	}
	return i
}

func identityJSON(issuer, subject string) json.RawMessage {
	raw, _ := json.Marshal(struct { // two strings always encode
		Issuer  string `json:"issuer"`
		Subject string `json:"subject"`
	}{issuer, subject})
	return raw
}

// SignOnKey returns the key that seals single sign-ons in progress. The first call keeps fresh and returns it; every
// later one, on any server, returns that same key.
func (s *Store) SignOnKey(ctx context.Context, fresh []byte) ([]byte, error) {
	var kept string
	err := s.write(ctx, func(t *tx) error {
		row := metaRow{metaFlowKey, hex.EncodeToString(fresh)}
		if err := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
			return err
		}
		var err error
		kept, err = t.lockMeta(metaFlowKey)
		return err
	})
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(kept)
	if err != nil {
		return nil, internal(err)
	}
	return key, nil
}
