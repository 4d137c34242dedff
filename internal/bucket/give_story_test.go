package bucket_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// giveStory drives one token bucket with calls, reservations, give-backs in any order, edits and steps of the clock, and
// writes down what each moved: the instant T at which the bucket is empty, read from the stored state. Its instants go on
// where the clock is set back by more than is waited for, as those of the bucket do; those of a bucket whose state is gone,
// which has become full meanwhile, where time has got to.
type giveStory struct {
	*env
	t       *testing.T
	r       *rand.Rand
	d       bucket.Definition
	rate    *big.Rat // permits per µs
	backlog bool     // most calls are reservations, close after each other
	shift   int64    // how far the clock was set back, in µs
	reached int64    // the instant up to which time has gone by, whatever the clock was set to
	events  []event
	old     []bucket.GiveBack // of before the last edit of the limit
	log     []string
}

// event is a take of permits, or a give-back of a part of those that an earlier one took.
type event struct {
	at    int64    // when it was decided
	act   *big.Rat // of a take: from when on the permits may be used; the answer rounds it up to a µs
	moved *big.Rat // by how many µs T moved: later for a take, earlier (positive too) for a give-back
	of    int      // of a give-back: the index of the take
	asked int64    // of a take: permits not yet asked back
	per   int64    // of a take: permits of one call
	given *big.Rat // of a take: µs that were given back
	back  bucket.GiveBack
}

// TestGiveBacksNeverRaiseABucketAboveWhatItWouldBe: with reservations outstanding, calls between, and give-backs of any
// of them in any order. Granted net of give-backs stays within max + rate·T in every interval, where a permit counts from
// when it may be used; and the bucket never stands higher than if the calls given back had not been.
func TestGiveBacksNeverRaiseABucketAboveWhatItWouldBe(t *testing.T) {
	e := miniEnv(t)
	r := random(t, 23)
	for range 2 * *rounds {
		e.mini.FlushAll()
		e.now = miniStart
		e.mini.SetTime(e.now)
		s := &giveStory{env: e, t: t, r: r}
		s.begin()
		for range 50 {
			s.step()
		}
		s.checkIntervals()
	}
}

func (s *giveStory) begin() {
	s.d = definition(spread(s.r, 1, 200), spread(s.r, 1, 2_000_000), time.Duration(spread(s.r, 1, 2000))*time.Millisecond)
	s.backlog = s.r.IntN(2) == 0
	if s.r.IntN(4) == 0 { // several permits a µs
		s.d.MaxPermits, s.d.Rate, s.d.Period = 1+s.r.Int64N(20), 1000*(1+s.r.Int64N(8)), time.Millisecond
	}
	s.d.MaxWait = pick(s.r, 10*time.Second, 100*time.Millisecond, bucket.MaxWaitBound)
	s.install(s.t, s.d)
	s.reached = s.now.UnixMicro()
	s.rate = big.NewRat(s.d.Rate, s.d.Period.Microseconds())
}

func (s *giveStory) step() {
	n := s.r.IntN(10)
	if s.backlog && (n < 3 || n > 7) {
		n = pick(s.r, 1, 3, 3, 3, 3, 9)
	}
	switch n {
	case 0:
		s.rarely()
	case 1, 2:
		s.take(bucket.Entry{Permits: 1 + s.r.Int64N(s.d.MaxPermits), Count: 1 + s.r.Int64N(3)})
	case 3, 4:
		wait := time.Duration(spread(s.r, 1, max(2, s.fill()))) * time.Microsecond
		s.take(bucket.Entry{Permits: 1 + s.r.Int64N(s.d.MaxPermits), Count: 1, Wait: wait})
	case 5, 6, 7:
		s.giveBack()
	default:
		s.let(time.Duration(spread(s.r, 1, max(2, s.fill()))) * time.Microsecond)
	}
}

// rarely edits the bucket or sets the clock.
func (s *giveStory) rarely() {
	n := s.r.IntN(8)
	if s.d.Revision > 1 && n < 2 {
		n = 4 // a clock set back to before an edit makes absence mean less than full, which this story does not know
	}
	switch n {
	case 0:
		s.let(-time.Duration(spread(s.r, 1, 1_000_000)) * time.Microsecond)
	case 1:
		s.let(-time.Duration(spread(s.r, 1_000_001, bucket.MaxWaitBound.Microseconds())) * time.Microsecond)
	case 2: // the limit stays
		s.d.Revision, s.d.OnFailure = s.d.Revision+1, pick(s.r, bucket.FailOpen, bucket.FailClosed)
		s.install(s.t, s.d)
	case 3:
		s.checkIntervals()
		for i := range s.events {
			if s.events[i].asked > 0 {
				s.old = append(s.old, s.events[i].back)
			}
		}
		s.d.Revision, s.d.MaxPermits = s.d.Revision+1, s.d.MaxPermits+1
		s.install(s.t, s.d)
		s.events, s.log, s.shift, s.reached = nil, nil, 0, s.now.UnixMicro()
	case 4:
		if len(s.old) > 0 {
			g := pick(s.r, s.old...)
			g.Permits = 1
			check(s.t, s.Ask(s.t.Context(), &g))
			check(s.t, g.Err)
			expect(s.t, "given back under another limit", g.Given, false)
		}
	}
}

