package bucket_test

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

var (
	rounds = flag.Int("bucket.rounds", 60, "random buckets a property test")
	seed   = flag.Uint64("bucket.seed", 0, "seed of the property tests; 0 = another at each run")
)

// random is a source of its own; the seed to get it again is in the log of a failure.
func random(t testing.TB, stream uint64) *rand.Rand {
	t.Helper()
	base := *seed
	if base == 0 {
		base = rand.Uint64()
	}
	t.Logf("-bucket.seed %d", base)
	return rand.New(rand.NewPCG(base, stream))
}

// story drives one bucket with random calls, pauses, edits and losses, and compares each answer with two models: what
// Redis must answer, and what a partition truly has, which Redis must never exceed.
type story struct {
	*env
	t       *testing.T
	r       *rand.Rand
	d       bucket.Definition
	model   *model
	others  []*model // what may be right in its place
	truth   *model
	evicted map[string]bool // keys whose state was deleted alone: the truth says nothing about them any more
	log     []string
	passed  time.Duration
}

// storyLength bounds the pauses of one story, so that its instants stay between 1970 and 2245, where the scripts are
// exact, on either kind of clock.
const storyLength = 40 * 365 * 24 * time.Hour

// TestDecisionsEqualTheRationalModel: every figure of every reply equals that of a model in rational arithmetic fed with
// the Redis times of the replies, whatever the rates, periods, permits, batches, pauses, edits and losses.
func TestDecisionsEqualTheRationalModel(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 1)
		for i := range *rounds {
			s := &story{env: e, t: t, r: r, evicted: map[string]bool{}}
			s.note("round %d", i)
			s.startClock()
			s.begin(fmt.Sprintf("bucket-%d", i))
			for range 50 {
				s.step()
			}
		}
	})
}

// startClock sets the tests' time back to the present for another story.
func (s *story) startClock() {
	s.ahead = 0
	if s.mini != nil {
		s.mini.FlushAll()
		s.now = miniStart
		s.mini.SetTime(s.now)
	}
}

func (s *story) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *story) fatal(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s", strings.Join(s.log, "\n"), fmt.Sprintf(format, args...))
}

func (s *story) begin(name string) {
	s.d = definition(1, 1, time.Second)
	s.d.Name = name
	s.d.Partition = pick(s.r, bucket.PartitionShared, bucket.PartitionApp, bucket.PartitionKey, bucket.PartitionAppKey)
	s.d.AfterLoss = pick(s.r, bucket.LossRefill, bucket.LossFull)
	s.d.Apps = []string{"checkout", "search"}
	s.d.MaxWait = pick(s.r, 0, 10*time.Millisecond, 10*time.Second, bucket.MaxWaitBound)
	s.randomLimit()
	s.install(s.t, s.d)
	s.restart()
}

// restart begins the models anew from what the definition says about its birth; whether that is right, other tests tell.
func (s *story) restart() {
	at, born := s.instants()
	s.model, s.truth = newModel(s.d, at, born, false), newModel(s.d, at, born, true)
	s.others = nil
	s.evicted = map[string]bool{}
	s.note("generation of %+v at %d born %d", s.d, at, born)
}

// instants are the beginning of the present rule and the birth, in the tests' time.
func (s *story) instants() (at, born int64) {
	s.t.Helper()
	head := s.head(s.t, s.DefinitionKey(s.d.Name))
	at = atoi(s.t, head[headAt]) + s.ahead.Microseconds()
	if born = atoi(s.t, head[headBorn]); born != 0 {
		born += s.ahead.Microseconds()
	}
	return at, born
}

func (s *story) step() {
	switch n := s.r.IntN(100); {
	case n < 62:
		s.call(false)
	case n < 67:
		s.call(true)
	case n < 85:
		s.pause()
	case n < 92:
		s.edit()
	case n < 93: // more edits than a definition remembers
		for range rulesKept + s.r.IntN(3) {
			s.edit()
		}
	case n < 95:
		s.evict()
	default:
		s.lose()
	}
}

func (s *story) call(peek bool) {
	entries := make([]bucket.Entry, 1+s.r.IntN(3))
	for i := range entries {
		entries[i] = bucket.Entry{Permits: s.permits(), Count: 1 + int64(s.r.IntN(4)), Key: pick(s.r, "u1", "u2", "{u}")}
		if s.r.IntN(8) == 0 {
			entries[i].Count = spread(s.r, 1, bucket.PermitsBound)
		}
		if s.r.IntN(4) == 0 {
			entries[i].Count, entries[i].Wait = 1, time.Duration(spread(s.r, 1, 8_000_000_000))*time.Microsecond
		}
		if peek {
			entries[i].Count, entries[i].Wait = 0, 0
		}
	}
	c := s.callOf(s.t, s.d, pick(s.r, s.d.Apps...), entries...)
	before, err := s.Time(s.t.Context())
	check(s.t, err)
	reply, err := s.Acquire(s.t.Context(), c)
	check(s.t, err)
	s.note("%d peek=%v %s %+v -> %+v", s.micros(reply.Now), peek, c.Target.App, entries, reply.Results)
	if reply.Verdict != bucket.VerdictDecided || reply.Revision != s.d.Revision {
		s.fatal("verdict: %+v", reply)
	}
	s.compare(c, reply, s.micros(before))
}

