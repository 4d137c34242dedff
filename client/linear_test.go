package client_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

var histories = flag.Int("linear.histories", 200, "how many histories each test of linearizability plays")

// eachHistory plays histories of one kind, each from a seed of its own.
func eachHistory(t *testing.T, one func(t *testing.T, round int, rng *rand.Rand)) {
	for round := range *histories {
		one(t, round, rand.New(rand.NewPCG(uint64(round), 1)))
		if t.Failed() {
			t.Fatalf("in history %d", round)
		}
	}
}

// limitOf draws a limit that some ten calls exhaust and that refills while they go on.
func limitOf(rng *rand.Rand) limit {
	nums := []int64{1, 2, 3, 4, 6, 7}
	return limit{max: 6 + rng.Int64N(40), num: nums[rng.IntN(len(nums))], den: 1000 * (1 + rng.Int64N(8))}
}

// bucketOf is the definition of a token bucket with the limit.
func bucketOf(name string, l limit) bucket.Definition {
	d := definition(name, l.max, l.num, time.Duration(l.den)*time.Microsecond)
	d.MaxWait = 10 * time.Millisecond
	return d
}

func tokens(s *stage, reserves bool, limits ...limit) *tokenModel {
	return &tokenModel{limits: limits, maxWait: 10 * time.Millisecond, begun: s.now(), reserves: reserves}
}

// Callers of three clients acquire and peek at the same time; some leave before their answers come. Every decision, with
// its figures, equals that of a token bucket that decides one call after the other at the times of Redis in the replies.
func TestCallsOfManyCallersEqualSomeOrderOfSingleCalls(t *testing.T) {
	server := testenv.OwnRedis(t)
	s := newStage(t, server.Addr, server.Addr, nil)
	eachHistory(t, func(t *testing.T, round int, rng *rand.Rand) {
		l := limitOf(rng)
		p := s.newPlay(fmt.Sprint("b", round))
		p.roomy = fmt.Sprint("roomy", round)
		s.install(definition(p.roomy, 1_000_000, 1, time.Second))
		s.install(bucketOf(p.name, l))
		m := tokens(s, false, l)
		if round%2 == 0 { // so that what is given back isn't lost in a full bucket
			p.do(0, move{kind: acquired, permits: l.max * 2 / 3})
		}
		p.perform(draw(rng, 1+rng.IntN(4), 2+rng.IntN(5), 6, acquired, acquired, acquired, peeked, all))
		p.end()
		p.check(t, m.model())
	})
}

func TestWaitsTakeTheirTurnsInSomeOrderOfSingleCalls(t *testing.T) {
	server := testenv.OwnRedis(t)
	s := newStage(t, server.Addr, server.Addr, nil)
	eachHistory(t, func(t *testing.T, round int, rng *rand.Rand) {
		l := limitOf(rng)
		p := s.newPlay(fmt.Sprint("b", round))
		p.reserves = true
		s.install(bucketOf(p.name, l))
		m := tokens(s, true, l)
		p.perform(draw(rng, 1+rng.IntN(3), 2+rng.IntN(3), 5, acquired, waited, waited, peeked))
		p.end()
		p.check(t, m.model())
	})
}

// The definition is edited while calls are under way.
func TestEditsInFlightTakeTheirPlaceInTheOrder(t *testing.T) {
	server := testenv.OwnRedis(t)
	s := newStage(t, server.Addr, server.Addr, nil)
	eachHistory(t, func(t *testing.T, round int, rng *rand.Rand) {
		limits := []limit{limitOf(rng), limitOf(rng), limitOf(rng)}
		p := s.newPlay(fmt.Sprint("b", round))
		s.install(bucketOf(p.name, limits[0]))
		m := tokens(s, false, limits...)
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.edit(limits[1:])
		}()
		p.perform(draw(rng, 1+rng.IntN(4), 2+rng.IntN(5), 3, acquired, acquired, peeked))
		<-done
		p.end()
		p.check(t, m.model())
	})
}

