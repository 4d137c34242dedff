package bucket_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// TestAllCallsOfTokenBucketsEqualTheRationalModel: every figure, whatever the rates, permits, rows, keys and pauses; also
// on a real Redis, where they are decided in another way than on the embedded one.
func TestAllCallsOfTokenBucketsEqualTheRationalModel(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 25)
		for i := range *rounds {
			s := &story{env: e, t: t, r: r, evicted: map[string]bool{}}
			s.startClock()
			all := make([]*modelled, 1+r.IntN(3))
			for j := range all {
				all[j] = s.modelled(fmt.Sprintf("b%d-%d", i, j))
			}
			for range 25 {
				playAll(s, all)
			}
		}
	})
}

// modelled is a bucket and its models.
type modelled struct {
	d        bucket.Definition
	m, truth *model
}

func (s *story) modelled(name string) *modelled {
	s.d = definition(1, 1, time.Second)
	s.d.Name = name
	s.d.Partition = pick(s.r, bucket.PartitionShared, bucket.PartitionKey)
	s.d.Mode = pick(s.r, bucket.ModeEnforce, bucket.ModeEnforce, bucket.ModeShadow)
	s.randomLimit()
	s.install(s.t, s.d)
	s.restart()
	return &modelled{s.d, s.model, s.truth}
}

// playAll asks the buckets for random rows, compares, and lets time pass or edits one.
func playAll(s *story, all []*modelled) {
	c := &bucket.AllCall{}
	var of [][]*modelled
	for range 1 + s.r.IntN(3) {
		entry := bucket.AllEntry{Count: 1 + s.r.Int64N(5)}
		if s.r.IntN(8) == 0 {
			entry.Count = spread(s.r, 1, bucket.PermitsBound)
		}
		var whose []*modelled
		for range 1 + s.r.IntN(3) {
			b := pick(s.r, all...)
			s.d = b.d
			part := bucket.Part{Target: s.target(s.t, b.d, "checkout"), Permits: s.permits(), Key: pick(s.r, "u1", "{u}")}
			entry.Parts, whose = append(entry.Parts, part), append(whose, b)
		}
		c.Entries, of = append(c.Entries, entry), append(of, whose)
	}
	before, err := s.Time(s.t.Context())
	check(s.t, err)
	reply := s.askAll(s.t, c)
	for i := range reply.Entries {
		for j := range reply.Entries[i].Parts {
			forget(&reply.Entries[i].Parts[j])
		}
	}
	compareAll(s, all, c, of, reply, s.micros(before))
	if s.r.IntN(10) == 0 {
		b := pick(s.r, all...)
		s.d, s.model, s.others, s.truth = b.d, b.m, nil, b.truth
		for range 1 + s.r.IntN(4) {
			s.edit()
		}
		if s.d.Mode == bucket.ModeOff {
			s.d.Revision, s.d.Mode = s.d.Revision+1, bucket.ModeEnforce
			s.install(s.t, s.d)
		}
		b.d = s.d
		return
	}
	var names []string
	for _, b := range all {
		names = append(names, b.d.Name)
	}
	s.d = pick(s.r, all...).d
	longest := int64(min(float64(s.d.MaxPermits)/float64(s.d.Rate)*float64(s.d.Period.Microseconds()), 1e13))
	d := time.Duration(spread(s.r, 1, max(2, longest))) * time.Microsecond
	if s.mini == nil {
		d = d.Truncate(time.Millisecond) + time.Millisecond
	}
	s.pass(s.t, d, names...)
}

// compareAll finds the models' answers. State whose time to live ends within a few ms of the call may be there or not.
func compareAll(s *story, all []*modelled, c *bucket.AllCall, of [][]*modelled, reply bucket.AllReply, before int64) {
	s.t.Helper()
	now := s.micros(reply.Now)
	type expiring struct {
		b   *modelled
		key string
	}
	var unsure []expiring
	for _, b := range all {
		for key, p := range b.m.parts {
			switch {
			case p.expires < before-3000:
				delete(b.m.parts, key)
			case p.expires <= now+3000:
				unsure = append(unsure, expiring{b, key})
			}
		}
	}
	original := map[*modelled]*model{}
	for _, b := range all {
		original[b] = b.m
	}
	var want []bucket.AllResult
	for set := range 1 << len(unsure) {
		for b, m := range original {
			b.m = m.clone()
		}
		for i, u := range unsure {
			if set>>i&1 == 1 {
				delete(u.b.m.parts, u.key)
			}
		}
		want = nil
		for i := range c.Entries {
			want = append(want, expectedRow(s, c.Entries[i], of[i], now))
		}
		if cmp.Equal(want, reply.Entries) {
			return
		}
	}
	s.fatal("at %d of %+v: %s", now, c.Entries, cmp.Diff(want, reply.Entries))
}

