package store

import (
	"context"
	"encoding/json"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

type userRow struct {
	ID           int64 `gorm:"primaryKey"`
	Name         string
	DisplayName  string
	Role         string
	Disabled     bool
	PasswordHash string
	Service      bool
	Revision     int64
	CreatedBy    string
	CreatedAt    time.Time `gorm:"autoCreateTime:false"`
	UpdatedBy    string
	UpdatedAt    time.Time `gorm:"autoUpdateTime:false"`
}

func (userRow) TableName() string { return "users" }

func (r *userRow) user() model.User {
	return model.User{
		ID: r.ID, Name: r.Name, DisplayName: r.DisplayName, Role: model.Role(r.Role), Disabled: r.Disabled, PasswordHash: r.PasswordHash, Service: r.Service,
		Revision: r.Revision, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), UpdatedBy: r.UpdatedBy, UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// activeAdmin tells whether the user counts as an admin who can log in.
func (r *userRow) activeAdmin() bool {
	return r.Role == string(model.RoleAdmin) && !r.Disabled && !r.Service
}

// User reads one user. CodeNotFound.
func (s *Store) User(ctx context.Context, name string) (model.User, error) {
	return s.oneUser(ctx, func(db *gorm.DB) (*userRow, error) { return userByName(db, name) })
}

// UserByID reads one user. CodeNotFound.
func (s *Store) UserByID(ctx context.Context, id int64) (model.User, error) {
	return s.oneUser(ctx, func(db *gorm.DB) (*userRow, error) { return userByID(db, id) })
}

func (s *Store) oneUser(ctx context.Context, find func(*gorm.DB) (*userRow, error)) (model.User, error) {
	var user model.User
	err := s.readOne(ctx, func(db *gorm.DB) error {
		row, err := find(db)
		if err == nil {
			user = row.user()
		}
		return err
	})
	return user, err
}

// Users lists users. CodeInvalid naming the field of the query.
func (s *Store) Users(ctx context.Context, q model.UserQuery) (model.Page[model.User], error) {
	var page model.Page[model.User]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope := cursorScope("users", q)
	place, err := placeOf(scope, cursor)
	if err != nil {
		return page, err
	}
	var rows []userRow
	err = s.readOne(ctx, func(db *gorm.DB) error {
		query := contains(db.Model(&userRow{}), q.Search, "users.name", "users.display_name")
		if q.Role != "" {
			query = query.Where("users.role = ?", q.Role)
		}
		if q.Disabled != nil {
			query = query.Where("users.disabled = ?", *q.Disabled)
		}
		if q.Service != nil {
			query = query.Where("users.service = ?", *q.Service)
		}
		return orderOf(q.Sort).after(query, place, limit).Find(&rows).Error
	})
	rows, page.Next = cut(rows, limit, scope, func(r userRow) any { return namePlace{r.Name, r.UpdatedAt.UTC()} })
	page.Items = make([]model.User, len(rows))
	for i := range rows {
		page.Items[i] = rows[i].user()
	}
	return page, err
}

// UserNames returns up to limit (1..200, 0 = 50) names of enabled users that contain search in the name or the display
// name, sorted: what an owner picker needs, and no more. CodeInvalid.
func (s *Store) UserNames(ctx context.Context, search string, limit int) ([]string, error) {
	q := model.UserQuery{Search: search, Limit: limit}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	names := []string{}
	err := s.readOne(ctx, func(db *gorm.DB) error {
		query := contains(db.Model(&userRow{}), search, "users.name", "users.display_name")
		return query.Where("users.disabled = ?", false).Order("users.name").Limit(limitOf(limit)).Pluck("name", &names).Error
	})
	return names, err
}

// CountUsers counts all users, disabled ones too.
func (s *Store) CountUsers(ctx context.Context) (int64, error) {
	var count int64
	err := s.readOne(ctx, func(db *gorm.DB) error { return db.Model(&userRow{}).Count(&count).Error })
	return count, err
}

// CreateUser makes a user from name, display name, role, disabled and password hash. CodeTaken, CodeInvalid.
func (s *Store) CreateUser(ctx context.Context, u model.User, o model.Origin) (model.User, error) {
	if err := u.Validate(); err != nil {
		return model.User{}, err
	}
	var user model.User
	err := s.write(ctx, func(t *tx) error {
		row := &userRow{
			Name: u.Name, DisplayName: u.DisplayName, Role: string(u.Role), Disabled: u.Disabled, PasswordHash: u.PasswordHash, Service: u.Service,
			Revision: 1, CreatedBy: o.Actor, CreatedAt: t.now, UpdatedBy: o.Actor, UpdatedAt: t.now,
		}
		err := t.Create(row).Error
		if isDuplicate(err) {
			return model.Errorf(model.CodeTaken, "the name %s is taken", u.Name)
		}
		if err != nil {
			return err
		}
		user = row.user()
		return t.recordUser(row, o, model.Change{Action: model.ActionUserCreate, After: model.UserJSON(&user)})
	})
	return user, err
}

// UpdateUser changes a user that is still at revision base; disabling one ends its sessions. A new name leaves all that
// the user is and has as it is. CodeNotFound, CodeStale, CodeInvalid, CodeTaken, CodeLastAdmin.
func (s *Store) UpdateUser(ctx context.Context, name string, base int64, p model.UserPatch, o model.Origin) (model.User, error) {
	var user model.User
	err := s.write(ctx, func(t *tx) error {
		if p.Role != nil || p.Disabled != nil {
			// Two admins who demote each other at the same time queue here, so that the second sees the first.
			if _, err := t.lockMeta(metaAdmins); err != nil {
				return err
			}
		}
		row, err := userByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		if row.Revision != base {
			return stale("user", row.Revision, base)
		}
		before := *row
		patchUser(row, p)
		if user = row.user(); user.Validate() != nil {
			return user.Validate()
		}
		if err := t.checkAdminLeft(&before, row); err != nil {
			return err
		}
		return t.saveUser(&before, row, o, &user)
	})
	if err != nil {
		return model.User{}, err
	}
	return user, nil
}

func patchUser(row *userRow, p model.UserPatch) {
	if p.Name != nil {
		row.Name = *p.Name
	}
	if p.DisplayName != nil {
		row.DisplayName = *p.DisplayName
	}
	if p.Role != nil {
		row.Role = string(*p.Role)
	}
	if p.Disabled != nil {
		row.Disabled = *p.Disabled
	}
}

// checkAdminLeft refuses a change that would leave nobody to administer.
func (t *tx) checkAdminLeft(before, after *userRow) error {
	if !before.activeAdmin() || after.activeAdmin() {
		return nil
	}
	var others int64
	err := t.Model(&userRow{}).Where("role = ? AND disabled = ? AND service = ? AND id <> ?", model.RoleAdmin, false, false, after.ID).Count(&others).Error
	if err == nil && others == 0 {
		return model.Errorf(model.CodeLastAdmin, "%s is the last admin who can log in; make another one first", after.Name)
	}
	return err
}

func (t *tx) saveUser(before, row *userRow, o model.Origin, user *model.User) error {
	row.Revision++
	row.UpdatedBy, row.UpdatedAt = o.Actor, t.now
	err := t.Save(row).Error
	if isDuplicate(err) {
		return model.Errorf(model.CodeTaken, "the name %s is taken", row.Name)
	}
	if err != nil {
		return err
	}
	if row.Disabled {
		if err := t.Where("user_id = ?", row.ID).Delete(&sessionRow{}).Error; err != nil {
			return err
		}
	}
	was := before.user()
	*user = row.user()
	change := model.Change{Action: model.ActionUserUpdate, Before: model.UserJSON(&was), After: model.UserJSON(user)}
	if was.Name != user.Name {
		// Told under both names: under the one this person's history ends, and under the other it goes on.
		change.Action, change.Target = model.ActionUserRename, was.Name
		if err := t.recordUser(row, o, change); err != nil {
			return err
		}
		change.Target = user.Name
	}
	return t.recordUser(row, o, change)
}

// SetPassword replaces a user's password hash, ends all its sessions and leaves a change row that says so without the
// hash. The revision stays: the password is no part of what an editor sees. CodeNotFound.
func (s *Store) SetPassword(ctx context.Context, id int64, hash string, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, err := userByID(forUpdate(t.DB), id)
		if err != nil {
			return err
		}
		if row.Service {
			return invalidField("the user", "password", "can't be set: a service account has none")
		}
		if err := t.Model(row).Update("password_hash", hash).Error; err != nil {
			return err
		}
		if err := t.Where("user_id = ?", id).Delete(&sessionRow{}).Error; err != nil {
			return err
		}
		return t.recordUser(row, o, model.Change{Action: model.ActionUserPassword, After: json.RawMessage(`{"password":"changed"}`)})
	})
}

