package figures

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// Store is what rolling up needs of the database.
type Store interface {
	// UsageBuckets reads those of the named buckets that are living or were deleted since.
	UsageBuckets(ctx context.Context, names []string, deletedSince time.Time) ([]model.Bucket, error)
	// UsageNames lists up to limit such names, after the given one, in their order.
	UsageNames(ctx context.Context, deletedSince time.Time, after string, limit int) ([]string, error)
	// MergeUsage takes each minute's greatest reading.
	MergeUsage(ctx context.Context, minutes []model.UsageRow) error
	UsageMarks(ctx context.Context) (map[string]int64, error)
	SetUsageMarks(ctx context.Context, marks map[string]int64) error
	PruneUsage(ctx context.Context, minutesBefore, hoursBefore int64) error
}

// Config is what New needs.
type Config struct {
	Store  Store
	Engine *bucket.Engine
	Log    *slog.Logger  // nil: slog.Default()
	Every  time.Duration // between two readings of the running minute; 0: DefaultEvery
}

// How often things are done.
const (
	DefaultEvery = 10 * time.Second
	saveEvery    = time.Minute // the database is written
	pruneEvery   = time.Hour
)

// recentMinutes is how many minutes are kept in memory, the running one included: five whole ones for Recent.
const recentMinutes = 6

// presentFor is how old what is in memory may be before it is not called the present any more.
const presentFor = time.Minute

// deletedGrace is for how long after its deletion a bucket's usage is still read.
const deletedGrace = 48 * time.Hour

// Roller adds the minutes that Redis counts up to hours in the database.
//
// Redis has an index of the buckets that were used in each minute, and only those are read, so that idle buckets cost
// nothing. A walk at leisure reads all of them once, for what is missing in the index.
//
// A minute is read while it runs, so that a Redis that loses its data takes little with it, and again at the ages of
// sweeps, for reports that came late. The database keeps the greatest reading of each minute. So a reading may be made
// twice, by two servers, or late, without counting twice; what keeps a reading from being forgotten are the marks in
// the database, which move only after what was read is saved.
type Roller struct {
	Config

	mu      sync.Mutex
	now     int64          // the running minute at the last reading; 0 before the first
	at      time.Time      // of Redis at that reading
	read    time.Time      // the same by this server's clock
	buckets []model.Bucket // those in recent
	recent  map[minuteKey]model.Used
	unsaved map[minuteKey]bool
	usedBy  map[string][]string // the buckets of each app in recent; nil: to be gathered

	walk *walk // under way; used by Run alone

	passedOver atomic.Int64
	told       time.Time // when it was logged last that keys are passed over; used by Run alone
}

type minuteKey struct {
	bucket, app string
	minute      int64
}

// New makes a Roller; Run has it work.
func New(c Config) *Roller {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Every == 0 {
		c.Every = DefaultEvery
	}
	return &Roller{Config: c, recent: map[minuteKey]model.Used{}, unsaved: map[minuteKey]bool{}}
}

// Run reads and saves until ctx ends; then it saves once more what is not saved yet.
func (r *Roller) Run(ctx context.Context) {
	var times turns
	failing := false
	tick, step := time.NewTicker(r.Every), time.NewTicker(walkEvery)
	defer tick.Stop()
	defer step.Stop()
	err := r.turn(ctx, &times)
	for {
		if ctx.Err() == nil && (err != nil) != failing {
			if failing = err != nil; failing {
				r.Log.Warn("usage is not rolled up now; it is made up for later", "error", err)
			} else {
				r.Log.Info("usage is rolled up again")
			}
		}
		select {
		case <-tick.C:
			err = r.turn(ctx, &times)
		case <-step.C:
			_, err = r.Walk(ctx)
		case <-ctx.Done():
			r.last(ctx)
			return
		}
	}
}

// turns are when things that are not done with every reading were done last.
type turns struct{ saved, pruned time.Time }

// turn reads, and saves and prunes when that is due.
func (r *Roller) turn(ctx context.Context, last *turns) error {
	err := r.Read(ctx)
	now := time.Now()
	if err != nil || now.Sub(last.saved) < saveEvery {
		return err
	}
	whole, err := r.Save(ctx)
	if whole {
		last.saved = now
	}
	if err == nil && now.Sub(last.pruned) >= pruneEvery {
		err, last.pruned = r.Prune(ctx), now
	}
	return err
}

