package bucket

import (
	"errors"
	"slices"
	"time"
)

// errReply means that a script answered something that is not in the list at its head.
var errReply = errors.New("bucket: a script's reply has an unknown form")

// tuple reads the flat list that a script answers, front to back. The first item of a wrong type spoils the rest.
type tuple struct {
	items []any
	err   error
}

func tupleOf(reply any) tuple {
	items, ok := reply.([]any)
	if !ok {
		return tuple{err: errReply}
	}
	return tuple{items: items}
}

func (t *tuple) next() any {
	if t.err != nil || len(t.items) == 0 {
		t.err = errReply
		return nil
	}
	item := t.items[0]
	t.items = t.items[1:]
	return item
}

func (t *tuple) int() int64 {
	n, ok := t.next().(int64)
	if !ok {
		t.err = errReply
	}
	return n
}

// count reads a number that is never negative.
func (t *tuple) count() int64 {
	n := t.int()
	if n < 0 {
		t.err = errReply
	}
	return n
}

func (t *tuple) string() string {
	s, ok := t.next().(string)
	if !ok {
		t.err = errReply
	}
	return s
}

// micros reads a duration in µs, up to what a time.Duration can hold.
func (t *tuple) micros() time.Duration {
	n := t.count()
	if n > int64((1<<63-1)/time.Microsecond) {
		t.err = errReply
		return 0
	}
	return time.Duration(n) * time.Microsecond
}

// end returns the first error; items left over are one.
func (t *tuple) end() error {
	if t.err == nil && len(t.items) > 0 {
		t.err = errReply
	}
	return t.err
}

// Statuses of acquire.lua as they travel; see its head for the tuples.
const (
	wireDecided       = 1
	wireNotConfigured = 0
	wireStale         = -3
	wireUnknownFormat = -4
	wireTooMany       = -2 // in place of an entry's granted
)

// decode reads the answer of acquire.lua.
func (c *Call) decode(value any) (Reply, error) {
	t := tupleOf(value)
	r, decided := t.head(c.Target.Facts)
	if decided {
		t.results(&r, c.Entries, c.one[:])
	}
	if err := t.end(); err != nil {
		return Reply{}, err
	}
	return r, nil
}

// head reads what the answers of all deciding scripts begin with; results follow only when decided. believed are the
// caller's facts, for which the script sends nothing when they hold.
func (t *tuple) head(believed *Facts) (r Reply, decided bool) {
	status := t.int()
	r.Now = time.UnixMicro(t.int()).UTC()
	if status == wireUnknownFormat {
		r.Verdict = VerdictUnknownFormat
		return r, false
	}
	r.Revision = t.count()
	switch status {
	case wireDecided, wireStale:
		r.RuleID = t.count()
		r.Facts = t.facts(believed, r.Revision)
		r.Verdict = VerdictStale
		if status == wireDecided {
			r.Verdict = VerdictDecided
		} else if r.Facts != nil && !slices.Contains(algorithms, r.Facts.Algorithm) {
			r.Verdict, r.Facts = VerdictUnknownFormat, nil
		}
	case wireNotConfigured:
		r.Verdict = t.reason()
	default:
		t.err = errReply
	}
	return r, status == wireDecided
}

// facts reads a head; an empty one says that what the caller believes holds.
func (t *tuple) facts(believed *Facts, revision int64) *Facts {
	head := t.string()
	if t.err != nil {
		return nil
	}
	if head == "" {
		if believed == nil || believed.Revision != revision {
			t.err = errReply
		}
		return believed
	}
	f, err := parseHead(head)
	if err != nil {
		t.err = err
	}
	return f
}

func (t *tuple) reason() Verdict {
	switch t.int() {
	case 0:
		return VerdictAbsent
	case 1:
		return VerdictRemoved
	case 2:
		return VerdictNotListed
	default:
		t.err = errReply
		return 0
	}
}

// results reads what came of the entries, into room where that is enough.
func (t *tuple) results(r *Reply, entries []Entry, room []Result) {
	marked := len(t.items) == 5*len(entries)
	if len(t.items) != 4*len(entries) && !marked {
		t.err = errReply
		return
	}
	if r.Results = room[:min(len(room), len(entries))]; len(r.Results) < len(entries) {
		r.Results = make([]Result, len(entries))
	}
	for i := range r.Results {
		r.Results[i] = t.result(&entries[i])
	}
	if marked {
		for i := range r.Results {
			r.Results[i].Mark = t.micros()
		}
	}
}

// result reads the four numbers of one entry.
func (t *tuple) result(e *Entry) Result {
	granted := t.int()
	r := Result{Granted: granted, Remaining: t.count(), RetryAfter: t.micros(), ResetAfter: t.micros()}
	switch {
	case granted == wireTooMany:
		r.Code, r.Granted = CodeTooMany, 0
	case granted < 0 || granted > e.Count:
		t.err = errReply
	case granted < e.Count || e.Count == 0 && r.RetryAfter > 0:
		r.Code = CodeLimited
	default:
		r.Code = CodeGranted
	}
	return r
}

// decodeInstall reads the answer of install.lua, remove.lua and restart.lua.
func decodeInstall(reply any) (InstallResult, error) {
	t := tupleOf(reply)
	r := InstallResult{Status: Status(t.int()), Revision: t.count(), Deployment: t.string(), Tombstone: t.int() == 1}
	switch r.Status {
	case StatusInstalled, StatusUnchanged, StatusForeign, StatusUnknownFormat, StatusAbsent:
	default:
		return InstallResult{}, errReply
	}
	if r.Status == StatusInstalled && len(t.items) > 0 {
		r.replaced = int(min(max(t.int(), 0), ShardsBound))
	}
	return r, t.end()
}
