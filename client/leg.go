package client

import (
	"context"
	"slices"

	"github.com/headgate/headgate/internal/bucket"
)

// leg is the part of an AcquireAll that one script call decides.
type leg struct {
	lane    *lane
	slot    int
	indexes []int // of its calls

	asked []int // those of them that Redis is asked for, each with its part
	parts []bucket.Part

	group *allGroup // after travel
	place int64     // of this caller in the group
	took  bool      // what was asked for was taken
}

// legs sorts the calls by where they are decided, in an order that is the same for all callers.
func (a *composite) legs() ([]*leg, error) {
	c := a.client
	var legs []*leg
	for i := range a.calls {
		r := &a.calls[i]
		target, err := c.targetOf(c.book.find(r.bucket), r)
		if err != nil {
			return nil, err
		}
		part := bucket.Part{Target: target, Permits: r.permits}
		if target.Keyed() {
			part.Key = r.key
		}
		slot := 0
		if len(c.lanes) > 1 {
			slot = slotOf(&part)
		}
		at := slices.IndexFunc(legs, func(l *leg) bool { return l.slot == slot })
		if at < 0 {
			at = len(legs)
			legs = append(legs, &leg{lane: c.lanes.of(target, target.Shard(part.Key)), slot: slot})
		}
		legs[at].indexes = append(legs[at].indexes, i)
		legs[at].parts = append(legs[at].parts, part)
	}
	for _, l := range legs {
		l.asked = l.indexes
	}
	slices.SortFunc(legs, func(a, b *leg) int { return a.slot - b.slot })
	return legs, nil
}

// slotOf is the slot of Redis Cluster that decides a part.
func slotOf(p *bucket.Part) int { return p.Target.Slot(p.Target.Shard(p.Key)) }

// travel puts the leg to Redis and waits for the answer.
func (l *leg) travel(ctx context.Context) error {
	for i := range attempts {
		err := l.trip(ctx)
		if !movesNow(err) || i == attempts-1 || sleep(ctx, movePause) != nil {
			return err
		}
	}
	return nil
}

func (l *leg) trip(ctx context.Context) error {
	if !l.lane.breaker.allows() {
		return ErrBreakerOpen
	}
	g, err := l.lane.joinAll(ctx, l.parts)
	if err != nil {
		return err
	}
	if stop := ctx.Done(); stop == nil {
		<-g.done
	} else {
		select {
		case <-g.done:
		case <-stop:
			l.lane.leaveAll(g)
			return ctx.Err()
		}
	}
	l.group, l.place = g, g.ticket()
	return g.err
}

// noVerdict says why the bucket of a part did not decide; nil where it did, or is not configured.
func (l *leg) noVerdict(n int) error {
	switch v := l.group.result.Parts[n].Verdict; {
	case v == bucket.VerdictUnknownFormat:
		return ErrUnknownFormat
	case v == bucket.VerdictAbsent && l.parts[n].Target.Facts != nil:
		return ErrLost
	default:
		return nil
	}
}

// isElsewhere tells whether the copy of a definition that a part was asked by is gone because the copies are now others,
// as after an edit of shards. What holds now is then learned.
func (l *leg) isElsewhere(ctx context.Context, c *Client, n int, r *call) bool {
	believed, v := l.parts[n].Target, l.group.result.Parts[n].Verdict
	if believed.Facts == nil || believed.Facts.Shards == 1 || v != bucket.VerdictAbsent && v != bucket.VerdictRemoved {
		return false
	}
	_, _ = c.travel(ctx, nil, r)
	return c.book.find(r.bucket).target.Load() != believed
}

// leaveOut takes calls out of what is asked.
func (l *leg) leaveOut(gone []int) {
	var asked []int
	var parts []bucket.Part
	for n, i := range l.asked {
		if !slices.Contains(gone, i) {
			asked, parts = append(asked, i), append(parts, l.parts[n])
		}
	}
	l.asked, l.parts = asked, parts
}

// giveBack gives back what the leg took.
func (l *leg) giveBack() {
	if l.took {
		l.lane.giveBackAll(l.group, 1)
		l.took = false
	}
}

// partDecision is the verdict of one bucket for the caller with the given place in a group.
func (c *Client) partDecision(r *call, g *allGroup, n int, place int64) Decision {
	p := &g.result.Parts[n]
	d := Decision{Bucket: r.bucket, Revision: p.Revision, At: g.reply.Now, Source: SourceRedis}
	if p.Verdict != bucket.VerdictDecided {
		d.Outcome, d.Allowed = NotConfigured, c.options.notConfigured == Open
		return d
	}
	d.Limit, d.Remaining, d.ResetAfter = p.Facts.MaxPermits, p.Remaining, p.ResetAfter
	switch {
	case p.TooMany:
		d.Outcome = TooMany
	case p.Refuses(place, g.result.Granted):
		d.Outcome, d.RetryAfter = Limited, p.RetryAfter
	default:
		later := max(0, min(g.result.Granted, p.Able)-place) // calls of the row that took after this one
		d.Outcome, d.Remaining = Granted, min(d.Limit, p.Remaining+later*g.parts[n].Permits)
	}
	c.allow(&d, p.Facts)
	return d
}
