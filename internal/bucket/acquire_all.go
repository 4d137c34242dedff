package bucket

import (
	"slices"
	"strings"
	"time"
)

// AllCall asks several buckets for permits, all or none, in one script call. All definitions and state that its parts
// need must lie in one slot of a Redis Cluster (Target.Slot); elsewhere any go together.
type AllCall struct {
	// Parts of a bucket that is not configured for the app (never installed, removed, or not listing it) pass and take
	// nothing if this is set; else they refuse their calls.
	PassNotConfigured bool
	Entries           []AllEntry // decided in this order

	Reply AllReply // after Ask
	Err   error    // after Ask: *InvalidError, or why Redis gave no answer

	copies []copyOf // each that a part needs, once, in the order of the script's keys
}

// AllEntry is a row of Count equal calls, answered as if they had come one by one.
type AllEntry struct {
	Count int64 // 1 or more
	Parts []Part
}

// Part is what one call wants of one bucket. Parts of one call that fall into the same state want the sum of their
// permits. The targets of all parts of an AllCall are the same app's.
type Part struct {
	Target  *Target
	Permits int64  // 1 or more
	Key     string // as in Entry
}

// PartsBound is the most parts of one AllCall.
const PartsBound = 1000

// AllReply is the answer to an AllCall.
type AllReply struct {
	Now time.Time // the time of Redis at the decision, to the microsecond
	// Stale says that nothing was decided, because some target's facts don't fit its definition, or are not learned. The
	// parts then have their Verdicts and Facts, and nothing else; those to be learned are VerdictStale.
	Stale   bool
	Entries []AllResult // one for each entry, in order
}

// AllResult is the answer to an AllEntry.
type AllResult struct {
	Granted int64 // how many of the Count calls were granted, the first ones of the row; the others took nothing
	Parts   []PartResult
}

// PartResult is what one bucket says to its part of a row. Durations are as in Result.
type PartResult struct {
	// Verdict is VerdictDecided unless the part's own bucket could not decide. It and the next three are of the bucket.
	Verdict  Verdict
	Revision int64
	RuleID   int64
	Facts    *Facts // for VerdictDecided and VerdictStale
	// Able tells for how many of the row's calls, one after the other, this bucket alone had enough; see Refuses.
	Able    int64
	TooMany bool // the permits are more than max_permits, so they can never be granted
	// Remaining is what is left after the row, RetryAfter the time until one more call's permits would be there, ResetAfter
	// and Mark are as in Result.
	Remaining  int64
	RetryAfter time.Duration
	ResetAfter time.Duration
	Mark       time.Duration
}

// Refuses tells whether call i of the row (from 1), of which granted were granted, found too little in this part's
// bucket. In mode shadow such a call is granted nevertheless, unless another part refuses it, and took nothing here.
func (p *PartResult) Refuses(i, granted int64) bool { return p.Able < min(i, granted+1) }

// copyOf is one copy of a definition as a caller believes in it.
type copyOf struct {
	target *Target
	shard  int
}

func (c copyOf) place() *place { return &c.target.places[c.shard] }

// request forms the script call.
func (c *AllCall) request() (request, error) {
	parts, err := c.check()
	if err != nil {
		return request{}, err
	}
	c.copies = c.copies[:0]
	numbers := make([]int, 0, parts) // of the copy of each part
	for i := range c.Entries {
		for j := range c.Entries[i].Parts {
			numbers = append(numbers, c.number(&c.Entries[i].Parts[j]))
		}
	}
	rows := c.Entries
	if isRepeated(rows, numbers) {
		rows = rows[:1]
	}
	r := newRequest(c.script(), len(c.copies)+parts, 3+2*len(c.copies)+2*len(rows)*(1+len(rows[0].Parts)))
	for _, each := range c.copies {
		r.args = append(r.args, &each.place().definition)
	}
	r.args = c.appendStates(r.args, parts)
	r.args = append(r.args, &c.copies[0].target.App, number(int64(len(c.copies))), number(flag(c.PassNotConfigured)))
	for _, each := range c.copies {
		r.args = append(r.args, &each.target.shape, &each.target.revision)
	}
	next := 0
	for i := range rows {
		r.args = append(r.args, number(rows[i].Count), number(int64(len(rows[i].Parts))))
		for j := range rows[i].Parts {
			r.args = append(r.args, number(int64(numbers[next])), number(rows[i].Parts[j].Permits))
			next++
		}
	}
	return r, nil
}

