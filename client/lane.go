package client

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

const (
	// crowd is from how many calls on a flight there is only one flight at a time, if most are equal to others: then one
	// carries them for almost nothing. Below, or where each has its own key, several flights are faster.
	crowd = 8
	// multitude is from how many calls on a flight those who wait for the next one are enough for it.
	multitude = 256
	// mostFlights is how many there may be else.
	mostFlights = 3
	// mostStuck bounds the flights that were given up and have not come back: each holds a connection and a goroutine.
	mostStuck = 8
	// freshness is how recently Redis must have answered for a caller to make the trip itself: then there is an open
	// connection, so that nothing but the answer has to be waited for.
	freshness = time.Second
	// mostEntries bounds one script call, so that it holds up Redis for no more than about a millisecond.
	mostEntries = 256
)

// job is something that travels to Redis: a group of calls, a composite call, a lease.
type job interface {
	board(f *flight)           // adds its question
	land(f *flight, err error) // takes in the answer, or the reason why there is none; called once
	waiting() int              // how many callers wait for it
	since() int64              // when it was queued, ns since the client's start
	seal()                     // no caller can join or leave any more; called with the lane locked
}

// flight is one round trip.
type flight struct {
	jobs      []job
	questions []bucket.Question
	row       *callRow             // that the next group goes into
	rows      map[callKey]*callRow // the others; nil while there is but one
	all       *bucket.AllCall      // that the next composite calls go into, with allParts parts so far
	allParts  int
	callers   int
	since     int64         // when the oldest job was queued, ns since the client's start
	sent      int64         // ns since the client's start
	over      atomic.Bool   // landed or given up
	lost      chan struct{} // closed when given up
}

// callRow is a script call on a bucket, with room for the one entry that most have.
type callRow struct {
	bucket.Call
	room [1]bucket.Entry
}

type callKey struct {
	target *bucket.Target
	shard  int
}

// callOf is the script call that a group's entry goes into.
func (f *flight) callOf(target *bucket.Target, shard int) *bucket.Call {
	if r := f.row; r != nil && r.takes(target, shard) {
		return &r.Call
	}
	key := callKey{target, shard}
	if old := f.row; old != nil {
		if f.rows == nil {
			f.rows = map[callKey]*callRow{}
		}
		f.rows[callKey{old.Target, old.Shard}] = old
		if r := f.rows[key]; r != nil && r.takes(target, shard) {
			f.row = r
			return &r.Call
		}
	}
	r := &callRow{Call: bucket.Call{Target: target, Shard: shard}}
	r.Entries = r.room[:0]
	f.row = r
	f.questions = append(f.questions, &r.Call)
	return &r.Call
}

func (r *callRow) takes(target *bucket.Target, shard int) bool {
	return r.Target == target && r.Shard == shard && len(r.Entries) < mostEntries
}

// reset makes a flight that has landed as good as new.
func (f *flight) reset() {
	clear(f.jobs)
	clear(f.questions)
	clear(f.rows)
	f.jobs, f.questions, f.row, f.all, f.allParts = f.jobs[:0], f.questions[:0], nil, nil, 0
	f.over.Store(false)
}

// lane carries calls to Redis. While flights are under way new calls queue, and the next flight takes them all, so that
// the more callers there are the fewer round trips each costs. On Redis Cluster every part of the slots has a lane of
// its own, so that a master that is away holds up nobody else.
type lane struct {
	client  *Client
	breaker *breaker

	mu      sync.Mutex
	keyed   map[groupKey]*group // open groups of keyed buckets
	spare   *flight             // that has landed
	openAll []*allGroup         // open groups of composite calls
	queue   []job
	waiting int // callers in queue
	flying  map[*flight]struct{}
	stuck   int
	// returning are the give-backs that are queued or under way. Until they have landed there is one flight at a time, so
	// that no later call of this client comes to Redis before them.
	returning int
	crowded   bool
	callers   float64 // on a flight, of late
	jobs      float64 // on a flight, of late
	closed    bool
	armed     bool
	watch     *time.Timer
	idle      chan struct{} // Close waits for it
	// quick is for callers that make a trip themselves, which spares a change of goroutines, dear on few cores: on it a
	// silent Redis can't hold them longer than the deadline. nil where go-redis has no such connection.
	quick    *bucket.Engine
	answered int64                   // when Redis last answered, ns since the client's start
	home     atomic.Pointer[callKey] // where the last new group went, for probes to ask the same node
}

