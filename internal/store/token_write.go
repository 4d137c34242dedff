package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// CreateToken saves a token of UserID, made by MakerID: kind, name, scopes, hash, hint and end. A personal token is its
// maker's own, a service token that of a service account. CodeTaken when a living token of that user has the name;
// CodeInvalid, also when the user has as many as it may have; CodeUnauthorized when the user or the maker is disabled
// by now.
func (s *Store) CreateToken(ctx context.Context, token model.Token, o model.Origin) (model.Token, error) {
	if err := token.Validate(s.now()); err != nil {
		return model.Token{}, err
	}
	err := s.write(ctx, func(t *tx) error {
		// Locked, so that two tokens of one user are counted one after the other.
		user, err := userByID(forUpdate(t.DB), token.UserID)
		if err != nil {
			return err
		}
		maker, err := t.makerOf(&token, user)
		if err != nil {
			return err
		}
		if err := t.roomForToken(user, token.Name); err != nil {
			return err
		}
		row := &tokenRow{
			Kind: string(token.Kind), Name: token.Name, UserID: token.UserID, MakerID: token.MakerID, Scopes: scopesText(token.Scopes),
			Hash: token.Hash, Hint: token.Hint, CreatedAt: t.now, ExpiresAt: micros(token.ExpiresAt),
		}
		if err := t.Create(row).Error; err != nil {
			return err
		}
		token = row.token(user, maker)
		return t.recordToken(user, o, model.Change{Action: model.ActionTokenCreate, After: model.TokenJSON(&token)})
	})
	if err != nil {
		return model.Token{}, err
	}
	return token, nil
}

// makerOf checks that the token fits the user that it is for, and returns who makes it.
func (t *tx) makerOf(token *model.Token, user *userRow) (*userRow, error) {
	maker := user
	if token.MakerID != token.UserID {
		var err error
		if maker, err = userByID(forShare(t.DB), token.MakerID); err != nil {
			return nil, err
		}
	}
	if user.Service != (token.Kind == model.TokenService) || token.Kind == model.TokenPersonal && maker.ID != user.ID {
		return nil, invalidField("the token", "service_account", "is not a service account")
	}
	if user.Disabled || maker.Disabled {
		return nil, model.Errorf(model.CodeUnauthorized, "the user is disabled")
	}
	return maker, nil
}

// living limits a query to tokens that are neither revoked nor expired.
func (t *tx) living(db *gorm.DB) *gorm.DB {
	return db.Where("revoked_at IS NULL AND expires_at > ?", t.now)
}

func (t *tx) roomForToken(user *userRow, name string) error {
	var names []string
	if err := t.living(t.Model(&tokenRow{})).Where("user_id = ?", user.ID).Pluck("name", &names).Error; err != nil {
		return err
	}
	for _, taken := range names {
		if taken == name {
			return model.Errorf(model.CodeTaken, "%s has a token of the name %s", user.Name, name)
		}
	}
	if len(names) >= model.TokensPerUser {
		return invalidField("the token", "name", "can't be added: %d living tokens are the most; revoke one first", model.TokensPerUser)
	}
	return nil
}

// RevokeToken ends a token for good; a revoked one stays as it is, without a second change row. With ownerID it must act as
// that user. CodeNotFound.
func (s *Store) RevokeToken(ctx context.Context, id, ownerID int64, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		var row tokenRow
		if err := forUpdate(t.DB).Take(&row, "id = ?", id).Error; err != nil {
			return orNotFound(err, "token")
		}
		if ownerID != 0 && row.UserID != ownerID {
			return notFound("token")
		}
		if row.RevokedAt != nil {
			return nil
		}
		users, err := usersByID(t.DB, row.UserID, row.MakerID)
		if err != nil {
			return err
		}
		row.RevokedAt, row.RevokedBy = &t.now, o.Actor
		if err := t.Model(&row).Select("revoked_at", "revoked_by").Updates(&row).Error; err != nil {
			return err
		}
		token := row.token(users[row.UserID], users[row.MakerID])
		return t.recordToken(users[row.UserID], o, model.Change{Action: model.ActionTokenRevoke, Before: model.TokenJSON(&token)})
	})
}

// TouchToken notes a use, unless one within model.TokenTouchEvery before it is noted already.
func (s *Store) TouchToken(ctx context.Context, id int64, at time.Time, address string) error {
	return s.write(ctx, func(t *tx) error {
		due := t.Model(&tokenRow{}).Where("id = ? AND (last_used_at IS NULL OR last_used_at <= ?)", id, micros(at.Add(-model.TokenTouchEvery)))
		return due.Updates(map[string]any{"last_used_at": micros(at), "last_used_by": clip(address, model.AddressBound)}).Error
	})
}

// DeleteEndedTokens removes the tokens that expired or were revoked before a time and tells how many.
func (s *Store) DeleteEndedTokens(ctx context.Context, before time.Time) (int64, error) {
	var count int64
	err := s.write(ctx, func(t *tx) error {
		gone := t.Where("expires_at < ? OR revoked_at < ?", micros(before), micros(before)).Delete(&tokenRow{})
		count = gone.RowsAffected
		return gone.Error
	})
	return count, err
}

// CreateServiceAccount makes a user that can't log in, for service tokens to act as: name, display name and role.
// CodeTaken, CodeInvalid.
func (s *Store) CreateServiceAccount(ctx context.Context, u model.User, o model.Origin) (model.User, error) {
	u.Service, u.PasswordHash = true, ""
	return s.CreateUser(ctx, u, o)
}

func (t *tx) recordToken(user *userRow, o model.Origin, c model.Change) error {
	c.TargetKind, c.Target = model.TargetUser, user.Name
	return t.appendChange(o, c)
}

func scopesText(scopes []model.TokenScope) string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return strings.Join(texts, " ")
}
