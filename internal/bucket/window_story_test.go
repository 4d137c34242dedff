package bucket_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
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
	check(s.t, s.Ask(s.t.Context(), &g))
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
