package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Bounds of streams.
const (
	streamsOfOne  = 10  // of one user, on one server
	streamsAtOnce = 200 // on one server
	samplePeriod  = time.Second
	// samplePhase is how far into a second of Redis's clock samples are taken: the SDKs report each second within the next
	// 0.5 s, so by then the figures are those of whole seconds.
	samplePhase  = 750 * time.Millisecond
	sampleWithin = 2 * time.Second
)

// watchHub samples the buckets and apps that somebody watches, each once a second however many watch it. It works only
// while somebody does.
type watchHub struct {
	figures Figures
	store   UsageStore
	log     *slog.Logger

	mu       sync.Mutex
	watchers map[*watcher]bool
	byUser   map[int64]int
	working  bool
}

func newWatchHub(figures Figures, store UsageStore, log *slog.Logger) *watchHub {
	return &watchHub{figures: figures, store: store, log: log, watchers: map[*watcher]bool{}, byUser: map[int64]int{}}
}

// watcher is one stream. Of the ticks it gets the newest: who reads slowly misses some.
type watcher struct {
	user  int64
	names map[string]bool // of buckets; guarded by the hub's mutex
	app   string          // in place of buckets
	ticks chan *tick
}

// tick is what one second's sample found. It is shared by all watchers and never changed.
type tick struct {
	at      time.Time // of Redis; zero when it did not answer
	buckets map[string]StreamBucket
	heads   map[string]model.BucketHead // as the database has them; nil when it did not answer
	apps    map[string]*appTick
}

// redisTime is when Redis was read last for a tick; zero when it did not answer.
func (t *tick) redisTime() time.Time {
	last := t.at
	for _, a := range t.apps {
		if a.at.After(last) {
			last = a.at
		}
	}
	return last
}

// join begins to watch buckets, or an app. CodeTooMany when the user has too many streams, CodeUnavailable when the server has.
func (h *watchHub) join(user int64, names []string, app string) (*watcher, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byUser[user] >= streamsOfOne {
		return nil, &model.Error{
			Code: model.CodeTooMany, Message: fmt.Sprintf("you have %d live views open on this server; close one", streamsOfOne), RetryAfter: 10 * time.Second,
		}
	}
	if len(h.watchers) >= streamsAtOnce {
		return nil, &model.Error{
			Code: model.CodeUnavailable, Message: fmt.Sprintf("this server has %d live views open already; try again later", streamsAtOnce), RetryAfter: 10 * time.Second,
		}
	}
	w := &watcher{user: user, names: map[string]bool{}, app: app, ticks: make(chan *tick, 1)}
	for _, name := range names {
		w.names[name] = true
	}
	h.watchers[w] = true
	h.byUser[user]++
	if !h.working {
		h.working = true
		go h.work()
	}
	return w, nil
}

func (h *watchHub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
	if h.byUser[w.user]--; h.byUser[w.user] == 0 {
		delete(h.byUser, w.user)
	}
}

// drop ends the watching of one bucket, and tells how many are left.
func (h *watchHub) drop(w *watcher, name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(w.names, name)
	return len(w.names)
}

// watched names the buckets and the apps that are watched, sorted. Where nobody watches it ends the work: the next who
// joins begins it anew.
func (h *watchHub) watched() (names, apps []string, work bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, allApps := map[string]bool{}, map[string]bool{}
	for w := range h.watchers {
		maps.Copy(all, w.names)
		if w.app != "" {
			allApps[w.app] = true
		}
	}
	h.working = len(h.watchers) > 0
	return slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(allApps)), h.working
}

// work samples until nobody watches. It belongs to no request: those come and go.
func (h *watchHub) work() {
	before, appsBefore := map[string]*totals{}, map[string]*appWatch{}
	away := false
	for {
		names, apps, work := h.watched()
		if !work {
			return
		}
		began := time.Now()
		t := &tick{}
		ctx, cancel := context.WithTimeout(noContext, sampleWithin)
		err := errors.Join(h.sampleBuckets(ctx, t, names, before), h.sampleApps(ctx, t, apps, appsBefore))
		cancel()
		if err != nil && !away {
			h.log.Warn("live views have no figures: Redis or the database does not answer", "cause", err)
		}
		away = err != nil
		h.hand(t)
		time.Sleep(pauseUntilNext(t.redisTime(), time.Since(began)))
	}
}

