package client

import (
	"sync"
)

const (
	microsPerSecond  = 1_000_000
	secondsPerMinute = 60
	// maxPendingUsage bounds the counts kept while they can't be reported: one for each bucket and minute.
	maxPendingUsage = 10_000
)

// counts are permits asked of one bucket.
type counts struct{ granted, limited, shadowLimited int64 }

func (c *counts) add(o counts) {
	c.granted += o.granted
	c.limited += o.limited
	c.shadowLimited += o.shadowLimited
}

func (c counts) zero() bool { return c == counts{} }

// usageKey says where counts belong.
type usageKey struct {
	bucket string
	minute int64 // of Redis time since 1970
}

// tally counts one bucket's usage by the Redis second of each decision, so that a report holds whole seconds.
type tally struct {
	mu      sync.Mutex
	second  int64 // since 1970, Redis time
	current counts
	earlier map[int64]counts // by minute: seconds that are over
}

// add counts usage at the Redis time now (µs).
func (t *tally) add(now int64, c counts) {
	second := now / microsPerSecond
	t.mu.Lock()
	defer t.mu.Unlock()
	if second > t.second {
		t.settle()
		t.second = second
	}
	if second == t.second {
		t.current.add(c)
		return
	}
	t.addEarlier(second, c) // its reply was overtaken by one of a later second
}

// settle moves the current second to the earlier ones.
func (t *tally) settle() {
	if !t.current.zero() {
		t.addEarlier(t.second, t.current)
		t.current = counts{}
	}
}

func (t *tally) addEarlier(second int64, c counts) {
	if t.earlier == nil {
		t.earlier = map[int64]counts{}
	}
	minute := second / secondsPerMinute
	sum := t.earlier[minute]
	sum.add(c)
	t.earlier[minute] = sum
}

// collect hands over, by minute, what was counted before the given second.
func (t *tally) collect(before int64) map[int64]counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.second < before {
		t.settle()
	}
	done := t.earlier
	t.earlier = nil
	return done
}

// pending holds the counts that wait for a report, bounded: beyond the bound the oldest minute goes.
type pending struct {
	rows map[usageKey]counts
	lost counts
}

func (p *pending) add(key usageKey, c counts) {
	if p.rows == nil {
		p.rows = map[usageKey]counts{}
	}
	sum := p.rows[key]
	sum.add(c)
	p.rows[key] = sum
	if len(p.rows) > maxPendingUsage {
		p.dropOldest()
	}
}

func (p *pending) dropOldest() {
	var oldest usageKey
	for key := range p.rows {
		if oldest.bucket == "" || key.minute < oldest.minute {
			oldest = key
		}
	}
	p.lost.add(p.rows[oldest])
	delete(p.rows, oldest)
}

// take removes and returns at most n rows.
func (p *pending) take(n int) []usageRow {
	rows := make([]usageRow, 0, min(n, len(p.rows)))
	for key, c := range p.rows {
		if len(rows) == n {
			break
		}
		rows = append(rows, usageRow{key, c})
		delete(p.rows, key)
	}
	return rows
}
