package reconcile

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// PushAll is Push for many buckets, in a few round trips however many they are. Call it after the commit. It has the
// bounds of Push, for all of them together. What it did not bring stays marked in the outbox, and Run brings it; the
// database tells which buckets those are. Errors: as those of Push, but that an unknown name is passed over.
func (r *Reconciler) PushAll(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
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
		_, err = r.bring(bounded, deployment, names, false, func(ctx context.Context, name string) error {
			return r.pushAmongMany(ctx, deployment, name)
		})
	}
	if err != nil {
		r.noteError(messageOf(err))
		r.Wake()
	}
	return err
}

// pushAmongMany pushes one bucket of several. A failure of its own is noted with the bucket and holds up no other.
func (r *Reconciler) pushAmongMany(ctx context.Context, deployment, name string) error {
	_, err := r.push(ctx, deployment, name)
	switch {
	case err == nil, model.CodeOf(err) == model.CodeNotFound:
		return nil
	case ctx.Err() != nil:
		return err // the time is over: nothing is known about this bucket
	}
	r.noteFailure(ctx, name, 0, err)
	return nil
}