// edit puts one limit after the other in force.
func (p *play) edit(limits []limit) {
	for i, l := range limits {
		d := bucketOf(p.name, l)
		d.Revision = int64(i) + 2
		h := happened{kind: edited, call: time.Now().UnixNano(), decision: client.Decision{Revision: d.Revision}}
		p.stage.install(d)
		h.ret = time.Now().UnixNano()
		p.add(h)
	}
}

// Single script calls fail, also in the middle of a pipeline: some ran, some did not.
func TestErrorsOfRedisLeaveTheOtherCallsInOrder(t *testing.T) {
	server := testenv.OwnRedis(t)
	f := newFaults(1)
	s := newStage(t, server.Addr, server.Addr, f)
	eachHistory(t, func(t *testing.T, round int, rng *rand.Rand) {
		l := limitOf(rng)
		p := s.newPlay(fmt.Sprint("b", round))
		p.roomy = fmt.Sprint("roomy", round)
		s.install(definition(p.roomy, 1_000_000, 1, time.Second))
		s.install(bucketOf(p.name, l))
		m := tokens(s, false, l)
		p.do(0, move{kind: acquired, permits: l.max * 2 / 3})
		f.fail(0.1)
		p.perform(draw(rng, 1+rng.IntN(3), 2+rng.IntN(4), 2, acquired, acquired, peeked, all))
		f.fail(0)
		p.end()
		p.check(t, m.model())
	})
}

// Replies come late, and for a while none does: calls end at their deadlines, and what they took stays taken.
func TestRepliesThatComeLateOrNeverLeaveTheOtherCallsInOrder(t *testing.T) {
	server := testenv.OwnRedis(t)
	eachHistory(t, func(t *testing.T, round int, rng *rand.Rand) {
		if round%20 != 0 { // these take longer
			return
		}
		proxy := testenv.Proxy(t, server.Addr)
		s := newStage(t, proxy.Addr, server.Addr, nil)
		l := limitOf(rng)
		p := s.newPlay(fmt.Sprint("b", round), client.WithDeadline(50*time.Millisecond))
		s.install(bucketOf(p.name, l))
		m := tokens(s, false, l)
		proxy.Delay(t, time.Duration(rng.IntN(30))*time.Millisecond)
		lose := time.AfterFunc(time.Duration(rng.IntN(60))*time.Millisecond, func() { proxy.LoseReplies(t) })
		p.perform(draw(rng, 1+rng.IntN(2), 2+rng.IntN(2), 2, acquired, acquired, peeked))
		lose.Stop()
		proxy.Close()
		p.guess = true // usage is lost too
		p.end()
		p.check(t, m.model())
	})
}

func TestFixedWindowsEqualSomeOrderOfSingleCalls(t *testing.T) {
	server := testenv.OwnRedis(t)
	s := newStage(t, server.Addr, server.Addr, nil)
	eachHistory(t, func(t *testing.T, round int, rng *rand.Rand) {
		period := time.Duration(5+rng.IntN(60)) * time.Millisecond
		m := &windowModel{period: period.Microseconds(), begun: s.now()}
		// A Wait asks a window again and again, and what it is told between is not seen here: so no Waits beside denials.
		waits := rng.IntN(2) == 0
		kinds := []kind{acquired, acquired, peeked, all}
		if waits {
			kinds = append(kinds, waited)
		}
		p := s.newPlay(fmt.Sprint("w", round), client.WithLocalDenial(!waits))
		p.roomy = fmt.Sprint("roomy", round)
		s.install(definition(p.roomy, 1_000_000, 1, time.Second))
		var ds []bucket.Definition
		for i := range 3 {
			d := definition(p.name, 4+rng.Int64N(20), 1, period)
			d.Algorithm, d.Revision, d.MaxWait = bucket.FixedWindow, int64(i)+1, time.Second
			ds, m.maxes = append(ds, d), append(m.maxes, d.MaxPermits)
		}
		s.install(ds[0])
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, d := range ds[1:] {
				h := happened{kind: edited, call: time.Now().UnixNano(), decision: client.Decision{Revision: d.Revision}}
				s.install(d)
				h.ret = time.Now().UnixNano()
				p.add(h)
			}
		}()
		p.perform(draw(rng, 1+rng.IntN(4), 2+rng.IntN(5), 5, kinds...))
		<-done
		p.end()
		p.check(t, m.model())
	})
}
