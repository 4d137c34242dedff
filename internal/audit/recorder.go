package audit

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Bounds of folding. At rest everything is written as it happens; in a flood each action writes at most about
// keyRefill + 1 rows a minute, and twice that where its keys repeat.
const (
	foldWindow   = time.Minute
	keyBurst     = 100  // events with distinct keys, per action, that are written one by one before the rest is folded together
	keyRefill    = 10   // further ones per foldWindow
	manyDistinct = 1000 // distinct keys that a row about many counts; above, it says "at least"
	manySamples  = 10   // addresses and targets that a row about many names
)

// Appender writes change rows.
type Appender interface {
	AppendChange(ctx context.Context, c model.Change) error
}

// Recorder writes events that strangers can cause as often as they like, such as refused logins, so that a flood of
// them makes few rows and costs next to nothing. The first of a kind is written at once. Its repetitions, the same
// action, actor, target, address and reason within a minute, are counted and written as one row when that minute is
// over. When too many different ones come, the rest of an action is folded into one row a minute that says how many
// there were and names a few. It is safe for concurrent use.
type Recorder struct {
	to  Appender
	now func() time.Time
	log *slog.Logger

	mu      sync.Mutex
	actions map[model.Action]*folding
}

// foldKey is what makes two events the same.
type foldKey struct {
	actor      string
	targetKind model.TargetKind
	target     string
	address    string
	reason     string
	token      string
}

// folding is one action's state.
type folding struct {
	keys   map[foldKey]*folded
	budget float64 // keys that may still be written one by one
	filled time.Time
	many   *many
}

// folded are the repetitions of an event that was written; a Count of 0 is none yet.
type folded struct {
	change model.Change
	ends   time.Time
}

// many are events whose keys were too many.
type many struct {
	change    model.Change
	ends      time.Time
	distinct  map[foldKey]struct{}
	addresses map[string]bool
	targets   map[string]bool
}

// NewRecorder makes a recorder that writes to a store. Nil now and log are time.Now and slog.Default().
func NewRecorder(to Appender, now func() time.Time, log *slog.Logger) *Recorder {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.Default()
	}
	return &Recorder{to: to, now: now, log: log, actions: map[model.Action]*folding{}}
}

// Record writes the event, or counts it. The error is the store's, of an event that was to be written at once.
func (r *Recorder) Record(ctx context.Context, c model.Change) error {
	if c.At.IsZero() {
		c.At = r.now().UTC()
	}
	if !r.first(c) {
		return nil
	}
	return r.to.AppendChange(ctx, c)
}

// first tells whether the event is to be written at once; otherwise it has been counted.
func (r *Recorder) first(c model.Change) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	f := r.actions[c.Action]
	if f == nil {
		f = &folding{keys: map[foldKey]*folded{}, budget: keyBurst, filled: now}
		r.actions[c.Action] = f
	}
	key := keyOf(c)
	if known := f.keys[key]; known != nil && now.Before(known.ends) {
		known.change = repeat(known.change, c)
		return false
	} else if known != nil && known.change.Count > 0 {
		// The minute is over and its row is not written yet: the event begins the next one.
		known.change = repeat(known.change, c)
		return false
	}
	if !f.take(now) {
		f.foldMany(c, key, now)
		return false
	}
	f.keys[key] = &folded{ends: now.Add(foldWindow)}
	return true
}

// take spends one of the keys that may be written one by one.
func (f *folding) take(now time.Time) bool {
	if past := now.Sub(f.filled); past > 0 {
		f.budget = min(keyBurst, f.budget+keyRefill*past.Seconds()/foldWindow.Seconds())
	}
	f.filled = now
	if f.budget < 1 {
		return false
	}
	f.budget--
	return true
}

func (f *folding) foldMany(c model.Change, key foldKey, now time.Time) {
	if f.many == nil {
		f.many = &many{
			ends: now.Add(foldWindow), distinct: map[foldKey]struct{}{},
			addresses: map[string]bool{}, targets: map[string]bool{},
		}
	}
	m := f.many
	m.change = repeat(m.change, c)
	if len(m.distinct) < manyDistinct {
		m.distinct[key] = struct{}{}
	}
	sample(m.addresses, c.Address)
	sample(m.targets, c.Target)
}

