package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
	"unique"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// Bounds of following.
const (
	// followBound is how many rows of history are followed one by one; behind by more, everything is read anew.
	followBound = 5_000
	// catalogTimeout bounds reading everything. It takes a second for 100,000 buckets.
	catalogTimeout = 2 * time.Minute
)

// Warm reads what lists need to know of all buckets, so that the first list does not wait for it. Without it the first
// list does the same.
func (s *Store) Warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, catalogTimeout)
	defer cancel()
	_, err := s.present(ctx)
	return err
}

// present returns the catalog, at least as new as everything that was committed before the call. Every change of a
// bucket is a link of the history's chain, and links are added in the order of the commits: one look at the chain's head
// tells whether anything is missing, and its links tell what.
func (s *Store) present(ctx context.Context) (*catalog, error) {
	var head audit.Head
	err := s.readOne(ctx, func(db *gorm.DB) (err error) {
		head, err = readHead(db)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := s.catalog
	if at, built := c.stands(); built && sameHead(at, head) {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
		return c, s.follow(ctx)
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	}
}

func sameHead(a, b audit.Head) bool { return a.Seq == b.Seq && a.Hash == b.Hash }

// follow brings the catalog to where the chain stands. The caller has the turn, so that what is read here is newer than
// the catalog: a chain that is shorter, or another one, is that of a restored database.
func (s *Store) follow(ctx context.Context) error {
	// Whoever asks may go: others wait for the same.
	ctx = context.WithoutCancel(ctx)
	return s.readWithin(ctx, catalogTimeout, func(db *gorm.DB) error {
		head, err := readHead(db)
		if err != nil {
			return err
		}
		at, built := s.catalog.stands()
		if built && sameHead(at, head) {
			return nil
		}
		if built {
			names, linked, err := changedSince(db, at, head)
			if err != nil {
				return err
			}
			if linked {
				present, err := s.entriesOf(db, names)
				if err == nil {
					s.catalog.apply(names, present, head)
					s.catalog.repack()
				}
				return err
			}
		}
		all, err := loadEntries(db, s.catalog.most, nil)
		if err == nil {
			s.catalog.fill(all, head)
		}
		return err
	})
}

// changedSince reads the names of the buckets that the chain's links from at to head tell of. linked is false where they
// can't be told: at is no link of this chain (a restored database, or rows that retention removed), or too far back.
func changedSince(db *gorm.DB, at, head audit.Head) (names []string, linked bool, err error) {
	if head.Seq-at.Seq > followBound {
		return nil, false, nil
	}
	var rows []changeRow
	err = db.Select("id", "target_kind", "target", "hash").Where("id >= ?", at.Seq).Order("id").Limit(followBound + 1).Find(&rows).Error
	if err != nil {
		return nil, false, err
	}
	if len(rows) == 0 || !bytes.Equal(rows[0].Hash, at.Hash[:]) {
		return nil, false, nil
	}
	told := map[string]bool{}
	for _, row := range rows[1:] {
		if row.TargetKind == string(model.TargetBucket) && !told[row.Target] {
			told[row.Target], names = true, append(names, row.Target)
		}
	}
	return names, true, nil
}

// entriesOf reads what some names are now; those that do not live are left out.
func (s *Store) entriesOf(db *gorm.DB, names []string) ([]*entry, error) {
	var present []*entry
	for part := range slices.Chunk(names, syncBound) {
		some, err := loadEntries(db, s.catalog.room(), part)
		if err != nil {
			return nil, err
		}
		present = append(present, some...)
	}
	return present, nil
}

// loadEntries reads the living buckets of some names, or, with nil, of all. Descriptions are kept while there is room for
// them. It scans row by row: collecting all rows first would take several times the memory.
func loadEntries(db *gorm.DB, room int, names []string) ([]*entry, error) {
	living := db.Model(&bucketRow{}).Where("buckets.deleted = ?", false)
	among := func(link string) *gorm.DB { return db.Table(link).Order(link + ".bucket_id") }
	byID := map[int64]*entry{}
	if names != nil {
		living = living.Where("buckets.name IN ?", names)
		among = func(link string) *gorm.DB {
			ids := make([]int64, 0, len(byID))
			for id := range byID {
				ids = append(ids, id)
			}
			return db.Table(link).Where(link+".bucket_id IN ?", append(ids, 0)).Order(link + ".bucket_id")
		}
	}
	var entries []*entry
	err := eachRow(living.Select("id", "name", "description", "mode", "all_apps", "updated_at"), func(row scanner) error {
		e, err := scanBucket(row, &room)
		if err == nil {
			entries, byID[e.id] = append(entries, e), e
		}
		return err
	})
	if err != nil || len(entries) == 0 {
		return entries, err
	}
	apps := func(e *entry, ids []int64) { e.apps = ids }
	owners := func(e *entry, ids []int64) { e.owners = ids }
	if err := loadLinks(among("bucket_apps").Select("bucket_id, app_id").Order("app_id"), byID, apps); err != nil {
		return nil, err
	}
	if err := loadLinks(among("bucket_owners").Select("bucket_id, user_id").Order("user_id"), byID, owners); err != nil {
		return nil, err
	}
	return entries, loadLabels(among("bucket_labels").Select("bucket_id, name, value"), byID)
}

type scanner interface{ Scan(into ...any) error }

// eachRow calls fn with the rows of a query, one by one.
func eachRow(query *gorm.DB, fn func(row scanner) error) (err error) {
	rows, err := query.Rows()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func scanBucket(row scanner, room *int) (*entry, error) {
	e := &entry{}
	var description, mode string
	var allApps bool
	var updated time.Time
	if err := row.Scan(&e.id, &e.name, &description, &mode, &allApps, &updated); err != nil {
		return nil, err
	}
	e.updated, e.mode, e.text = updated.UnixMicro(), interned(mode), fold(e.name)
	if e.cut = len(description) > *room; !e.cut {
		e.text += separator + fold(description)
	}
	*room -= len(e.text)
	if allApps {
		e.apps = []int64{anyApp}
	}
	return e, nil
}

// interned is one copy of a mode for all buckets.
func interned(mode string) string {
	for _, m := range []model.Mode{model.ModeEnforce, model.ModeShadow, model.ModeOff} {
		if mode == string(m) {
			return string(m)
		}
	}
	return mode
}

// loadLinks reads pairs of a bucket's id and another id, sorted by both, and hands each bucket its ids.
func loadLinks(query *gorm.DB, byID map[int64]*entry, hand func(e *entry, ids []int64)) error {
	var of int64
	var ids []int64
	next := func() {
		if e := byID[of]; e != nil && len(ids) > 0 {
			hand(e, slices.Clone(ids))
		}
		ids = ids[:0]
	}
	err := eachRow(query, func(row scanner) error {
		var bucket, id int64
		if err := row.Scan(&bucket, &id); err != nil {
			return err
		}
		if bucket != of {
			next()
			of = bucket
		}
		ids = append(ids, id)
		return nil
	})
	next()
	return err
}

func loadLabels(query *gorm.DB, byID map[int64]*entry) error {
	return eachRow(query, func(row scanner) error {
		var bucket int64
		var name, value string
		if err := row.Scan(&bucket, &name, &value); err != nil {
			return err
		}
		if e := byID[bucket]; e != nil {
			e.labels = append(e.labels, unique.Make(label{name, value}))
		}
		return nil
	})
}
