package figures

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Minutes are the minutes in memory of the buckets that pass, as of the last reading, with that reading's time by Redis's
// clock: the running minute and at least five before it. Of a reading that is over a minute old nothing is told, and the
// time is zero.
func (r Reader) Minutes(pass func(bucket string) bool) ([]model.UsageRow, time.Time) {
	if r.Roller == nil {
		return nil, time.Time{}
	}
	return r.Roller.minutes(pass)
}

func (r *Roller) minutes(pass func(bucket string) bool) ([]model.UsageRow, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read.IsZero() || time.Since(r.read) > presentFor {
		return nil, time.Time{}
	}
	var rows []model.UsageRow
	for key, used := range r.recent {
		if pass(key.bucket) {
			rows = append(rows, model.UsageRow{Bucket: key.bucket, App: key.app, Minute: key.minute, Used: used})
		}
	}
	return rows, r.at
}

// Levels reads what is taken now of the limits of buckets, in percent of max_permits: the slots held, or the permits that
// can't be acquired now. Buckets without one state that all callers share are left out.
func (r Reader) Levels(ctx context.Context, names []string) (map[string]float64, error) {
	samples, err := Look(ctx, r.Engine, names...)
	if err != nil {
		return nil, err
	}
	levels := make(map[string]float64, len(samples))
	for i := range samples {
		s := &samples[i]
		if s.MaxPermits <= 0 || s.Permits == nil && s.Held == nil {
			continue
		}
		var taken int64
		if s.Held != nil {
			taken = *s.Held
		} else {
			taken = s.MaxPermits - *s.Permits
		}
		levels[s.Name] = 100 * float64(taken) / float64(s.MaxPermits)
	}
	return levels, nil
}
