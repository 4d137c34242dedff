package client

import (
	"github.com/headgate/headgate/internal/bucket"
)

// returned is a job that gives permits back. Nobody waits for it, and it is never sent twice.
type returned struct {
	lane     *lane
	known    *known
	key      string
	opened   int64
	question *bucket.GiveBack
}

// board also starts new script calls for what comes after it, so that this client finds what it gave back.
func (r *returned) board(f *flight) {
	f.questions = append(f.questions, r.question)
	f.row, f.all = nil, nil
	clear(f.rows)
}

// land ends the refusing again: calls that were under way when the permits were given back may have been refused meanwhile.
func (r *returned) land(*flight, error) {
	r.lane.client.denials.forget(r.known, r.key)
	r.lane.mu.Lock()
	r.lane.returning--
	r.lane.mu.Unlock()
}

func (r *returned) waiting() int { return 0 }
func (r *returned) since() int64 { return r.opened }
func (r *returned) seal()        {}

// returnUnused gives back what a group was granted for callers that did not stay for the answer.
func (l *lane) returnUnused(g *group, calls int64) {
	l.giveBack(g, calls*g.permits)
}

// giveBack gives permits of a group's answer back to the bucket, as far as nobody relies on their being taken.
func (l *lane) giveBack(g *group, permits int64) {
	f := g.repl.Facts
	if f.Mode == bucket.ModeOff {
		return
	}
	l.client.count(g.known, f, -permits, Granted, g.now)
	l.client.denials.forget(g.known, g.key)
	l.submit(&returned{lane: l, known: g.known, key: g.key, opened: l.client.sinceStart(), question: &bucket.GiveBack{
		Target: g.target, Key: g.key, Permits: permits,
		At: g.repl.Now, RuleID: g.repl.RuleID, ResetAfter: g.res.ResetAfter, Mark: g.res.Mark,
	}})
}

// submit queues a job that no caller waits for, and tells whether there was room for it. While the client closes, what is
// still under way may give back.
func (l *lane) submit(j job) bool {
	l.mu.Lock()
	if l.closed && l.isIdle() || l.waiting >= l.client.options.queue || !l.breaker.allows() {
		l.mu.Unlock()
		return false
	}
	if _, gives := j.(*returned); gives {
		l.returning++
	}
	f := l.enqueue(j)
	l.mu.Unlock()
	if f != nil {
		go l.fly(f)
	}
	return true
}
