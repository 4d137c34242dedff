package client

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// facts is what the client learned of a bucket's definition from a reply.
type facts struct {
	revision  int64
	partition string
	mode      string
	onFailure Policy
	max       int64         // permits
	rate      int64         // permits per period, in lowest terms
	period    time.Duration // of rate
	all       bucket.Facts
}

// factsOf reads what a reply tells of the definition.
func factsOf(reply *bucket.Reply) facts {
	f := reply.Facts
	return facts{
		revision: reply.Revision, partition: f.Partition, mode: f.Mode, onFailure: Policy(f.OnFailure),
		max: f.MaxPermits, rate: f.Rate, period: f.Period, all: *f,
	}
}

func (f *facts) keyed() bool { return bucket.Keyed(f.partition) }

// partitionOf is the key of the local state that a call falls in. Only this client's app draws from it.
func (f *facts) partitionOf(r call) localKey {
	if f.keyed() {
		return localKey{r.bucket, r.key}
	}
	return localKey{bucket: r.bucket}
}

// known is a bucket of which this client has learned the definition at least once.
type known struct {
	facts atomic.Pointer[facts] // nil after it was deleted
	usage tally
}

// book holds the buckets of which something was learned. It grows only with buckets that exist for this app, so their
// number bounds it.
type book struct {
	mu      sync.RWMutex
	buckets map[string]*known
}

func newBook() *book { return &book{buckets: map[string]*known{}} }

// find returns a bucket and what was learned of it; both are nil where nothing was.
func (b *book) find(name string) (*known, *facts) {
	b.mu.RLock()
	k := b.buckets[name]
	b.mu.RUnlock()
	if k == nil {
		return nil, nil
	}
	return k, k.facts.Load()
}

// learn notes the facts of a bucket.
func (b *book) learn(name string, f facts) (*known, *facts) {
	k, old := b.find(name)
	if old != nil && *old == f {
		return k, old
	}
	if k == nil {
		k = b.enter(name)
	}
	news := f // a copy, so that f itself stays off the heap where nothing is new
	k.facts.Store(&news)
	return k, &news
}

func (b *book) enter(name string) *known {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.buckets[name]
	if k == nil {
		k = &known{}
		b.buckets[name] = k
	}
	return k
}

// forget unlearns a bucket that is no longer configured. Its usage stays, to be reported.
func (b *book) forget(name string) {
	if k, _ := b.find(name); k != nil {
		k.facts.Store(nil)
	}
}

// each calls do for every bucket.
func (b *book) each(do func(name string, k *known)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for name, k := range b.buckets {
		do(name, k)
	}
}
