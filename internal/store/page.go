package store

import (
	"strings"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// order is a list's sort order in SQL, over rows that have the columns name and updated_at.
type order struct {
	byTime bool
	desc   bool
}

func orderOf(sort string) order {
	field, desc := strings.CutPrefix(sort, "-")
	return order{byTime: field == model.SortUpdated, desc: desc}
}

// after limits a query to the rows behind a place, in order, up to one more than limit: the extra row tells that there
// is a next page. The place is named by values, not by a count of rows, so that a row that is added or removed in
// front neither repeats nor hides another.
func (o order) after(db *gorm.DB, place *namePlace, limit int) *gorm.DB {
	compare, direction := ">", ""
	if o.desc {
		compare, direction = "<", " DESC"
	}
	if o.byTime {
		if place != nil {
			at := micros(place.Updated)
			db = db.Where("(updated_at "+compare+" ? OR (updated_at = ? AND name "+compare+" ?))", at, at, place.Name)
		}
		return db.Order("updated_at" + direction + ", name" + direction).Limit(limit + 1)
	}
	if place != nil {
		db = db.Where("name "+compare+" ?", place.Name)
	}
	return db.Order("name" + direction).Limit(limit + 1)
}

// placeOf reads a cursor; nil for the first page.
func placeOf(scope, cursor string) (*namePlace, error) {
	if cursor == "" {
		return nil, nil
	}
	var place namePlace
	if err := decodeCursor(scope, cursor, &place); err != nil {
		return nil, err
	}
	return &place, nil
}

// cut takes the extra row off and tells where the next page begins.
func cut[R any](rows []R, limit int, scope string, place func(R) any) ([]R, string) {
	if len(rows) <= limit {
		return rows, ""
	}
	rows = rows[:limit]
	return rows, encodeCursor(scope, place(rows[limit-1]))
}

func limitOf(limit int) int {
	if limit == 0 {
		return model.PageDefault
	}
	return limit
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// contains limits a query to the rows that have the text, taken literally, in one of two columns. Upper and lower case
// are the same, for ASCII on SQLite and for all letters on MySQL.
func contains(db *gorm.DB, text, first, second string) *gorm.DB {
	if text == "" {
		return db
	}
	pattern := "%" + likeEscaper.Replace(text) + "%"
	const like = " LIKE LOWER(?) ESCAPE '!'"
	return db.Where("(LOWER("+first+")"+like+" OR LOWER("+second+")"+like+")", pattern, pattern)
}
