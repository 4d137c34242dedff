package bucket_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

var windowAlgorithms = []string{bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog}

// windowed is a bucket of max permits in a window, shared by all apps.
func windowed(algorithm string, max int64, period time.Duration) bucket.Definition {
	d := definition(max, 1, period)
	d.Algorithm = algorithm
	return d
}

// onWindows runs a test of the contract for each window algorithm, on a real Redis, on one with a clock that can be set,
// and on miniredis.
func onWindows(t *testing.T, test func(t *testing.T, e *env, algorithm string)) {
	t.Helper()
	for _, algorithm := range windowAlgorithms {
		t.Run(algorithm, func(t *testing.T) {
			t.Run("redis", func(t *testing.T) { test(t, realEnv(t), algorithm) })
			onClocks(t, func(t *testing.T, e *env) { test(t, e, algorithm) })
		})
	}
}

// onWindowClocks is onWindows for tests that move the clock.
func onWindowClocks(t *testing.T, test func(t *testing.T, e *env, algorithm string)) {
	t.Helper()
	for _, algorithm := range windowAlgorithms {
		t.Run(algorithm, func(t *testing.T) {
			onClocks(t, func(t *testing.T, e *env) { test(t, e, algorithm) })
		})
	}
}

// windowStory drives one bucket with random calls, pauses, edits, losses and steps of the clock, and compares each
// answer with the model. Where state is about to expire Redis may or may not have it still; then there are several models,
// of which those stay that answer as Redis did.
type windowStory struct {
	*env
	t      *testing.T
	r      *rand.Rand
	d      bucket.Definition
	models []*windowModel
	taken  []bucket.GiveBack // what was granted, to be given back
	log    []string
	passed time.Duration
	stall  int64 // the longest that a call went on after its decision, in µs: Redis may have set a time to live so late
}

// TestWindowsEqualTheModel: every figure of every reply equals that of the model fed with the Redis times of the replies.
func TestWindowsEqualTheModel(t *testing.T) {
	onWindows(t, func(t *testing.T, e *env, algorithm string) {
		r := random(t, 7)
		for i := range (*rounds + 1) / 2 {
			s := &windowStory{env: e, t: t, r: r}
			s.note("round %d", i)
			if e.movable() {
				e.pass(t, miniStart.Sub(e.now))
			}
			s.begin(fmt.Sprintf("bucket-%d", i), algorithm)
			for range 80 {
				s.step()
			}
		}
	})
}

func (s *windowStory) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *windowStory) fatal(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s", strings.Join(s.log, "\n"), fmt.Sprintf(format, args...))
}

func (s *windowStory) begin(name, algorithm string) {
	s.d = windowed(algorithm, 1, time.Second)
	s.d.Name = name
	s.d.Partition = s.partition()
	s.d.AfterLoss = pick(s.r, bucket.LossRefill, bucket.LossFull)
	s.d.Apps = []string{"checkout", "search"}
	s.randomLimit()
	s.install(s.t, s.d)
	s.anew()
}

func (s *windowStory) partition() string {
	return pick(s.r, bucket.PartitionShared, bucket.PartitionApp, bucket.PartitionKey, bucket.PartitionAppKey)
}

// anew begins with one model without state; whether the definition is right, other tests tell.
func (s *windowStory) anew() {
	m := &windowModel{algorithm: s.d.Algorithm, parts: map[string]windowPart{}}
	s.learn(m)
	s.models = []*windowModel{m}
	s.note("generation of %+v: rules %+v born %d", s.d, m.rules, m.born)
}

// learn reads the rules as the definition has them.
func (s *windowStory) learn(m *windowModel) {
	s.t.Helper()
	definition := s.DefinitionKey(s.d.Name)
	m.rules = nil
	hist := s.rdb.HGet(s.t.Context(), definition, "hist").Val()
	head := s.head(s.t, definition)
	present := strings.Join(head[headRule:headRule+5], ",")
	for _, rule := range strings.FieldsFunc(hist+";"+present, func(r rune) bool { return r == ';' }) {
		n := [5]int64{}
		for i, part := range strings.Split(rule, ",") {
			n[i] = atoi(s.t, part)
		}
		m.rules = append(m.rules, windowRule{id: n[0], at: n[1], period: n[3], max: n[4]})
	}
	m.generation = atoi(s.t, head[headBorn-1])
	m.born = atoi(s.t, head[headBorn])
}

