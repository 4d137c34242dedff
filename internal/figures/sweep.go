package figures

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// sweeps are the ages at which every minute is read again, the oldest first. A minute that was still being added to at
// one of them is complete at a later one: SDKs that could not reach Redis report when they can, under the minute in
// which it happened. The last is shortly before Redis forgets the minute.
var sweeps = []struct {
	name string // of the mark in the database: all minutes up to it were read at this age or an older one
	age  int64  // minutes
}{
	{"age.46h", 46 * 60},
	{"age.12h", 12 * 60},
	{"age.2h", 2 * 60},
	{"age.15m", 15},
	{"age.2m", 2},
}

// Bounds of a sweep.
const (
	sliceMinutes = 60   // are read before the marks move, so that a server that is stopped need not begin again
	sliceNames   = 1000 // buckets are read before what was found is saved
	// clockTolerance is how far a mark may lie ahead of Redis's clock, in minutes, before it is not believed: a clock that was
	// wrong for a while must not have hours passed over.
	clockTolerance = 2
	// sweepBudget is after how long the running minute is read again before older ones: after a long absence there are many.
	sweepBudget = 4 * time.Second
)

// span are minutes, both included.
type span struct{ from, to int64 }

// sweep reads what has come of age since the last time, by whichever server, and moves the marks. It returns whether
// that was all.
func (r *Roller) sweep(ctx context.Context) (whole bool, err error) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return false, err
	}
	minute := now.Unix() / 60
	marks, err := r.Store.UsageMarks(ctx)
	if err != nil {
		return false, err
	}
	began := time.Now()
	for i := range sweeps {
		for _, part := range slicesOf(due(marks, i, minute)) {
			if time.Since(began) > sweepBudget {
				return false, nil
			}
			if err := r.sweepSpan(ctx, part); err != nil {
				return false, err
			}
			if err := r.Store.SetUsageMarks(ctx, map[string]int64{sweeps[i].name: part.to}); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// due are the minutes that sweep i is to read: up to its age, from its mark on, without those that are old enough for an
// older sweep, which has read them just now. A sweep that never was begins with what Redis still has.
func due(marks map[string]int64, i int, now int64) span {
	oldest := now - int64(model.UsageMinutesKept/time.Minute)
	from, known := marks[sweeps[i].name]
	if !known || from > now-sweeps[i].age+clockTolerance {
		from = oldest - 1
	}
	if from+1 < oldest {
		from = oldest - 1
	}
	if i > 0 {
		from = max(from, now-sweeps[i-1].age)
	}
	return span{from + 1, now - sweeps[i].age}
}

// slicesOf splits a span, the oldest part first, since Redis forgets it first.
func slicesOf(s span) []span {
	var parts []span
	for from := s.from; from <= s.to; from += sliceMinutes {
		parts = append(parts, span{from, min(from+sliceMinutes-1, s.to)})
	}
	return parts
}

func (r *Roller) sweepSpan(ctx context.Context, s span) error {
	names, err := r.Engine.UsedNames(ctx, s.from, s.to)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(names, sliceNames) {
		if err := r.merge(ctx, part, s); err != nil {
			return err
		}
	}
	return nil
}

// merge saves what Redis has of some buckets.
func (r *Roller) merge(ctx context.Context, names []string, s span) error {
	rows, strange, err := r.Engine.ReadUsages(ctx, names, s.from, s.to)
	if err != nil {
		return err
	}
	r.passOver(strange)
	return r.Store.MergeUsage(ctx, rowsOf(rows))
}

func rowsOf(usage []bucket.Usage) []model.UsageRow {
	rows := make([]model.UsageRow, len(usage))
	for i, u := range usage {
		rows[i] = model.UsageRow{
			Bucket: u.Bucket, App: u.App, Minute: u.Minute,
			Used: model.Used{Granted: u.Granted, Limited: u.Limited, ShadowLimited: u.ShadowLimited},
		}
	}
	return rows
}
