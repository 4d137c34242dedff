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

// leaseStory is one bucket under random holders, crashes, retries, pauses, edits and losses. Each answer is compared with
// the model, and by itself the story counts who was told to hold a lease and until when.
type leaseStory struct {
	*env
	t      *testing.T
	r      *rand.Rand
	d      bucket.Definition
	first  int64 // period (µs) of the generation's first rule
	born   int64 // 0 = none
	models map[string]*leaseModel
	told   map[string]map[string]int64 // until when each caller of a key may count on its lease
	// murky is the instant until which callers may count on leases that no rule protects: of before a reset by hand.
	murky map[string]int64
	log   []string
	next  int
}

// TestLeasesFollowTheModelAndNeverExceedTheMaximum: every figure of every reply, and at each instant at most max holders.
func TestLeasesFollowTheModelAndNeverExceedTheMaximum(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 11)
		for i := range *rounds {
			s := &leaseStory{env: e, t: t, r: r}
			s.begin(fmt.Sprintf("exports-%d", i))
			for range 60 {
				s.step()
			}
		}
	})
}

func (s *leaseStory) begin(name string) {
	s.ahead = 0
	s.d = leased(int64(1+s.r.IntN(6)), time.Duration(spread(s.r, 1000, 100_000))*time.Millisecond)
	s.d.Name, s.d.Partition = name, pick(s.r, partitions...)
	s.d.AfterLoss = pick(s.r, bucket.LossRefill, bucket.LossFull)
	s.models, s.told, s.murky = map[string]*leaseModel{}, map[string]map[string]int64{}, map[string]int64{}
	s.first = s.d.Period.Microseconds()
	s.install(s.t, s.d)
	s.note("installed %+v", s.d)
}

func (s *leaseStory) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *leaseStory) fatal(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(s.log, "\n"))
}

func (s *leaseStory) step() {
	switch s.r.IntN(20) {
	case 0, 1, 2, 3:
		d := time.Duration(spread(s.r, 1000, 2*s.d.Period.Microseconds())) * time.Microsecond
		s.note("%s pass", d)
		s.pass(s.t, d, s.d.Name)
	case 4:
		s.edit()
	case 5:
		if s.r.IntN(3) == 0 {
			s.lose()
		}
	default:
		s.call()
	}
}

// call does a few ops of random callers, mostly of those who think that they hold a lease.
func (s *leaseStory) call() {
	key := ""
	if bucket.Keyed(s.d.Partition) {
		key = pick(s.r, "k", "l")
	}
	told := s.told[key]
	if told == nil {
		told = map[string]int64{}
		s.told[key] = told
	}
	ops := make([]bucket.LeaseOp, 1+s.r.IntN(3))
	for i := range ops {
		ops[i] = s.op(told)
	}
	c := s.leaseOf(s.t, s.d, key, ops...)
	s.compare(key, ops, &c)
	for i, op := range ops {
		s.believe(key, op, c.Results[i], s.micros(c.Reply.Now))
	}
}

func (s *leaseStory) op(told map[string]int64) bucket.LeaseOp {
	ids := make([]string, 0, len(told))
	for id := range told {
		ids = append(ids, id)
	}
	if len(ids) == 0 || s.r.IntN(3) == 0 {
		s.next++
		return bucket.LeaseOp{Do: pick(s.r, bucket.LeaseEnter, bucket.LeaseEnter, bucket.LeaseEnter, bucket.LeasePeek, bucket.LeaseRelease), ID: fmt.Sprint(s.next)}
	}
	return bucket.LeaseOp{Do: pick(s.r, bucket.LeaseEnter, bucket.LeaseRenew, bucket.LeaseRenew, bucket.LeaseRelease), ID: ids[s.r.IntN(len(ids))]}
}

// compare holds an answer against the model, and the state's TTL against the last lease.
func (s *leaseStory) compare(key string, ops []bucket.LeaseOp, c *bucket.LeaseCall) {
	s.t.Helper()
	m := s.models[key]
	if m == nil {
		m = &leaseModel{ends: map[string]int64{}}
		s.models[key] = m
	}
	m.max, m.period, m.opens = s.d.MaxPermits, s.d.Period.Microseconds(), 0
	if s.born > 0 {
		m.opens = s.born + s.first
	}
	now := s.micros(c.Reply.Now)
	want := m.do(now, ops)
	s.note("%d: key %q %v: %+v", now, key, ops, c.Results)
	if diff := cmp.Diff(want, c.Results); diff != "" {
		s.fatal("unlike the model: %s", diff)
	}
	state := s.ShardStateKey(s.d.Name, s.d.Partition, 1, "checkout", key)
	ttl := s.rdb.PTTL(s.t.Context(), state).Val()
	last := int64(0)
	for _, end := range m.ends {
		last = max(last, end-now)
	}
	// Ageing a real Redis's state makes its TTL a little inexact.
	if ttl == -1 || s.mini != nil && last > 0 && (ttl < micros(last) || ttl > micros(last)+2*time.Millisecond) {
		s.fatal("TTL %s, the last lease ends in %s", ttl, micros(last))
	}
}

