package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// userActions are the changes whose before and after hold a user.
var userActions = []model.Action{model.ActionUserCreate, model.ActionUserUpdate, model.ActionUserRename}

// memberActions are the changes that tell of an app's members: of all of them, or of one.
var memberActions = []model.Action{
	model.ActionAppCreate, model.ActionAppUpdate, model.ActionAppDelete, model.ActionMemberSet, model.ActionMemberRemove,
}

// PeopleAsOf lists the users that there were at an instant, with the role that they had and whether they could log in, by
// name. known is false when change rows were pruned that would tell.
func (s *Store) PeopleAsOf(ctx context.Context, at time.Time) (people []model.PersonAsOf, known bool, err error) {
	err = s.read(ctx, func(db *gorm.DB) error {
		people, known, err = peopleAsOf(db, micros(at))
		return err
	})
	return people, known, err
}

func peopleAsOf(db *gorm.DB, at time.Time) ([]model.PersonAsOf, bool, error) {
	a, err := rowsAround(db, model.TargetUser, nil, userActions, at)
	if err != nil {
		return nil, false, err
	}
	var now []userRow
	if err := db.Select("id, name, role, disabled").Find(&now).Error; err != nil {
		return nil, false, err
	}
	found := map[string]*model.PersonAsOf{}
	for _, row := range now {
		_, before := a.before[row.Name]
		_, after := a.after[row.Name]
		if a.known && !before && !after {
			found[row.Name] = &model.PersonAsOf{Name: row.Name, Role: model.Role(row.Role), Disabled: row.Disabled}
		}
	}
	for name, row := range a.before {
		if found[name], err = personOf(name, row.AfterJSON); err != nil {
			return nil, false, err
		}
	}
	for name, row := range a.after {
		if _, told := a.before[name]; told || !a.known {
			continue
		}
		if found[name], err = personOf(name, row.BeforeJSON); err != nil {
			return nil, false, err
		}
	}
	people := []model.PersonAsOf{}
	for _, person := range found {
		if person != nil {
			people = append(people, *person)
		}
	}
	slices.SortFunc(people, func(a, b model.PersonAsOf) int { return strings.Compare(a.Name, b.Name) })
	return people, a.known, nil
}

// personOf reads a user out of a change row's before or after; nil for null, and where it had another name.
func personOf(name string, text *string) (*model.PersonAsOf, error) {
	if text == nil {
		return nil, nil
	}
	var fields struct {
		Name     string     `json:"name"`
		Role     model.Role `json:"role"`
		Disabled bool       `json:"disabled"`
	}
	if err := json.Unmarshal([]byte(*text), &fields); err != nil {
		return nil, err
	}
	if fields.Name != "" && fields.Name != name {
		return nil, nil
	}
	return &model.PersonAsOf{Name: name, Role: fields.Role, Disabled: fields.Disabled}, nil
}

// MembersAsOf tells, by app, the members that apps had at an instant, sorted by name; model.AllApps stands for every app
// that there was. An app that was deleted or not there yet is left out.
func (s *Store) MembersAsOf(ctx context.Context, apps []string, at time.Time) (map[string][]model.Member, error) {
	members := map[string][]model.Member{}
	err := s.read(ctx, func(db *gorm.DB) error {
		clear(members)
		if slices.Contains(apps, model.AllApps) {
			if err := db.Model(&appRow{}).Pluck("name", &apps).Error; err != nil {
				return err
			}
		}
		people, err := renamesAfter(db, 0)
		if err != nil {
			return err
		}
		for _, app := range apps {
			list, there, err := membersAsOf(db, app, people, micros(at))
			if err != nil {
				return err
			}
			if there {
				members[app] = list
			}
		}
		return nil
	})
	return members, err
}

