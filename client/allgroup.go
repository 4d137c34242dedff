package client

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/headgate/headgate/internal/bucket"
)

// allGroup is a row of equal composite calls that travel together; see group, whose rules are the same.
type allGroup struct {
	lane    *lane
	parts   []bucket.Part
	opened  int64
	callers int64
	sealed  bool

	done   chan struct{} // closed when the following are set
	reply  *bucket.AllReply
	result bucket.AllResult
	err    error

	question *bucket.AllCall
	row      int // in question
	out      atomic.Int64
}

// mostOpen bounds how many kinds of composite calls are compared with a new one.
const mostOpen = 8

// joinAll puts a composite call in the queue, together with equal ones.
func (l *lane) joinAll(ctx context.Context, parts []bucket.Part) (*allGroup, error) {
	l.mu.Lock()
	if err := l.admit(1); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	for _, g := range l.openAll {
		if g.equal(parts) {
			g.callers++
			l.mu.Unlock()
			return g, nil
		}
	}
	g := &allGroup{lane: l, parts: parts, opened: l.client.sinceStart(), callers: 1, done: make(chan struct{})}
	if len(l.openAll) < mostOpen {
		l.openAll = append(l.openAll, g)
	}
	l.launch(ctx, g)
	return g, nil
}

func (g *allGroup) equal(parts []bucket.Part) bool {
	if len(g.parts) != len(parts) {
		return false
	}
	for i := range parts {
		if g.parts[i] != parts[i] {
			return false
		}
	}
	return true
}

// leaveAll takes a caller out, as leave does.
func (l *lane) leaveAll(g *allGroup) {
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

func (g *allGroup) ticket() int64 {
	v := g.out.Add(1)
	g.checkOut(v)
	return v & (leaver - 1)
}

func (g *allGroup) checkOut(v int64) {
	tickets, others := v&(leaver-1), v/leaver
	if tickets+others != g.callers+1 || g.err != nil {
		return
	}
	if unused := g.result.Granted - min(g.result.Granted, tickets); unused > 0 {
		g.lane.giveBackAll(g, unused)
	}
}

// board puts the row on a flight; all rows of it go in as few script calls as possible.
func (g *allGroup) board(f *flight) {
	if f.all == nil || f.allParts+len(g.parts) > mostEntries || !g.goesWith(f.all) {
		f.all, f.allParts = &bucket.AllCall{PassNotConfigured: g.lane.client.options.notConfigured == Open}, 0
		f.questions = append(f.questions, f.all)
	}
	g.question, g.row = f.all, len(f.all.Entries)
	f.allParts += len(g.parts)
	f.all.Entries = append(f.all.Entries, bucket.AllEntry{Count: g.callers, Parts: g.parts})
}

// goesWith tells whether the row may go in a script call: on Redis Cluster all of it must lie in one slot. And a row with
// a bucket of which nothing is known, which decides nothing, would keep the others from being decided.
func (g *allGroup) goesWith(all *bucket.AllCall) bool {
	first := all.Entries[0].Parts
	return (len(g.lane.client.lanes) == 1 || slotOf(&first[0]) == slotOf(&g.parts[0])) && isLearned(first) == isLearned(g.parts)
}

func isLearned(parts []bucket.Part) bool {
	return !slices.ContainsFunc(parts, func(p bucket.Part) bool { return p.Target.Facts == nil })
}

func (g *allGroup) land(f *flight, err error) {
	if err == nil {
		err = g.question.Err
	}
	g.err = err
	if err == nil {
		g.reply = &g.question.Reply
		g.result = g.reply.Entries[g.row]
		g.lane.client.notedAll(g, f.sent)
	}
	close(g.done)
	g.checkOut(g.out.Add(leaver))
}

func (g *allGroup) waiting() int { return int(g.callers) }
func (g *allGroup) since() int64 { return g.opened }
func (g *allGroup) seal()        { g.sealed = true }

// notedAll takes in what a row's answer tells of its buckets. The question was sent at the time sent, in ns since the
// client's start.
func (c *Client) notedAll(g *allGroup, sent int64) {
	for i := range g.result.Parts {
		p, part := &g.result.Parts[i], &g.parts[i]
		switch p.Verdict {
		case bucket.VerdictDecided:
			k := c.book.enter(part.Target.Name)
			c.learn(k, part.Target, p.Facts)
			if g.reply.Stale {
				continue
			}
			c.countPart(k, g, i)
			if f := p.Facts; f.OnFailure == bucket.FailLocal {
				c.locals.follow(localKey{k.name, part.Key}, c.share(k, f), p.Remaining, c.instances(k), sent)
			}
		case bucket.VerdictStale:
			c.learn(c.book.enter(part.Target.Name), part.Target, p.Facts)
		case bucket.VerdictRemoved, bucket.VerdictNotListed:
			c.relearn(part.Target)
		}
	}
}

// countPart notes the usage of one bucket: what was taken, and what this very bucket refused.
func (c *Client) countPart(k *known, g *allGroup, i int) {
	p, permits, now := &g.result.Parts[i], g.parts[i].Permits, g.reply.Now.UnixMicro()
	if p.TooMany {
		return
	}
	granted := g.result.Granted
	passed := min(granted, p.Able)
	refused := granted - passed // by a bucket in shadow mode
	if p.Refuses(granted+1, granted) {
		refused += g.callers - granted
	}
	c.count(k, p.Facts, passed*permits, Granted, now)
	c.countLimited(k, p.Facts, g.parts[i].Key, refused*permits, now)
}

// giveBackAll gives back what calls of a row took, in every bucket.
func (l *lane) giveBackAll(g *allGroup, calls int64) {
	for i := range g.result.Parts {
		p, part := &g.result.Parts[i], &g.parts[i]
		if p.Verdict != bucket.VerdictDecided || p.RuleID == 0 {
			continue
		}
		// Of a bucket in shadow mode that refused some, those are the last of the row.
		taken := min(calls, max(0, p.Able-(g.result.Granted-calls)))
		if taken == 0 {
			continue
		}
		k := l.client.book.enter(part.Target.Name)
		l.client.count(k, p.Facts, -taken*part.Permits, Granted, g.reply.Now.UnixMicro())
		l.client.denials.forget(k, part.Key)
		l.submit(&returned{lane: l, known: k, key: part.Key, opened: l.client.sinceStart(), question: &bucket.GiveBack{
			Target: part.Target, Key: part.Key, Permits: taken * part.Permits,
			At: g.reply.Now, RuleID: p.RuleID, ResetAfter: p.ResetAfter, Mark: p.Mark,
		}})
	}
}
