package reconcile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// pushTurns bounds how often one push looks again because somebody else wrote in between.
const pushTurns = 8

// pushTimeoutDown bounds a push while Run knows that Redis is away, so that saves stay quick.
const pushTimeoutDown = 250 * time.Millisecond

// outcome tells what a push did.
type outcome struct {
	revision int64 // that Redis has now
	did      deed
	lost     bool     // Redis had lost the definition
	raised   bool     // the database's revision was lifted above the one of Redis
	drift    []string // the fields for which it was
}

// fields tells in what Redis differed before.
func (o *outcome) fields() []string {
	switch {
	case o.raised:
		return o.drift
	case o.did == didRemove:
		return []string{"deleted"}
	case o.lost:
		return []string{"missing"}
	}
	return []string{"revision"}
}

type deed int

const (
	didNothing deed = iota
	didInstall
	didRemove
)

// Push makes Redis equal to the present row of one bucket. Call it after the commit.
//
// It is bounded by the push timeout and by ctx's deadline, but goes on when ctx is cancelled: that the asker has gone
// must not leave a committed save behind for later. The state is good whatever the error: Pending when Redis is not
// known to have the present revision; the outbox mark then stays and Run brings the bucket later. Errors:
// CodeUnavailable (Redis or the database does not answer, or Redis can't take this bucket), CodeForeignRedis,
// CodeNotFound when the name never existed.
func (r *Reconciler) Push(ctx context.Context, name string) (model.SyncState, error) {
	timeout := r.pushTimeout
	if r.Status().State == StateRedisDown {
		timeout = min(timeout, pushTimeoutDown)
	}
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	deployment, err := r.own(bounded)
	if err == nil {
		var done outcome
		if done, err = r.push(bounded, deployment, name); err == nil {
			return model.SyncState{InstalledRevision: done.revision}, nil
		}
	}
	if model.CodeOf(err) == model.CodeNotFound {
		return model.SyncState{}, err
	}
	state, settled := r.noteFailure(ctx, name, 0, err)
	if settled {
		return state, nil
	}
	r.Wake()
	return state, err
}

// own returns the deployment's id after making sure that Redis is ours: it takes a Redis that nobody owns. The
// identity is read anew each time, since an operator may replace it beside the running server.
func (r *Reconciler) own(ctx context.Context) (string, error) {
	deployment, err := r.store.DeploymentID(ctx)
	if err != nil {
		return "", err
	}
	owner, err := r.engine.Claim(ctx, deployment)
	if err != nil {
		return "", redisTrouble(err)
	}
	r.update(func(s *Status) { s.Owner = owner })
	if owner != deployment {
		return "", foreign(owner)
	}
	return deployment, nil
}

// push brings one bucket to Redis. The owner must have been checked. It ends only when Redis was seen to equal a row that
// was read later, so a push that was held up between its reading and its writing mends what it did. A definition that
// stands in one place was seen when Redis installed it; then only the row is looked at again.
func (r *Reconciler) push(ctx context.Context, deployment, name string) (outcome, error) {
	var done outcome
	for range pushTurns {
		// Redis first, the row after it: every revision in Redis was committed before it was installed, so the row
		// read now is at least as new, unless the database was restored.
		read, err := r.read(ctx, name)
		if err != nil {
			return done, err
		}
		row, err := r.store.SyncRow(ctx, name)
		if err != nil {
			return done, err
		}
		switch found := read[0]; decide(row, found, deployment) {
		case actKeep:
			return r.settle(ctx, row, done)
		case actWrite:
			var wrote bool
			if wrote, err = r.write(ctx, deployment, row, found, &done); err == nil && wrote && isPlain(row, found) {
				var stands bool
				if row, stands, err = r.stillAt(ctx, row); err == nil && stands {
					return r.settle(ctx, row, done)
				}
			}
		case actRaise:
			err = r.raise(ctx, row, found, &done)
		case actForeign:
			err = foreign(found.Deployment)
		case actUnknown:
			err = unavailable(messageFormat)
		case actAlien:
			err = unavailable(messageAlien)
		}
		if err != nil {
			return done, err
		}
	}
	return done, unavailable(messageBusy)
}

