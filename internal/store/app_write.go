package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// CreateApp registers an app with its first members (0 or more). A name that was deleted goes on counting its
// revisions. CodeTaken, CodeInvalid.
func (s *Store) CreateApp(ctx context.Context, a model.App, o model.Origin) (model.App, error) {
	if err := a.Validate(); err != nil {
		return model.App{}, err
	}
	var app model.App
	err := s.write(ctx, func(t *tx) error {
		row, err := appByName(forUpdate(t.DB), a.Name)
		switch {
		case err == nil && !row.Deleted:
			return model.Errorf(model.CodeTaken, "the name %s is taken", a.Name)
		case model.CodeOf(err) == model.CodeNotFound:
			row = &appRow{Name: a.Name}
		case err != nil:
			return err
		}
		app, err = t.createApp(row, a, o)
		return err
	})
	return app, err
}

// createApp makes a row, new or of a deleted app, that of a living one.
func (t *tx) createApp(row *appRow, a model.App, o model.Origin) (model.App, error) {
	row.Deleted, row.CreatedBy, row.CreatedAt, row.CreatedRevision = false, o.Actor, t.now, row.Revision+1
	row.Description = a.Description
	if err := t.saveApp(row, o); err != nil {
		return model.App{}, err
	}
	for i, m := range a.Members {
		if err := t.putMember(row.ID, m, fmt.Sprintf("members[%d].user", i)); err != nil {
			return model.App{}, err
		}
	}
	app, err := loadApp(t.DB, row)
	if err != nil {
		return model.App{}, err
	}
	return app, t.recordApp(row, o, model.Change{Action: model.ActionAppCreate, After: model.AppJSON(&app)})
}

// UpdateApp changes the description of an app that is still at revision base. CodeNotFound, CodeStale, CodeInvalid.
func (s *Store) UpdateApp(ctx context.Context, name string, base int64, description string, o model.Origin) (model.App, error) {
	var app model.App
	err := s.write(ctx, func(t *tx) error {
		row, before, err := t.lockApp(name, base)
		if err != nil {
			return err
		}
		app, err = t.describeApp(row, before, description, o)
		return err
	})
	if err != nil {
		return model.App{}, err
	}
	return app, nil
}

// describeApp gives a locked app another description.
func (t *tx) describeApp(row *appRow, before model.App, description string, o model.Origin) (model.App, error) {
	app := before
	app.Description = description
	if err := app.Validate(); err != nil {
		return model.App{}, err
	}
	row.Description = description
	if err := t.saveApp(row, o); err != nil {
		return model.App{}, err
	}
	app.Revision, app.UpdatedBy, app.UpdatedAt = row.Revision, row.UpdatedBy, row.UpdatedAt
	return app, t.recordApp(row, o, model.Change{Action: model.ActionAppUpdate, Before: model.AppJSON(&before), After: model.AppJSON(&app)})
}

// DeleteApp removes an app that is still at revision base. CodeNotFound, CodeStale, CodeInUse when buckets list it.
func (s *Store) DeleteApp(ctx context.Context, name string, base int64, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, before, err := t.lockApp(name, base)
		if err != nil {
			return err
		}
		return t.deleteApp(row, before, o)
	})
}

// deleteApp removes a locked app. CodeInUse.
func (t *tx) deleteApp(row *appRow, before model.App, o model.Origin) error {
	var listed int64
	if err := t.Model(&bucketApp{}).Where("app_id = ?", row.ID).Count(&listed).Error; err != nil {
		return err
	}
	if listed > 0 {
		return model.Errorf(model.CodeInUse, "the app %s is listed by %d %s; take it out there first", row.Name, listed, plural(listed, "bucket"))
	}
	if err := t.Where("app_id = ?", row.ID).Delete(&memberRow{}).Error; err != nil {
		return err
	}
	row.Deleted = true
	if err := t.saveApp(row, o); err != nil {
		return err
	}
	return t.recordApp(row, o, model.Change{Action: model.ActionAppDelete, Before: model.AppJSON(&before)})
}

// SetMember makes a user a member of an app, or changes its role; a membership that a group gives stays beside it. It
// raises the app's revision. CodeNotFound for the app, CodeInvalid with field "user" when there is no such user.
func (s *Store) SetMember(ctx context.Context, app string, m model.Member, o model.Origin) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return s.changeMembers(ctx, app, m.User, o, model.ActionMemberSet, func(t *tx, row *appRow) error {
		return t.putMember(row.ID, m, "user")
	})
}

