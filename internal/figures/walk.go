package figures

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// walkMark is the mark in the database of the walks: all minutes up to it were read of all buckets.
const walkMark = "all.2h"

// Bounds of a walk.
const (
	walkAge   = 120         // minutes: how old a minute is when it is read
	walkEvery = time.Second // between two steps
	// walkReads is how many minutes of buckets a step reads, unless the walk is behind: 100,000 buckets a minute and more.
	walkReads = 2000
	walkMost  = 20_000
	// walkBehind is by how many minutes a walk is behind when its steps begin to grow.
	walkBehind = 15
)

// walk is one way through all buckets, a few at a time, so that it takes hardly anything from whoever is served meanwhile.
type walk struct {
	span
	names int // read at each step
	after string
}

// Walk makes one step of the walk through all buckets, used or not by what the index says: that lacks what reporters did
// that do not know it or may not write it, and what Redis lost of it. whole is true when there is nothing to read now.
func (r *Roller) Walk(ctx context.Context) (whole bool, err error) {
	if r.walk == nil {
		if r.walk, err = r.nextWalk(ctx); err != nil || r.walk == nil {
			return err == nil, err
		}
	}
	names, err := r.Store.UsageNames(ctx, time.Now().Add(-deletedGrace), r.walk.after, r.walk.names)
	if err != nil {
		return false, err
	}
	if len(names) == 0 {
		if err := r.Store.SetUsageMarks(ctx, map[string]int64{walkMark: r.walk.to}); err != nil {
			return false, err
		}
		r.walk = nil
		return false, nil
	}
	if err := r.merge(ctx, names, r.walk.span); err != nil {
		return false, err
	}
	r.walk.after = names[len(names)-1]
	return false, nil
}

// nextWalk is the walk from the mark on, up to an hour of it; nil when no minute has come of age. The first of all begins
// with the present.
func (r *Roller) nextWalk(ctx context.Context) (*walk, error) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return nil, err
	}
	marks, err := r.Store.UsageMarks(ctx)
	if err != nil {
		return nil, err
	}
	minute := now.Unix() / 60
	last := minute - walkAge
	mark, known := marks[walkMark]
	if !known || mark > last+clockTolerance {
		mark = last - 1
	}
	from := max(mark+1, minute-int64(model.UsageMinutesKept/time.Minute))
	if from > last {
		return nil, nil
	}
	s := span{from, min(last, from+sliceMinutes-1)}
	reads := min(walkMost, walkReads*max(1, (last-from)/walkBehind))
	return &walk{span: s, names: int(max(1, reads/(s.to-s.from+1)))}, nil
}