// sample keeps a value if it is among the first few different ones.
func sample(kept map[string]bool, value string) {
	if len(kept) < manySamples {
		kept[value] = true
	}
}

// repeat adds one event to what is counted.
func repeat(counted, c model.Change) model.Change {
	if counted.Count == 0 {
		counted = c
		counted.Count = 0
	}
	counted.Count++
	if counted.Count > 1 {
		counted.Until = c.At
	}
	return counted
}

func keyOf(c model.Change) foldKey {
	return foldKey{c.Actor, c.TargetKind, c.Target, c.Address, c.Reason, c.Token}
}

// Run writes what was counted whenever its minute is over, until ctx ends. Close writes what is left then.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.Flush(ctx)
		}
	}
}

// Flush writes the rows of the minutes that are over. What can't be written is kept for the next call.
func (r *Recorder) Flush(ctx context.Context) {
	now := r.now()
	r.write(ctx, func(ends time.Time) bool { return !now.Before(ends) })
}

// Close writes all that was counted.
func (r *Recorder) Close(ctx context.Context) {
	r.write(ctx, func(time.Time) bool { return true })
}

func (r *Recorder) write(ctx context.Context, due func(ends time.Time) bool) {
	rows := r.collect(due)
	for i, c := range rows {
		if err := r.to.AppendChange(ctx, c); err != nil {
			r.log.WarnContext(ctx, "counted refusals could not be recorded; they are kept for now", "error", err, "rows", len(rows)-i)
			r.putBack(rows[i:])
			return
		}
	}
}

// collect takes out the rows that are due, in the order of their times.
func (r *Recorder) collect(due func(time.Time) bool) []model.Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	var rows []model.Change
	for action, f := range r.actions {
		for key, known := range f.keys {
			if !due(known.ends) {
				continue
			}
			if known.change.Count > 0 {
				rows = append(rows, known.change)
			}
			delete(f.keys, key)
		}
		if f.many != nil && due(f.many.ends) {
			rows = append(rows, f.many.row(action))
			f.many = nil
		}
	}
	slices.SortFunc(rows, func(a, b model.Change) int { return a.At.Compare(b.At) })
	return rows
}

// putBack keeps rows that could not be written. They take the places of keys, so that they stay bounded; those for
// which there is no room are folded together.
func (r *Recorder) putBack(rows []model.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for _, c := range rows {
		f, key := r.actions[c.Action], keyOf(c)
		switch known := f.keys[key]; {
		case known != nil:
			known.change = join(c, known.change)
		case len(f.keys) < 2*keyBurst:
			f.keys[key] = &folded{change: c, ends: now}
		default:
			f.foldMany(c, key, now)
			f.many.change.Count += c.Count - 1
		}
	}
}

// join adds up two counts of the same event, the earlier one first.
func join(a, b model.Change) model.Change {
	if b.Count == 0 {
		return a
	}
	a.Count += b.Count
	a.Until = b.At
	if !b.Until.IsZero() {
		a.Until = b.Until
	}
	return a
}

// manyJSON is what a row about many says in After.
type manyJSON struct {
	Distinct        int      `json:"distinct"` // different events
	DistinctAtLeast bool     `json:"distinct_at_least,omitempty"`
	Addresses       []string `json:"addresses"` // the first few
	Targets         []string `json:"targets"`
}

// row is the change that tells of many: who and what differ, so these stay empty. Of one kind, it is that.
func (m *many) row(action model.Action) model.Change {
	if len(m.distinct) == 1 {
		return m.change
	}
	said, err := json.Marshal(manyJSON{
		Distinct: len(m.distinct), DistinctAtLeast: len(m.distinct) == manyDistinct,
		Addresses: slices.Sorted(maps.Keys(m.addresses)), Targets: slices.Sorted(maps.Keys(m.targets)),
	})
	if err != nil {
		said = nil
	}
	return model.Change{
		At: m.change.At, Until: m.change.Until, Action: action, TargetKind: m.change.TargetKind,
		After: said, Reason: "a flood of many different ones, counted together", Count: m.change.Count,
	}
}
