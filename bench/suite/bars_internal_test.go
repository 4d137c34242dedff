package suite

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/bench/exact"
	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
)

// did makes what a contender did, its p99 being a thousand seconds by its rate.
func did(name string, rates ...float64) ContenderResult {
	c := ContenderResult{Name: name}
	for _, rate := range rates {
		c.Rounds = append(c.Rounds, measure.Sample{Rate: rate, P99: time.Duration(1e12 / rate)})
		c.RedisCPU = append(c.RedisCPU, 1e6/rate)
	}
	return c
}

func TestARatioIsTheMedianOfTheRoundsOwnRatios(t *testing.T) {
	// The machine was three times slower in round 2 and stalled in round 3, for one of the two.
	ours, theirs := did("a", 100, 30, 10), did("b", 10, 3, 10)
	if got := Ratio(&ours, &theirs, Rates); got != 10 {
		t.Errorf("got %v, want 10", got)
	}
	if got := Ratio(&ours, nil, Rates); !math.IsNaN(got) {
		t.Errorf("a ratio to nothing is %v", got)
	}
}

func TestBarsPassAtTheirBoundAndMissBeyondIt(t *testing.T) {
	r := &Result{Workloads: []WorkloadResult{
		{Workload: Workload{ID: hot100}, Contenders: []ContenderResult{did(peers.Headgate, 1000), did(peers.RedisRate, 100)}},
		{Workload: Workload{ID: hot1000}, Contenders: []ContenderResult{did(peers.Headgate, 2999), did(peers.RedisRate, 100)}},
		{Workload: Workload{ID: all100}, Contenders: []ContenderResult{did(peers.RedisRate, 100)}},
	}}
	want := map[string]string{
		hot100 + "rate, times redis_rate's": Pass, hot100 + "p99, of redis_rate's": Pass,
		hot1000 + "rate, times redis_rate's": Miss, hot1000 + "p99, of redis_rate's": Pass,
		all100 + "rate, times two redis_rate calls'": NotRun, memory + "an idle key, times redis_rate's": NotRun,
	}
	for _, b := range judge(r) {
		if status, ok := want[b.Workload+b.What]; ok && b.Status != status {
			t.Errorf("%s, %s: %s, want %s", b.Workload, b.What, b.Status, status)
		}
		delete(want, b.Workload+b.What)
	}
	if len(want) > 0 {
		t.Errorf("bars are missing: %v", want)
	}
}

// One faulty decision among millions misses the bar that fails the benchmark.
func TestOneFaultMissesTheBarOfExactness(t *testing.T) {
	r := &Result{Workloads: []WorkloadResult{
		{Contenders: []ContenderResult{{Exactness: &exact.Verdict{Grants: 5_000_000}}}},
		{Contenders: []ContenderResult{{Exactness: &exact.Verdict{Grants: 10, Refusals: 1, Lost: 1}}}},
	}}
	for _, b := range judge(r) {
		if b.Exactness && b.Status != Miss {
			t.Errorf("got %+v", b)
		}
	}
	r.Workloads = r.Workloads[:1]
	if all := judge(r); all[len(all)-1].Status != Pass {
		t.Errorf("got %+v", all[len(all)-1])
	}
}

// A bar that names a part that does not exist would never be held.
func TestEveryBarBelongsToAPart(t *testing.T) {
	for _, b := range bars() {
		if !slices.Contains(IDs(), b.workload) {
			t.Errorf("no part is called %s", b.workload)
		}
	}
}

func TestTheWorstOfTheWeighedCounts(t *testing.T) {
	r := &Result{Memory: &MemoryResult{
		Keys: []KeyMemory{{RedisRate: 100, Key: 110, AppKey: 120}, {RedisRate: 100, Key: 131, AppKey: 139}},
		Logs: []LogMemory{{Entries: 1, Bytes: 100}, {Entries: 10, BytesAnEntry: 30}, {Entries: 100, BytesAnEntry: 20}},
	}}
	got := map[string]float64{}
	for _, b := range judge(r) {
		if b.Workload == memory {
			got[b.What] = *b.Got
		}
	}
	if got["an idle key, times redis_rate's"] != 1.31 || got["an idle key of app_key, times redis_rate's"] != 1.39 ||
		got["sliding_log, bytes an entry beyond the key"] != 30 {
		t.Errorf("got %v", got)
	}
}

func TestABeginningSelectsAllThatBeginSoButAnIDItselfAlone(t *testing.T) {
	for _, c := range []struct {
		only []string
		want []string
	}{
		{[]string{"hot-1"}, []string{hot1}},
		{[]string{"hot-", "memory"}, []string{hot1, hot10, hot100, hot1000, memory}},
		{nil, IDs()},
	} {
		var got []string
		for _, id := range IDs() {
			if selected(id, c.only) {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v selected %v, want %v", c.only, got, c.want)
		}
	}
}
