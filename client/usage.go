package client

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
