package bucket

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Question is something to be asked of Redis by Ask: *Call, *AllCall, *LeaseCall or *GiveBack. After Ask it carries the
// answer.
type Question interface {
	request() (request, error)
	answer(value any, err error)
}

// Call asks one bucket for permits.
type Call struct {
	Target  *Target
	Shard   int     // of all keys of the call
	Entries []Entry // decided in this order; up to EntriesBound; none where the target's facts are not known

	Reply Reply // after Ask
	Err   error // after Ask: *InvalidError, or why Redis gave no answer

	one [1]Result // where Reply.Results of a single entry lie
}

// Entry is a row of Count equal calls for Permits each, answered as if they had come one by one.
type Entry struct {
	Permits int64  // 1 or more
	Count   int64  // 1 or more; 0 = peek, which takes nothing
	Key     string // 1..512 bytes of any value for the key partitions, else ignored
	// Wait, when positive, makes this one call (Count must be 1) that takes permits also if they come only within Wait,
	// or the bucket's max_wait if that is less: a reservation. Of token_bucket only; elsewhere it is ignored.
	Wait time.Duration
}

// EntriesBound is the most entries of one Call.
const EntriesBound = 1000

// Verdict says whether a Call was decided.
type Verdict int

// The verdicts. Only VerdictDecided brings Results; all others took nothing.
const (
	VerdictDecided       Verdict = 1
	VerdictAbsent        Verdict = 10 // there is neither a definition nor a tombstone: never installed, or lost
	VerdictRemoved       Verdict = 11 // a tombstone: the bucket was removed
	VerdictNotListed     Verdict = 12 // the bucket does not list the app
	VerdictStale         Verdict = -3 // the target's facts don't fit the definition; Reply.Facts do
	VerdictUnknownFormat Verdict = -4 // definition or state of a format that this version does not know
)

// Code says how one entry was decided.
type Code int

// The codes.
const (
	CodeGranted Code = 1  // all Count calls; of a peek: one would be granted
	CodeLimited Code = -1 // the first Granted calls only, which may be none; of a peek: none would be granted
	CodeTooMany Code = -2 // Permits is more than max_permits, so it can never be granted; nothing was taken
)

// Reply is the answer to a Call.
type Reply struct {
	Verdict  Verdict
	Now      time.Time // the time of Redis at the decision, to the microsecond
	Revision int64     // the definition's or the tombstone's; 0 when neither is there
	RuleID   int64     // names the rule that decided, for GiveBack; 0 in mode off
	Facts    *Facts    // of the definition, for VerdictDecided and VerdictStale: the target's own where they still hold
	Results  []Result  // one for each entry, in order
}

// Result is the answer to an Entry. Durations count from Reply.Now, are whole µs, rounded up, and never negative.
type Result struct {
	Code      Code
	Granted   int64 // how many of the Count calls were granted, the first ones of the row
	Remaining int64 // permits left after the whole entry
	// RetryAfter is the time until one more call for Permits would be granted if nobody else took any; 0 = at once, and
	// for CodeTooMany. Of a granted reservation: the time until its permits are there.
	RetryAfter time.Duration
	ResetAfter time.Duration // until the bucket is full, or the window empty, if nobody takes any
	Mark       time.Duration // of meaning to GiveBack alone
}

// Ask puts questions to Redis in one round trip (on Cluster: one for each node that has to do with them) and enters the
// answers into them. Each is sent once: neither this package nor go-redis repeats it, except after NOSCRIPT, MOVED and
// ASK, which ran nothing. A question whose Err is not nil and no *InvalidError may have taken permits.
//
// The error tells how Redis is, not what came of a question: it is nil when Redis answered at least one, be it with an
// error, or when none could be asked.
func (e *Engine) Ask(ctx context.Context, questions ...Question) error {
	if len(questions) == 1 {
		r, err := e.requestOf(questions[0])
		if err != nil {
			questions[0].answer(nil, err)
			return nil
		}
		value, err := e.send(ctx, r)
		questions[0].answer(value, err)
		return silence(err)
	}
	requests := make([]request, 0, len(questions))
	asked := make([]Question, 0, len(questions))
	for _, q := range questions {
		r, err := e.requestOf(q)
		if err != nil {
			q.answer(nil, err)
			continue
		}
		requests, asked = append(requests, r), append(asked, q)
	}
	var failed error
	answered := len(asked) == 0
	for i, s := range e.sendAll(ctx, requests) {
		asked[i].answer(s.value, s.err)
		if err := silence(s.err); err != nil {
			failed = err
		} else {
			answered = true
		}
	}
	if answered {
		return nil
	}
	return failed
}

