package bucket

import (
	"errors"
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
)

// decodeReply reads the answer of acquire.lua to a call of so many entries.
func decodeReply(reply any, entries int) (Reply, error) {
	t := tupleOf(reply)
	status := t.int()
	r := Reply{Revision: t.count()}
	r.Now = time.UnixMicro(t.int()).UTC()
	switch status {
	case wireDecided:
		r.Verdict = VerdictDecided
		t.describe(&r)
		t.results(&r, entries)
	case wireStale:
		r.Verdict = VerdictStale
		t.describe(&r)
	case wireNotConfigured:
		r.Verdict = t.reason()
	case wireUnknownFormat:
		r.Verdict = VerdictUnknownFormat
	default:
		return Reply{}, errReply
	}
	if err := t.end(); err != nil {
		return Reply{}, err
	}
	return r, nil
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

func (t *tuple) describe(r *Reply) {
	r.Generation = t.count()
	r.Partition = t.string()
	r.Mode = t.string()
	r.OnFailure = t.string()
	r.MaxPermits = t.count()
	r.Rate = t.count()
	r.Period = t.micros()
	wait := t.count()
	if wait > MaxWaitBound.Milliseconds() {
		t.err = errReply
		return
	}
	r.MaxWait = time.Duration(wait) * time.Millisecond
}

func (t *tuple) results(r *Reply, entries int) {
	if len(t.items) != 5*entries {
		t.err = errReply
		return
	}
	r.Results = make([]Result, entries)
	for i := range r.Results {
		code := Code(t.int())
		if code != CodeGranted && code != CodeLimited && code != CodeTooMany {
			t.err = errReply
		}
		r.Results[i] = Result{Code: code, Granted: t.count(), Remaining: t.count(), RetryAfter: t.micros(), ResetAfter: t.micros()}
	}
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
	return r, t.end()
}
