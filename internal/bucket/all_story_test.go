package bucket_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
)

// allStory drives random buckets of all algorithms three times under three names each: with AllCalls of many rows, with
// AllCalls of one call each, and call by call and bucket by bucket with Calls, whose decisions other tests prove.
type allStory struct {
	*env
	t      *testing.T
	r      *rand.Rand
	trios  []trio
	lately []string // what was asked, for failures
}

// trio is one bucket under the names of the three ways to ask it.
type trio struct{ rows, singles, parts bucket.Definition }

// TestAllCallsEqualCallsOneByOne: whatever the algorithms, modes, keys and rows, an AllCall says and takes what its calls
// would one after the other, and each of those what its buckets would by themselves.
func TestAllCallsEqualCallsOneByOne(t *testing.T) {
	e := miniEnv(t)
	r := random(t, 21)
	for range max(5, *rounds/5) {
		e.mini.FlushAll()
		s := &allStory{env: e, t: t, r: r}
		s.begin()
		for range 12 {
			s.step()
		}
	}
}

func (s *allStory) begin() {
	for i := range 1 + s.r.IntN(4) {
		d := definition(1+s.r.Int64N(30), spread(s.r, 1, 1000), time.Duration(spread(s.r, 1, 100_000))*time.Millisecond)
		d.Algorithm = pick(s.r, bucket.TokenBucket, bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog)
		d.Mode = pick(s.r, bucket.ModeEnforce, bucket.ModeEnforce, bucket.ModeEnforce, bucket.ModeShadow, bucket.ModeOff)
		d.Partition = pick(s.r, bucket.PartitionShared, bucket.PartitionKey)
		if s.r.IntN(6) == 0 {
			d.Apps = []string{"search"}
		}
		all := trio{d, d, d}
		for name, way := range map[string]*bucket.Definition{"rows": &all.rows, "singles": &all.singles, "parts": &all.parts} {
			way.Name = fmt.Sprintf("%s-%d", name, i)
			s.install(s.t, *way)
		}
		s.trios = append(s.trios, all)
	}
}

// wish is a part of a call, before it is said of which name.
type wish struct {
	trio    int
	permits int64
	key     string
}

func (s *allStory) step() {
	pass := s.r.IntN(2) == 0
	var wishes [][]wish
	var counts []int64
	for range 1 + s.r.IntN(3) {
		row := make([]wish, 1+s.r.IntN(3))
		for i := range row {
			n := s.r.IntN(len(s.trios))
			row[i] = wish{n, 1 + s.r.Int64N(s.trios[n].rows.MaxPermits+1), pick(s.r, "u1", "{u}2")}
			if s.r.IntN(3) > 0 {
				row[i].permits = 1 + s.r.Int64N(3)
			}
		}
		wishes, counts = append(wishes, row), append(counts, 1+s.r.Int64N(6))
	}
	if s.r.IntN(3) == 0 { // equal rows, which are said but once
		wishes, counts = slices.Repeat(wishes[:1], 3), slices.Repeat(counts[:1], 3)
	}
	s.lately = append(s.lately, fmt.Sprintf("%s pass=%v %v times %v", s.now, pass, wishes, counts))
	got := s.askRows(pass, wishes, counts)
	for i, row := range wishes {
		want, refusals := s.oneByOne(pass, row, counts[i])
		for call, by := range refusals {
			for j := range row {
				if got[i].Parts[j].Refuses(int64(call+1), got[i].Granted) != by[j] {
					s.t.Fatalf("%+v\n%v\nrow %d: that part %d refuses call %d is not %v: %+v", s.trios, s.lately, i, j, call+1, by[j], got[i])
				}
			}
		}
		for j := range got[i].Parts {
			got[i].Parts[j].Able, want.Parts[j].Able = 0, 0
		}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			s.t.Fatalf("%+v\n%v\nrow %d: %s", s.trios, s.lately, i, diff)
		}
	}
	s.pass(s.t, time.Duration(spread(s.r, 1000, int64(2*s.trios[0].rows.Period))))
}