func (s *windowStory) step() {
	switch n := s.r.IntN(100); {
	case n < 52:
		s.call(false)
	case n < 60:
		s.giveBack()
	case n < 68:
		s.call(true)
	case n < 82:
		s.pause()
	case n < 90:
		s.edit()
	case n < 91: // more edits than a definition remembers
		for range rulesKept + s.r.IntN(3) {
			s.edit()
		}
	case n < 93:
		s.evict()
	case n < 96:
		s.lose()
	default:
		s.setClock()
	}
}

func (s *windowStory) call(peek bool) {
	entries := make([]bucket.Entry, 1+s.r.IntN(3))
	for i := range entries {
		entries[i] = bucket.Entry{Permits: s.permits(), Count: 1 + int64(s.r.IntN(4)), Key: pick(s.r, "u1", "u2", "{u}")}
		if s.r.IntN(8) == 0 {
			entries[i].Count = spread(s.r, 1, bucket.PermitsBound)
		}
		if peek || s.r.IntN(10) == 0 {
			entries[i].Count = 0
		}
	}
	app := pick(s.r, s.d.Apps...)
	before := s.micro()
	c := s.callOf(s.t, s.d, app, entries...)
	reply, err := s.Acquire(s.t.Context(), c)
	check(s.t, err)
	s.remember(c, reply)
	s.note("%d %s %+v -> %+v", reply.Now.UnixMicro(), app, entries, reply.Results)
	if reply.Verdict != bucket.VerdictDecided || reply.Revision != s.d.Revision {
		s.fatal("verdict: %+v", reply)
	}
	s.expire(before, reply.Now.UnixMicro())
	s.stall = max(s.stall, s.micro()-reply.Now.UnixMicro())
	var fit []*windowModel
	var want []bucket.Result
	for _, m := range s.models {
		if want = s.answers(m, app, entries, reply.Now.UnixMicro()); cmp.Equal(want, reply.Results) {
			fit = append(fit, m)
		}
	}
	if len(fit) == 0 {
		s.fatal("of %d models none answered so; the last: %s", len(s.models), cmp.Diff(want, reply.Results))
	}
	s.models = fit
}

// remember keeps what a call took, to be given back.
func (s *windowStory) remember(c bucket.Call, reply bucket.Reply) {
	for i, res := range reply.Results {
		if res.Granted > 0 {
			s.taken = append(s.taken, bucket.GiveBack{
				Target: c.Target, Key: c.Entries[i].Key, Permits: min(res.Granted*c.Entries[i].Permits, bucket.PermitsBound),
				At: reply.Now, RuleID: reply.RuleID, ResetAfter: res.ResetAfter, Mark: res.Mark,
			})
		}
	}
}

// giveBack gives back something that was granted, mostly of late, or part of it.
func (s *windowStory) giveBack() {
	if len(s.taken) == 0 {
		return
	}
	i := len(s.taken) - 1 - s.r.IntN(min(len(s.taken), pick(s.r, 2, 10, 100)))
	g := s.taken[i]
	if s.r.IntN(2) == 0 {
		g.Permits = 1 + s.r.Int64N(g.Permits)
	}
	from := s.micro()
	s.Ask(s.t.Context(), &g)
	check(s.t, g.Err)
	to := s.micro()
	s.note("%d give back %d of %s %q of %d rule %d: %v", from, g.Permits, g.Target.App, g.Key, g.At.UnixMicro(), g.RuleID, g.Given)
	s.expire(from, to)
	s.stall = max(s.stall, to-from)
	s.filter(func(m *windowModel, now int64) bool {
		return m.give(s.StateKey(s.d.Name, s.d.Partition, g.Target.App, g.Key), now, g.Permits, g.At.UnixMicro(), g.RuleID) == g.Given
	}, from, to)
}

