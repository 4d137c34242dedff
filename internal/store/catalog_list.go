package store

import (
	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// proposals bounds how many buckets of the catalog are looked up at once in the database.
const proposals = 2_000

// listedRow is a row of a page, at its place in the list.
type listedRow struct {
	row   bucketRow
	place namePlace
}

// bucketRows reads the rows of a page behind a place, one more than limit where there are more. The catalog proposes
// them; what comes back is what the database has under the same conditions in the view of db, so that a bucket that was
// changed in between is not shown by mistake.
func (c *catalog) bucketRows(db *gorm.DB, q model.BucketQuery, place *namePlace, limit int) ([]listedRow, error) {
	w, err := want(db, q)
	if err != nil {
		return nil, err
	}
	sort := orderOf(q.Sort)
	var rows []listedRow
	for most := limit + 1; len(rows) <= limit; most = min(2*most, proposals) {
		found := c.find(w, sort, place, most)
		some, err := confirm(db, q, w, found)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
		if len(found) < most {
			break
		}
		place = found[len(found)-1].place()
	}
	return rows, nil
}

// confirm reads the rows of entries, in their order, and leaves out those that the query does not want.
func confirm(db *gorm.DB, q model.BucketQuery, w *wanted, found []*entry) ([]listedRow, error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(found))
	for i, e := range found {
		ids[i] = e.id
	}
	var rows []bucketRow
	if err := bucketFilters(db, q, w.sight).Where("buckets.id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	byID := make(map[int64]*bucketRow, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	confirmed := make([]listedRow, 0, len(rows))
	for _, e := range found {
		if row := byID[e.id]; row != nil && hasText(row.Name, row.Description, w.search) {
			confirmed = append(confirmed, listedRow{*row, *e.place()})
		}
	}
	return confirmed, nil
}