func membersAsOf(db *gorm.DB, app string, people renames, at time.Time) ([]model.Member, bool, error) {
	var rows []changeRow
	err := db.Where("target_kind = ? AND target = ? AND action IN ?", model.TargetApp, app, memberActions).Order("id").Find(&rows).Error
	if err != nil {
		return nil, false, err
	}
	told := newRoll(people, at)
	for i := range rows {
		if !rows[i].At.UTC().After(at) {
			if err := told.follow(&rows[i]); err != nil {
				return nil, false, err
			}
		}
	}
	for i := range rows {
		if rows[i].At.UTC().After(at) && !told.whole {
			if err := told.look(&rows[i]); err != nil {
				return nil, false, err
			}
		}
	}
	if !told.whole {
		if err := told.present(db, app); err != nil {
			return nil, false, err
		}
	}
	return told.members(), told.there, nil
}

// roll puts together the members that one app had at an instant from rows that each tell of all members or of one.
type roll struct {
	people renames
	at     time.Time
	there  bool                     // the app was there
	whole  bool                     // every member is known
	roles  map[string]model.AppRole // by the names of the instant; "" = known to be none
}

func newRoll(people renames, at time.Time) *roll {
	return &roll{people: people, at: at, there: true, roles: map[string]model.AppRole{}}
}

// rollFields are the shapes of before and after: an app with its members, or one member.
type rollFields struct {
	Members []struct {
		User string        `json:"user"`
		Role model.AppRole `json:"role"`
	} `json:"members"`
	User string        `json:"user"`
	Role model.AppRole `json:"role"`
}

func parseRoll(text *string) (fields rollFields, err error) {
	if text != nil {
		err = json.Unmarshal([]byte(*text), &fields)
	}
	return fields, err
}

func (row *changeRow) ofOneMember() bool {
	return row.Action == string(model.ActionMemberSet) || row.Action == string(model.ActionMemberRemove)
}

// follow takes a row from before the instant: what it left is so until a later row.
func (r *roll) follow(row *changeRow) error {
	is, err := parseRoll(row.AfterJSON)
	if err != nil {
		return err
	}
	if row.ofOneMember() {
		was, err := parseRoll(row.BeforeJSON)
		if is.User == "" {
			is.User = was.User
		}
		r.roles[r.people.later(is.User, row.ID, r.at)] = is.Role
		return err
	}
	clear(r.roles)
	r.fill(is, row.AfterJSON != nil, func(name string) string { return r.people.later(name, row.ID, r.at) })
	return nil
}

// look takes a row from after the instant, the oldest first: what it found was so before.
func (r *roll) look(row *changeRow) error {
	was, err := parseRoll(row.BeforeJSON)
	if err != nil {
		return err
	}
	if row.ofOneMember() {
		is, err := parseRoll(row.AfterJSON)
		if was.User == "" {
			was.User = is.User
		}
		r.learn(r.people.earlier(was.User, row.ID, r.at), was.Role)
		return err
	}
	r.fill(was, row.BeforeJSON != nil, func(name string) string { return r.people.earlier(name, row.ID, r.at) })
	return nil
}

// fill takes over all members, under the names that then gives them, except those of whom something newer is known.
func (r *roll) fill(fields rollFields, there bool, then func(name string) string) {
	r.there, r.whole = there, true
	for _, m := range fields.Members {
		r.learn(then(m.User), m.Role)
	}
}

func (r *roll) learn(user string, role model.AppRole) {
	if _, known := r.roles[user]; !known {
		r.roles[user] = role
	}
}

// present takes the members that the app has now for those of whom no row tells.
func (r *roll) present(db *gorm.DB, app string) error {
	row, err := appByName(db, app)
	if model.CodeOf(err) == model.CodeNotFound {
		r.there = false
		return nil
	}
	if err != nil {
		return err
	}
	loaded, err := loadApp(db, row)
	r.there = !row.Deleted
	for _, m := range loaded.Members {
		r.learn(r.people.earlier(m.User, present, r.at), m.Role)
	}
	return err
}

func (r *roll) members() []model.Member {
	list := []model.Member{}
	for user, role := range r.roles {
		if role != "" {
			list = append(list, model.Member{User: user, Role: role})
		}
	}
	slices.SortFunc(list, func(a, b model.Member) int { return strings.Compare(a.User, b.User) })
	return list
}
