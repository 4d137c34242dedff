package bucket_test

import (
	"math/big"
	"slices"

	"github.com/headgate/headgate/internal/bucket"
)

// windowModel is one bucket of a window algorithm as lists of grants. It searches where the scripts compute, and knows
// nothing of their state but which grants it keeps and until when. Instants are µs of Redis time.
type windowModel struct {
	algorithm  string
	rules      []windowRule // those that the definition keeps, the present one last
	generation int64        // the id of its first rule, which may be one no longer kept
	born       int64        // 0 = the generation started full
	parts      map[string]windowPart
}

type windowRule struct{ id, at, max, period int64 }

type windowGrant struct{ at, n int64 }

type windowPart struct {
	grants  []windowGrant // oldest first
	last    int64         // when permits were granted last
	rule    int64         // the rule of the last write
	expires int64
}

// windowView is what a partition has at an instant.
type windowView struct {
	at     int64 // what counts as now
	last   int64
	grants []windowGrant // those that count
	absent bool
	moved  bool // the clock was set back, and the grants with it
}

func (m *windowModel) rule() windowRule { return m.rules[len(m.rules)-1] }

// back is the instant from which a permit granted at `at` no longer counts under a period.
func (m *windowModel) back(at, period int64) int64 {
	switch m.algorithm {
	case bucket.FixedWindow:
		return (at/period + 1) * period
	case bucket.SlidingWindow:
		return subStart(subOf(at, period)+61, period)
	default:
		return at + period
	}
}

// subOf is floor(at·60/period), subStart the first whole µs of a sub-bucket.
func subOf(at, period int64) int64 {
	return floorInt(big.NewRat(0, 1).SetFrac(times(at, 60), big.NewInt(period))).Int64()
}

func subStart(sub, period int64) int64 {
	return ceil(big.NewRat(0, 1).SetFrac(times(sub, period), big.NewInt(60)))
}

