package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// SignOn finds the user behind an identity, or makes one, and gives it the role and the memberships of its groups: all
// in one transaction, with a change row for each thing that changed. CodeUnauthorized when the user is disabled,
// CodeForbidden when nobody is linked and none may be made, CodeTaken when the new user's name is another's,
// CodeInvalid when it is no name. Who is only named alike is never taken for the same person.
func (s *Store) SignOn(ctx context.Context, in model.SignOn, o model.Origin) (model.SignedOn, error) {
	identity := model.Identity{Issuer: in.Issuer, Subject: in.Subject}
	if err := identity.Validate(); err != nil {
		return model.SignedOn{}, err
	}
	var out model.SignedOn
	err := s.write(ctx, func(t *tx) error {
		out = model.SignedOn{}
		row, err := t.identified(in, o, &out)
		if err != nil {
			return err
		}
		if row.Disabled {
			return model.Errorf(model.CodeUnauthorized, "the user is disabled")
		}
		if err := t.mapRole(row, in, o, &out); err != nil {
			return err
		}
		if in.MapsApps {
			if err := t.mapApps(row, in, o, &out); err != nil {
				return err
			}
		}
		out.User = row.user()
		return t.Model(&identityRow{}).Where("issuer = ? AND subject = ?", in.Issuer, in.Subject).Update("used_at", t.now).Error
	})
	if err != nil {
		return model.SignedOn{}, err
	}
	return out, nil
}

// identified returns the user behind an identity, made where it is new and may be.
func (t *tx) identified(in model.SignOn, o model.Origin, out *model.SignedOn) (*userRow, error) {
	var identity identityRow
	err := t.Take(&identity, "issuer = ? AND subject = ?", in.Issuer, in.Subject).Error
	switch {
	case err == nil:
		return userByID(t.DB, identity.UserID)
	case !errors.Is(err, gorm.ErrRecordNotFound):
		return nil, err
	case !in.Create:
		return nil, model.Errorf(model.CodeForbidden, "nobody is linked to this identity")
	}
	out.Created = true
	return t.createIdentified(in, o)
}

func (t *tx) createIdentified(in model.SignOn, o model.Origin) (*userRow, error) {
	role := model.RoleMember
	if in.Role != nil {
		role = *in.Role
	}
	row := &userRow{
		Name: in.Name, DisplayName: in.DisplayName, Role: string(role),
		Revision: 1, CreatedBy: o.Actor, CreatedAt: t.now, UpdatedBy: o.Actor, UpdatedAt: t.now,
	}
	user := row.user()
	if err := user.Validate(); err != nil {
		return nil, err
	}
	if err := t.Create(row).Error; isDuplicate(err) {
		return nil, t.takenBy(in)
	} else if err != nil {
		return nil, err
	}
	link := &identityRow{Issuer: in.Issuer, Subject: in.Subject, UserID: row.ID, CreatedBy: o.Actor, CreatedAt: t.now}
	if err := t.Create(link).Error; isDuplicate(err) {
		return nil, errAgain // another login of the same person was first
	} else if err != nil {
		return nil, err
	}
	if err := t.recordUser(row, o, model.Change{Action: model.ActionUserCreate, After: model.UserJSON(&user)}); err != nil {
		return nil, err
	}
	return row, t.recordUser(row, o, model.Change{Action: model.ActionUserLink, After: identityJSON(in.Issuer, in.Subject)})
}

// takenBy tells a name that another person has from one that the same person's other login has just taken.
func (t *tx) takenBy(in model.SignOn) error {
	var identity identityRow
	err := forShare(t.DB).Take(&identity, "issuer = ? AND subject = ?", in.Issuer, in.Subject).Error
	switch {
	case err == nil:
		return errAgain
	case errors.Is(err, gorm.ErrRecordNotFound):
		return model.Errorf(model.CodeTaken, "the name %s is taken", in.Name)
	}
	return err
}

// mapRole gives the user the role of its groups, except that the last admin stays one.
func (t *tx) mapRole(row *userRow, in model.SignOn, o model.Origin, out *model.SignedOn) error {
	if in.Role == nil || row.Role == string(*in.Role) {
		return nil
	}
	// The order of the locks is that of UpdateUser.
	if _, err := t.lockMeta(metaAdmins); err != nil {
		return err
	}
	locked, err := userByID(forUpdate(t.DB), row.ID)
	if err != nil {
		return err
	}
	*row = *locked
	before := *row
	row.Role = string(*in.Role)
	err = t.checkAdminLeft(&before, row)
	if model.CodeOf(err) == model.CodeLastAdmin {
		*row, out.KeptAdmin = before, true
		return nil
	}
	if err != nil || row.Role == before.Role {
		return err
	}
	var user model.User
	return t.saveUser(&before, row, o, &user)
}

// mapApps makes the memberships that groups give equal to those of the sign-on. Those given by hand stay as they are.
func (t *tx) mapApps(row *userRow, in model.SignOn, o model.Origin, out *model.SignedOn) error {
	var present []struct {
		App  string
		Role string
	}
	err := t.Table("members").Select("apps.name AS app, members.role AS role").Joins("JOIN apps ON apps.id = members.app_id").
		Where("members.user_id = ? AND members.source = ?", row.ID, byGroups).Scan(&present).Error
	if err != nil {
		return err
	}
	wanted := maps.Clone(in.Apps)
	if wanted == nil {
		wanted = map[string]model.AppRole{}
	}
	for _, m := range present {
		switch role, stays := wanted[m.App]; {
		case !stays:
			wanted[m.App] = "" // it ends
		case string(role) == m.Role:
			delete(wanted, m.App)
		}
	}
	for _, app := range slices.Sorted(maps.Keys(wanted)) { // one order, so that two logins do not lock crosswise
		err := t.mapMember(row, app, wanted[app], o)
		if model.CodeOf(err) == model.CodeNotFound {
			out.UnknownApps = append(out.UnknownApps, app)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mapMember gives or, with role "", ends one membership that comes from groups. CodeNotFound for the app.
func (t *tx) mapMember(user *userRow, name string, role model.AppRole, o model.Origin) error {
	app, err := livingApp(forUpdate(t.DB), name)
	if err != nil {
		return err
	}
	before, err := loadApp(t.DB, app)
	if err != nil {
		return err
	}
	action := model.ActionMemberSet
	if role == "" {
		action = model.ActionMemberRemove
		err = t.Where("app_id = ? AND user_id = ? AND source = ?", app.ID, user.ID, byGroups).Delete(&memberRow{}).Error
	} else {
		err = t.saveMember(memberRow{AppID: app.ID, UserID: user.ID, Role: string(role), Source: byGroups})
	}
	if err != nil {
		return err
	}
	if err := t.saveApp(app, o); err != nil {
		return err
	}
	after, err := loadApp(t.DB, app)
	if err != nil {
		return err
	}
	return t.recordApp(app, o, model.Change{Action: action, Before: memberJSON(&before, user.Name), After: memberJSON(&after, user.Name)})
}
