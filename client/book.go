package client

import (
	"sync"
	"sync/atomic"

	"github.com/headgate/headgate/internal/bucket"
)

// known is a bucket of which this client has learned the definition at least once.
type known struct {
	name   string
	target atomic.Pointer[bucket.Target] // what calls are made with; nil after the bucket was deleted
	usage  tally
	top    limitedKeys
	denial atomic.Pointer[denial] // of a bucket without keys
	open   *group                 // guarded by its lane: the group that the next equal call joins
	counts bucketCounts
	live   atomic.Int64 // processes that use a bucket of policy local; 0 = not known
}

// facts is what was learned of the bucket last; nil when nothing is.
func (k *known) facts() *bucket.Facts {
	if k == nil {
		return nil
	}
	if t := k.target.Load(); t != nil {
		return t.Facts
	}
	return nil
}

// book holds the buckets of which something was learned. It grows only with buckets that exist for this app, so their
// number bounds it. Reading takes no lock: the map is replaced by a larger one when enough new names came in.
type book struct {
	read atomic.Pointer[map[string]*known]

	mu    sync.Mutex
	fresh map[string]*known // not yet in read
	count atomic.Int32      // of fresh

	first sync.Once
	begun chan struct{} // closed when something was learned
}

func newBook() *book {
	b := &book{fresh: map[string]*known{}, begun: make(chan struct{})}
	b.read.Store(&map[string]*known{})
	return b
}

// find returns a bucket of which something was learned, else nil.
func (b *book) find(name string) *known {
	if k := (*b.read.Load())[name]; k != nil || b.count.Load() == 0 {
		return k
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := (*b.read.Load())[name]; k != nil {
		return k
	}
	k := b.fresh[name]
	if k != nil && len(b.fresh) > len(*b.read.Load())/8 {
		b.publish()
	}
	return k
}

// enter returns a bucket, and makes it where it is new.
func (b *book) enter(name string) *known {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := (*b.read.Load())[name]; k != nil {
		return k
	}
	k := b.fresh[name]
	if k == nil {
		k = &known{name: name}
		b.first.Do(func() { close(b.begun) })
		b.fresh[name] = k
		b.count.Store(int32(len(b.fresh))) //nolint:gosec // far below 2^31
	}
	return k
}

// publish puts all names in the map that is read without a lock.
func (b *book) publish() {
	old := *b.read.Load()
	all := make(map[string]*known, len(old)+len(b.fresh))
	for name, k := range old {
		all[name] = k
	}
	for name, k := range b.fresh {
		all[name] = k
	}
	b.read.Store(&all)
	b.fresh = map[string]*known{}
	b.count.Store(0)
}

// each calls do for every bucket.
func (b *book) each(do func(k *known)) {
	b.mu.Lock()
	b.publish()
	b.mu.Unlock()
	for _, k := range *b.read.Load() {
		do(k)
	}
}
