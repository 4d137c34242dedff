package figures

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// What came of a trial, in the words of the SDK.
const (
	outcomeGranted       = "granted"
	outcomeLimited       = "limited"
	outcomeNotConfigured = "not_configured"
	outcomeTooMany       = "too_many"
)

var errNoVerdict = errors.New("no verdict of Redis")

// Try acquires permits once, as an application would, and counts that as usage. Of a concurrency bucket it enters and
// releases at once. An error says that Redis gave no verdict; permits may have been taken then.
func (r Reader) Try(ctx context.Context, name string, t model.Trial) (model.TrialResult, error) {
	var facts *bucket.Facts
	for range 3 { // the first call learns what the bucket is; a second one fails only where it is edited meanwhile
		reply, result, err := r.ask(ctx, name, t, facts)
		if err != nil {
			return model.TrialResult{}, err
		}
		switch reply.Verdict {
		case bucket.VerdictDecided:
			result.Mode = r.modeFor(ctx, t.App, model.Mode(reply.Facts.Mode))
			return result, r.count(ctx, name, t, &result)
		case bucket.VerdictRemoved, bucket.VerdictNotListed:
			return model.TrialResult{Outcome: outcomeNotConfigured, Revision: reply.Revision, At: reply.Now}, nil
		case bucket.VerdictStale:
			facts = reply.Facts
		default:
			return model.TrialResult{}, errNoVerdict
		}
	}
	return model.TrialResult{}, errNoVerdict
}

// modeFor is the mode by which the app's own calls act: while break-glass covers them, enforce acts as shadow. Where that
// can't be read the definition's mode stands, as in a client that never learned otherwise; the permit is taken by then.
func (r Reader) modeFor(ctx context.Context, app string, mode model.Mode) model.Mode {
	if mode != model.ModeEnforce {
		return mode
	}
	if o, stands, err := r.Engine.ReadOverlay(ctx); err == nil && stands && o.Covers(app) {
		return model.ModeShadow
	}
	return mode
}

// ask asks once, by the facts that are known of the bucket.
func (r Reader) ask(ctx context.Context, name string, t model.Trial, facts *bucket.Facts) (bucket.Reply, model.TrialResult, error) {
	target, err := r.Engine.Target(name, t.App, facts)
	if err != nil {
		return bucket.Reply{}, model.TrialResult{}, err
	}
	if facts != nil && facts.Algorithm == bucket.Concurrency {
		return r.enter(ctx, target, t)
	}
	call := bucket.Call{Target: target}
	if facts != nil {
		call.Shard = target.Shard(t.Key)
		call.Entries = []bucket.Entry{{Permits: t.Permits, Count: 1, Key: t.Key}}
	}
	reply, err := r.Engine.Acquire(ctx, call)
	if err != nil || reply.Verdict != bucket.VerdictDecided {
		return reply, model.TrialResult{}, err
	}
	one := reply.Results[0]
	outcome := map[bucket.Code]string{bucket.CodeGranted: outcomeGranted, bucket.CodeLimited: outcomeLimited, bucket.CodeTooMany: outcomeTooMany}[one.Code]
	return reply, model.TrialResult{
		Outcome: outcome, Limit: reply.Facts.MaxPermits, Remaining: one.Remaining, RetryAfter: one.RetryAfter, ResetAfter: one.ResetAfter,
		Revision: reply.Revision, At: reply.Now,
	}, nil
}

// enter takes a slot and gives it back at once; the answer is as things were between.
func (r Reader) enter(ctx context.Context, target *bucket.Target, t model.Trial) (bucket.Reply, model.TrialResult, error) {
	id := strings.ToLower(rand.Text())
	call := bucket.LeaseCall{
		Target: target, Shard: target.Shard(t.Key), Key: t.Key,
		Ops: []bucket.LeaseOp{{Do: bucket.LeaseEnter, ID: id}, {Do: bucket.LeaseRelease, ID: id}},
	}
	_ = r.Engine.Ask(ctx, &call) // tells no more than call.Err
	if call.Err != nil || call.Reply.Verdict != bucket.VerdictDecided {
		return call.Reply, model.TrialResult{}, call.Err
	}
	one, outcome := call.Results[0], outcomeGranted
	if one.Code == bucket.LeaseRefused {
		outcome = outcomeLimited
	}
	return call.Reply, model.TrialResult{
		Outcome: outcome, Limit: call.Reply.Facts.MaxPermits, Remaining: one.Free, RetryAfter: one.RetryAfter, ResetAfter: one.ResetAfter,
		Revision: call.Reply.Revision, At: call.Reply.Now,
	}, nil
}

// count reports a trial as the SDK would: not in mode off, nor when it asked for more than there can ever be.
func (r Reader) count(ctx context.Context, name string, t model.Trial, result *model.TrialResult) error {
	used := bucket.Usage{Bucket: name, App: t.App, Minute: result.At.Unix() / int64(time.Minute/time.Second)}
	switch {
	case result.Mode == model.ModeOff:
		return nil
	case result.Outcome == outcomeGranted:
		used.Granted = t.Permits
	case result.Outcome == outcomeLimited && result.Mode == model.ModeShadow:
		used.ShadowLimited = t.Permits
	case result.Outcome == outcomeLimited:
		used.Limited = t.Permits
	}
	return r.Engine.ReportUsage(ctx, []bucket.Usage{used})
}
