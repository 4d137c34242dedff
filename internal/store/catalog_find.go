package store

import (
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// eager is how many entries a search looks at one by one in the order of the list. One that has not filled its page by
// then is rare, or in vain, and looks at all that are left in the order of memory, which is faster.
const eager = 1_000

// wanted is a query on buckets with all names replaced by ids.
type wanted struct {
	nothing  bool // a filter names somebody or something that there is not
	sight    sight
	search   string // folded
	app      int64  // given by withApp; anyApp is none but those of all apps
	withApp  bool
	owner    int64 // 0 = any
	label    label // "" = any
	mode     string
	waiting  map[int64]bool // bucket ids
	awaiting bool           // where waiting is not nil: those in it, or those that are not
}

// sight is what a viewer may see.
type sight struct {
	all      bool
	user     int64
	memberOf []int64 // app ids
}

// want replaces the names of a query.
func want(db *gorm.DB, q model.BucketQuery) (*wanted, error) {
	w := &wanted{search: fold(q.Search), mode: string(q.Mode), withApp: q.App != "", app: anyApp}
	var err error
	if w.sight, err = sightOf(db, q.Viewer); err != nil {
		return nil, err
	}
	if w.withApp && q.App != model.AllApps {
		row, err := appByName(db, q.App)
		if err == nil {
			w.app = row.ID
		} else if err := w.lacks(err); err != nil {
			return nil, err
		}
	}
	if q.Owner != "" {
		row, err := userByName(db, q.Owner)
		if err == nil {
			w.owner = row.ID
		} else if err := w.lacks(err); err != nil {
			return nil, err
		}
	}
	var valued bool
	w.label.name, w.label.value, valued = strings.Cut(q.Label, "=")
	w.nothing = w.nothing || valued && (w.label.name == "" || w.label.value == "") // no label is without a name or a value
	if q.Sync != "" {
		w.awaiting = q.Sync == model.SyncPending
		w.waiting, err = waitingBuckets(db)
	}
	return w, err
}

// lacks notes that what a filter names does not exist.
func (w *wanted) lacks(err error) error {
	if model.CodeOf(err) == model.CodeNotFound {
		w.nothing = true
		return nil
	}
	return err
}

// sightOf reads what a viewer may see; "" sees all, and one that is gone nothing.
func sightOf(db *gorm.DB, viewer string) (sight, error) {
	if viewer == "" {
		return sight{all: true}, nil
	}
	id, err := viewerID(db, viewer)
	if err != nil || id == 0 {
		return sight{}, err
	}
	s := sight{user: id}
	err = db.Model(&memberRow{}).Distinct("app_id").Where("user_id = ?", id).Pluck("app_id", &s.memberOf).Error
	return s, err
}

// waitingBuckets reads which buckets wait for Redis. A row of the outbox stands from the commit of each revision until
// Redis is known to have it.
func waitingBuckets(db *gorm.DB) (map[int64]bool, error) {
	var ids []int64
	if err := db.Model(&outboxRow{}).Pluck("bucket_id", &ids).Error; err != nil {
		return nil, err
	}
	waiting := make(map[int64]bool, len(ids))
	for _, id := range ids {
		waiting[id] = true
	}
	return waiting, nil
}

// within is the set of what the viewer may see, narrowed to the app and the owner that are wanted. What is not in it is
// never looked at, so that how long a search takes tells nothing of what it says.
func (c *catalog) within(w *wanted) bitSet {
	set := newBits(len(c.slots))
	switch {
	case w.nothing:
		return set
	case w.sight.all:
		copy(set, c.living)
	default:
		set.setAll(c.byOwner[w.sight.user])
		for _, app := range w.sight.memberOf {
			set.setAll(c.byApp[app])
		}
		if len(w.sight.memberOf) > 0 {
			set.setAll(c.byApp[anyApp])
		}
	}
	narrow := func(list []int32) {
		only := newBits(len(c.slots))
		only.setAll(list)
		set.keep(only)
	}
	if w.withApp {
		narrow(c.byApp[w.app])
	}
	if w.owner != 0 {
		narrow(c.byOwner[w.owner])
	}
	return set
}

// takes tells whether an entry that is within meets the rest of the query.
func (w *wanted) takes(e *entry) bool {
	if w.mode != "" && e.mode != w.mode || w.waiting != nil && w.waiting[e.id] != w.awaiting {
		return false
	}
	if w.label.name != "" && !slices.ContainsFunc(e.labels, w.isLabel) {
		return false
	}
	return w.search == "" || e.cut || strings.Contains(e.text, w.search)
}

func (w *wanted) isLabel(h labelHandle) bool {
	has := h.Value()
	return has.name == w.label.name && (w.label.value == "" || has.value == w.label.value)
}

// find returns up to most entries that are wanted, behind a place, in order.
func (c *catalog) find(w *wanted, sort order, place *namePlace, most int) []*entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	set := c.within(w)
	list, next, step := c.from(sort, place)
	var found []*entry
	looked, settled := 0, false // settled: set holds what is wanted and nothing else
	for ; next >= 0 && next < len(list) && len(found) < most; next += step {
		slot := list[next]
		if !set.has(slot) {
			continue
		}
		if looked++; looked > eager && !settled {
			c.settle(w, set)
			settled = true
		}
		if settled && set.has(slot) || !settled && w.takes(c.slots[slot]) {
			found = append(found, c.slots[slot])
		}
	}
	return found
}

