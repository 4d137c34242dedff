// Package reconcile makes Redis equal to the database: it pushes one bucket after its commit, drains the outbox,
// repairs what drifted, and restarts state that Redis lost.
//
// The rules that make several admin servers side by side harmless:
//   - Nothing is carried in a message. A push reads Redis first and the present row after it, so a row that is older
//     than what Redis has was never pushed from this database: it was restored.
//   - The engine installs newer revisions only, and the store never lowers a revision, so a late push changes nothing
//     and a push done twice is a push done once.
//   - An outbox mark is taken down only by its own number, so a mark set while its bucket is being pushed stays.
package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// Store is what the reconciler needs of the database. Errors are *model.Error.
type Store interface {
	// Dirty returns up to limit buckets whose push is due at now, the longest due first.
	Dirty(ctx context.Context, now time.Time, limit int) ([]model.Dirty, error)
	// CountDirty counts the buckets that wait for a push, due or not.
	CountDirty(ctx context.Context) (int64, error)
	// SyncRow reads one bucket, living or deleted. CodeNotFound when the name never existed.
	SyncRow(ctx context.Context, name string) (model.SyncRow, error)
	// SyncRows reads up to limit rows with names after the given one, in the order of their names; "" starts.
	SyncRows(ctx context.Context, after string, limit int) ([]model.SyncRow, error)
	// SyncRowsOf reads the rows of some names, by name.
	SyncRowsOf(ctx context.Context, names []string) (map[string]model.SyncRow, error)
	// SyncHeadsOf reads the heads of some names, by name.
	SyncHeadsOf(ctx context.Context, names []string) (map[string]model.SyncHead, error)
	// MarkInstalledAll is MarkInstalled for many buckets.
	MarkInstalledAll(ctx context.Context, all []model.Installed) error
	// MarkInstalled notes that Redis has a revision and takes down the outbox mark with that number.
	MarkInstalled(ctx context.Context, name string, revision, mark int64) error
	// MarkFailed notes why the push of that mark failed and when to try next.
	MarkFailed(ctx context.Context, name string, mark int64, message string, next time.Time) error
	// MarkDirty asks for a push now. CodeNotFound when the name never existed.
	MarkDirty(ctx context.Context, name string) error
	// RaiseRevision lifts a revision that is not above redisRevision to redisRevision+1, with a change by the system.
	RaiseRevision(ctx context.Context, name string, redisRevision int64) (revision int64, raised bool, err error)
	// AppendChange adds a row to the history.
	AppendChange(ctx context.Context, c model.Change) error
	// Overlays are those in force.
	Overlays(ctx context.Context) ([]model.Overlay, error)
	// DeploymentID is this database's identity.
	DeploymentID(ctx context.Context) (string, error)
	// Marks are the newest marks noted by SetMarks.
	Marks(ctx context.Context) ([]model.Mark, error)
	// SetMarks notes marks, of which one older than noted before lowers nothing, and forgets those of some slots.
	SetMarks(ctx context.Context, marks []model.Mark, forget []int) error
}

// Engine is what the reconciler needs of Redis. Its client should have ContextTimeoutEnabled set: with go-redis's
// default a stopped Redis outlasts the deadline of a push.
type Engine interface {
	Install(ctx context.Context, d bucket.Definition, o bucket.InstallOptions) (bucket.InstallResult, error)
	Remove(ctx context.Context, name string, revision int64, deployment string) (bucket.InstallResult, error)
	InstallAll(ctx context.Context, deployment string, all []bucket.BatchInstall) []bucket.BatchResult
	RestartAll(ctx context.Context, deployment string, all []bucket.BatchRestart) []bucket.BatchResult
	Read(ctx context.Context, names ...string) ([]bucket.Installed, error)
	IndexedNames(ctx context.Context) ([]string, error)
	Claim(ctx context.Context, deployment string) (owner string, err error)
	Adopt(ctx context.Context, deployment string) error
	ReadMarks(ctx context.Context, at ...int) ([]bucket.Mark, error)
	PeekMarks(ctx context.Context, slots ...int) ([]time.Time, error)
	MoveMark(ctx context.Context, m *bucket.Mark, at time.Time) (moved bool, err error)
	ReadOverlay(ctx context.Context) (o bucket.Overlay, stands bool, err error)
	WriteOverlay(ctx context.Context, o bucket.Overlay) error
	Slots(name string, shards int) []int
	Time(ctx context.Context) (time.Time, error)
}

