package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// appRow is one app name, living or deleted.
type appRow struct {
	ID              int64 `gorm:"primaryKey"`
	Name            string
	Description     string
	Deleted         bool
	Revision        int64
	CreatedRevision int64
	CreatedBy       string
	CreatedAt       time.Time `gorm:"autoCreateTime:false"`
	UpdatedBy       string
	UpdatedAt       time.Time `gorm:"autoUpdateTime:false"`
}

func (appRow) TableName() string { return "apps" }

// memberRow is a membership from one source. Of one user in one app there may be one of each source; the higher role
// counts.
type memberRow struct {
	AppID  int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64 `gorm:"primaryKey;autoIncrement:false"`
	Role   string
	Source string `gorm:"primaryKey"`
}

// Where a membership comes from.
const (
	byHand   = "hand"   // a person or the API
	byGroups = "groups" // the groups of the single sign-on
)

func (memberRow) TableName() string { return "members" }

// App reads one app with its members. CodeNotFound.
func (s *Store) App(ctx context.Context, name string) (model.App, error) {
	var app model.App
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := livingApp(db, name)
		if err != nil {
			return err
		}
		app, err = loadApp(db, row)
		return err
	})
	return app, err
}

// AppFor reads one app and what the user is to it. CodeNotFound only when there is no such app.
func (s *Store) AppFor(ctx context.Context, user, name string) (model.App, model.Relation, error) {
	var app model.App
	var relation model.Relation
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := livingApp(db, name)
		if err != nil {
			return err
		}
		if app, err = loadApp(db, row); err != nil {
			return err
		}
		id, err := viewerID(db, user)
		if err != nil {
			return err
		}
		relation, err = relationOf(db.Model(&memberRow{}).Where("app_id = ? AND user_id = ?", row.ID, id))
		return err
	})
	return app, relation, err
}

// Apps lists apps with their members. CodeInvalid naming the field of the query.
func (s *Store) Apps(ctx context.Context, q model.AppQuery) (model.Page[model.App], error) {
	var page model.Page[model.App]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope, sort := cursorScope("apps", q), orderOf(q.Sort)
	place, err := placeOf(scope, cursor)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(db *gorm.DB) error {
		query := db.Model(&appRow{}).Where("apps.deleted = ?", false)
		if q.Viewer != "" {
			id, err := viewerID(db, q.Viewer)
			if err != nil {
				return err
			}
			query = seenApps(query, id)
		}
		query = contains(query, q.Search, "apps.name", "apps.description")
		var rows []appRow
		if err := sort.after(query, place, limit).Find(&rows).Error; err != nil {
			return err
		}
		rows, page.Next = cut(rows, limit, scope, func(r appRow) any { return namePlace{r.Name, r.UpdatedAt.UTC()} })
		page.Items, err = loadApps(db, rows)
		return err
	})
	return page, err
}

// AppRoles returns the user's role in each of these apps of which it is a member; nil names = in every app.
func (s *Store) AppRoles(ctx context.Context, user string, names []string) (map[string]model.AppRole, error) {
	roles := map[string]model.AppRole{}
	var rows []struct{ App, Person, Role string }
	err := s.readOne(ctx, func(db *gorm.DB) error {
		query := db.Table("members").Select("apps.name AS app, users.name AS person, members.role AS role").
			Joins("JOIN apps ON apps.id = members.app_id").Joins("JOIN users ON users.id = members.user_id").
			Where("apps.deleted = ? AND users.name = ?", false, user)
		if names != nil {
			query = query.Where("apps.name IN ?", append([]string{""}, names...)) // "" is nobody's name: an empty list finds nothing
		}
		return query.Scan(&rows).Error
	})
	for _, row := range rows {
		if row.Person == user {
			roles[row.App] = model.HigherAppRole(roles[row.App], model.AppRole(row.Role))
		}
	}
	return roles, err
}

// seenApps limits a query on apps to those of which a user is a member.
func seenApps(query *gorm.DB, userID int64) *gorm.DB {
	return query.Where("EXISTS (SELECT 1 FROM members WHERE members.app_id = apps.id AND members.user_id = ?)", userID)
}

// appByName reads a name's row, living or deleted.
func appByName(db *gorm.DB, name string) (*appRow, error) {
	var row appRow
	err := db.Take(&row, "name = ?", name).Error
	if err == nil && row.Name != name {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return nil, orNotFound(err, "app")
	}
	return &row, nil
}

func livingApp(db *gorm.DB, name string) (*appRow, error) {
	row, err := appByName(db, name)
	if err != nil {
		return nil, err
	}
	if row.Deleted {
		return nil, notFound("app")
	}
	return row, nil
}

func loadApp(db *gorm.DB, row *appRow) (model.App, error) {
	apps, err := loadApps(db, []appRow{*row})
	if err != nil {
		return model.App{}, err
	}
	return apps[0], nil
}

// loadApps completes rows to apps, in their order, with the members sorted by name.
func loadApps(db *gorm.DB, rows []appRow) ([]model.App, error) {
	apps := make([]model.App, len(rows))
	at := make(map[int64]int, len(rows))
	ids := make([]int64, len(rows))
	for i, r := range rows {
		apps[i] = model.App{
			Name: r.Name, Description: r.Description, Revision: r.Revision, Members: []model.Member{},
			CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), UpdatedBy: r.UpdatedBy, UpdatedAt: r.UpdatedAt.UTC(),
		}
		at[r.ID], ids[i] = i, r.ID
	}
	if len(rows) == 0 {
		return apps, nil
	}
	var members []struct {
		AppID  int64
		Name   string
		Role   string
		Source string
	}
	err := db.Table("members").Select("members.app_id, users.name, members.role, members.source").
		Joins("JOIN users ON users.id = members.user_id").
		Where("members.app_id IN ?", ids).Order("users.name").Scan(&members).Error
	for _, m := range members {
		app := &apps[at[m.AppID]]
		app.Members = addMember(app.Members, model.Member{User: m.Name, Role: model.AppRole(m.Role), Mapped: m.Source == byGroups})
	}
	return apps, err
}

// addMember adds one source's membership to a list that is sorted by name, making one of a user's two.
func addMember(list []model.Member, m model.Member) []model.Member {
	if n := len(list) - 1; n >= 0 && list[n].User == m.User {
		list[n].Role = model.HigherAppRole(list[n].Role, m.Role)
		list[n].Mapped = list[n].Mapped || m.Mapped
		return list
	}
	return append(list, m)
}
