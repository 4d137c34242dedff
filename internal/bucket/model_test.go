package bucket_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// model is one bucket in rational arithmetic: it keeps how many permits each partition had when, instead of the instant
// at which it was empty, and knows nothing of the scripts' units, ids or limbs. Instants are µs of the tests' time.
type model struct {
	rules   []modelRule // of this generation, the present one last
	born    int64       // 0 = the generation started full
	parts   map[string]*modelPart
	maxWait time.Duration
	exact   bool // forgets neither state nor rules: what a partition truly has, an upper bound for what Redis may grant
}

type modelRule struct {
	at   int64
	rate *big.Rat // permits per µs
	max  *big.Rat
}

type modelPart struct {
	level   *big.Rat
	t       int64
	rule    int // index in model.rules
	expires int64
}

// rulesKept is how many rules a definition keeps, the present one included.
const rulesKept = 9

func newModelRule(d bucket.Definition, at int64) modelRule {
	return modelRule{at: at, rate: big.NewRat(d.Rate, d.Period.Microseconds()), max: big.NewRat(d.MaxPermits, 1)}
}

func newModel(d bucket.Definition, at, born int64, exact bool) *model {
	return &model{rules: []modelRule{newModelRule(d, at)}, born: born, parts: map[string]*modelPart{}, maxWait: d.MaxWait, exact: exact}
}

func (m *model) present() modelRule { return m.rules[len(m.rules)-1] }

// edit begins a rule; the partitions that can be listed are settled.
func (m *model) edit(d bucket.Definition, at int64, listed []string) {
	next := newModelRule(d, at)
	if next.rate.Cmp(m.present().rate) == 0 && next.max.Cmp(m.present().max) == 0 {
		return
	}
	m.rules = append(m.rules, next)
	for _, key := range listed {
		m.store(key, m.level(key, at), at)
	}
}

func (m *model) store(key string, level *big.Rat, now int64) {
	p := &modelPart{level: level, t: now, rule: len(m.rules) - 1}
	r := m.present()
	ms := ceilDiv(m.untilFull(level), 1000)
	if len(m.rules) > 1 {
		ms = max(ms, ceilDiv(r.at+ceil(new(big.Rat).Quo(r.max, r.rate))-now, 1000))
	}
	p.expires = now + (ms+1)*1000
	m.parts[key] = p
}

// untilFull is the time in µs, rounded up, in which the present rule fills a partition.
func (m *model) untilFull(level *big.Rat) int64 {
	r := m.present()
	missing := new(big.Rat).Sub(r.max, level)
	return ceil(missing.Quo(missing, r.rate))
}

// level is what a partition has at now.
func (m *model) level(key string, now int64) *big.Rat {
	p := m.parts[key]
	if p == nil {
		return m.absent(now)
	}
	if oldest := m.oldest(); p.rule < oldest {
		return m.carry(m.forgotten(p, oldest), m.rules[oldest].at, oldest, now)
	}
	return m.carry(p.level, p.t, p.rule, now)
}

// forgotten is what a partition whose rule is not kept any more counts as having when the oldest that is kept began:
// nothing, or a debt that ends when its own would have.
func (m *model) forgotten(p *modelPart, oldest int) *big.Rat {
	owed := new(big.Rat).Quo(p.level, m.rules[p.rule].rate)
	ends := p.t + ceil(owed.Neg(owed))
	return new(big.Rat).Mul(rat(-max(0, ends-m.rules[oldest].at)), m.rules[oldest].rate)
}

func (m *model) oldest() int {
	if m.exact {
		return 0
	}
	return max(0, len(m.rules)-rulesKept)
}

// carry refills a level that stood at t under rule i, through all later rules, up to now.
func (m *model) carry(level *big.Rat, t int64, i int, now int64) *big.Rat {
	for ; i < len(m.rules)-1; i++ {
		end := max(m.rules[i+1].at, t)
		level = change(m.rules[i], m.rules[i+1], refill(m.rules[i], level, rat(end-t)))
		t = end
	}
	return refill(m.rules[i], level, rat(now-t))
}

func refill(r modelRule, level, micros *big.Rat) *big.Rat {
	more := new(big.Rat).Mul(r.rate, micros)
	return least(more.Add(more, level), r.max)
}

// change is what a level becomes at the moment of an edit: never more, and in whole units of the new rule.
func change(from, to modelRule, level *big.Rat) *big.Rat {
	if from.rate.Cmp(to.rate) != 0 {
		den := new(big.Rat).SetInt(to.rate.Denom())
		units := new(big.Rat).Mul(level, den)
		level = new(big.Rat).Quo(new(big.Rat).SetInt(floorInt(units)), den)
		// No debt is deeper than what the longest wait brings in.
		longest := rat(bucket.MaxWaitBound.Microseconds())
		level = most(level, longest.Neg(longest.Mul(longest, to.rate)))
	}
	return least(level, to.max)
}

