package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// appReads is how many buckets are read each second for all watched apps together, whether they are used or not. Of apps
// that are beyond it those buckets alone are read that Redis's index says were used in the minute.
const appReads = 2000

// appTick is what one second's sample found of an app. It is shared by all who watch and never changed.
type appTick struct {
	known   bool      // the database has the app, or does not answer
	listed  int       // grows with every change of the list of buckets that the app may use
	at      time.Time // of Redis; zero when it did not answer
	rated   bool      // there was a sample before, so that the rates are known
	buckets []bucketRates
}

// bucketRates is what an app used of one bucket; those that it did not use have none.
type bucketRates struct {
	name string
	StreamRates
}

// appWatch is what is remembered of a watched app from sample to sample.
type appWatch struct {
	names   []string        // of the buckets that it may use
	fresh   map[string]bool // those of them that it may use since this sample
	listed  int
	at      time.Time       // of the last sample; zero after a gap
	indexed map[string]bool // what the last sample found in the index; nil: it read all names
	before  map[string]appCounts
}

// appCounts are the counts of a bucket's last minutes at a reading.
type appCounts struct {
	at        time.Time
	minute    int64
	now, past model.Used // of that minute, and of the one before
}

// sampleApps samples each watched app, those with the fewest buckets first: they are the cheapest to read whole. The error
// says that the database or Redis did not answer.
func (h *watchHub) sampleApps(ctx context.Context, t *tick, apps []string, before map[string]*appWatch) error {
	maps.DeleteFunc(before, func(app string, _ *appWatch) bool { return !slices.Contains(apps, app) })
	if len(apps) == 0 {
		return nil
	}
	lists, failure := h.store.AppBuckets(ctx, apps)
	t.apps = make(map[string]*appTick, len(apps))
	for _, app := range apps {
		if before[app] == nil {
			before[app] = &appWatch{before: map[string]appCounts{}}
		}
		known := true
		if failure == nil {
			var names []string
			names, known = lists[app]
			before[app].list(names)
		}
		t.apps[app] = &appTick{known: known, listed: before[app].listed}
	}
	byCost := func(a, b string) int { return cmp.Compare(len(before[a].names), len(before[b].names)) }
	choice := appChoice{figures: h.figures, room: appReads}
	for _, app := range slices.SortedStableFunc(slices.Values(apps), byCost) {
		w := before[app]
		names, indexed, err := choice.of(ctx, app, w.names)
		var sample model.AppSample
		if err == nil {
			sample, err = h.figures.SampleApp(ctx, app, names)
		}
		if err != nil {
			failure = err
			w.at = time.Time{}
			clear(w.before) // after a gap there is no rate of one second
			continue
		}
		w.rates(&sample, names, indexed, t.apps[app])
	}
	return failure
}

// appChoice chooses which buckets are read of apps in one second.
type appChoice struct {
	figures Figures
	room    int
	used    map[string]bool // by anybody; nil: not read yet
}

// of are the buckets to be read of an app, sorted: those that it may use, and those that it used lately. Where there is no
// room for all, indexed are those that it may use and somebody uses, and nil otherwise.
func (c *appChoice) of(ctx context.Context, app string, listed []string) (names []string, indexed map[string]bool, err error) {
	if len(listed) <= c.room {
		c.room -= len(listed)
	} else {
		if c.used == nil {
			if c.used, err = c.figures.UsedBuckets(ctx); err != nil {
				return nil, nil, err
			}
		}
		indexed = map[string]bool{}
		for _, name := range listed {
			if c.used[name] {
				indexed[name] = true
			}
		}
		listed = slices.Collect(maps.Keys(indexed))
	}
	names = slices.Concat(c.figures.RecentBuckets(app), listed)
	slices.Sort(names)
	return slices.Compact(names), indexed, nil
}

// list takes over which buckets the app may use.
func (w *appWatch) list(names []string) {
	w.fresh = nil
	if w.listed != 0 && slices.Equal(names, w.names) {
		return
	}
	w.fresh = make(map[string]bool, len(names))
	for _, name := range names {
		w.fresh[name] = true
	}
	for _, name := range w.names {
		delete(w.fresh, name)
	}
	w.names = names
	w.listed++
}

// idleBefore tells whether the app had used nothing of a bucket at the sample before, which did not read it: it might not use
// it then, or nobody did, by the index.
func (w *appWatch) idleBefore(name string, indexed map[string]bool) bool {
	return w.fresh[name] || w.indexed != nil && indexed[name]
}

// rates enters what was used since the sample before, per second. A bucket of which it is not known what the app had used by
// then counts from its first reading on.
func (w *appWatch) rates(s *model.AppSample, names []string, indexed map[string]bool, t *appTick) {
	t.at, t.rated = s.At, !w.at.IsZero() && s.At.After(w.at)
	minute := s.At.Unix() / 60
	present := make(map[string]appCounts, len(names))
	for _, name := range names {
		c := appCounts{at: s.At, minute: minute}
		if old := w.before[name]; s.From == minute && old.minute == minute {
			c.past = old.past // it was not read again
		}
		present[name] = c
	}
	for i := range s.Usage {
		row := &s.Usage[i]
		c := present[row.Bucket]
		if row.Minute == minute {
			c.now = row.Used
		} else {
			c.past = row.Used
		}
		present[row.Bucket] = c
	}
	for _, name := range names {
		c := present[name]
		old, known := w.before[name]
		if !known && t.rated && w.idleBefore(name, indexed) {
			old, known = appCounts{at: w.at, minute: w.at.Unix() / 60}, true
		}
		seconds := c.at.Sub(old.at).Seconds()
		if more := c.since(old); known && seconds > 0 && more != (model.Used{}) {
			t.buckets = append(t.buckets, bucketRates{name, ratesOf(more, seconds)})
		}
	}
	w.at, w.indexed, w.before = s.At, indexed, present
}

// since is what was used between two readings of a bucket.
func (c appCounts) since(old appCounts) model.Used {
	switch c.minute {
	case old.minute:
		return grown(c.now, old.now).Plus(grown(c.past, old.past))
	case old.minute + 1:
		return c.now.Plus(grown(c.past, old.now))
	}
	return c.now.Plus(c.past)
}
