package reconcile

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
)

const (
	drainBatch  = 500  // outbox rows read at once
	rowPage     = 1000 // rows compared at once
	pageWorkers = 3    // pages in flight during a pass
	workers     = 4    // pushes in flight during a pass, for each page
	batchFrom   = 8    // so many buckets are brought together; fewer one by one

	probeFirst = 50 * time.Millisecond // wait after the first failed pass; doubles
	probeMost  = 500 * time.Millisecond
)

// Run works until ctx ends, and then returns with nothing left running, at the latest a push timeout later, since
// go-redis does not hear of the end while it waits for a reply. Each Tick, and when woken, it drains the outbox and
// moves the marks that show data loss; between, it looks each WatchEvery whether they still stand; within each
// RepairEvery it compares everything once, page by page, or at once after an outage or a loss. Whatever fails, it goes on
// trying: at most half a second after Redis or the database answers again it works again, with everything that waited.
func (r *Reconciler) Run(ctx context.Context) {
	timer, step := time.NewTimer(0), time.NewTimer(r.repairEvery)
	defer timer.Stop()
	defer step.Stop()
	watch := time.NewTicker(r.watchEvery)
	defer watch.Stop()
	wait := probeFirst
	for {
		var err error
		stepped := false
		select {
		case <-ctx.Done():
			return
		case <-step.C:
			next := r.repairEvery
			if stepped = r.Status().State == StateOK; stepped {
				next, err = r.step(ctx)
			} // else the pass that goes through compares everything
			step.Reset(next)
			if !stepped {
				continue
			}
		case <-timer.C:
			err = r.pass(ctx, false)
		case <-r.wake:
			err = r.pass(ctx, false)
		case <-watch.C:
			if !r.marksFell(ctx) {
				continue
			}
			err = r.pass(ctx, false)
		}
		switch {
		case err == nil && stepped: // the timer of the passes runs
		case err == nil:
			wait = probeFirst
			timer.Reset(r.tick)
		case model.CodeOf(err) == model.CodeForeignRedis:
			timer.Reset(r.tick)
		default:
			timer.Reset(wait)
			wait = min(2*wait, probeMost)
		}
	}
}

// Repair makes one full pass now: outbox, marks and the comparison of everything. Errors: CodeForeignRedis,
// CodeUnavailable, and the context's. That single buckets could not be brought is no error: Status and their outbox
// marks tell of them.
func (r *Reconciler) Repair(ctx context.Context) error { return r.pass(ctx, true) }

// Adopt makes this Redis ours, whoever owned it, and has everything compared by Run. The operator orders it.
// CodeUnavailable.
func (r *Reconciler) Adopt(ctx context.Context) error {
	deployment, err := r.store.DeploymentID(ctx)
	if err != nil {
		return err
	}
	if err := r.engine.Adopt(ctx, deployment); err != nil {
		return redisTrouble(err)
	}
	r.log.Warn("this Redis was adopted", "deployment", deployment)
	r.Wake()
	return nil
}

// alone waits until no pass or step is under way in this process.
func (r *Reconciler) alone(ctx context.Context) (release func(), err error) {
	select {
	case r.passing <- struct{}{}:
		return func() { <-r.passing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pass does one round alone in this process and notes how it went.
func (r *Reconciler) pass(ctx context.Context, deep bool) error {
	release, err := r.alone(ctx)
	if err != nil {
		return err
	}
	defer release()
	began := time.Now()
	err = r.round(ctx, deep)
	r.recordRepairs(ctx)
	if countErr := r.notePending(ctx); err == nil { // during an outage too: people want to know what waits
		err = countErr
	}
	if ctx.Err() != nil {
		return ctx.Err() // we are stopping: whatever failed says nothing about Redis
	}
	r.noteState(err)
	if r.observe != nil {
		r.observe(deep, time.Since(began), err)
	}
	return err
}

// round writes nothing before Redis is known to be ours and its marks are known to stand.
func (r *Reconciler) round(ctx context.Context, deep bool) error {
	deployment, err := r.owned(ctx)
	if err != nil {
		return err
	}
	lost, err := r.checkMarks(ctx, deployment)
	if err != nil {
		return err
	}
	if err := r.applyOverlay(ctx); err != nil { // before the outbox, which may be long
		return err
	}
	back := r.Status().State != StateOK
	if err := r.drain(ctx, deployment, back || lost); err != nil {
		return err
	}
	if deep || back || lost {
		return r.repair(ctx, deployment)
	}
	return nil
}

// owned is own with a bound of its own.
func (r *Reconciler) owned(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	return r.own(ctx)
}

// drain pushes what the outbox holds: what is due, or all of it after an outage.
func (r *Reconciler) drain(ctx context.Context, deployment string, all bool) error {
	due := r.now()
	if all {
		due = due.Add(2 * backoffMost)
	}
	tried := map[string]bool{}
	for {
		batch, err := r.store.Dirty(ctx, due, drainBatch)
		if err != nil {
			return err
		}
		var fresh []string
		attempts := map[string]int{}
		for _, d := range batch {
			if !tried[d.Name] {
				tried[d.Name] = true
				fresh, attempts[d.Name] = append(fresh, d.Name), d.Attempts
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		push := func(ctx context.Context, name string) error {
			return r.pushInPass(ctx, deployment, name, attempts[name], false)
		}
		if len(fresh) < batchFrom {
			err = each(ctx, fresh, push)
		} else {
			_, err = r.bring(ctx, deployment, fresh, false, push)
		}
		if err != nil {
			return err
		}
	}
}

// pushInPass pushes one bucket. A failure of its own is noted with the bucket; the error returned ends the pass.
func (r *Reconciler) pushInPass(ctx context.Context, deployment, name string, attempts int, repair bool) error {
	bounded, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	done, cause := r.push(bounded, deployment, name)
	if cause == nil {
		r.count(name, done, repair)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.noteFailure(ctx, name, attempts, cause)
	return r.endsPass(ctx, cause)
}

// endsPass tells the failure of one bucket, which holds up no other, from Redis or the database being away or Redis
// not being ours any more: the latter is returned.
func (r *Reconciler) endsPass(ctx context.Context, cause error) error {
	if cause == nil {
		return nil
	}
	r.noteError(messageOf(cause))
	_, err := r.owned(ctx)
	return err
}

// each runs do for every item, a few at a time, and returns the first error after all that began have ended.
func each[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, item := range items {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, item); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// stateOf tells which side an error of a round speaks of.
func stateOf(err error) State {
	switch {
	case err == nil:
		return StateOK
	case model.CodeOf(err) == model.CodeForeignRedis:
		return StateForeign
	case errors.Is(err, errRedis):
		return StateRedisDown
	default:
		return StateDatabaseDown
	}
}
