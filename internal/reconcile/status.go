package reconcile

import (
	"context"
	"slices"
	"time"
)

// State says how Redis and the database stand to each other.
type State string

// The states.
const (
	StateStarting     State = "starting"      // no pass has ended yet
	StateOK           State = "ok"            // the last pass went through
	StateRedisDown    State = "redis_down"    // Redis does not answer; saves are pending
	StateDatabaseDown State = "database_down" // the database does not answer
	StateForeign      State = "foreign"       // Redis belongs to another deployment; nothing is written until Adopt
)

// Bounds of the names in Status.
const (
	OrphansShown = 100
	DriftShown   = 100
)

// Drifted is a bucket that a full comparison found to differ though no edit of it was waiting.
type Drifted struct {
	Name   string
	Fields []string // as in Comparison.Drift; "revision" where Redis had an older one, whatever the fields
}

// Status is a snapshot for operators. The counts are of this process since its start; pushes by Push are not in them.
type Status struct {
	State State
	Since time.Time // when State began

	Owner      string    // the deployment that this Redis belongs to, as last seen; "" before
	Pending    int64     // buckets that Redis is not known to have at their present revision
	LastPass   time.Time // end of the last pass that went through, of whatever depth; zero before the first
	LastRepair time.Time // end of the last full comparison; zero before the first
	Drifted    int64     // buckets that the last full comparison found to differ, and put right

	Installed   int64 // newer revisions brought by the outbox or a repair
	Reinstalled int64 // definitions that Redis had lost
	Removed     int64 // deleted buckets taken out of Redis
	Raised      int64 // definitions that differed or were ahead in Redis: raised above it and installed
	Mended      int64 // of all these, the buckets that a repair found to differ without an edit waiting
	Restarted   int64 // buckets whose state was restarted after a loss

	LastDrift time.Time // end of the last full comparison that found something to differ; zero when none did
	Drift     []Drifted // what it found, at most DriftShown, in the order in which it was put right

	LastLoss    time.Time // when a loss of state was last found; zero when none was
	OrphanCount int       // definitions that only Redis has, at the last repair; they are never touched
	Orphans     []string  // their names, sorted, at most OrphansShown

	LastError   string // fit for people; the log has its cause
	LastErrorAt time.Time
}

// Status returns the present snapshot.
func (r *Reconciler) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	s.Orphans, s.Drift = slices.Clone(s.Orphans), slices.Clone(s.Drift)
	return s
}

func (r *Reconciler) update(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}

// count adds what a push of a pass did to one bucket.
func (r *Reconciler) count(name string, done outcome, repair bool) {
	if !done.raised && done.did == didNothing {
		return
	}
	if repair && !done.raised { // a raise has left its change row
		r.noteRepaired(name, done)
	}
	r.update(func(s *Status) {
		switch {
		case done.raised:
			s.Raised++
		case done.did == didRemove:
			s.Removed++
		case done.lost:
			s.Reinstalled++
		default:
			s.Installed++
		}
		if repair {
			s.Mended++
			if len(r.drifted) < DriftShown {
				r.drifted = append(r.drifted, Drifted{name, done.fields()})
			}
		}
	})
}

// noteState notes how a pass ended and logs when that changed.
func (r *Reconciler) noteState(err error) {
	state := stateOf(err)
	var before State
	r.update(func(s *Status) {
		before = s.State
		if state != before {
			s.State, s.Since = state, r.now()
		}
		if err != nil {
			s.LastError, s.LastErrorAt = messageOf(err), r.now()
		} else {
			s.LastPass = r.now()
		}
	})
	switch {
	case state == before:
	case err != nil:
		r.log.Error("reconcile stands still", "state", string(state), "error", err)
	default:
		r.log.Info("reconcile works", "before", string(before))
	}
}

func (r *Reconciler) noteError(message string) {
	r.update(func(s *Status) { s.LastError, s.LastErrorAt = message, r.now() })
}

func (r *Reconciler) notePending(ctx context.Context) error {
	pending, err := r.store.CountDirty(ctx)
	if err != nil {
		return err
	}
	r.update(func(s *Status) { s.Pending = pending })
	return nil
}

func (r *Reconciler) noteLoss(lost []*mark) {
	r.update(func(s *Status) { s.LastLoss = r.now() })
	for _, m := range lost {
		r.log.Warn("Redis has lost state: its mark is missing or old; the buckets beside it are restarted",
			"first_slot", m.From, "last_slot", m.To, "last_mark", m.remembered.At)
	}
}

// noteRepair notes the end of a comparison; one that found something is logged.
func (r *Reconciler) noteRepair(before Status) {
	var after Status
	r.update(func(s *Status) {
		s.LastRepair, s.Drifted = r.now(), s.Mended-before.Mended
		if len(r.drifted) > 0 {
			s.LastDrift, s.Drift, r.drifted = s.LastRepair, r.drifted, nil
		}
		after = *s
	})
	if mended := after.Mended - before.Mended; mended > 0 {
		r.log.Info("a repair found differences", "mended", mended, "reinstalled", after.Reinstalled-before.Reinstalled,
			"removed", after.Removed-before.Removed, "raised", after.Raised-before.Raised)
	}
}

// noteOrphans keeps the list for Status and logs each name once.
func (r *Reconciler) noteOrphans(orphans []string) {
	known := make(map[string]bool, len(orphans))
	for _, name := range orphans {
		known[name] = true
	}
	var fresh []string
	r.update(func(s *Status) {
		for _, name := range orphans {
			if !r.known[name] {
				fresh = append(fresh, name)
			}
		}
		r.known = known
		s.OrphanCount, s.Orphans = len(orphans), orphans[:min(len(orphans), OrphansShown)]
	})
	if len(fresh) > 0 {
		r.log.Warn("Redis has definitions that the database never had; they are left alone", "count", len(fresh),
			"buckets", fresh[:min(len(fresh), OrphansShown)])
	}
}