func (s *giveStory) let(d time.Duration) {
	s.note("pass %s", d)
	s.pass(s.t, d)
	s.reached += max(0, d.Microseconds())
}

// moment is what a bucket has before something is asked of it.
type moment struct {
	at    int64 // what counts as now
	value string
	shift int64 // if it is written
}

func (s *giveStory) moment() moment {
	now := s.now.UnixMicro()
	if ahead := atoi(s.t, s.head(s.t, s.DefinitionKey(s.d.Name))[headAt]) - now; ahead > 0 && ahead <= 1_000_000 {
		now += ahead
	}
	value := s.rdb.Get(s.t.Context(), s.StateKey(s.d.Name, s.d.Partition, "", "")).Val()
	if value == "" {
		s.shift = max(s.shift, s.reached-now)
		return moment{at: now + s.shift, shift: s.shift}
	}
	m := moment{at: now + s.shift, value: value, shift: s.shift}
	switch ahead := writtenAt(s.t, value) - now; {
	case ahead > 1_000_000:
		m.at, m.shift = m.at+ahead, m.shift+ahead
	case ahead > 0:
		m.at += ahead
	}
	return m
}

// empty is T by the state's value.
func (s *giveStory) empty(m moment) *big.Rat {
	if m.value == "" {
		return s.full(m.at)
	}
	return most(s.full(m.at), new(big.Rat).Add(emptyAt(s.t, m.value, s.rate), rat(s.shift)))
}

// after is T after something was asked at that moment.
func (s *giveStory) after(m moment) *big.Rat {
	value := s.rdb.Get(s.t.Context(), s.StateKey(s.d.Name, s.d.Partition, "", "")).Val()
	s.reached = max(s.reached, m.at)
	if value != m.value {
		m.value, s.shift = value, m.shift
	}
	return s.empty(m)
}

// fill is the time in which the bucket fills, in µs.
func (s *giveStory) fill() int64 { return ceil(new(big.Rat).Quo(rat(s.d.MaxPermits), s.rate)) }

func (s *giveStory) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("%d+%d ", s.now.UnixMicro(), s.shift)+fmt.Sprintf(format, args...))
}

func (s *giveStory) take(entry bucket.Entry) {
	m := s.moment()
	before := s.empty(m)
	reply := s.acquire(s.t, s.d, entry)
	result := reply.Results[0]
	after := s.after(m)
	s.note("%+v -> %+v", entry, result)
	if result.Granted == 0 {
		return
	}
	took := result.Granted * entry.Permits
	moved := new(big.Rat).Quo(rat(took), s.rate)
	if after.Cmp(new(big.Rat).Add(before, moved)) != 0 {
		s.fatal("T moved from %s to %s", before.FloatString(6), after.FloatString(6))
	}
	act := most(rat(m.at), after)
	held := m.at - m.shift - s.now.UnixMicro() // the clock is waited for
	wait := time.Duration(ceil(act)-m.at+held) * time.Microsecond
	if entry.Wait > 0 && (after.Cmp(rat(m.at)) > 0 && result.RetryAfter != wait || wait > max(min(entry.Wait, s.d.MaxWait), time.Duration(held)*time.Microsecond)) {
		s.fatal("waits %s, its turn is in %s", result.RetryAfter, wait)
	}
	s.events = append(s.events, event{
		at: m.at, act: act, moved: moved, asked: took, per: entry.Permits, given: new(big.Rat),
		back: bucket.GiveBack{
			Target: s.target(s.t, s.d, "checkout"), At: reply.Now, RuleID: reply.RuleID, ResetAfter: result.ResetAfter, Mark: result.Mark,
		},
	})
}

