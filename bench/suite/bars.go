package suite

import (
	"math"

	"github.com/headgate/headgate/bench/exact"
	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
)

// Statuses of a bar.
const (
	Pass   = "PASS"
	Miss   = "MISS"
	NotRun = "not run"
)

// Bar is one thing that Headgate promises, and what came of it.
type Bar struct {
	Workload string   `json:"workload"`
	What     string   `json:"what"`
	AtLeast  bool     `json:"at_least"` // whether Bound is the least or the most
	Bound    float64  `json:"bound"`
	Got      *float64 `json:"got"` // nil when not run
	Status   string   `json:"status"`
	// Exactness tells the one bar whose miss fails the benchmark in any case.
	Exactness bool `json:"exactness,omitempty"`
}

// bar is a promise and how to find out; the value is NaN where the needed parts were not run.
type bar struct {
	workload, what string
	atLeast        bool
	bound          float64
	value          func(*Result) float64
}

const least, most = true, false

func bars() []bar {
	rr, noOp := peers.RedisRate, peers.NoOp
	return []bar{
		{hot1, "rate, of the no-op EVALSHA's", least, 0.85, rateOver(hot1, noOp)},
		{hot10, "rate, times redis_rate's", least, 1.2, rateOver(hot10, rr)},
		{hot100, "rate, times redis_rate's", least, 10, rateOver(hot100, rr)},
		{hot1000, "rate, times redis_rate's", least, 30, rateOver(hot1000, rr)},
		{hot100, "p99, of redis_rate's", most, 0.1, p99Over(hot100, rr)},
		{hot1000, "p99, of redis_rate's", most, 0.1, p99Over(hot1000, rr)},
		{refused100, "rate, times redis_rate's", least, 100, rateOver(refused100, rr)},
		{refusal, "one refusal, ns", most, 150, refusalValue(func(r *RefusalResult) float64 { return measure.Median(r.Nanoseconds) })},
		{refusal, "one refusal, allocations", most, 0, refusalValue(func(r *RefusalResult) float64 { return float64(r.Allocations) })},
		{keys100, "rate, times redis_rate's", least, 3.5, rateOver(keys100, rr)},
		{keys1000, "rate, times redis_rate's", least, 4.5, rateOver(keys1000, rr)},
		{all100, "rate, times two redis_rate calls'", least, 3, rateOver(all100, rr)},
		{hot1, "Redis CPU a decision, times redis_rate's", most, 2.2, cpuOver(hot1, rr)},
		{hot100, "Redis CPU a decision, times redis_rate's", most, 0.1, cpuOver(hot100, rr)},
		{memory, "an idle key, times redis_rate's", most, 1.3, keyMemory(func(k KeyMemory) float64 { return k.Key / k.RedisRate })},
		{memory, "an idle key of app_key, times redis_rate's", most, 1.4, keyMemory(func(k KeyMemory) float64 { return k.AppKey / k.RedisRate })},
		{memory, "sliding_log, bytes an entry beyond the key", most, 24, logMemory},
	}
}

// judge holds a result against all bars.
func judge(r *Result) []Bar {
	var all []Bar
	for _, b := range bars() {
		judged := Bar{Workload: b.workload, What: b.what, AtLeast: b.atLeast, Bound: b.bound, Status: NotRun}
		if got := b.value(r); !math.IsNaN(got) {
			judged.Got, judged.Status = &got, Miss
			if b.atLeast && got >= b.bound || !b.atLeast && got <= b.bound {
				judged.Status = Pass
			}
		}
		all = append(all, judged)
	}
	return append(all, exactness(r))
}

// exactness puts the verdicts of all workloads together.
func exactness(r *Result) Bar {
	b := Bar{Workload: "all", What: "exactness: decisions that differ from the model's", Status: NotRun, Exactness: true}
	if v := r.Exactness(); v.Grants > 0 {
		faults := float64(v.TooMany + v.Lost)
		b.Got, b.Status = &faults, Miss
		if v.Exact() {
			b.Status = Pass
		}
	}
	return b
}