// RemoveMember ends a membership that was given by hand and raises the app's revision. CodeNotFound for the app or the
// membership, CodeInUse when only a group of the single sign-on gives it.
func (s *Store) RemoveMember(ctx context.Context, app, user string, o model.Origin) error {
	return s.changeMembers(ctx, app, user, o, model.ActionMemberRemove, func(t *tx, row *appRow) error {
		return t.dropMember(row.ID, user)
	})
}

func (t *tx) dropMember(appID int64, user string) error {
	person, err := userByName(t.DB, user)
	if model.CodeOf(err) == model.CodeNotFound {
		return notFound("member")
	}
	if err != nil {
		return err
	}
	gone := t.Where("app_id = ? AND user_id = ? AND source = ?", appID, person.ID, byHand).Delete(&memberRow{})
	if gone.Error != nil || gone.RowsAffected > 0 {
		return gone.Error
	}
	var mapped int64
	if err := t.Model(&memberRow{}).Where("app_id = ? AND user_id = ?", appID, person.ID).Count(&mapped).Error; err != nil {
		return err
	}
	if mapped > 0 {
		return model.Errorf(model.CodeInUse, "%s is a member through a group of the single sign-on; take it out of that group", user)
	}
	return notFound("member")
}

// changeMembers runs one change of one membership as the app's next revision. The change row tells that member before
// and after.
func (s *Store) changeMembers(ctx context.Context, app, user string, o model.Origin, action model.Action, change func(*tx, *appRow) error) error {
	return s.write(ctx, func(t *tx) error {
		row, err := livingApp(forUpdate(t.DB), app)
		if err != nil {
			return err
		}
		return t.changeMember(row, user, o, action, change)
	})
}

// changeMember is changeMembers on a locked app.
func (t *tx) changeMember(row *appRow, user string, o model.Origin, action model.Action, change func(*tx, *appRow) error) error {
	before, err := loadApp(t.DB, row)
	if err != nil {
		return err
	}
	if err := change(t, row); err != nil {
		return err
	}
	if err := t.saveApp(row, o); err != nil {
		return err
	}
	after, err := loadApp(t.DB, row)
	if err != nil {
		return err
	}
	return t.recordApp(row, o, model.Change{Action: action, Before: memberJSON(&before, user), After: memberJSON(&after, user)})
}

// memberJSON is one member of an app for the history, nil when the user is none.
func memberJSON(a *model.App, user string) json.RawMessage {
	for _, m := range a.Members {
		if m.User == user {
			return model.MemberJSON(m)
		}
	}
	return nil
}

func (t *tx) lockApp(name string, base int64) (*appRow, model.App, error) {
	row, err := livingApp(forUpdate(t.DB), name)
	if err != nil {
		return nil, model.App{}, err
	}
	if row.Revision != base {
		return nil, model.App{}, stale("app", row.Revision, base)
	}
	app, err := loadApp(t.DB, row)
	return row, app, err
}

// saveApp writes a locked (or new) row as its next revision.
func (t *tx) saveApp(row *appRow, o model.Origin) error {
	row.Revision++
	row.UpdatedBy, row.UpdatedAt = o.Actor, t.now
	if row.ID != 0 {
		return t.Save(row).Error
	}
	err := t.Create(row).Error
	if isDuplicate(err) {
		return errAgain // another server made the name in between: look at it
	}
	return err
}

func (t *tx) recordApp(row *appRow, o model.Origin, c model.Change) error {
	c.TargetKind, c.Target, c.Revision = model.TargetApp, row.Name, row.Revision
	return t.appendChange(o, c)
}

// putMember adds a member or changes its role; field is what to name when there is no such user.
func (t *tx) putMember(appID int64, m model.Member, field string) error {
	if err := m.Validate(); err != nil {
		return err
	}
	person, err := userByName(t.DB, m.User)
	if model.CodeOf(err) == model.CodeNotFound {
		return invalidField("the member", field, "is not registered")
	}
	if err != nil {
		return err
	}
	return t.saveMember(memberRow{AppID: appID, UserID: person.ID, Role: string(m.Role), Source: byHand})
}

// saveMember makes a source's membership, or changes its role.
func (t *tx) saveMember(row memberRow) error {
	replace := clause.OnConflict{
		Columns:   []clause.Column{{Name: "app_id"}, {Name: "user_id"}, {Name: "source"}},
		DoUpdates: clause.AssignmentColumns([]string{"role"}),
	}
	return t.Clauses(replace).Create(&row).Error
}

func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
