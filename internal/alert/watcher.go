package alert

import (
	"context"
	"log/slog"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Store is what watching needs of the database.
type Store interface {
	// AlertWatches lists the rules that are to be judged.
	AlertWatches(ctx context.Context) ([]model.AlertWatch, error)
	// StepAlerts makes the steps that still apply and tells of those that start or end an alert; it returns how many did.
	StepAlerts(ctx context.Context, steps []model.AlertStep) (told int, err error)
	PruneAlerts(ctx context.Context, before time.Time) error
}

// Source is what watching needs of Redis.
type Source interface {
	// Minutes are the last minutes of the buckets that pass, as of a reading of Redis, with that reading's time by Redis's
	// clock. It is zero while none is at hand.
	Minutes(pass func(bucket string) bool) ([]model.UsageRow, time.Time)
	// Levels reads what is taken now of the limits of buckets, in percent; those that have no one state are left out.
	Levels(ctx context.Context, buckets []string) (map[string]float64, error)
}

// Config is what New needs.
type Config struct {
	Store  Store
	Source Source
	Log    *slog.Logger  // nil: slog.Default()
	Every  time.Duration // between two passes, at most 10 s; 0: DefaultEvery
}

// How often things are done.
const (
	DefaultEvery = 10 * time.Second
	pruneEvery   = time.Hour
	judged       = 5 // whole minutes are in memory
)

// Watcher judges rules. It is used by one goroutine.
type Watcher struct {
	Config
	seen watched
}

// New makes a Watcher; Run has it work.
func New(c Config) *Watcher {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Every == 0 {
		c.Every = DefaultEvery
	}
	return &Watcher{Config: c}
}

// Run judges until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	var pruned time.Time
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			err := w.Pass(ctx)
			if err == nil && now.Sub(pruned) >= pruneEvery {
				err, pruned = w.Store.PruneAlerts(ctx, now.Add(-model.AlertsKept)), now
			}
			if ctx.Err() == nil && (err != nil) != failing {
				if failing = err != nil; failing {
					w.Log.Warn("alerts are not judged now; they stay as they are", "error", err)
				} else {
					w.Log.Info("alerts are judged again")
				}
			}
		}
	}
}

// Pass judges what has come since the pass before. An error leaves all alerts as they are.
func (w *Watcher) Pass(ctx context.Context) error {
	watches, err := w.Store.AlertWatches(ctx)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for i := range watches {
		names[watches[i].Bucket.Name] = true
	}
	rows, at := w.Source.Minutes(func(bucket string) bool { return names[bucket] })
	if !at.IsZero() {
		w.seen.at(at)
	}
	levels := w.readLevels(ctx, watches, at)
	usage := byMinute(rows)
	var steps []model.AlertStep
	for i := range watches {
		if step, moved := Judge(&watches[i], w.readings(&watches[i], usage, at)); moved {
			steps = append(steps, step)
		}
	}
	if len(steps) > 0 {
		told, err := w.Store.StepAlerts(ctx, steps)
		if err != nil {
			return err
		}
		if told > 0 {
			w.Log.Info("alerts started or ended", "count", told)
		}
	}
	return levels
}

// readLevels reads the buckets of which the level counts. Its error keeps no other rule from being judged.
func (w *Watcher) readLevels(ctx context.Context, watches []model.AlertWatch, at time.Time) error {
	var names []string
	asked := map[string]bool{}
	for i := range watches {
		b := &watches[i].Bucket
		if watches[i].Rule.Kind == model.AlertNearLimit && b.AlertGauge() == model.GaugeLevel && b.Mode != model.ModeOff && !asked[b.Name] {
			names, asked[b.Name] = append(names, b.Name), true
		}
	}
	if at.IsZero() || len(names) == 0 {
		return nil
	}
	levels, err := w.Source.Levels(ctx, names)
	if err == nil {
		w.seen.note(at, levels)
	}
	return err
}

type usageKey struct {
	bucket string
	minute int64
}

func byMinute(rows []model.UsageRow) map[usageKey]map[string]model.Used {
	usage := map[usageKey]map[string]model.Used{}
	for _, row := range rows {
		key := usageKey{row.Bucket, row.Minute}
		if usage[key] == nil {
			usage[key] = map[string]model.Used{}
		}
		usage[key][row.App] = row.Used
	}
	return usage
}

// readings are the shares of the last minutes, as far as they are known and the bucket's own.
func (w *Watcher) readings(watch *model.AlertWatch, usage map[usageKey]map[string]model.Used, at time.Time) []Reading {
	if at.IsZero() {
		return nil
	}
	var readings []Reading
	running := at.Unix() / secondsPerMinute
	for minute := running - judged; minute < running; minute++ {
		if !w.seen.whole(minute) || minute < watch.Bucket.OwnFrom() {
			continue
		}
		if share, known := w.share(watch, usage[usageKey{watch.Bucket.Name, minute}], minute); known {
			readings = append(readings, Reading{minute, share})
		}
	}
	return readings
}

func (w *Watcher) share(watch *model.AlertWatch, apps map[string]model.Used, minute int64) (float64, bool) {
	if watch.Rule.Kind == model.AlertLimitedShare {
		return limitedShare(apps), true
	}
	switch watch.Bucket.AlertGauge() {
	case model.GaugeFlow:
		return flow(&watch.Bucket.Definition, apps), true
	case model.GaugeLevel:
		return w.seen.mean(watch.Bucket.Name, minute)
	}
	return 0, false
}