// Exactness is what the checks of all workloads came to.
func (r *Result) Exactness() exact.Verdict {
	var all exact.Verdict
	for _, w := range r.Workloads {
		for _, c := range w.Contenders {
			if c.Exactness != nil {
				all = all.Add(*c.Exactness)
			}
		}
	}
	return all
}

// find returns what a contender did in a workload, nil when it was not run.
func (r *Result) find(workload, contender string) *ContenderResult {
	for _, w := range r.Workloads {
		if w.ID == workload {
			return w.find(contender)
		}
	}
	return nil
}

func (w *WorkloadResult) find(contender string) *ContenderResult {
	for i := range w.Contenders {
		if w.Contenders[i].Name == contender {
			return &w.Contenders[i]
		}
	}
	return nil
}

// Ratio is the median over the rounds of how a figure of one contender compares to another's in the same round, which
// forgives a machine that was slower for a while. It is NaN when one of them was not run or came to nothing.
func Ratio(a, b *ContenderResult, figure func(*ContenderResult) []float64) float64 {
	if a == nil || b == nil {
		return math.NaN()
	}
	over, under := figure(a), figure(b)
	var ratios []float64
	for i := range min(len(over), len(under)) {
		if under[i] > 0 {
			ratios = append(ratios, over[i]/under[i])
		}
	}
	if len(ratios) == 0 {
		return math.NaN()
	}
	return measure.Median(ratios)
}

// Rates are a contender's decisions a second, round by round.
func Rates(c *ContenderResult) []float64 {
	return c.figures(func(s measure.Sample) float64 { return s.Rate })
}

// P50s are a contender's median latencies in ns, round by round.
func P50s(c *ContenderResult) []float64 {
	return c.figures(func(s measure.Sample) float64 { return float64(s.P50) })
}

// P99s are a contender's 99th percentiles in ns, round by round.
func P99s(c *ContenderResult) []float64 {
	return c.figures(func(s measure.Sample) float64 { return float64(s.P99) })
}

// P999s are a contender's 99.9th percentiles in ns, round by round.
func P999s(c *ContenderResult) []float64 {
	return c.figures(func(s measure.Sample) float64 { return float64(s.P999) })
}

// RedisCPU is the time of Redis in µs a decision, round by round.
func RedisCPU(c *ContenderResult) []float64 { return c.RedisCPU }

func (c *ContenderResult) figures(of func(measure.Sample) float64) []float64 {
	all := make([]float64, len(c.Rounds))
	for i, s := range c.Rounds {
		all[i] = of(s)
	}
	return all
}

func over(workload, contender string, figure func(*ContenderResult) []float64) func(*Result) float64 {
	return func(r *Result) float64 {
		return Ratio(r.find(workload, peers.Headgate), r.find(workload, contender), figure)
	}
}

func rateOver(workload, contender string) func(*Result) float64 {
	return over(workload, contender, Rates)
}
func p99Over(workload, contender string) func(*Result) float64 {
	return over(workload, contender, P99s)
}
func cpuOver(workload, contender string) func(*Result) float64 {
	return over(workload, contender, RedisCPU)
}

func refusalValue(of func(*RefusalResult) float64) func(*Result) float64 {
	return func(r *Result) float64 {
		if r.Refusal == nil {
			return math.NaN()
		}
		return of(r.Refusal)
	}
}

// keyMemory takes the worst of the limits that were weighed.
func keyMemory(of func(KeyMemory) float64) func(*Result) float64 {
	return func(r *Result) float64 {
		if r.Memory == nil || len(r.Memory.Keys) == 0 {
			return math.NaN()
		}
		worst := 0.0
		for _, k := range r.Memory.Keys {
			worst = max(worst, of(k))
		}
		return worst
	}
}

// logMemory takes the worst of the lengths that were weighed.
func logMemory(r *Result) float64 {
	if r.Memory == nil || len(r.Memory.Logs) == 0 {
		return math.NaN()
	}
	worst := 0.0
	for _, l := range r.Memory.Logs {
		worst = max(worst, l.BytesAnEntry)
	}
	return worst
}
