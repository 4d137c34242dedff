package api

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Bounds of a trial.
const (
	tryKeyBytes   = 512
	tryPermits    = 1_000_000_000
	sourceOfTrial = "redis" // a trial is never answered by a policy
)

// Try asks for one real acquire.
type Try struct {
	App     string `json:"app,omitempty" maxLength:"128" doc:"the app that acquires: one that the bucket lists, with * one that the caller may see; may be left out when the bucket lists just one"`
	Key     string `json:"key,omitempty" doc:"1..512 bytes, for the key partitions; for the others left out"`
	Permits *int64 `json:"permits,omitempty" doc:"default 1; of concurrency always 1"`
	Reason  string `json:"reason,omitempty" doc:"why, for the history"`
}

// Tried is what came of it.
type Tried struct {
	App          string     `json:"app"`
	Outcome      string     `json:"outcome" enum:"granted,limited,not_configured,too_many"`
	Allowed      bool       `json:"allowed" doc:"an application would have gone on: granted, or mode shadow or off"`
	Mode         model.Mode `json:"mode" doc:"by which it was decided: shadow also while break-glass covers the app's calls; empty with not_configured"`
	Limit        int64      `json:"limit"`
	Remaining    int64      `json:"remaining"`
	RetryAfterMS int64      `json:"retry_after_ms" doc:"rounded up"`
	ResetAfterMS int64      `json:"reset_after_ms" doc:"rounded up"`
	Revision     int64      `json:"revision" doc:"of the definition that decided"`
	Source       string     `json:"source" enum:"redis" doc:"who decided: always Redis itself"`
}

// tryBucket takes a real permit: it counts as the app's usage. The change row says what was asked and is committed before
// Redis is: so nobody takes a permit that the history knows nothing of, at the price that the row can't tell the outcome.
// Of a concurrency bucket it enters and leaves at once.
func (s *server) tryBucket(ctx context.Context, in *struct {
	Named
	Body Try
}) (*struct{ Body Tried }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketEdit)
	if err != nil {
		return nil, err
	}
	t := model.Trial{App: in.Body.App, Key: in.Body.Key, Permits: valueOr(in.Body.Permits, 1)}
	app, err := s.trialApp(ctx, &b, t.App)
	if err := together("the trial", err, checkTrial(&b, t), model.ValidateOptionalReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	t.App = app
	if err := s.recordTrial(ctx, b.Name, t, in.Body.Reason); err != nil {
		return nil, err
	}
	result, err := s.Figures.Try(ctx, b.Name, t)
	if err != nil {
		s.log.WarnContext(ctx, "a trial got no verdict", "bucket", b.Name, "request_id", callOf(ctx).requestID, "cause", err)
		return nil, model.Errorf(model.CodeUnavailable, "Redis gave no verdict; an application would have followed the bucket's failure policy, %s", b.OnRedisFailure)
	}
	return &struct{ Body Tried }{Tried{
		App: t.App, Outcome: result.Outcome, Mode: result.Mode,
		Allowed: result.Outcome == "granted" || result.Mode == model.ModeShadow || result.Mode == model.ModeOff,
		Limit:   result.Limit, Remaining: result.Remaining, RetryAfterMS: millisUp(result.RetryAfter), ResetAfterMS: millisUp(result.ResetAfter),
		Revision: result.Revision, Source: sourceOfTrial,
	}}, nil
}

// trialApp finds whom to acquire as.
func (s *server) trialApp(ctx context.Context, b *model.Bucket, app string) (string, error) {
	all := slices.Contains(b.Apps, model.AllApps)
	switch {
	case len(b.Apps) == 0:
		return "", invalidField("app", "there is none to acquire as: the bucket lists no app")
	case app == "" && len(b.Apps) == 1 && !all:
		return b.Apps[0], nil
	case app == "":
		return "", invalidField("app", "say as which app to acquire")
	case !all && !slices.Contains(b.Apps, app):
		return "", invalidField("app", "is not an app that the bucket lists")
	case all:
		_, err := s.appFor(ctx, app, auth.AppSee)
		if model.CodeOf(err) == model.CodeNotFound || model.CodeOf(err) == model.CodeInvalid {
			return "", invalidField("app", "is not an app that you may see")
		}
		return app, err
	}
	return app, nil
}

// checkTrial refuses what no application could ask.
func checkTrial(b *model.Bucket, t model.Trial) error {
	keyed := b.Partition == model.PartitionKey || b.Partition == model.PartitionAppKey
	switch {
	case keyed && (t.Key == "" || len(t.Key) > tryKeyBytes):
		return invalidField("key", "must be 1..512 bytes: the bucket counts by key")
	case !keyed && t.Key != "":
		return invalidField("key", "must be left out: the bucket does not count by key")
	case b.Algorithm == model.Concurrency && t.Permits != 1:
		return invalidField("permits", "must be 1: a concurrency bucket has slots")
	case t.Permits < 1 || t.Permits > tryPermits:
		return invalidField("permits", "must be 1..1000000000")
	}
	return nil
}

// recordTrial leaves the change row of what is about to be asked of Redis.
func (s *server) recordTrial(ctx context.Context, bucket string, t model.Trial, reason string) error {
	key, _ := showKey(t.Key)
	after, err := json.Marshal(map[string]any{"app": t.App, "key": key, "permits": t.Permits})
	if err != nil {
		return err
	}
	c := model.Change{Action: model.ActionBucketTry, TargetKind: model.TargetBucket, Target: bucket, After: after}
	return s.Store.AppendChange(ctx, signed(c, originOf(ctx, reason)))
}

func millisUp(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