// absent is what a partition without state has. In truth that is what it started with, refilled; but its state may have
// expired at any time when it could have, so Redis gives it the least that it could have now.
func (m *model) absent(now int64) *big.Rat {
	first := m.rules[0]
	if m.exact && m.born != 0 {
		return m.carry(new(big.Rat), m.born, 0, now)
	}
	if m.exact {
		return m.carry(first.max, first.at, 0, now)
	}
	oldest, i := m.oldest(), len(m.rules)-1
	empty := m.emptiedBy(i, now)
	for i > oldest && empty.Cmp(rat(m.rules[i].at)) < 0 {
		i--
		empty = m.emptiedBy(i, now)
	}
	if i == oldest {
		empty = most(empty, rat(m.born))
	}
	if i == oldest && oldest > 0 {
		empty = most(empty, rat(m.rules[i].at))
	}
	if i == len(m.rules)-1 {
		return refill(m.rules[i], new(big.Rat), new(big.Rat).Sub(rat(now), empty))
	}
	end := m.rules[i+1].at
	level := refill(m.rules[i], new(big.Rat), new(big.Rat).Sub(rat(end), empty))
	return m.carry(change(m.rules[i], m.rules[i+1], level), end, i+1, now)
}

// emptiedBy is the last instant under rule i at which a partition could be emptied and its state have expired by now.
func (m *model) emptiedBy(i int, now int64) *big.Rat {
	r := m.rules[i]
	empty := rat(now)
	empty.Sub(empty, new(big.Rat).Quo(r.max, r.rate))
	if i < len(m.rules)-1 {
		empty = least(empty, rat(m.rules[i+1].at))
	}
	return empty
}

// take answers one entry as a batch of calls one by one would be answered.
func (m *model) take(key string, now int64, e bucket.Entry) bucket.Result {
	if e.Count == 0 {
		m = m.clone()
	}
	at := m.hold(key, now)
	level := m.level(key, at)
	n := rat(e.Permits)
	res := bucket.Result{Code: bucket.CodeTooMany}
	if e.Wait > 0 && n.Cmp(m.present().max) <= 0 {
		return m.reserve(key, level, at, now, e)
	}
	if n.Cmp(m.present().max) <= 0 {
		fit := max(0, floorInt(new(big.Rat).Quo(level, n)).Int64())
		res.Granted = min(e.Count, fit)
		if res.Granted > 0 {
			level = new(big.Rat).Sub(level, rat(res.Granted*e.Permits))
			m.store(key, level, at)
		}
		res.Code = bucket.CodeGranted
		if res.Granted < e.Count || e.Count == 0 && fit == 0 {
			res.Code = bucket.CodeLimited
		}
		res.RetryAfter = m.wait(level, n, at, now)
	}
	res.Remaining = max(0, floorInt(level).Int64())
	res.ResetAfter = m.wait(level, m.present().max, at, now)
	return res
}

// reserve answers a call that waits for its turn: granted are permits that come in time, and the partition owes them.
func (m *model) reserve(key string, level *big.Rat, at, now int64, e bucket.Entry) bucket.Result {
	n := rat(e.Permits)
	res := bucket.Result{Code: bucket.CodeLimited, RetryAfter: m.wait(level, n, at, now)}
	if res.RetryAfter <= min(max(e.Wait.Truncate(time.Microsecond), time.Microsecond), m.maxWait) {
		level = new(big.Rat).Sub(level, n)
		m.store(key, level, at)
		res.Code, res.Granted = bucket.CodeGranted, 1
	}
	res.Remaining = max(0, floorInt(level).Int64())
	res.ResetAfter = m.wait(level, m.present().max, at, now)
	return res
}

// wait is the time from now until a partition that has level at `at` has n.
func (m *model) wait(level, n *big.Rat, at, now int64) time.Duration {
	missing := new(big.Rat).Sub(n, level)
	if missing.Sign() <= 0 {
		return 0
	}
	return micros(ceil(missing.Quo(missing, m.present().rate)) + at - now)
}

// hold is the instant that counts as now for a partition: its own while the clock is at most 1 s behind; further behind,
// a call that may take moves the partition to the clock.
func (m *model) hold(key string, now int64) int64 {
	p := m.parts[key]
	if p == nil || p.t <= now {
		return now
	}
	if p.t-now <= 1_000_000 {
		return p.t
	}
	moved := *p
	moved.t = now
	m.parts[key] = &moved
	return now
}

// clone copies the state, so that a call can be tried on it.
func (m *model) clone() *model {
	c := *m
	c.parts = map[string]*modelPart{}
	for key, p := range m.parts {
		one := *p
		c.parts[key] = &one
	}
	c.rules = slices.Clone(m.rules)
	return &c
}

func rat(n int64) *big.Rat { return big.NewRat(n, 1) }

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func most(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func floorInt(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// ceil rounds up, and negative figures to 0.
func ceil(r *big.Rat) int64 {
	n := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(r.Num()), r.Denom())).Int64()
	return max(0, n)
}

func ceilDiv(a, b int64) int64 { return ceil(big.NewRat(a, b)) }
