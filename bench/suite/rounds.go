package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/exact"
	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
)

// warmupShare is the part of a window that runs before it without being counted.
const warmupShare = 10

// entrant is a contender that is ready for a workload.
type entrant struct {
	peers.Contender
	rdb    *redis.Client
	op     measure.Op
	finish func() error
	model  *exact.Model // of Headgate alone
	log    *measure.Log
	result ContenderResult
}

// run runs one workload: all contenders in turn, then the next round.
func (r *runner) run(ctx context.Context, w Workload) (result WorkloadResult, err error) {
	entrants, err := r.enter(ctx, w)
	defer func() {
		for _, e := range entrants {
			err = errors.Join(err, e.finish(), e.rdb.Close())
		}
		if ctx.Err() == nil {
			err = errors.Join(err, r.clean(ctx))
		}
	}()
	if err != nil {
		return result, err
	}
	for round := range r.Rounds {
		for _, e := range entrants {
			r.step(w.ID, round, e.Name)
			if err := r.runOne(ctx, w, e, round); err != nil {
				return result, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	result.Workload = w
	for _, e := range entrants {
		if e.model != nil {
			verdict := e.model.Verdict()
			e.result.Exactness = &verdict
		}
		result.Contenders = append(result.Contenders, e.result)
	}
	return result, nil
}

// enter makes all contenders ready, each on connections of its own with the same options, and warms them up.
func (r *runner) enter(ctx context.Context, w Workload) ([]*entrant, error) {
	job := peers.Job{Prefix: r.prefix(), Limit: w.Limit}
	for i := range w.Buckets {
		job.Buckets = append(job.Buckets, r.bucketName(i))
	}
	if w.Keys > 0 {
		job.Keys = slice(w.Keys, func(i int) string { return fmt.Sprintf("user-%07d", i) })
		job.Joined = slice(w.Keys, func(i int) string { return fmt.Sprintf("%s:user-%07d", job.Buckets[0], i) })
	}
	var entrants []*entrant
	for _, c := range w.contenders(r.Contenders) {
		e := &entrant{Contender: c, rdb: r.connect(), finish: func() error { return nil }, result: ContenderResult{Name: c.Name}}
		entrants = append(entrants, e)
		op, finish, err := c.Open(ctx, e.rdb, job)
		if err != nil {
			return entrants, fmt.Errorf("%s: %w", c.Name, err)
		}
		e.op, e.finish = op, finish
		if c.Name == peers.Headgate {
			if e.model, err = exact.New(w.Limit.Max, w.Limit.Rate, w.Limit.Period, max(w.Keys, 1)); err != nil {
				return entrants, err
			}
			e.log = measure.NewLog(r.base)
		}
	}
	for _, e := range entrants {
		if _, err := r.measureOne(ctx, w, e, r.Rounds); err != nil {
			return entrants, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return entrants, nil
}

// runOne runs one contender in one round.
func (r *runner) runOne(ctx context.Context, w Workload, e *entrant, round int) error {
	before, err := commandTime(ctx, r.admin, e.Commands)
	if err != nil {
		return err
	}
	sample, err := r.measureOne(ctx, w, e, round)
	if err != nil {
		return err
	}
	after, err := commandTime(ctx, r.admin, e.Commands)
	if err != nil {
		return err
	}
	if e.Commands != nil && sample.AllDecisions > 0 {
		e.result.RedisCPU = append(e.result.RedisCPU, float64(after-before)/float64(sample.AllDecisions))
	}
	e.result.Rounds = append(e.result.Rounds, sample)
	return nil
}

// measureOne runs one contender and holds what it granted against the model.
func (r *runner) measureOne(ctx context.Context, w Workload, e *entrant, round int) (measure.Sample, error) {
	spec := measure.Spec{
		Goroutines: w.Goroutines, Keys: w.Keys, Seed: uint64(round) << 32,
		Warmup: r.Round / warmupShare, Window: r.Round,
	}
	if round == r.Rounds { // the first warm-up
		spec.Window = r.Round / warmupShare
	}
	sample, err := r.measure.Run(ctx, spec, e.op, e.log)
	if err != nil {
		return sample, err
	}
	if e.model != nil {
		e.model.Forgive(sample.AllErrors)
		e.model.Check(e.log.Take())
	}
	return sample, nil
}

// slice makes n strings in one piece of memory, so that the garbage collector has no million things to look at.
func slice(n int, make1 func(i int) string) []string {
	var all strings.Builder
	ends := make([]int, n)
	for i := range n {
		all.WriteString(make1(i))
		ends[i] = all.Len()
	}
	text, out, start := all.String(), make([]string, n), 0
	for i, end := range ends {
		out[i], start = text[start:end], end
	}
	return out
}
