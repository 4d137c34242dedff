// Package measure runs one operation from many goroutines for a while and says how often it was done, how long it took
// and what was decided when. All contenders go through the same loop.
package measure

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Answer is what one operation came to.
type Answer struct {
	Allowed bool
	// At is the time of Redis at the decision in µs since 1970; 0 where Redis did not decide just now or where the
	// contender does not tell.
	At int64
}

// Op is one decision, on one of the keys of the workload, or with key -1 where it has none.
type Op func(ctx context.Context, key int) (Answer, error)

// Spec says how to run an operation.
type Spec struct {
	Goroutines int
	Warmup     time.Duration // runs before the window and is not counted
	Window     time.Duration
	Keys       int    // how many keys to choose from, at random; 0 = the operation has no key
	Seed       uint64 // of the choice of keys, so that all contenders meet the same ones
}

// Sample is what one run came to. Counts and latencies are of operations that ended within the window.
type Sample struct {
	Rate         float64       `json:"decisions_per_second"`
	P50          time.Duration `json:"p50_ns"`
	P99          time.Duration `json:"p99_ns"`
	P999         time.Duration `json:"p999_ns"`
	Allowed      int64         `json:"allowed"`
	Refused      int64         `json:"refused"`
	Errors       int64         `json:"errors"`
	FirstError   string        `json:"first_error,omitempty"`
	ClientCPU    float64       `json:"client_cpu_us_per_decision"` // of this whole process, system time included
	AllDecisions int64         `json:"-"`                          // those of the warm-up and of the end too
	AllErrors    int64         `json:"-"`
}

// Runner keeps the workers' memory from one run to the next, so that no run pays for making it.
type Runner struct {
	workers    []worker
	histograms []Histogram // one for each worker
	failures   []failure   // one for each worker
	total      Histogram
}

// worker is what its goroutine writes at each operation, in one cache line. With a thousand of them the loop would else
// cost as much as some of the operations do: where workers lie whole pages apart they contend for a few places in the
// cache. For the same reason the events of worker i begin i cache lines into their memory.
type worker struct {
	events           []Event
	allowed, refused int64
	decisionsAll     int64
	random           uint64
	skip             int64 // how many events at the beginning mean nothing
}

type failure struct {
	inside, all int64
	first       error
}

const (
	eventsInLine = 8
	linesInPage  = 64
)

type timing struct {
	base        time.Time
	from, until time.Duration
	epoch       int64 // of the log, in µs since 1970
}

// Run runs op as spec says. Every grant and every refusal that carries a time is noted, whoever decided, so that noting
// costs all contenders the same; with a log the notes go there. The error is that of a context that ended.
func (r *Runner) Run(ctx context.Context, spec Spec, op Op, log *Log) (Sample, error) {
	r.reset(spec)
	runtime.GC() // one contender's garbage is not to be collected in the next one's time
	cpu := cpuTime()
	var all sync.WaitGroup
	start := make(chan struct{})
	t := &timing{from: spec.Warmup, until: spec.Warmup + spec.Window}
	if log != nil {
		t.epoch = log.base
	}
	for i := range spec.Goroutines {
		all.Go(func() {
			ctx, cancel := context.WithCancel(ctx) // as a caller's context can be cancelled
			defer cancel()
			<-start
			r.work(ctx, i, t, spec.Keys, op)
		})
	}
	t.base = time.Now()
	close(start)
	all.Wait()
	cpu = cpuTime() - cpu
	if err := ctx.Err(); err != nil {
		return Sample{}, err
	}
	return r.sum(spec, cpu, log), nil
}

// work does operations until the window is over. The end of one is the start of the next, so that the clock is read
// once for each.
func (r *Runner) work(ctx context.Context, i int, t *timing, keys int, op Op) {
	w, histogram := &r.workers[i], &r.histograms[i]
	last := time.Since(t.base)
	key := -1
	for {
		if keys > 0 {
			key = w.pick(keys)
		}
		answer, err := op(ctx, key)
		now := time.Since(t.base)
		inside := now >= t.from && now < t.until
		switch {
		case err == nil:
			w.decisionsAll++
			if answer.At != 0 || answer.Allowed {
				w.events = append(w.events, newEvent(answer.At-t.epoch, key, answer.Allowed))
			}
			if inside {
				histogram.Add(now - last)
				w.count(answer.Allowed)
			}
		case errors.Is(err, context.Canceled) && ctx.Err() != nil:
			return
		default:
			r.failures[i].add(err, inside)
		}
		last = now
		if now >= t.until {
			return
		}
	}
}

func (w *worker) count(allowed bool) {
	if allowed {
		w.allowed++
	} else {
		w.refused++
	}
}

func (f *failure) add(err error, inside bool) {
	if f.first == nil {
		f.first = err
	}
	f.all++
	if inside {
		f.inside++
	}
}

// pick chooses a key (xorshift64*).
func (w *worker) pick(keys int) int {
	w.random ^= w.random >> 12
	w.random ^= w.random << 25
	w.random ^= w.random >> 27
	return int((w.random * 0x2545F4914F6CDD1D >> 32) * uint64(keys) >> 32)
}

// reset makes the memory of a run, or makes it as new.
func (r *Runner) reset(spec Spec) {
	if missing := spec.Goroutines - len(r.workers); missing > 0 {
		r.workers = append(r.workers, make([]worker, missing)...)
		r.histograms = append(r.histograms, make([]Histogram, missing)...)
		r.failures = append(r.failures, make([]failure, missing)...)
	}
	clear(r.failures)
	for i := range r.workers {
		w := &r.workers[i]
		skip := i % linesInPage * eventsInLine
		if cap(w.events) < skip {
			w.events = make([]Event, skip)
		}
		*w = worker{events: w.events[:skip], skip: int64(skip), random: (spec.Seed+uint64(i)+1)*0x9E3779B97F4A7C15 | 1}
		r.histograms[i].Reset()
	}
}

func (r *Runner) sum(spec Spec, cpu time.Duration, log *Log) Sample {
	r.total.Reset()
	var s Sample
	for i := range r.workers {
		w, f := &r.workers[i], &r.failures[i]
		r.total.Merge(&r.histograms[i])
		s.Allowed += w.allowed
		s.Refused += w.refused
		s.AllDecisions += w.decisionsAll
		s.Errors += f.inside
		s.AllErrors += f.all
		if f.first != nil && s.FirstError == "" {
			s.FirstError = f.first.Error()
		}
		if log != nil {
			log.add(w.events[w.skip:])
		}
	}
	s.Rate = float64(s.Allowed+s.Refused) / spec.Window.Seconds()
	s.P50, s.P99, s.P999 = r.total.Percentile(50), r.total.Percentile(99), r.total.Percentile(99.9)
	if s.AllDecisions > 0 {
		s.ClientCPU = float64(cpu.Microseconds()) / float64(s.AllDecisions)
	}
	return s
}

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