// stillAt tells whether a row still is at the revision that was read, and returns it with what the outbox has of it now.
func (r *Reconciler) stillAt(ctx context.Context, row model.SyncRow) (model.SyncRow, bool, error) {
	heads, err := r.store.SyncHeadsOf(ctx, []string{row.Name})
	head, ok := heads[row.Name]
	row.InstalledRevision, row.Mark = head.InstalledRevision, head.Mark
	return row, ok && head.Revision == row.Revision && head.Deleted == row.Deleted, err
}

// write installs or removes, and tells whether Redis changed. That Redis got something as new in between is no error: the next turn sees it.
func (r *Reconciler) write(ctx context.Context, deployment string, row model.SyncRow, found reading, done *outcome) (wrote bool, err error) {
	var result bucket.InstallResult
	did, lost := didInstall, false
	if row.Deleted {
		did = didRemove
		result, err = r.engine.Remove(ctx, row.Name, row.Revision, deployment)
	} else {
		// Had this name ever been in Redis and is gone, its state went too: it counts as born now and not as new. Redis
		// decides that when it installs, since it may lose everything between our reading and that.
		known := row.InstalledRevision > 0
		lost = (!found.Present || found.Missing > 0) && known
		result, err = r.engine.Install(ctx, definitionOf(row.Bucket), bucket.InstallOptions{Deployment: deployment, Lost: known})
	}
	if err != nil {
		return false, redisTrouble(err)
	}
	switch result.Status {
	case bucket.StatusInstalled:
		done.did, done.lost = did, done.lost || lost
		return true, nil
	case bucket.StatusForeign:
		return false, foreign(result.Deployment)
	case bucket.StatusUnknownFormat:
		return false, unavailable(messageFormat)
	}
	return false, nil
}

// raise lifts the row above what Redis has. The store does nothing when the row rose meanwhile by itself.
func (r *Reconciler) raise(ctx context.Context, row model.SyncRow, found reading, done *outcome) error {
	differs := drift(row, found)
	fields := strings.Join(differs, ",")
	if done.raised && done.did != didNothing {
		return fmt.Errorf("bucket %q differs in %s from what was just written", row.Name, fields)
	}
	revision, raised, err := r.store.RaiseRevision(ctx, row.Name, max(found.Revision, row.Revision))
	if err != nil || !raised {
		return err
	}
	if found.Revision > row.Revision {
		differs = append([]string{"revision"}, differs...)
	}
	done.raised, done.drift = true, differs
	r.log.Warn("Redis held another definition; the revision was raised above it", "bucket", row.Name,
		"database_revision", row.Revision, "redis_revision", found.Revision, "revision", revision, "fields", fields)
	return nil
}

// settle notes in the database that Redis has the row's revision.
func (r *Reconciler) settle(ctx context.Context, row model.SyncRow, done outcome) (outcome, error) {
	done.revision = row.Revision
	if row.Settled() {
		return done, nil
	}
	return done, r.store.MarkInstalled(ctx, row.Name, row.Revision, row.Mark)
}

// noteFailure leaves the outbox mark with the reason and the time of the next try, and tells how far Redis is. settled
// is true when another server pushed the bucket meanwhile: then nothing is pending.
func (r *Reconciler) noteFailure(ctx context.Context, name string, attempts int, cause error) (state model.SyncState, settled bool) {
	message := messageOf(cause)
	r.noteError(message)
	state = model.SyncState{Pending: true, LastError: message}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.pushTimeout)
	defer cancel()
	row, err := r.store.SyncRow(ctx, name)
	if err != nil {
		r.log.Error("a failed push could not be noted; its mark stays due", "bucket", name, "error", err)
		return state, false
	}
	state.InstalledRevision = row.InstalledRevision
	if row.Settled() {
		return model.SyncState{InstalledRevision: row.Revision}, true
	}
	if attempts == 0 {
		r.log.Warn("a push failed and will be tried again", "bucket", name, "revision", row.Revision, "error", cause)
	}
	next := r.now().Add(backoff(attempts))
	if err := r.store.MarkFailed(ctx, name, row.Mark, message, next); err != nil {
		r.log.Error("a failed push could not be noted; its mark stays due", "bucket", name, "error", err)
	}
	return state, false
}