// silence is err unless Redis answered, be it with an error.
func silence(err error) error {
	if err == nil {
		return nil
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		return nil
	}
	return err
}

func (e *Engine) requestOf(q Question) (request, error) {
	if e.broken != nil {
		return request{}, e.broken
	}
	return q.request()
}

// Acquire asks one question.
func (e *Engine) Acquire(ctx context.Context, c Call) (Reply, error) {
	_ = e.Ask(ctx, &c) // c.Err tells more
	return c.Reply, c.Err
}

// request forms the script call. All but the first key travel as pointers into one slice of strings, which go-redis
// writes without putting each in a box of its own.
func (c *Call) request() (request, error) {
	t := c.Target
	s, entries := acquireScripts[TokenBucket], c.Entries
	if t.Facts == nil {
		entries = nil // nothing learned: any of the scripts brings the truth
	} else if s = acquireScripts[t.Facts.Algorithm]; s == nil {
		return request{}, notAcquired(t.Facts.Algorithm)
	}
	if err := c.check(entries); err != nil {
		return request{}, err
	}
	uniform := isUniform(entries)
	pairs := len(entries)
	if uniform {
		pairs = 1
	}
	r := newRequest(s, 1+len(entries), 3+2*pairs)
	r.args = append(r.args, t.places[c.Shard].boxed)
	if t.Keyed() {
		states := make([]string, len(entries))
		for i := range entries {
			states[i] = t.places[c.Shard].stem + entries[i].Key
			r.args = append(r.args, &states[i])
		}
	} else {
		for range entries {
			r.args = append(r.args, &t.places[c.Shard].stem)
		}
	}
	r.args = append(r.args, &t.App, &t.shape, &t.revision)
	for i := range entries[:pairs] {
		r.args = append(r.args, number(entries[i].Permits), number(entries[i].wireCount()))
	}
	return r, nil
}

// smallNumbers spares the commonest arguments an allocation.
var smallNumbers = func() (all [1024]any) {
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}()

func number(n int64) any {
	if n >= 0 && n < int64(len(smallNumbers)) {
		return smallNumbers[n]
	}
	return strconv.FormatInt(n, 10)
}

// isUniform tells whether all entries ask the same, so that it need be said but once.
func isUniform(entries []Entry) bool {
	for i := range entries {
		if entries[i].Permits != entries[0].Permits || entries[i].wireCount() != entries[0].wireCount() {
			return false
		}
	}
	return len(entries) > 0
}

// wireCount is the count as the script takes it: a reservation's is its longest wait in µs, negative.
func (e *Entry) wireCount() int64 {
	if e.Wait > 0 {
		return -max(1, e.Wait.Microseconds())
	}
	return e.Count
}

func notAcquired(algorithm string) error {
	return invalid("algorithm", "must not be %s, which has leases instead of permits", algorithm)
}

// check refuses what the script would refuse, and what would not make a key.
func (c *Call) check(entries []Entry) error {
	if c.Target.Facts != nil && (len(entries) == 0 || len(entries) > EntriesBound) {
		return invalid("entries", "must be 1..%d, not %d", EntriesBound, len(entries))
	}
	for i := range entries {
		entry := &entries[i]
		switch {
		case entry.Permits < 1:
			return invalid("permits", "must be at least 1, not %d", entry.Permits)
		case entry.Count < 0 || entry.Count > PermitsBound:
			return invalid("count", "must be 0..%d, not %d", PermitsBound, entry.Count)
		case entry.Wait > 0 && entry.Count != 1:
			return invalid("count", "must be 1 for a call that waits, not %d", entry.Count)
		}
		if err := c.Target.checkKey(c.Shard, entry.Key); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) answer(value any, err error) {
	if err == nil {
		c.Reply, err = c.decode(value)
	}
	c.Err = wrap(err, "acquire from", c.Target.Name)
}