// expectedRow is what the models say to a row, and takes from them.
func expectedRow(s *story, entry bucket.AllEntry, of []*modelled, now int64) bucket.AllResult {
	want := bucket.AllResult{Granted: entry.Count, Parts: make([]bucket.PartResult, len(entry.Parts))}
	key := func(i int) string {
		return s.StateKey(of[i].d.Name, of[i].d.Partition, "checkout", entry.Parts[i].Key)
	}
	wanted := map[string]int64{}
	for i, p := range entry.Parts {
		wanted[key(i)] += p.Permits
	}
	for i := range entry.Parts {
		p, m := &want.Parts[i], of[i].m
		p.Verdict, p.Revision = bucket.VerdictDecided, of[i].d.Revision
		if p.TooMany = wanted[key(i)] > of[i].d.MaxPermits; !p.TooMany {
			p.Able = min(entry.Count, floorInt(m.level(key(i), now)).Int64()/wanted[key(i)])
		}
		if of[i].d.Mode != bucket.ModeShadow {
			want.Granted = min(want.Granted, p.Able)
		}
	}
	for i := range entry.Parts {
		k, m := key(i), of[i].m
		if took := min(want.Granted, want.Parts[i].Able) * wanted[k]; took > 0 && wanted[k] > 0 {
			m.store(k, new(big.Rat).Sub(m.level(k, now), rat(took)), now)
			wanted[k] = -wanted[k] // taken once
		}
	}
	for i := range entry.Parts {
		p, k, m := &want.Parts[i], key(i), of[i].m
		level := m.level(k, now)
		p.Remaining = floorInt(level).Int64()
		if !p.TooMany {
			p.RetryAfter = m.wait(level, rat(max(wanted[k], -wanted[k])), now, now)
		}
		p.ResetAfter = m.wait(level, m.present().max, now, now)
	}
	return want
}

// TestAllCallsGiveAnUnusedKeyNoMoreAfterAnEdit than Acquire does: what was there before the limit was raised.
func TestAllCallsGiveAnUnusedKeyNoMoreAfterAnEdit(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := named("b", 10)
		d.Partition = bucket.PartitionKey
		e.install(t, d)
		e.all(t, 1, bucket.Part{Target: e.target(t, d, "checkout"), Permits: 4, Key: "used"})
		e.tick(t)
		d.Revision, d.MaxPermits = 2, 100
		e.install(t, d)
		e.tick(t)
		target := e.target(t, d, "checkout")
		r := e.all(t, 1, bucket.Part{Target: target, Permits: 1, Key: "used"}, bucket.Part{Target: target, Permits: 1, Key: "unused"})
		expect(t, "left of the used", r.Parts[0].Remaining, 5)
		expect(t, "left of the unused", r.Parts[1].Remaining, 9)
		ttl := e.rdb.PTTL(t.Context(), e.StateKey("b", d.Partition, "checkout", "unused")).Val()
		if ttl < 99*time.Hour {
			t.Fatalf("state stays %s, and absence means full only in 100 hours", ttl)
		}
	})
}

// TestAllCallsNeitherFreezeNorFillWhenTheClockIsSetBack: the level is kept, and refills from the new time on.
func TestAllCallsNeitherFreezeNorFillWhenTheClockIsSetBack(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d, other := definition(10, 1, time.Second), named("other", 1000)
		e.install(t, d)
		e.install(t, other)
		e.pass(t, time.Minute, d.Name)
		parts := func(n int64) []bucket.Part { return []bucket.Part{e.part(t, d, n), e.part(t, other, 1)} }
		expect(t, "granted", e.all(t, 1, parts(8)...).Granted, 1)
		e.pass(t, -time.Hour, d.Name)
		expect(t, "left", e.all(t, 1, parts(5)...).Parts[0].Remaining, 2)
		for i := range int64(3) {
			e.pass(t, time.Second, d.Name)
			expect(t, "left of a refused call", e.all(t, 1, parts(10)...).Parts[0].Remaining, 3+i)
		}
		expect(t, "granted", e.all(t, 1, parts(5)...).Granted, 1)
	})
}

// TestNothingRefillsWhileTheClockIsWaitedFor to reach the instant at which a definition was made: not with Acquire, nor
// with AllCalls.
func TestNothingRefillsWhileTheClockIsWaitedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, name := range []string{"alone", "with-others"} {
			d := definition(10, 10, time.Second)
			d.Name = name
			e.install(t, d)
			e.pass(t, -800*time.Millisecond, d.Name)
			if name == "alone" {
				expect(t, "granted", e.one(t, d, 10).Granted, 1)
			} else {
				expect(t, "granted", e.all(t, 1, e.part(t, d, 10)).Granted, 1)
			}
			e.pass(t, 700*time.Millisecond, d.Name)
			expect(t, name+": left before that instant", e.peek(t, d, 1).Remaining, 0)
			e.pass(t, 400*time.Millisecond, d.Name)
			if left := e.peek(t, d, 1).Remaining; left < 2 || left > 5 {
				t.Fatalf("%s: %d left 0.3 s after that instant", name, left)
			}
		}
	})
}

// tick lets a few ms pass, so that rule ids lie behind the clock.
func (e *env) tick(t testing.TB) {
	t.Helper()
	if e.mini != nil {
		e.pass(t, 3*time.Millisecond)
		return
	}
	began, err := e.Time(t.Context())
	check(t, err)
	testenv.Eventually(t, time.Second, "3 ms to pass", func() bool {
		now, err := e.Time(t.Context())
		check(t, err)
		return now.Sub(began) > 3*time.Millisecond
	})
}