// last saves what is in memory when the server stops. What it can't the next server reads from Redis.
func (r *Roller) last(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := r.saveRecent(ctx); err != nil {
		r.Log.Debug("usage not saved at the end", "error", err)
	}
}

// Read reads the running minute and the one before of the buckets used in them into memory; the first time, the last few
// minutes.
func (r *Roller) Read(ctx context.Context) error {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return err
	}
	minute := now.Unix() / 60
	from := minute - 1
	if last := r.lastMinute(); last == 0 || last < minute-1 {
		from = minute - recentMinutes + 1
	}
	used, err := r.Engine.UsedNames(ctx, from, minute)
	if err != nil {
		return err
	}
	rows, strange, err := r.Engine.ReadUsages(ctx, used, from, minute)
	if err != nil {
		return err
	}
	r.passOver(strange)
	buckets, err := r.Store.UsageBuckets(ctx, r.withRecent(used), time.Now().Add(-deletedGrace))
	if err != nil {
		return err
	}
	exists := make(map[string]bool, len(buckets))
	for i := range buckets {
		exists[buckets[i].Name] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.at, r.read, r.buckets, r.usedBy = minute, now, time.Now(), buckets, nil
	for _, row := range rows {
		if exists[row.Bucket] {
			r.note(row)
		}
	}
	maps.DeleteFunc(r.recent, func(k minuteKey, _ model.Used) bool { return k.minute <= minute-recentMinutes || k.minute > minute+1 })
	maps.DeleteFunc(r.unsaved, func(k minuteKey, _ bool) bool { _, kept := r.recent[k]; return !kept })
	return nil
}

// withRecent adds the buckets in memory to names.
func (r *Roller) withRecent(names []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	for key := range r.recent {
		set[key.bucket] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// toldEvery is how often it is logged that keys are passed over.
const toldEvery = 10 * time.Minute

// passOver counts and tells of keys at the places of usage that hold something else. Whoever may write keys can make them,
// by mistake or not, and they stay until somebody removes them or they expire.
func (r *Roller) passOver(strange []string) {
	if len(strange) == 0 {
		return
	}
	r.passedOver.Add(int64(len(strange)))
	if time.Since(r.told) >= toldEvery {
		r.told = time.Now()
		r.Log.Warn("keys of usage in Redis hold something else and are passed over; remove them", "keys", len(strange), "one", strange[0])
	}
}

// PassedOver is how many readings of keys were passed over since the start, since they hold no usage.
func (r *Roller) PassedOver() int64 { return r.passedOver.Load() }

// note takes a reading into memory.
func (r *Roller) note(row bucket.Usage) {
	key := minuteKey{row.Bucket, row.App, row.Minute}
	known := r.recent[key]
	merged := known.Or(model.Used{Granted: row.Granted, Limited: row.Limited, ShadowLimited: row.ShadowLimited})
	if merged != known {
		r.recent[key], r.unsaved[key] = merged, true
	}
}

func (r *Roller) lastMinute() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Save writes to the database what was read since the last Save, and what the sweeps find. whole is false when there is
// more to sweep than was good to do at once; it goes on with the next Save.
func (r *Roller) Save(ctx context.Context) (whole bool, err error) {
	if err := r.saveRecent(ctx); err != nil {
		return false, err
	}
	return r.sweep(ctx)
}

func (r *Roller) saveRecent(ctx context.Context) error {
	rows := r.takeUnsaved()
	err := r.Store.MergeUsage(ctx, rows)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, row := range rows {
			r.unsaved[minuteKey{row.Bucket, row.App, row.Minute}] = true
		}
	}
	return err
}

func (r *Roller) takeUnsaved() []model.UsageRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := make([]model.UsageRow, 0, len(r.unsaved))
	for key := range r.unsaved {
		rows = append(rows, model.UsageRow{Bucket: key.bucket, App: key.app, Minute: key.minute, Used: r.recent[key]})
	}
	clear(r.unsaved)
	return rows
}

// Prune gives up what is kept too long. Of Redis's clock and this server's the one that is behind decides: one that ran
// ahead must not take anything away.
func (r *Roller) Prune(ctx context.Context) error {
	minute := r.lastMinute()
	if minute == 0 {
		return nil
	}
	hour := min(minute, time.Now().Unix()/60) / model.HourMinutes
	const minutesKept = 50 // hours: longer than Redis keeps minutes
	return r.Store.PruneUsage(ctx, hour-minutesKept, hour-int64(model.UsageHoursKept/time.Hour))
}