// giveBack asks one call's permits back of a random take.
func (s *giveStory) giveBack() {
	var takes []int
	for i := range s.events {
		if s.events[i].asked > 0 {
			takes = append(takes, i)
		}
	}
	if len(takes) == 0 {
		return
	}
	i := pick(s.r, takes...)
	if s.r.IntN(2) == 0 {
		i = takes[len(takes)-1]
	}
	g := s.events[i].back
	g.Permits = s.events[i].per
	s.events[i].asked -= g.Permits
	m := s.moment()
	before := s.empty(m)
	check(s.t, s.Ask(s.t.Context(), &g))
	check(s.t, g.Err)
	after := s.after(m)
	moved := new(big.Rat).Sub(before, after)
	s.note("give back %d of %d: %v, %s µs", g.Permits, s.events[i].at, g.Given, moved.FloatString(3))
	if moved.Sign() < 0 || g.Given != (moved.Sign() > 0) || moved.Cmp(new(big.Rat).Quo(rat(g.Permits), s.rate)) > 0 {
		s.fatal("gave back %s µs", moved.FloatString(6))
	}
	if !g.Given {
		return
	}
	s.events[i].given.Add(s.events[i].given, moved)
	s.events = append(s.events, event{at: m.at, moved: moved, of: i})
	if hypothetic := s.without(i, m.at); after.Cmp(hypothetic) < 0 {
		s.fatal("T is %s, and without that call would be %s", after.FloatString(6), hypothetic.FloatString(6))
	}
}

// full is T of a bucket that is full at the instant.
func (s *giveStory) full(at int64) *big.Rat {
	return new(big.Rat).Sub(rat(at), new(big.Rat).Quo(rat(s.d.MaxPermits), s.rate))
}

// writtenAt reads from a state's value when it was written.
func writtenAt(t testing.TB, value string) int64 {
	t.Helper()
	part := stateParts(t, value)
	return ruleEpoch.UnixMicro() + part[0]*1000 + part[1]
}

// emptyAt reads T from a state's value.
func emptyAt(t testing.TB, value string, rate *big.Rat) *big.Rat {
	t.Helper()
	part := stateParts(t, value)
	return new(big.Rat).Add(rat(writtenAt(t, value)-part[2]), big.NewRat(part[3], rate.Num().Int64()))
}

// stateParts are the rule id, instant, level, fraction and mark of a state.
func stateParts(t testing.TB, value string) (part [5]int64) {
	t.Helper()
	for i, hex := range strings.Split(value[1:], ":") {
		n, err := strconv.ParseInt(hex, 16, 64)
		check(t, err)
		part[i] = n
	}
	return part
}

// without is T at an instant if take i had not been, and everything else had moved T as it did.
func (s *giveStory) without(i int, at int64) *big.Rat {
	var empty *big.Rat
	for j, ev := range s.events {
		if empty == nil {
			empty = s.full(ev.at)
		}
		empty = most(empty, s.full(ev.at))
		switch {
		case ev.given == nil && ev.of != i:
			empty = new(big.Rat).Sub(empty, ev.moved)
		case ev.given != nil && j != i:
			empty = new(big.Rat).Add(empty, ev.moved)
		case ev.given != nil: // what is still asked for was not given back
			empty = new(big.Rat).Add(empty, new(big.Rat).Sub(ev.moved, s.returned(i)))
		}
	}
	return most(empty, s.full(at))
}

// returned is what take i would have moved T by for the calls that were given back so far, wholly or in part.
func (s *giveStory) returned(i int) *big.Rat {
	permits := new(big.Rat).Mul(s.events[i].moved, s.rate)
	permits.Sub(permits, rat(s.events[i].asked))
	return permits.Quo(permits, s.rate)
}

// checkIntervals: in every interval, granted net of give-backs <= max + rate·T.
func (s *giveStory) checkIntervals() {
	var takes []event
	for _, ev := range s.events {
		if ev.given != nil {
			takes = append(takes, ev)
		}
	}
	slices.SortStableFunc(takes, func(a, b event) int { return a.act.Cmp(b.act) })
	for i := range takes {
		sum := new(big.Rat)
		for j := i; j < len(takes); j++ {
			sum.Add(sum, takes[j].moved)
			sum.Sub(sum, takes[j].given)
			bound := new(big.Rat).Sub(takes[j].act, takes[i].act)
			bound.Add(bound, new(big.Rat).Quo(rat(s.d.MaxPermits), s.rate))
			if sum.Cmp(bound) > 0 {
				s.fatal("granted %s µs worth from %s to %s, more than %s", sum.FloatString(3), takes[i].act.FloatString(3),
					takes[j].act.FloatString(3), bound.FloatString(3))
			}
		}
	}
}

func (s *giveStory) fatal(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%+v\n%s\n%s", s.d, strings.Join(s.log, "\n"), fmt.Sprintf(format, args...))
}

// ruleEpoch is the instant from which rule ids count ms.
var ruleEpoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