// ChangePassword replaces a user's password hash as SetPassword does, for the user itself: the session named stays. The
// hash old was proved just now; CodeStale when it is not the user's any more.
func (s *Store) ChangePassword(ctx context.Context, id int64, old, next, keepSession string, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, err := userByID(forUpdate(t.DB), id)
		if err != nil {
			return err
		}
		if row.PasswordHash != old {
			return model.Errorf(model.CodeStale, "the password was changed meanwhile; log in with the new one")
		}
		if err := t.Model(row).Update("password_hash", next).Error; err != nil {
			return err
		}
		if err := t.Where("user_id = ? AND id <> ?", id, keepSession).Delete(&sessionRow{}).Error; err != nil {
			return err
		}
		return t.recordUser(row, o, model.Change{Action: model.ActionUserPassword, After: json.RawMessage(`{"password":"changed"}`)})
	})
}

// RehashPassword replaces a hash by another one of the same password. It does nothing when old is not the user's hash
// any more, and leaves the sessions alone. CodeNotFound.
func (s *Store) RehashPassword(ctx context.Context, id int64, old, next string, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, err := userByID(forUpdate(t.DB), id)
		if err != nil || row.PasswordHash != old {
			return err
		}
		if err := t.Model(row).Update("password_hash", next).Error; err != nil {
			return err
		}
		return t.recordUser(row, o, model.Change{Action: model.ActionUserRehash, After: json.RawMessage(`{"password":"hashed anew"}`)})
	})
}

func (t *tx) recordUser(row *userRow, o model.Origin, c model.Change) error {
	c.TargetKind, c.Revision = model.TargetUser, row.Revision
	if c.Target == "" {
		c.Target = row.Name
	}
	return t.appendChange(o, c)
}

// userByName compares the name once more, because MySQL's comparison ignores spaces at the end.
func userByName(db *gorm.DB, name string) (*userRow, error) {
	var row userRow
	err := db.Take(&row, "name = ?", name).Error
	if err == nil && row.Name != name {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return nil, orNotFound(err, "user")
	}
	return &row, nil
}

func userByID(db *gorm.DB, id int64) (*userRow, error) {
	var row userRow
	if err := db.Take(&row, "id = ?", id).Error; err != nil {
		return nil, orNotFound(err, "user")
	}
	return &row, nil
}
