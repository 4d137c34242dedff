package bucket_test

import (
	"strings"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// What happens between the calls of a windowStory.

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