// settle takes what is not wanted out of a set.
func (c *catalog) settle(w *wanted, set bitSet) {
	set.each(func(slot int32) {
		if !w.takes(c.slots[slot]) {
			set.clear(slot)
		}
	})
}

// from is the order in which to go through the slots, where to begin, and in which direction.
func (c *catalog) from(sort order, place *namePlace) (list []int32, next, step int) {
	list, compare := c.byName, compareNames
	if sort.byTime {
		list, compare = c.byTime, compareTimes
	}
	step = 1
	if sort.desc {
		next, step = len(list)-1, -1
	}
	if place == nil {
		return list, next, step
	}
	next, found := c.search(list, &entry{name: place.Name, updated: place.Updated.UnixMicro()}, compare)
	if sort.desc {
		next--
	} else if found {
		next++
	}
	return list, next, step
}

// each calls fn with every entry that is wanted, in no order.
func (c *catalog) each(w *wanted, fn func(*entry)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.within(w).each(func(slot int32) {
		if e := c.slots[slot]; w.takes(e) {
			fn(e)
		}
	})
}

// namesOf are the names of the buckets that an app may use, in order.
func (c *catalog) namesOf(app int64) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	set := newBits(len(c.slots))
	set.setAll(c.byApp[app])
	set.setAll(c.byApp[anyApp])
	names := make([]string, 0, set.count())
	for _, slot := range c.byName {
		if set.has(slot) {
			names = append(names, c.slots[slot].name)
		}
	}
	return names
}

// tally counts what may be seen, and how many of that wait for Redis.
func (c *catalog) tally(s sight, waiting map[int64]bool) (all, pending int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	set := c.within(&wanted{sight: s})
	if len(waiting) > 0 {
		set.each(func(slot int32) {
			if waiting[c.slots[slot].id] {
				pending++
			}
		})
	}
	return int64(set.count()), pending
}

// labels counts the buckets that may be seen by their labels.
func (c *catalog) labels(s sight) map[labelHandle]int64 {
	counts := map[labelHandle]int64{}
	c.each(&wanted{sight: s}, func(e *entry) {
		for _, has := range e.labels {
			counts[has]++
		}
	})
	return counts
}

func (e *entry) place() *namePlace {
	return &namePlace{Name: e.name, Updated: time.UnixMicro(e.updated).UTC()}
}