// askRows asks the buckets called rows.
func (s *allStory) askRows(pass bool, wishes [][]wish, counts []int64) []bucket.AllResult {
	c := &bucket.AllCall{PassNotConfigured: pass}
	for i, row := range wishes {
		entry := bucket.AllEntry{Count: counts[i]}
		for _, w := range row {
			entry.Parts = append(entry.Parts, s.partOf(s.trios[w.trio].rows, w))
		}
		c.Entries = append(c.Entries, entry)
	}
	reply := s.askAll(s.t, c)
	for i := range reply.Entries {
		for j := range reply.Entries[i].Parts {
			forget(&reply.Entries[i].Parts[j])
		}
	}
	return reply.Entries
}

// forget drops what the names make different.
func forget(p *bucket.PartResult) { p.Facts, p.RuleID = nil, 0 }

func (s *allStory) partOf(d bucket.Definition, w wish) bucket.Part {
	return bucket.Part{Target: s.target(s.t, d, "checkout"), Permits: w.permits, Key: w.key}
}

// oneByOne asks the buckets called singles, compares each call with the buckets called parts, and adds the calls up. It
// also tells for each call which parts refused it.
func (s *allStory) oneByOne(pass bool, row []wish, count int64) (sum bucket.AllResult, refusals [][]bool) {
	for range count {
		c := &bucket.AllCall{PassNotConfigured: pass, Entries: []bucket.AllEntry{{Count: 1}}}
		for _, w := range row {
			c.Entries[0].Parts = append(c.Entries[0].Parts, s.partOf(s.trios[w.trio].singles, w))
		}
		one := s.askAll(s.t, c).Entries[0]
		s.compareParts(row, pass, one)
		sum.Granted += one.Granted
		sum.Parts = one.Parts
		by := make([]bool, len(row))
		for i := range one.Parts {
			by[i] = one.Parts[i].Refuses(1, one.Granted)
		}
		refusals = append(refusals, by)
	}
	for i := range sum.Parts {
		forget(&sum.Parts[i])
	}
	return sum, refusals
}

// compareParts asks each bucket called parts whether it has enough, takes where all that count have, and compares.
func (s *allStory) compareParts(row []wish, pass bool, got bucket.AllResult) {
	s.t.Helper()
	wanted := map[string]int64{} // of each state
	state := func(w wish) string {
		d := s.trios[w.trio].parts
		return s.StateKey(d.Name, d.Partition, "checkout", w.key)
	}
	for _, w := range row {
		wanted[state(w)] += w.permits
	}
	replies := make([]bucket.Reply, len(row))
	grant := true
	for i, w := range row {
		d := s.trios[w.trio].parts
		replies[i] = s.askParts(d, w, wanted[state(w)], 0)
		decided := replies[i].Verdict == bucket.VerdictDecided
		if !decided && !pass || decided && d.Mode == bucket.ModeEnforce && replies[i].Results[0].Code != bucket.CodeGranted {
			grant = false
		}
	}
	expect(s.t, fmt.Sprintf("%v granted", s.lately), got.Granted == 1, grant)
	taken := map[string]bool{}
	for i, w := range row {
		if grant && replies[i].Verdict == bucket.VerdictDecided && replies[i].Results[0].Code == bucket.CodeGranted && !taken[state(w)] {
			taken[state(w)] = true
			s.askParts(s.trios[w.trio].parts, w, wanted[state(w)], 1)
		}
	}
	for i, w := range row {
		s.comparePart(w, wanted[state(w)], replies[i], pass, got.Parts[i])
	}
}

func (s *allStory) askParts(d bucket.Definition, w wish, permits, count int64) bucket.Reply {
	entry := bucket.Entry{Permits: permits, Count: count, Key: w.key}
	reply, err := s.Acquire(s.t.Context(), s.callOf(s.t, d, "checkout", entry))
	check(s.t, err)
	return reply
}

func (s *allStory) comparePart(w wish, permits int64, before bucket.Reply, pass bool, got bucket.PartResult) {
	s.t.Helper()
	forget(&got)
	want := bucket.PartResult{Verdict: before.Verdict, Revision: before.Revision}
	if before.Verdict != bucket.VerdictDecided {
		if pass {
			want.Able = 1
		}
	} else {
		after := s.askParts(s.trios[w.trio].parts, w, permits, 0).Results[0]
		want.Remaining, want.RetryAfter, want.ResetAfter = after.Remaining, after.RetryAfter, after.ResetAfter
		want.TooMany = after.Code == bucket.CodeTooMany
		if before.Results[0].Code == bucket.CodeGranted {
			want.Able = 1
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Fatalf("%+v\n%v\n%+v: %s", s.trios, s.lately, w, diff)
	}
}