func times(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// present is the instant that counts as now for the definition.
func (m *windowModel) present(now int64) int64 {
	for _, at := range []int64{m.rule().at, m.born} {
		if at > now && at-now <= tolerance {
			now = at
		}
	}
	return now
}

const tolerance = 1_000_000

// limit is max, or what has grown of it in the first period after a birth.
func (m *windowModel) limit(at int64) int64 {
	r := m.rule()
	until := m.born + r.period
	if m.algorithm == bucket.FixedWindow {
		until = m.back(m.born, r.period)
	}
	if m.born == 0 || at < m.born || at >= until {
		return r.max
	}
	return floorInt(new(big.Rat).SetFrac(times(r.max, at-m.born), big.NewInt(r.period))).Int64()
}

// view is what a partition has at now.
func (m *windowModel) view(key string, now int64) windowView {
	now = m.present(now)
	p, ok := m.parts[key]
	if !ok {
		return m.absent(now)
	}
	if m.algorithm == bucket.SlidingWindow {
		p = m.carried(p)
		p.last = subStart(subOf(p.last, m.rule().period), m.rule().period)
	}
	v := windowView{at: now, last: p.last, grants: p.grants}
	switch {
	case p.last-now > tolerance:
		if m.algorithm == bucket.SlidingLog {
			v.grants = m.counting(v.grants, p.last)
		}
		v.grants, v.last, v.moved = []windowGrant{{now, sum(v.grants)}}, now, true
	case p.last > now:
		v.at = p.last
	}
	if m.algorithm == bucket.FixedWindow {
		// All counts, or nothing: it is back when the present window ends.
		n := sum(v.grants)
		if v.grants = nil; m.back(v.last, m.rule().period) > v.at {
			v.grants = []windowGrant{{v.at, n}}
		}
		return v
	}
	v.grants = m.counting(v.grants, v.at)
	if m.back(v.last, m.rule().period) <= v.at {
		v.last = v.at
	}
	return v
}

// carried is a sliding_window's partition under the present period: all granted at the last instant at which it can have
// been, by sub-buckets of its own period.
func (m *windowModel) carried(p windowPart) windowPart {
	i := slices.IndexFunc(m.rules, func(r windowRule) bool { return r.id == p.rule })
	if i >= 0 && m.rules[i].period == m.rule().period {
		return p
	}
	last := m.rules[i+1].at
	if i >= 0 {
		old := m.rules[i].period
		last = min(last, subStart(subOf(p.last, old)+1, old)-1)
	}
	p.last = last
	p.grants = []windowGrant{{p.last, sum(p.grants)}}
	return p
}

// counting are the grants that count at an instant.
func (m *windowModel) counting(grants []windowGrant, at int64) []windowGrant {
	var out []windowGrant
	for _, g := range grants {
		if m.back(g.at, m.rule().period) > at {
			out = append(out, g)
		}
	}
	return out
}

// absent is what a partition without state has: nothing granted, or as much as state of older rules can have said that
// has expired since.
func (m *windowModel) absent(at int64) windowView {
	v := windowView{at: at, last: at, absent: true}
	period, most := m.rule().period, int64(0)
	for i := len(m.rules) - 2; i >= -1; i-- {
		ended, upTo := m.rules[i+1].at, int64(0)
		if m.back(ended, period) <= at {
			break
		}
		switch {
		case i >= 0 && m.expired(m.rules[i], at):
			upTo = m.rules[i].max
		case i < 0 && m.rules[0].id != m.generation:
			upTo = m.rule().max
		}
		if upTo > most {
			v.grants = append([]windowGrant{{min(ended, at), upTo - most}}, v.grants...)
			most = upTo
		}
	}
	return v
}

// expired tells whether state of an older rule that would still count can have expired.
func (m *windowModel) expired(r windowRule, at int64) bool {
	if m.algorithm != bucket.FixedWindow {
		return r.period < m.rule().period && r.at+r.period <= at
	}
	first := max(r.at, m.back(at, m.rule().period)-m.rule().period)
	return m.back(first, r.period) <= at
}

// take answers one entry as a row of calls one by one would be answered.
func (m *windowModel) take(key string, now int64, e bucket.Entry) bucket.Result {
	v := m.view(key, now)
	have := max(0, m.limit(v.at)-sum(v.grants))
	res := bucket.Result{Code: bucket.CodeTooMany}
	if e.Permits <= m.rule().max {
		res.Granted = min(e.Count, have/e.Permits)
		res.Code = bucket.CodeGranted
		if res.Granted < e.Count || e.Count == 0 && have < e.Permits {
			res.Code = bucket.CodeLimited
		}
	}
	if n := res.Granted * e.Permits; n > 0 {
		v.grants, v.last, v.absent = append(slices.Clip(v.grants), windowGrant{v.at, n}), v.at, false
		have -= n
		m.store(key, v, now)
	} else if v.moved && e.Count > 0 {
		m.store(key, v, now)
	}
	res.Remaining = have
	if res.Code != bucket.CodeTooMany && have < e.Permits {
		res.RetryAfter = micros(m.search(v, e.Permits) - now)
	}
	if sum(v.grants) > 0 {
		res.ResetAfter = micros(m.lastBack(v.grants) - now)
	}
	return res
}

// give gives back n permits that were granted at an instant under a rule, and tells whether they still counted.
func (m *windowModel) give(key string, now, n, at, rule int64) bool {
	v := m.view(key, now)
	if v.absent || at > v.at || !m.samePeriodSince(rule) {
		return false
	}
	same := func(g windowGrant) bool { return g.at == at }
	switch period := m.rule().period; m.algorithm {
	case bucket.FixedWindow:
		same = func(windowGrant) bool { return m.back(at, period) == m.back(v.at, period) }
	case bucket.SlidingWindow:
		same = func(g windowGrant) bool { return subOf(g.at, period) == subOf(at, period) }
	}
	grants, there := slices.Clone(v.grants), int64(0)
	for _, g := range grants {
		if same(g) {
			there += g.n
		}
	}
	if there < n {
		return false
	}
	for i, g := range grants {
		if same(g) {
			less := min(n, g.n)
			grants[i].n -= less
			n -= less
		}
	}
	v.grants = grants
	m.store(key, v, now)
	return true
}

// samePeriodSince tells whether a rule is known and no other period was in force since it began. A log doesn't mind.
func (m *windowModel) samePeriodSince(rule int64) bool {
	if m.algorithm == bucket.SlidingLog {
		return rule >= m.generation && rule <= m.rule().id
	}
	for _, r := range slices.Backward(m.rules) {
		if r.period != m.rule().period || r.id == rule {
			return r.period == m.rule().period
		}
	}
	return false
}

func (m *windowModel) store(key string, v windowView, now int64) {
	if m.algorithm == bucket.FixedWindow {
		v.last -= v.last % 1000
	}
	ttl := ceilDiv(m.back(v.at, m.rule().period)-now, 1000) + 1
	m.parts[key] = windowPart{grants: v.grants, last: v.last, rule: m.rule().id, expires: now + ttl*1000}
}

// settle is what an edit does at now with a partition that can be listed.
func (m *windowModel) settle(key string, now int64) {
	v := m.view(key, now)
	if v.absent {
		v.grants = nil
	}
	m.store(key, v, now)
}

// search finds the first instant after v.at at which n permits are there, among all at which anything changes.
func (m *windowModel) search(v windowView, n int64) int64 {
	if m.algorithm != bucket.FixedWindow && len(v.grants) > 0 && v.grants[0].at < m.born {
		return m.searchUnborn(v, n)
	}
	for _, at := range m.changes(v, n) {
		if at > v.at && m.limit(at)-m.used(v, at) >= n {
			return at
		}
	}
	panic("no instant at which the permits are there")
}

// searchUnborn is search where the clock was set back to before the birth. Then it is enough that the permits are there,
// though they may be so a little earlier: what was granted before the birth may be back while the limit grows.
func (m *windowModel) searchUnborn(v windowView, n int64) int64 {
	for _, at := range append([]int64{v.at}, m.changes(v, n)...) {
		switch used := m.used(v, at); {
		case at < v.at || used+n > m.rule().max:
		case at < m.born:
			return at
		default:
			return max(at, m.grownTo(used+n))
		}
	}
	panic("no instant at which the permits are there")
}

// changes are the instants at which what is there may change, in order.
func (m *windowModel) changes(v windowView, n int64) []int64 {
	r := m.rule()
	var when []int64
	for _, g := range v.grants {
		when = append(when, m.back(g.at, r.period))
	}
	for i := range m.rules {
		at := m.rules[i].at
		when = append(when, m.back(at, r.period), at+m.rules[i].period, m.back(max(at, v.at), m.rules[i].period))
	}
	if m.born > 0 {
		for _, at := range append(when, v.at) {
			when = append(when, m.grownTo(m.used(v, at)+n))
		}
		when = append(when, m.born+r.period, m.back(m.born, r.period))
	}
	slices.Sort(when)
	return when
}

// used is what counts at a later instant if nobody takes any.
func (m *windowModel) used(v windowView, at int64) int64 {
	if v.absent {
		return sum(m.absent(at).grants)
	}
	return sum(m.counting(v.grants, at))
}

// grownTo is the instant at which the limit of a bucket that was born empty reaches n.
func (m *windowModel) grownTo(n int64) int64 {
	return m.born + ceil(new(big.Rat).SetFrac(times(n, m.rule().period), big.NewInt(m.rule().max)))
}

func (m *windowModel) lastBack(grants []windowGrant) int64 {
	last := int64(0)
	for _, g := range grants {
		if g.n > 0 {
			last = max(last, m.back(g.at, m.rule().period))
		}
	}
	return last
}

func (m *windowModel) clone() *windowModel {
	c := *m
	c.parts = map[string]windowPart{}
	for key, p := range m.parts {
		c.parts[key] = p
	}
	return &c
}

func sum(grants []windowGrant) int64 {
	n := int64(0)
	for _, g := range grants {
		n += g.n
	}
	return n
}