// pauseUntilNext is how long to wait so that the next sample falls on its phase of Redis's second.
func pauseUntilNext(at time.Time, took time.Duration) time.Duration {
	if at.IsZero() {
		return max(samplePeriod-took, samplePeriod/4)
	}
	next := at.Truncate(time.Second).Add(samplePhase)
	for next.Sub(at) < samplePeriod/4 {
		next = next.Add(samplePeriod)
	}
	return next.Sub(at)
}

// sampleBuckets reads all watched buckets once. What did not answer is left out of the tick; the error says so.
func (h *watchHub) sampleBuckets(ctx context.Context, t *tick, names []string, before map[string]*totals) error {
	t.buckets = make(map[string]StreamBucket, len(names))
	if len(names) == 0 {
		clear(before)
		return nil
	}
	heads, databaseErr := h.store.BucketHeads(ctx, names)
	t.heads = heads
	samples, at, err := h.figures.Sample(ctx, names)
	if err != nil {
		for _, name := range names {
			t.buckets[name] = StreamBucket{Name: name, Apps: []StreamApp{}}
		}
		clear(before) // after a gap there is no rate of one second
		return err
	}
	t.at = at
	for i := range samples {
		s := &samples[i]
		b := StreamBucket{
			Name: s.Name, Present: s.Present, RedisRevision: s.Revision, MaxPermits: s.MaxPermits, Permits: s.Permits, Held: s.Held, Apps: []StreamApp{},
		}
		now := totalsOf(s, at)
		if old := before[s.Name]; old != nil {
			now.rates(old, &b)
		}
		before[s.Name] = now
		t.buckets[s.Name] = b
	}
	maps.DeleteFunc(before, func(name string, _ *totals) bool { _, watched := t.buckets[name]; return !watched })
	return databaseErr
}

// hand gives a tick to all watchers, in place of one that was not taken yet.
func (h *watchHub) hand(t *tick) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		select {
		case <-w.ticks:
		default:
		}
		w.ticks <- t // there is room: only this goroutine fills it
	}
}

// totals are what was used of a bucket in the minutes around an instant.
type totals struct {
	at   time.Time
	used map[usagePlace]model.Used
}

func totalsOf(s *model.Sample, at time.Time) *totals {
	t := &totals{at: at, used: map[usagePlace]model.Used{}}
	for _, row := range s.Usage {
		t.used[usagePlace{row.Minute, row.App}] = row.Used
	}
	return t
}

// rates enters what was used since the sample before, per second.
func (t *totals) rates(before *totals, b *StreamBucket) {
	seconds := t.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return
	}
	apps := map[string]model.Used{}
	var all model.Used
	for place, now := range t.used {
		was := before.used[place]
		more := grown(now, was)
		if more == (model.Used{}) {
			continue
		}
		apps[place.app] = apps[place.app].Plus(more)
		all = all.Plus(more)
	}
	rates := ratesOf(all, seconds)
	b.Rates = &rates
	for _, app := range slices.Sorted(maps.Keys(apps)) {
		b.Apps = append(b.Apps, StreamApp{App: app, StreamRates: ratesOf(apps[app], seconds)})
	}
}

// grown is by how much counts grew.
func grown(now, was model.Used) model.Used {
	return model.Used{
		Granted: grownBy(now.Granted, was.Granted), Limited: grownBy(now.Limited, was.Limited), ShadowLimited: grownBy(now.ShadowLimited, was.ShadowLimited),
	}
}

// grownBy is by how much a count grew; one that fell was lost by Redis and began anew.
func grownBy(now, was int64) int64 {
	if now < was {
		return now
	}
	return now - was
}

func ratesOf(u model.Used, seconds float64) StreamRates {
	return StreamRates{float64(u.Granted) / seconds, float64(u.Limited) / seconds, float64(u.ShadowLimited) / seconds}
}
