package bucket_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
)

// TestAllCallsOfTokenBucketsEqualTheRationalModel: every figure, whatever the rates, permits, rows, keys and pauses; also
// on a real Redis, where they are decided in another way than on the embedded one.
func TestAllCallsOfTokenBucketsEqualTheRationalModel(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 25)
		for i := range *rounds {
			s := &story{env: e, t: t, r: r}
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

// modelled is a bucket and its model.
type modelled struct {
	d bucket.Definition
	m *model
}

func (s *story) modelled(name string) *modelled {
	s.d = definition(1, 1, time.Second)
	s.d.Name = name
	s.d.Partition = pick(s.r, bucket.PartitionShared, bucket.PartitionKey)
	s.d.Mode = pick(s.r, bucket.ModeEnforce, bucket.ModeEnforce, bucket.ModeShadow)
	s.randomLimit()
	s.install(s.t, s.d)
	at, born := s.instants()
	return &modelled{s.d, newModel(s.d, at, born, false)}
}

// playAll asks the buckets for random rows, compares, and lets time pass.
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
	for _, b := range all {
		for key, p := range b.m.parts {
			if p.expires < s.micros(before)-3000 {
				delete(b.m.parts, key)
			}
		}
	}
	for i := range c.Entries {
		want := expectedRow(s, c.Entries[i], of[i], s.micros(reply.Now))
		for j := range reply.Entries[i].Parts {
			forget(&reply.Entries[i].Parts[j])
		}
		if diff := cmp.Diff(want, reply.Entries[i]); diff != "" {
			s.t.Fatalf("row %d at %s of %+v: %s", i, reply.Now, c.Entries, diff)
		}
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
		p.Verdict, p.Revision = bucket.VerdictDecided, 1
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
		d.Revision, d.MaxPermits = 2, 100
		e.install(t, d)
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