type groupKey struct {
	target  *bucket.Target
	key     string
	permits int64
}

func newLane(c *Client, quick *bucket.Engine, reload func()) *lane {
	l := &lane{client: c, quick: quick, answered: -int64(freshness), keyed: map[groupKey]*group{}, flying: map[*flight]struct{}{}}
	l.watch = time.AfterFunc(time.Hour, l.patrol)
	l.watch.Stop()
	l.breaker = &breaker{life: c.life, deadline: c.options.deadline, probe: l.probe, log: c.options.log, spawn: c.spawn, reload: reload}
	return l
}

// join puts a call in the queue, together with equal ones. A patient caller makes the trip itself if nobody else is
// under way.
func (l *lane) join(ctx context.Context, k *known, target *bucket.Target, key string, r *call) (*group, error) {
	l.mu.Lock()
	if err := l.admit(1); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	g := l.find(k, target, key, r)
	if g != nil {
		g.callers++
		l.mu.Unlock()
		return g, nil
	}
	g = &group{
		known: k, target: target, shard: target.Shard(key), key: key, permits: r.permits, peek: r.peek, wait: r.wait,
		lane: l, opened: l.client.sinceStart(), callers: 1, done: make(chan struct{}),
	}
	l.open(g)
	if at := l.home.Load(); len(l.client.lanes) > 1 && (at == nil || at.target != target) {
		l.home.Store(&callKey{target, g.shard})
	}
	l.launch(ctx, g)
	return g, nil
}

// launch queues a job and makes it fly if it may, in a goroutine of its own or, if its caller is patient and alone, in
// this one. The lane comes locked.
func (l *lane) launch(ctx context.Context, j job) {
	alone := l.quick != nil && len(l.flying) == 0 && len(l.queue) == 0 && j.since()-l.answered < int64(freshness) && l.client.patient(ctx)
	f := l.enqueue(j)
	l.mu.Unlock()
	if f != nil && alone {
		f = l.trip(f, l.quick)
	}
	if f != nil {
		go l.fly(f)
	}
}

// admit counts callers in, unless the lane is full or closed.
func (l *lane) admit(callers int) error {
	switch {
	case l.closed:
		return ErrIsClosed
	case l.waiting+callers > l.client.options.queue:
		return ErrBusy
	}
	l.waiting += callers
	return nil
}

// find returns the open group that a call can join, or nil.
func (l *lane) find(k *known, target *bucket.Target, key string, r *call) *group {
	if !r.joins() {
		return nil
	}
	if target.Facts != nil && !target.Keyed() {
		if g := k.open; g != nil && g.target == target && g.permits == r.permits {
			return g
		}
		return nil
	}
	return l.keyed[keyOf(target, key, r.permits)]
}

// open lets equal calls join a group until it is sealed.
func (l *lane) open(g *group) {
	switch {
	case g.peek || g.wait > 0:
	case g.target.Facts != nil && !g.target.Keyed():
		g.known.open = g
	default:
		l.keyed[g.mapKey()] = g
	}
}

// keyOf is where an open group stands; calls on a bucket of which nothing was learned all ask the same.
func keyOf(target *bucket.Target, key string, permits int64) groupKey {
	if target.Facts == nil {
		return groupKey{key: target.Name}
	}
	return groupKey{target, key, permits}
}

// enqueue queues a job and returns the flight to start, if one may start now.
func (l *lane) enqueue(j job) *flight {
	l.queue = append(l.queue, j)
	if len(l.flying) >= l.limit() || l.stuck >= mostStuck {
		l.arm(j.since())
		return nil
	}
	return l.depart()
}

