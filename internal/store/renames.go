package store

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// A definition and an app's members name people by the names that they had when the row was written. A rename changes no
// bucket and no app, so it leaves no row of theirs; and the old name may be somebody else's by now. What an old row says of
// people is therefore followed through the renames before it is told of another instant, or taken over.

// rename is one change of a user's name.
type rename struct {
	id       int64 // of its change row
	at       time.Time
	from, to string
}

// renames are changes of names, in the order in which they happened.
type renames []rename

// present stands for the id of what is so now: behind every row.
const present = math.MaxInt64

// renamesAfter reads the renames whose rows come after a row.
func renamesAfter(db *gorm.DB, id int64) (renames, error) {
	var rows []changeRow
	err := db.Where("action = ? AND id > ?", model.ActionUserRename, id).Order("id").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	var all renames
	for i := range rows {
		from, err := nameIn(rows[i].BeforeJSON)
		if err != nil {
			return nil, err
		}
		to, err := nameIn(rows[i].AfterJSON)
		if err != nil {
			return nil, err
		}
		if rows[i].Target == from { // a rename has a second row, under the new name
			all = append(all, rename{rows[i].ID, rows[i].At.UTC(), from, to})
		}
	}
	return all, nil
}

func nameIn(text *string) (string, error) {
	var fields struct {
		Name string `json:"name"`
	}
	if text == nil {
		return "", nil
	}
	err := json.Unmarshal([]byte(*text), &fields)
	return fields.Name, err
}

// later is the name at an instant of who was called name when row id was written, which is not after the instant.
func (all renames) later(name string, id int64, at time.Time) string {
	for _, r := range all {
		if r.id > id && r.from == name && !r.at.After(at) {
			name = r.to
		}
	}
	return name
}

// earlier is the name at an instant of who was called name right before row id was written, which is after the instant.
func (all renames) earlier(name string, id int64, at time.Time) string {
	for _, r := range slices.Backward(all) {
		if r.id < id && r.to == name && r.at.After(at) {
			name = r.from
		}
	}
	return name
}

// now is the present name of who was called name when row id was written.
func (all renames) now(name string, id int64) string {
	for _, r := range all {
		if r.id > id && r.from == name {
			name = r.to
		}
	}
	return name
}

// each gives every name of a list as another one, sorted as definitions are.
func each(names []string, other func(string) string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = other(name)
	}
	slices.Sort(out)
	return out
}
