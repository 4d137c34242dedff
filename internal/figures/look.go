package figures

import (
	"context"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// anyApp looks into buckets that list all apps; any name is listed there.
const anyApp = "headgate-console"

// Look reads what Redis has of buckets, in the order of names, without taking anything: their definitions, and what is
// left where all callers share one state. It takes two round trips (more for sharded ones). Usage is left out. A bucket
// whose key holds no definition in Redis is told as absent.
func Look(ctx context.Context, e *bucket.Engine, names ...string) ([]model.Sample, error) {
	installed, err := e.ReadReadable(ctx, names...)
	if err != nil {
		return nil, err
	}
	samples := make([]model.Sample, len(installed))
	var questions []bucket.Question
	var enter []func() error
	for i := range installed {
		in, s := &installed[i], &samples[i]
		*s = model.Sample{Name: names[i], Present: in.Present && !in.Tombstone, Revision: in.Revision, MaxPermits: in.MaxPermits}
		if !s.Present || in.UnknownFormat || in.Unreadable {
			continue
		}
		question, take, err := peek(e, &in.Definition, s)
		if err != nil {
			return nil, err
		}
		if question != nil {
			questions, enter = append(questions, question), append(enter, take)
		}
	}
	if len(questions) == 0 {
		return samples, nil
	}
	if err := e.Ask(ctx, questions...); err != nil {
		return nil, err
	}
	for _, take := range enter {
		if err := take(); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// peek forms the question that looks into the one state that all callers share, and what enters its answer. A bucket with
// several states, or one that does not count, has none.
func peek(e *bucket.Engine, d *bucket.Definition, s *model.Sample) (bucket.Question, func() error, error) {
	if d.Partition != bucket.PartitionShared || len(d.Apps) == 0 || d.Mode == bucket.ModeOff {
		return nil, nil, nil
	}
	app := d.Apps[0]
	if app == bucket.AllApps {
		app = anyApp
	}
	target, err := e.Target(d.Name, app, d.Facts())
	if err != nil {
		return nil, nil, err
	}
	if d.Algorithm == bucket.Concurrency {
		call := &bucket.LeaseCall{Target: target, Ops: []bucket.LeaseOp{{Do: bucket.LeasePeek}}}
		return call, func() error {
			if call.Err == nil && call.Reply.Verdict == bucket.VerdictDecided {
				s.Permits, s.Held = &call.Results[0].Free, &call.Results[0].Held
			}
			return call.Err
		}, nil
	}
	call := &bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1}}}
	return call, func() error {
		if call.Err == nil && call.Reply.Verdict == bucket.VerdictDecided {
			s.Permits = &call.Reply.Results[0].Remaining
		}
		return call.Err
	}, nil
}