func (l *lane) limit() int {
	if l.crowded || l.returning > 0 {
		return 1
	}
	return mostFlights
}

// leave takes a caller out of a group. One that still waits takes nothing; else what it may have been granted is given
// back when the answer is there.
func (l *lane) leave(g *group) {
	l.mu.Lock()
	if g.sealed {
		l.mu.Unlock()
		g.checkOut(g.out.Add(leaver))
		return
	}
	defer l.mu.Unlock()
	g.callers--
	l.waiting--
	if g.callers == 0 {
		l.drop(g)
	}
}

// drop takes a job out of the queue.
func (l *lane) drop(gone job) {
	l.discard(gone)
	l.queue = slices.DeleteFunc(l.queue, func(j job) bool { return j == gone })
}

// depart makes a flight of everything that waits.
func (l *lane) depart() *flight {
	f := l.spare
	if l.spare = nil; f == nil {
		f = &flight{lost: make(chan struct{})}
	}
	f.jobs, l.queue = l.queue, f.jobs
	f.callers, f.sent = l.waiting, l.client.sinceStart()
	for _, j := range f.jobs {
		j.seal()
	}
	l.forget()
	l.callers += (float64(f.callers) - l.callers) / 4
	l.jobs += (float64(len(f.jobs)) - l.jobs) / 4
	l.crowded = l.callers >= crowd && l.callers > 2*l.jobs
	f.since = f.sent
	for _, j := range f.jobs {
		f.since = min(f.since, j.since())
	}
	l.flying[f] = struct{}{}
	l.arm(f.since)
	return f
}

// forget makes the lane empty of what has just left it: nobody can join that any more.
func (l *lane) forget() {
	l.waiting, l.openAll = 0, l.openAll[:0]
	clear(l.keyed)
}

// fly makes one round trip after another, as long as calls wait for one.
func (l *lane) fly(f *flight) {
	for f != nil {
		f = l.trip(f, l.client.engine)
	}
}

// trip makes one round trip and returns the next one.
func (l *lane) trip(f *flight, through *bucket.Engine) *flight {
	for _, j := range f.jobs {
		j.board(f)
	}
	err := through.Ask(flightContext{context.Background(), l.client.deadlineOf(f.sent), f.lost}, f.questions...)
	return l.arrive(f, err)
}

// arrive hands out the answers of a flight and returns the next one.
func (l *lane) arrive(f *flight, err error) *flight {
	if !f.over.CompareAndSwap(false, true) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stuck--
		return l.follow()
	}
	received := l.client.sinceStart()
	l.breaker.note(err)
	for _, j := range f.jobs {
		j.land(f, nil)
	}
	l.client.observe(f, received)
	if f.callers >= crowd && f.callers < multitude && f.callers > 2*len(f.jobs) {
		runtime.Gosched() // who was just answered mostly asks again, and so comes along on the next flight
	}
	l.mu.Lock()
	delete(l.flying, f)
	f.reset()
	l.spare = f
	if err == nil {
		l.answered = received
	}
	var left *flight
	if !l.breaker.allows() {
		left = l.shed()
	}
	next := l.follow()
	l.mu.Unlock()
	if left != nil {
		left.fail(ErrBreakerOpen)
	}
	return next
}

// follow is the next flight, if calls wait and one more may fly.
func (l *lane) follow() *flight {
	if l.idle != nil && l.isIdle() {
		close(l.idle)
		l.idle = nil
	}
	if len(l.queue) == 0 || len(l.flying) >= l.limit() || l.stuck >= mostStuck {
		return nil
	}
	return l.depart()
}

// redisTime is a time of Redis in the answers, in µs; 0 when there is none.
func (f *flight) redisTime() int64 {
	for _, j := range f.jobs {
		switch j := j.(type) {
		case *group:
			if j.now != 0 {
				return j.now
			}
		case *allGroup:
			if j.reply != nil {
				return j.reply.Now.UnixMicro()
			}
		case *leaseJob:
			if j.err == nil {
				return j.question.Reply.Now.UnixMicro()
			}
		}
	}
	return 0
}