// compare finds the models that answer the same. State whose time to live ends within a few ms of the call may be there or
// not; where the answer leaves that open, each of the two goes on, until a later answer tells.
func (s *story) compare(c bucket.Call, reply bucket.Reply, before int64) {
	s.t.Helper()
	now := s.micros(reply.Now)
	var same []*model
	var want []bucket.Result
	for _, m := range s.models() {
		for _, try := range branches(m, before, now) {
			want = s.answers(try, c, now)
			if cmp.Equal(want, reply.Results) {
				same = append(same, try)
			}
		}
	}
	if len(same) == 0 {
		s.fatal("at %d: %s", now, cmp.Diff(want, reply.Results))
	}
	s.model, s.others = same[0], same[1:min(len(same), mostModels)]
	s.checkTruth(c, reply, now)
}

// mostModels bounds what is kept of what can't be told apart.
const mostModels = 64

func (s *story) models() []*model { return append([]*model{s.model}, s.others...) }

// branches are the models that m may be at a call between before and now: with and without each state that may expire then.
func branches(m *model, before, now int64) []*model {
	all := []*model{m.clone()}
	for key, p := range m.parts {
		switch {
		case p.expires < before-3000:
			for _, b := range all {
				delete(b.parts, key)
			}
		case p.expires <= now+3000:
			for _, b := range all {
				without := b.clone()
				delete(without.parts, key)
				all = append(all, without)
			}
		}
	}
	return all
}

func (s *story) answers(m *model, c bucket.Call, now int64) []bucket.Result {
	out := make([]bucket.Result, len(c.Entries))
	for i, e := range c.Entries {
		if s.d.Mode == bucket.ModeOff {
			out[i] = bucket.Result{Code: bucket.CodeGranted, Granted: e.Count, Remaining: s.d.MaxPermits}
			continue
		}
		out[i] = m.take(s.stateKey(c.Target.App, e.Key), now, e)
	}
	return out
}

// checkTruth: Redis never grants what a partition does not have; where state is settled at each edit it grants all.
func (s *story) checkTruth(c bucket.Call, reply bucket.Reply, now int64) {
	s.t.Helper()
	if s.d.Mode == bucket.ModeOff {
		return
	}
	keyed := bucket.Keyed(s.d.Partition)
	for i, e := range c.Entries {
		key := s.stateKey(c.Target.App, e.Key)
		if s.evicted[key] {
			continue
		}
		got := reply.Results[i]
		level := s.truth.level(key, now)
		has := max(0, floorInt(level).Int64())
		took := got.Granted * e.Permits
		if e.Wait > 0 && took > has { // a reservation: its turn comes no sooner than its permits
			turn := s.truth.wait(level, rat(took), now, now)
			if got.RetryAfter < turn || !keyed && got.RetryAfter != turn {
				s.fatal("entry %d: to wait %s for permits that come in %s", i, got.RetryAfter, turn)
			}
		} else if took+got.Remaining > has || !keyed && took+got.Remaining != has {
			s.fatal("entry %d: %d granted and %d left, of %d that were there", i, took, got.Remaining, has)
		}
		if took > 0 {
			s.truth.store(key, new(big.Rat).Sub(level, rat(took)), now)
		}
	}
}

func (s *story) stateKey(app, key string) string {
	return s.StateKey(s.d.Name, s.d.Partition, app, key)
}

func (s *story) pause() {
	r := s.model.present()
	fill, _ := r.max.Float64()
	rate, _ := r.rate.Float64()
	most := int64(min(3*fill/rate, math.MaxInt64/4000))
	if s.r.IntN(2) == 0 {
		most = int64(min(float64(most), 3/rate))
	}
	d := time.Duration(spread(s.r, 1, max(2, most))) * time.Microsecond
	if s.mini == nil {
		d = d.Truncate(time.Millisecond) + time.Millisecond
	}
	if s.passed += d; s.passed > storyLength {
		return
	}
	s.note("pause %s", d)
	s.pass(s.t, d, s.d.Name)
}

