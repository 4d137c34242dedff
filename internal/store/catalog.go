package store

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/headgate/headgate/internal/audit"
)

// catalog knows of every living bucket what lists filter and sort by, so that a list, a search or a count costs a walk
// through memory and not a reading of every row: a part of a word can't be looked up in an index that MySQL, MariaDB and
// SQLite all have, and neither can "mine or of one of my apps", in the order of the names.
//
// It only proposes. The rows of a page are read from the database under the same conditions (catalog_list.go), so it can
// show nobody what the database would not. It is never behind: before each use it is brought to where the history's
// chain stands (catalog_follow.go).
type catalog struct {
	turn chan struct{} // held by whoever brings it up to date; buffered, of one

	mu     sync.RWMutex
	at     audit.Head // where the chain stood when it was last brought up to date
	built  bool
	slots  []*entry // each living bucket has one; nil is free
	free   []int32
	living bitSet
	byName []int32 // slots, sorted by the names of their entries
	byTime []int32 // slots, sorted by the time of the last edit, and by name among equals
	// The slots of each app's buckets, and of each owner's; under anyApp are those that list all apps.
	byApp, byOwner map[int64][]int32
	bytes, most    int // of the texts in it, and how many there may be
	loose          int // entries that came since all were packed
}

// defaultSearchBytes is room for 100,000 buckets of 640 bytes each.
const defaultSearchBytes = 64 << 20

// anyApp stands where an app's id would; ids begin with 1.
const anyApp = 0

// entry is one bucket; it never changes once it is in the catalog.
type entry struct {
	id      int64
	name    string
	text    string // what a search looks at: name and description with a separator between, folded
	cut     bool   // the description is not in text
	updated int64  // µs since 1970
	mode    string
	apps    []int64 // anyApp alone for all
	owners  []int64
	labels  []labelHandle
}

// labelHandle stands for a label in a few bytes: many buckets have the same.
type labelHandle = unique.Handle[label]

type label struct{ name, value string }

// separator is in no name, description or search: control characters are refused.
const separator = "\x00"

// fold makes texts that differ only in case equal, for all letters.
func fold(s string) string { return strings.ToLower(s) }

// hasText tells whether a search finds a bucket; folded is fold of what was typed.
func hasText(name, description, folded string) bool {
	return folded == "" || strings.Contains(fold(name), folded) || strings.Contains(fold(description), folded)
}

func newCatalog(most int) *catalog {
	if most == 0 {
		most = defaultSearchBytes
	}
	return &catalog{turn: make(chan struct{}, 1), most: most}
}

func compareNames(a, b *entry) int { return cmp.Compare(a.name, b.name) }

func compareTimes(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.updated, b.updated), cmp.Compare(a.name, b.name))
}

// stands tells where the chain stood, and whether there is anything in the catalog yet.
func (c *catalog) stands() (audit.Head, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.at, c.built
}

// fill replaces everything.
func (c *catalog) fill(all []*entry, at audit.Head) {
	packed := pack(all)
	next := catalog{slots: packed, living: newBits(len(packed)), byApp: map[int64][]int32{}, byOwner: map[int64][]int32{}}
	for slot, e := range packed {
		next.link(int32(slot), e)
		next.byName = append(next.byName, int32(slot)) // packed is sorted by name
	}
	next.byTime = slices.Clone(next.byName)
	slices.SortFunc(next.byTime, func(a, b int32) int { return compareTimes(packed[a], packed[b]) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots, c.free, c.living, c.byName, c.byTime = next.slots, nil, next.living, next.byName, next.byTime
	c.byApp, c.byOwner, c.bytes, c.loose, c.at, c.built = next.byApp, next.byOwner, next.bytes, 0, at, true
}

// pack sorts entries by name and lays them and their texts side by side in that order: a search that looks at all of
// them then reads memory from one end to the other, several times as fast as in leaps.
func pack(all []*entry) []*entry {
	slices.SortFunc(all, compareNames)
	var size int
	for _, e := range all {
		size += len(e.text)
	}
	var text strings.Builder
	text.Grow(size)
	for _, e := range all {
		text.WriteString(e.text)
	}
	rest := text.String()
	room, packed := make([]entry, len(all)), make([]*entry, len(all))
	for i, e := range all {
		room[i] = *e
		packed[i] = &room[i]
		packed[i].text, rest = rest[:len(e.text)], rest[len(e.text):]
		if folded := packed[i].text[:min(len(e.name), len(e.text))]; folded == e.name {
			packed[i].name = folded // one copy in memory, as most names are in lower case
		}
	}
	return packed
}

// link notes an entry in its slot, but for the orders.
func (c *catalog) link(slot int32, e *entry) {
	c.slots[slot] = e
	c.living.set(slot)
	c.bytes += len(e.text)
	for _, app := range e.apps {
		c.byApp[app] = append(c.byApp[app], slot)
	}
	for _, owner := range e.owners {
		c.byOwner[owner] = append(c.byOwner[owner], slot)
	}
}

// apply takes over what became of some names, all of it at once: those without an entry live no more.
func (c *catalog) apply(names []string, present []*entry, at audit.Head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		c.remove(name)
	}
	for _, e := range present {
		c.add(e)
	}
	c.at, c.loose = at, c.loose+len(present)
}

// repack lays the entries side by side again once half of them are loose: until then the places of those that they
// replaced are kept from being freed. The caller has the turn.
func (c *catalog) repack() {
	c.mu.RLock()
	due := c.loose > len(c.byName)/2+eager
	var all []*entry
	if due {
		for _, slot := range c.byName {
			all = append(all, c.slots[slot])
		}
	}
	at := c.at
	c.mu.RUnlock()
	if due {
		c.fill(all, at)
	}
}

func (c *catalog) add(e *entry) {
	slot := int32(len(c.slots))
	if last := len(c.free) - 1; last >= 0 {
		slot, c.free = c.free[last], c.free[:last]
	} else {
		c.slots = append(c.slots, nil)
		c.living = c.living.grown(len(c.slots))
	}
	c.link(slot, e)
	i, _ := c.search(c.byName, e, compareNames)
	c.byName = slices.Insert(c.byName, i, slot)
	i, _ = c.search(c.byTime, e, compareTimes)
	c.byTime = slices.Insert(c.byTime, i, slot)
}

func (c *catalog) remove(name string) {
	i, found := c.search(c.byName, &entry{name: name}, compareNames)
	if !found {
		return
	}
	slot := c.byName[i]
	old := c.slots[slot]
	c.byName = slices.Delete(c.byName, i, i+1)
	if i, found = c.search(c.byTime, old, compareTimes); found {
		c.byTime = slices.Delete(c.byTime, i, i+1)
	}
	for _, app := range old.apps {
		unlink(c.byApp, app, slot)
	}
	for _, owner := range old.owners {
		unlink(c.byOwner, owner, slot)
	}
	c.bytes -= len(old.text)
	c.living.clear(slot)
	c.slots[slot], c.free = nil, append(c.free, slot)
}

func unlink(lists map[int64][]int32, id int64, slot int32) {
	list := lists[id]
	if i := slices.Index(list, slot); i >= 0 {
		list[i] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	if lists[id] = list; len(list) == 0 {
		delete(lists, id)
	}
}

// search finds the place of an entry in one of the orders.
func (c *catalog) search(list []int32, e *entry, compare func(a, b *entry) int) (int, bool) {
	return slices.BinarySearchFunc(list, e, func(slot int32, e *entry) int { return compare(c.slots[slot], e) })
}

// room is how many bytes of texts may still come in.
func (c *catalog) room() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.most - c.bytes
}