// micro is the time of Redis.
func (s *windowStory) micro() int64 {
	s.t.Helper()
	now, err := s.Time(s.t.Context())
	check(s.t, err)
	return now.UnixMicro()
}

// filter keeps the models that agree. When exactly Redis did it is not known: at one end or the other.
func (s *windowStory) filter(agrees func(m *windowModel, now int64) bool, from, to int64) {
	s.t.Helper()
	var fit []*windowModel
	for _, m := range s.models {
		late := m.clone()
		if agrees(m, from) {
			fit = append(fit, m)
		}
		if to > from && agrees(late, to) {
			fit = append(fit, late)
		}
	}
	if len(fit) == 0 {
		s.fatal("no model agrees")
	}
	s.models = fit
}

func (s *windowStory) answers(m *windowModel, app string, entries []bucket.Entry, now int64) []bucket.Result {
	out := make([]bucket.Result, len(entries))
	for i, e := range entries {
		if s.d.Mode == bucket.ModeOff {
			out[i] = bucket.Result{Code: bucket.CodeGranted, Granted: e.Count, Remaining: s.d.MaxPermits}
			continue
		}
		out[i] = m.take(s.StateKey(s.d.Name, s.d.Partition, app, e.Key), now, e)
	}
	return out
}

// expire forgets the state that Redis has forgotten at an instant between from and to, and doubles the models for each
// that it may have.
func (s *windowStory) expire(from, to int64) {
	const slack = 3000 // µs, for the rounding of times to live to ms
	seen := map[string]bool{}
	var out []*windowModel
	add := func(m *windowModel) {
		if print := fmt.Sprint(m.parts); !seen[print] {
			seen[print] = true
			out = append(out, m)
		}
	}
	for _, m := range s.models {
		branches := []*windowModel{m}
		for key, p := range m.parts {
			gone := s.movable() && p.expires <= to || p.expires < from-slack-s.stall
			unsure := !s.movable() && !gone && p.expires <= to+slack
			for _, b := range branches {
				if unsure {
					branches = append(branches, b.clone())
				}
				if unsure || gone {
					delete(b.parts, key)
				}
			}
		}
		for _, b := range branches {
			add(b)
		}
	}
	s.models = out
}

func (s *windowStory) pause() {
	period := s.d.Period.Microseconds()
	most := pick(s.r, 3*period, period, period/20+1)
	d := time.Duration(1+s.r.Int64N(most)) * time.Microsecond
	s.note("pause %s", d)
	if s.movable() {
		if s.passed += d; s.passed < storyLength {
			s.pass(s.t, d)
			s.expire(s.now.UnixMicro(), s.now.UnixMicro())
		}
		return
	}
	start := s.micro()
	testenv.Eventually(s.t, 10*time.Second, "the pause to end", func() bool { return s.micro()-start >= d.Microseconds() })
}

// setClock sets the clock back, where that can be done.
func (s *windowStory) setClock() {
	if !s.movable() {
		return
	}
	d := time.Duration(spread(s.r, 1, pick(s.r, tolerance, 3*s.d.Period.Microseconds()))) * time.Microsecond
	s.note("the clock is set back by %s", d)
	s.pass(s.t, -d)
}

func (s *windowStory) edit() {
	old := s.d
	s.d.Revision += 1 + int64(s.r.IntN(3))
	switch s.r.IntN(6) {
	case 0: // a description, which Redis does not have
	case 1:
		s.d.Mode = pick(s.r, bucket.ModeEnforce, bucket.ModeEnforce, bucket.ModeShadow, bucket.ModeOff)
	case 2:
		s.randomLimit()
		s.d.Period = old.Period
	case 3:
		s.randomLimit()
		s.d.MaxPermits = old.MaxPermits
	default:
		s.randomLimit()
	}
	before := s.micro()
	s.install(s.t, s.d)
	learned := &windowModel{}
	s.learn(learned)
	changed := s.d.MaxPermits != old.MaxPermits || s.d.Period != old.Period
	at := before
	if !s.movable() && changed {
		at = learned.rule().at
	}
	s.note("edit at %d: %+v: rules %+v born %d", at, s.d, learned.rules, learned.born)
	s.expire(before, at)
	s.stall = max(s.stall, s.micro()-at)
	for _, m := range s.models {
		m.rules, m.born = learned.rules, learned.born
		for _, key := range s.listed() {
			if changed {
				m.settle(key, at)
			}
		}
	}
}

