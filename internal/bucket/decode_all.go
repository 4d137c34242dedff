package bucket

import (
	"slices"
	"time"
)

// decode reads the answer of acquire_all.lua.
func (c *AllCall) decode(value any) (AllReply, error) {
	t := tupleOf(value)
	status := t.int()
	r := AllReply{Now: time.UnixMicro(t.int()).UTC(), Stale: status == wireStale}
	if status != wireDecided && status != wireStale {
		t.err = errReply
	}
	buckets := make([]PartResult, len(c.copies))
	for i := range buckets {
		buckets[i] = t.bucket(c.copies[i].target.Facts)
	}
	parts := 0
	r.Entries = make([]AllResult, len(c.Entries))
	for i := range r.Entries {
		entry := &c.Entries[i]
		r.Entries[i].Parts = make([]PartResult, len(entry.Parts))
		for j := range entry.Parts {
			r.Entries[i].Parts[j] = buckets[c.number(&entry.Parts[j])-1]
		}
		if !r.Stale {
			t.row(entry, &r.Entries[i])
		}
		parts += len(entry.Parts)
	}
	if len(t.items) == parts && !r.Stale {
		t.marks(&r)
	}
	if err := t.end(); err != nil {
		return AllReply{}, err
	}
	return r, nil
}

// bucket reads the four items of one definition.
func (t *tuple) bucket(believed *Facts) (p PartResult) {
	status := t.int()
	p.Revision = t.count()
	switch status {
	case wireDecided, wireStale:
		p.RuleID = t.count()
		p.Facts = t.facts(believed, p.Revision)
		p.Verdict = VerdictDecided
		if status == wireStale {
			p.Verdict = VerdictStale
		}
		if p.Facts != nil && !slices.Contains(algorithms, p.Facts.Algorithm) {
			p.Verdict, p.Facts = VerdictUnknownFormat, nil
		}
		return p
	case wireNotConfigured:
		p.Verdict = t.reason()
	case wireUnknownFormat:
		p.Verdict = VerdictUnknownFormat
		t.count()
	default:
		t.err = errReply
	}
	if t.string() != "" {
		t.err = errReply
	}
	return p
}

// row reads the figures of one row.
func (t *tuple) row(entry *AllEntry, r *AllResult) {
	if r.Granted = t.count(); r.Granted > entry.Count {
		t.err = errReply
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		p.Able, p.Remaining, p.RetryAfter, p.ResetAfter = t.int(), t.count(), t.micros(), t.micros()
		switch {
		case p.Able == wireTooMany:
			p.Able, p.TooMany = 0, true
		case p.Able < 0 || p.Able > entry.Count:
			t.err = errReply
		}
	}
}

// marks reads what follows the rows where permits were given back lately.
func (t *tuple) marks(r *AllReply) {
	for i := range r.Entries {
		for j := range r.Entries[i].Parts {
			r.Entries[i].Parts[j].Mark = t.micros()
		}
	}
}
