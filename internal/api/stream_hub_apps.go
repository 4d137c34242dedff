package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// appReads is how many buckets are read each second for all watched apps together, whether they are used or not. What is
// beyond it is read for those buckets alone of which the roll-up knows that the app used them in the last minutes.
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
	names  []string // of the buckets that it may use
	listed int
	at     time.Time // of the last sample; zero after a gap
	before map[string]appCounts
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
	room := appReads
	for _, app := range slices.SortedStableFunc(slices.Values(apps), byCost) {
		w := before[app]
		names := h.figures.RecentBuckets(app)
		if len(w.names) <= room {
			room -= len(w.names)
			names = slices.Concat(names, w.names)
			slices.Sort(names)
			names = slices.Compact(names)
		}
		sample, err := h.figures.SampleApp(ctx, app, names)
		if err != nil {
			failure = err
			w.at = time.Time{}
			clear(w.before) // after a gap there is no rate of one second
			continue
		}
		w.rates(&sample, names, t.apps[app])
	}
	return failure
}

// list takes over which buckets the app may use.
func (w *appWatch) list(names []string) {
	if w.listed == 0 || !slices.Equal(names, w.names) {
		w.names = names
		w.listed++
	}
}

// rates enters what was used since the sample before, per second. A bucket that comes anew counts from its first reading
// on.
func (w *appWatch) rates(s *model.AppSample, names []string, t *appTick) {
	t.at, t.rated = s.At, !w.at.IsZero() && s.At.After(w.at)
	w.at = s.At
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
		seconds := c.at.Sub(old.at).Seconds()
		if more := c.since(old); known && seconds > 0 && more != (model.Used{}) {
			t.buckets = append(t.buckets, bucketRates{name, ratesOf(more, seconds)})
		}
	}
	w.before = present
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