func (s *windowStory) listed() []string {
	switch s.d.Partition {
	case bucket.PartitionShared:
		return []string{s.StateKey(s.d.Name, s.d.Partition, "", "")}
	case bucket.PartitionApp:
		return []string{s.StateKey(s.d.Name, s.d.Partition, "checkout", ""), s.StateKey(s.d.Name, s.d.Partition, "search", "")}
	default:
		return nil
	}
}

// evict deletes one state alone, as a full Redis may do.
func (s *windowStory) evict() {
	key := s.StateKey(s.d.Name, s.d.Partition, pick(s.r, s.d.Apps...), pick(s.r, "u1", "u2", "{u}"))
	check(s.t, s.rdb.Del(s.t.Context(), key).Err())
	for _, m := range s.models {
		delete(m.parts, key)
	}
	s.note("evict %s", key)
}

// lose begins a new generation: the state was lost, or is of another shape.
func (s *windowStory) lose() {
	ctx := s.t.Context()
	s.outrun()
	switch s.r.IntN(4) {
	case 0:
		check(s.t, s.rdb.Del(ctx, s.DefinitionKey(s.d.Name)).Err())
		_, err := s.Install(ctx, s.d, bucket.InstallOptions{Deployment: deployment, Lost: true})
		check(s.t, err)
	case 1:
		_, err := s.Restart(ctx, s.d.Name, deployment, always)
		check(s.t, err)
	case 2:
		_, err := s.Reset(ctx, s.d.Name, deployment)
		check(s.t, err)
	case 3:
		s.interlude()
	}
	s.anew()
}

// outrun waits until the clock has passed the present rule's id. Edits within one millisecond get ids ahead of it, which
// a Redis that forgot them could give again.
func (s *windowStory) outrun() {
	id := atoi(s.t, s.head(s.t, s.DefinitionKey(s.d.Name))[headRule])
	passed := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() + (id+1)*1000
	if s.movable() {
		s.pass(s.t, micros(max(0, passed-s.micro())))
		return
	}
	testenv.Eventually(s.t, time.Second, "the clock to pass the rule's id", func() bool { return s.micro() > passed })
}

// interlude makes it another algorithm's bucket for a while, whose state then stands where this one's will.
func (s *windowStory) interlude() {
	other := s.d
	for other.Algorithm == s.d.Algorithm {
		other.Algorithm = pick(s.r, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog, bucket.TokenBucket)
	}
	other.MaxPermits = min(other.MaxPermits, bucket.EntriesMax)
	other.Rate = other.MaxPermits
	other.Revision++
	s.install(s.t, other)
	for _, key := range []string{"u1", "u2"} {
		_, err := s.Acquire(s.t.Context(), s.callOf(s.t, other, "checkout", bucket.Entry{Permits: 1, Count: 1, Key: key}))
		check(s.t, err)
	}
	s.d.Revision += 2
	s.install(s.t, s.d)
}

// randomLimit draws a limit: on a real Redis a short period, since its clock can't be moved.
func (s *windowStory) randomLimit() {
	bound, longest := int64(bucket.PermitsBound), bucket.PeriodMax
	if s.d.Algorithm == bucket.SlidingLog {
		bound = bucket.EntriesMax
	}
	if !s.movable() {
		longest = 60 * time.Millisecond
	}
	s.d.MaxPermits = spread(s.r, 1, pick(s.r, 30, bound))
	s.d.Period = time.Duration(spread(s.r, 1, longest.Milliseconds())) * time.Millisecond
}

func (s *windowStory) permits() int64 {
	switch s.r.IntN(8) {
	case 0:
		return s.d.MaxPermits
	case 1:
		return s.d.MaxPermits + 1
	case 2, 3, 4:
		return spread(s.r, 1, (s.d.MaxPermits+29)/30)
	default:
		return spread(s.r, 1, s.d.MaxPermits)
	}
}
