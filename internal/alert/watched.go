package alert

import "time"

// Bounds of what is known of a minute.
const (
	// readGap is how far apart two readings of Redis may lie, by its clock, for what is between them to be known.
	readGap = 30 * time.Second
	// lateReports is how long after a minute's end its last reports may arrive; SDKs report within two seconds.
	lateReports = 5 * time.Second
	// levelReadings are needed of a minute for a mean.
	levelReadings = 3
	// minutesKept of levels: as long as what they are judged with is kept in memory.
	minutesKept = 10
)

// watched knows which minutes Redis could be read in, all through, and what the levels of buckets were in them. A minute in
// which Redis did not answer is not known: of its usage some may be missing, and that is not the same as none.
type watched struct {
	since  time.Time // Redis could be read from here on
	last   time.Time
	levels map[string]map[int64]level // by bucket and minute
}

// level sums readings up.
type level struct {
	sum   float64
	count int
}

// at takes note that Redis was read at an instant of its clock.
func (w *watched) at(now time.Time) {
	if w.since.IsZero() || now.Sub(w.last) > readGap || now.Before(w.last) {
		w.since = now
	}
	w.last = now
}

// whole tells whether Redis was read through all of a minute, and once all of it had arrived.
func (w *watched) whole(minute int64) bool {
	start := time.Unix(minute*secondsPerMinute, 0)
	return !w.since.IsZero() && !w.since.After(start) && !w.last.Before(start.Add(time.Minute+lateReports))
}

// note takes in the levels of buckets at one instant and forgets old ones.
func (w *watched) note(now time.Time, levels map[string]float64) {
	minute := now.Unix() / secondsPerMinute
	if w.levels == nil {
		w.levels = map[string]map[int64]level{}
	}
	for name, share := range levels {
		if w.levels[name] == nil {
			w.levels[name] = map[int64]level{}
		}
		sum := w.levels[name][minute]
		w.levels[name][minute] = level{sum.sum + share, sum.count + 1}
	}
	for name, minutes := range w.levels {
		for m := range minutes {
			if m <= minute-minutesKept {
				delete(minutes, m)
			}
		}
		if len(minutes) == 0 {
			delete(w.levels, name)
		}
	}
}

// mean is the mean level of a bucket in a minute, where it was read often enough.
func (w *watched) mean(bucket string, minute int64) (float64, bool) {
	one := w.levels[bucket][minute]
	if one.count < levelReadings {
		return 0, false
	}
	return one.sum / float64(one.count), true
}

const secondsPerMinute = 60