// believe is what a caller makes of its answer, and whether too many now may think that they hold a lease, or one was
// refused though fewer than max do.
func (s *leaseStory) believe(key string, op bucket.LeaseOp, r bucket.LeaseResult, now int64) {
	s.t.Helper()
	told := s.told[key]
	before := told[op.ID] > now
	waiting := s.born > 0 && now < s.born+s.first
	newly := r.Code == bucket.LeaseReheld || op.Do == bucket.LeaseEnter && r.Code == bucket.LeaseHeld
	switch {
	case op.Do == bucket.LeasePeek:
		return
	case r.Expires == 0:
		delete(told, op.ID)
	default:
		told[op.ID] = now + r.Expires.Microseconds()
	}
	holders, last := int64(0), int64(0)
	for _, until := range told {
		if until > now {
			holders++
		}
		last = max(last, until)
	}
	if r.Code == bucket.LeaseReheld && !before && waiting {
		s.murky[key] = last // misuse: a renewal of a lease known to have ended, while nobody can tell who holds one
	}
	if newly && !before && holders > s.d.MaxPermits && now >= s.murky[key] {
		s.fatal("%d holders of %d", holders, s.d.MaxPermits)
	}
	if r.Code == bucket.LeaseRefused && holders < s.d.MaxPermits && !waiting {
		s.fatal("refused, though only %d of %d are held", holders, s.d.MaxPermits)
	}
}

func (s *leaseStory) edit() {
	s.d.Revision++
	switch s.r.IntN(3) {
	case 0:
		s.d.MaxPermits = int64(1 + s.r.IntN(6))
	case 1:
		s.d.Period = time.Duration(spread(s.r, 1000, 100_000)) * time.Millisecond
	default:
		s.d.AfterLoss = pick(s.r, bucket.LossRefill, bucket.LossFull)
	}
	s.note("edited to %d leases of %s, after loss %s", s.d.MaxPermits, s.d.Period, s.d.AfterLoss)
	s.install(s.t, s.d)
}

// lose forgets every lease: all of the bucket, or the state only, or by hand.
func (s *leaseStory) lose() {
	s.t.Helper()
	what := pick(s.r, "all", "state", "reset")
	switch what {
	case "all":
		for _, key := range []string{"", "k", "l"} {
			check(s.t, s.rdb.Del(s.t.Context(), s.ShardStateKey(s.d.Name, s.d.Partition, 1, "checkout", key)).Err())
		}
		check(s.t, s.rdb.Del(s.t.Context(), s.DefinitionKey(s.d.Name)).Err())
		_, err := s.Install(s.t.Context(), s.d, bucket.InstallOptions{Deployment: deployment, Lost: true})
		check(s.t, err)
	case "state":
		_, err := s.Restart(s.t.Context(), s.d.Name, deployment, always)
		check(s.t, err)
	default:
		_, err := s.Reset(s.t.Context(), s.d.Name, deployment)
		check(s.t, err)
	}
	found, err := s.Read(s.t.Context(), s.d.Name)
	check(s.t, err)
	s.born = 0
	if born := found[0].Born; !born.IsZero() {
		s.born = s.micros(born)
	}
	if (s.born > 0) != (what != "reset" && s.d.AfterLoss == bucket.LossRefill) {
		s.fatal("born at %s after losing %s", found[0].Born, what)
	}
	s.note("lost: %s", what)
	s.first = s.d.Period.Microseconds()
	s.models = map[string]*leaseModel{}
	for key, told := range s.told {
		for _, until := range told {
			if s.born == 0 || until > s.born+s.first {
				s.murky[key] = max(s.murky[key], until)
			}
		}
	}
}

// TestLeasesFollowTheModelOverStepsOfTheClock: forth and back, within and beyond what is waited for.
func TestLeasesFollowTheModelOverStepsOfTheClock(t *testing.T) {
	e := miniEnv(t)
	r := random(t, 12)
	for range *rounds {
		e.mini.FlushAll()
		e.now = miniStart
		e.mini.SetTime(e.now)
		d := leased(int64(1+r.IntN(5)), time.Duration(spread(r, 1000, 20_000))*time.Millisecond)
		e.install(t, d)
		m := &leaseModel{max: d.MaxPermits, period: d.Period.Microseconds(), ends: map[string]int64{}}
		e.pass(t, time.Hour)
		for range 80 {
			if e.rdb.Exists(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val() == 0 {
				m.ends, m.written = map[string]int64{}, 0
			}
			op := bucket.LeaseOp{
				Do: pick(r, bucket.LeaseEnter, bucket.LeaseEnter, bucket.LeaseRenew, bucket.LeaseRelease, bucket.LeasePeek),
				ID: fmt.Sprint(r.IntN(8)),
			}
			got := e.lease(t, d, op)
			if diff := cmp.Diff(m.do(e.now.UnixMicro(), []bucket.LeaseOp{op}), got); diff != "" {
				t.Fatalf("%+v at %s: %s", op, e.now, diff)
			}
			step := time.Duration(spread(r, 1, 3_000_000)) * time.Microsecond
			if r.IntN(3) == 0 {
				step = -step
			}
			e.pass(t, step)
		}
	}
}