func (s *story) edit() {
	s.d.Revision += 1 + int64(s.r.IntN(3))
	switch s.r.IntN(5) {
	case 0: // a description, which Redis does not have
	case 1:
		s.d.Mode = pick(s.r, bucket.ModeEnforce, bucket.ModeEnforce, bucket.ModeShadow, bucket.ModeOff)
	case 2:
		old := s.d.MaxPermits
		s.d.MaxPermits = spread(s.r, 1, bucket.PermitsBound)
		if s.d.Validate() != nil {
			s.d.MaxPermits = old
		}
	default:
		s.randomLimit()
	}
	s.install(s.t, s.d)
	at, _ := s.instants()
	var listed []string
	switch s.d.Partition {
	case bucket.PartitionShared:
		listed = []string{s.stateKey("", "")}
	case bucket.PartitionApp:
		listed = []string{s.stateKey("checkout", ""), s.stateKey("search", "")}
	}
	s.expire(at)
	s.note("edit at %d: %+v", at, s.d)
	if bucket.Keyed(s.d.Partition) {
		for key := range s.truth.parts {
			// A debt under an edit may be forgiven once the state has expired, lest every unused key counts as in debt.
			s.evicted[key] = s.evicted[key] || s.truth.level(key, at).Sign() < 0
		}
	}
	for _, m := range s.models() {
		m.edit(s.d, at, listed)
	}
	s.truth.edit(s.d, at, listed)
}

// expire forgets state that Redis may have forgotten before an edit; where it is settled then, both count as full.
func (s *story) expire(now int64) {
	for _, m := range s.models() {
		for key, p := range m.parts {
			if p.expires < now-3000 {
				delete(m.parts, key)
			}
		}
	}
}

// evict deletes one state alone, as a full Redis may do.
func (s *story) evict() {
	key := s.stateKey(pick(s.r, s.d.Apps...), pick(s.r, "u1", "u2", "{u}"))
	check(s.t, s.rdb.Del(s.t.Context(), key).Err())
	for _, m := range s.models() {
		delete(m.parts, key)
	}
	s.evicted[key] = true
	s.note("evict %s", key)
}

// lose loses the definition, or more, and repairs as reconcile would.
func (s *story) lose() {
	ctx := s.t.Context()
	lost := bucket.InstallOptions{Deployment: deployment, Lost: true}
	s.outrun()
	switch s.r.IntN(4) {
	case 0:
		check(s.t, s.rdb.Del(ctx, s.DefinitionKey(s.d.Name)).Err())
		_, err := s.Install(ctx, s.d, lost)
		check(s.t, err)
	case 1:
		_, err := s.Restart(ctx, s.d.Name, deployment, always)
		check(s.t, err)
	case 2:
		_, err := s.Remove(ctx, s.d.Name, s.d.Revision+1, deployment)
		check(s.t, err)
		s.d.Revision += 2
		s.install(s.t, s.d)
	case 3:
		s.d.Partition = pick(s.r, bucket.PartitionShared, bucket.PartitionApp, bucket.PartitionKey, bucket.PartitionAppKey)
		s.d.Revision++
		before := s.generation()
		s.install(s.t, s.d)
		if s.generation() == before {
			return
		}
	}
	s.restart()
}

// outrun waits until the clock has passed the present rule's id. Edits within one millisecond get ids ahead of it, which
// a Redis that forgot them could give again.
func (s *story) outrun() {
	id := s.head(s.t, s.DefinitionKey(s.d.Name))[headRule]
	passed := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(atoi(s.t, id)+1) * time.Millisecond)
	if s.mini != nil {
		if wait := passed.Sub(s.now); wait > 0 {
			s.pass(s.t, wait, s.d.Name)
		}
		return
	}
	testenv.Eventually(s.t, time.Second, "the clock to pass the rule's id", func() bool {
		now, err := s.Time(s.t.Context())
		check(s.t, err)
		return now.After(passed)
	})
}

func (s *story) generation() int64 {
	found, err := s.Read(s.t.Context(), s.d.Name)
	check(s.t, err)
	return found[0].Generation
}

// randomLimit draws a limit whose fill time is allowed.
func (s *story) randomLimit() {
	for {
		s.d.MaxPermits = spread(s.r, 1, bucket.PermitsBound)
		s.d.Rate = spread(s.r, 1, bucket.PermitsBound)
		s.d.Period = time.Duration(spread(s.r, 1, bucket.PeriodMax.Milliseconds())) * time.Millisecond
		if s.d.Validate() == nil {
			return
		}
	}
}

func (s *story) permits() int64 {
	switch s.r.IntN(8) {
	case 0:
		return s.d.MaxPermits
	case 1:
		return s.d.MaxPermits + 1
	default:
		return spread(s.r, 1, s.d.MaxPermits)
	}
}

// spread draws from low..high, each order of magnitude as likely as the others.
func spread(r *rand.Rand, low, high int64) int64 {
	n := int64(math.Exp(math.Log(float64(low)) + r.Float64()*math.Log(float64(high)/float64(low))))
	return min(high, max(low, n+int64(r.IntN(3))-1))
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