var _ Engine = (*bucket.Engine)(nil)

// Config wires a Reconciler. Store and Engine are needed; every other field has a default.
type Config struct {
	Store  Store
	Engine Engine
	Log    *slog.Logger     // nil = slog.Default
	Now    func() time.Time // nil = time.Now; when a failed push is due again

	PushTimeout time.Duration // bound of one push and of each single step of a pass; 0 = 2 s
	Tick        time.Duration // between two looks at the outbox, and two moves of the marks; 0 = 1 s
	WatchEvery  time.Duration // between two looks whether the marks still stand; 0 = 200 ms
	RepairEvery time.Duration // between two comparisons of everything; 0 = 15 s
	StepRows    int           // rows that Run compares at once; 0 = 500

	// Observe is told of every pass that was not broken off; deep ones compare everything. nil: nobody is.
	Observe func(deep bool, took time.Duration, err error)
}

// Defaults of Config.
const (
	DefaultPushTimeout = 2 * time.Second
	DefaultTick        = time.Second
	DefaultWatchEvery  = 200 * time.Millisecond
	DefaultRepairEvery = 15 * time.Second
	DefaultStepRows    = 500
)

// Reconciler keeps one Redis equal to one database. Push may be used with or without Run, from any goroutine.
type Reconciler struct {
	store  Store
	engine Engine
	log    *slog.Logger
	now    func() time.Time

	pushTimeout, tick, watchEvery, repairEvery time.Duration
	stepRows                                   int

	observe func(deep bool, took time.Duration, err error)

	wake    chan struct{}
	passing chan struct{} // holds a token while a pass or a step runs: one at a time in this process

	// Used inside a pass or step only.
	marksSeen map[int]time.Time // the database's marks at the last pass, by slot
	comparing *comparison       // at leisure; nil when none is under way
	compared  time.Time         // when the last comparison began

	mu       sync.Mutex
	status   Status
	drifted  []Drifted         // found by the present comparison, at most DriftShown
	repaired []repaired        // by the present pass, to be recorded at its end
	fell     bool              // marksFell has seen a mark go
	standing map[int]time.Time // the marks that Redis is known to have had, by slot
	known    map[string]bool   // orphans that were logged
}

// New makes a Reconciler; it touches neither side before Push, Repair or Run.
func New(c Config) *Reconciler {
	r := &Reconciler{
		store: c.Store, engine: c.Engine, log: c.Log, now: c.Now,
		pushTimeout: c.PushTimeout, tick: c.Tick, watchEvery: c.WatchEvery, repairEvery: c.RepairEvery, stepRows: c.StepRows,
		observe: c.Observe, wake: make(chan struct{}, 1), passing: make(chan struct{}, 1),
		status: Status{State: StateStarting}, marksSeen: map[int]time.Time{}, standing: map[int]time.Time{},
	}
	if r.log == nil {
		r.log = slog.Default()
	}
	if r.now == nil {
		r.now = time.Now
	}
	setDefault(&r.pushTimeout, DefaultPushTimeout)
	setDefault(&r.tick, DefaultTick)
	setDefault(&r.watchEvery, DefaultWatchEvery)
	setDefault(&r.repairEvery, DefaultRepairEvery)
	setDefault(&r.stepRows, DefaultStepRows)
	r.status.Since = r.now()
	return r
}

func setDefault[T int | time.Duration](d *T, value T) {
	if *d <= 0 {
		*d = value
	}
}

// Wake makes Run look at the outbox now. Call it after marking buckets dirty without pushing them.
func (r *Reconciler) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // one is waiting already
	}
}