// check refuses what the script would refuse, and what would not make a key; else it counts the parts.
func (c *AllCall) check() (parts int, err error) {
	for i := range c.Entries {
		entry := &c.Entries[i]
		parts += len(entry.Parts)
		if entry.Count < 1 || entry.Count > PermitsBound {
			return 0, invalid("count", "must be 1..%d, not %d", PermitsBound, entry.Count)
		}
		if len(entry.Parts) == 0 {
			return 0, invalid("parts", "must be at least 1")
		}
		for j := range entry.Parts {
			if err := entry.Parts[j].check(c.Entries[0].Parts[0].Target.App); err != nil {
				return 0, err
			}
		}
	}
	if parts < 1 || parts > PartsBound {
		return 0, invalid("parts", "must be 1..%d in all, not %d", PartsBound, parts)
	}
	return parts, nil
}

func (p *Part) check(app string) error {
	t := p.Target
	switch {
	case t.App != app:
		return invalid("app", "must be the same of all parts, not %s and %s", app, t.App)
	case t.Facts != nil && acquireScripts[t.Facts.Algorithm] == nil:
		return notAcquired(t.Facts.Algorithm)
	case p.Permits < 1 || p.Permits > revisionMax:
		return invalid("permits", "must be 1..%d, not %d", revisionMax, p.Permits)
	}
	return t.checkKey(t.Shard(p.Key), p.Key)
}

// number is which copy, from 1, a part needs.
func (c *AllCall) number(p *Part) int {
	wanted := copyOf{p.Target, p.Target.Shard(p.Key)}
	for i := range c.copies {
		if c.copies[i] == wanted {
			return i + 1
		}
	}
	c.copies = append(c.copies, wanted)
	return len(c.copies)
}

// isRepeated tells whether all rows are equal but for their keys, so that they need be said but once.
func isRepeated(rows []AllEntry, numbers []int) bool {
	width := len(rows[0].Parts)
	for i := range rows {
		if rows[i].Count != rows[0].Count || len(rows[i].Parts) != width {
			return false
		}
		for j := range rows[i].Parts {
			if rows[i].Parts[j].Permits != rows[0].Parts[j].Permits || numbers[i*width+j] != numbers[j] {
				return false
			}
		}
	}
	return true
}

// appendStates adds the state key of each part. Where nothing is learned of the bucket there is none, and the script will
// not look at it; the definition's own key stands in, since it lies in the same slot.
func (c *AllCall) appendStates(args []any, parts int) []any {
	keyed := make([]string, 0, parts)
	for i := range c.Entries {
		for j := range c.Entries[i].Parts {
			p := &c.Entries[i].Parts[j]
			here := copyOf{p.Target, p.Target.Shard(p.Key)}.place()
			switch {
			case p.Target.Facts == nil:
				args = append(args, &here.definition)
			case p.Target.Keyed():
				keyed = append(keyed, here.stem+p.Key)
				args = append(args, &keyed[len(keyed)-1])
			default:
				args = append(args, &here.stem)
			}
		}
	}
	return args
}

// script is the one that has the algorithms of all parts and no others.
func (c *AllCall) script() *script {
	set := 0
	for _, each := range c.copies {
		if each.target.Facts != nil {
			set |= 1 << slices.Index(algorithms, each.target.Facts.Algorithm)
		}
	}
	return acquireAllScripts[set]()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (c *AllCall) answer(value any, err error) {
	if err == nil {
		c.Reply, err = c.decode(value)
	}
	c.Err = wrap(err, "acquire from", c.names())
}

// names are those of the buckets, for errors.
func (c *AllCall) names() string {
	var all []string
	for i := range c.Entries {
		for j := range c.Entries[i].Parts {
			if name := c.Entries[i].Parts[j].Target.Name; !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return strings.Join(all, ", ")
}
