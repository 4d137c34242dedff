package api

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// AlertStore keeps the rules by which owners are told, and what was told.
type AlertStore interface {
	AlertRules(ctx context.Context, bucket string) (model.AlertBook, error)
	// SetAlertRules: CodeStale when the rules' revision is not base.
	SetAlertRules(ctx context.Context, bucket string, base int64, rules []model.AlertRule, o model.Origin) (model.AlertBook, error)
	// Alerts lists open alerts, then ended ones, each the newest first.
	Alerts(ctx context.Context, q model.AlertQuery) (model.Page[model.Alert], error)
}

// AlertRuleFields are what people edit of a rule.
type AlertRuleFields struct {
	ID      int64           `json:"id,omitempty" doc:"of a rule that is there already; left out for a new one"`
	Kind    model.AlertKind `json:"kind" doc:"limited_share: percent of the permits asked for that were limited; near_limit: percent of the limit in use"`
	Percent int             `json:"percent" doc:"1..100; a minute at or above it counts"`
	Minutes int             `json:"minutes" doc:"1..1440; so many such minutes in a row start an alert"`
	Enabled *bool           `json:"enabled,omitempty" doc:"default true"`
}

// AlertRule is a rule as the API shows it.
type AlertRule struct {
	ID         int64           `json:"id"`
	Kind       model.AlertKind `json:"kind"`
	Percent    int             `json:"percent"`
	Minutes    int             `json:"minutes"`
	EndMinutes int             `json:"end_minutes" doc:"so many minutes in a row below end the alert"`
	Enabled    bool            `json:"enabled"`
	Open       *Alert          `json:"open" doc:"the open alert; null without"`
}

// AlertRules are the rules of one bucket.
type AlertRules struct {
	Rules     []AlertRule      `json:"rules"`
	NearLimit model.AlertGauge `json:"near_limit" doc:"how near_limit is measured here: flow, permits granted in a minute of those that the limit lets through in one; level, the mean part of max_permits that is taken; empty: this bucket can't have it"`
	Revision  int64            `json:"revision" doc:"of the rules, for If-Match; 1 before the first edit"`
	UpdatedBy string           `json:"updated_by" doc:"empty before the first edit"`
	UpdatedAt *time.Time       `json:"updated_at" doc:"null before the first edit"`
}

// AlertRulesUpdate replaces the rules of a bucket.
type AlertRulesUpdate struct {
	Rules  []AlertRuleFields `json:"rules" doc:"at most 10; one that is left out is removed"`
	Reason string            `json:"reason,omitempty" doc:"why, for the history"`
}

// Alert is one alert, open or ended.
type Alert struct {
	ID        int64            `json:"id"`
	Bucket    string           `json:"bucket"`
	Deleted   bool             `json:"deleted" doc:"the bucket is no more; only who sees all buckets is shown such"`
	Mine      bool             `json:"mine" doc:"one owns the bucket"`
	Kind      model.AlertKind  `json:"kind"`
	Percent   int              `json:"percent"`
	Minutes   int              `json:"minutes"`
	Since     time.Time        `json:"since" doc:"when the first minute at or above began"`
	StartedAt time.Time        `json:"started_at"`
	EndedAt   *time.Time       `json:"ended_at" doc:"null while open"`
	Cause     model.AlertCause `json:"cause" doc:"why it ended: recovered, mode_off, not_measurable, rule_changed or bucket_deleted; empty while open"`
	Value     float64          `json:"value" doc:"percent, of the last minute that was judged"`
	Peak      float64          `json:"peak" doc:"the greatest of all minutes since it started"`
}

func (s *server) getAlertRules(ctx context.Context, in *Named) (*versioned[AlertRules], error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	book, err := s.Store.AlertRules(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return answerAlertRules(ctx, &b, &book), nil
}

func (s *server) setAlertRules(ctx context.Context, in *struct {
	Named
	Based
	Body AlertRulesUpdate
}) (*versioned[AlertRules], error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketEdit)
	if err != nil {
		return nil, err
	}
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	if err := model.ValidateOptionalReason(in.Body.Reason); err != nil {
		return nil, err
	}
	rules := make([]model.AlertRule, len(in.Body.Rules))
	for i, r := range in.Body.Rules {
		rules[i] = model.AlertRule{ID: r.ID, Kind: r.Kind, Percent: r.Percent, Minutes: r.Minutes, Enabled: valueOr(r.Enabled, true)}
	}
	book, err := s.Store.SetAlertRules(ctx, in.Name, base, rules, originOf(ctx, in.Body.Reason))
	if model.CodeOf(err) == model.CodeStale {
		present, err := s.Store.AlertRules(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		return nil, stale(present.Revision, answerAlertRules(ctx, &b, &present).Body)
	}
	if err != nil {
		return nil, err
	}
	return answerAlertRules(ctx, &b, &book), nil
}

func (s *server) listAlerts(ctx context.Context, in *struct {
	Paged
	Bucket string `query:"bucket" doc:"only of this bucket"`
	Mine   bool   `query:"mine" doc:"only of buckets that one owns"`
	Open   bool   `query:"open" doc:"only those that are open"`
}) (*listed[Alert], error) {
	p := principalOf(ctx)
	page, err := s.Store.Alerts(ctx, model.AlertQuery{
		Viewer: viewer(p, auth.BucketSee), User: p.Name, Mine: in.Mine, Open: in.Open, Bucket: in.Bucket, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	return listOf(page, showAlert), nil
}

func answerAlertRules(ctx context.Context, b *model.Bucket, book *model.AlertBook) *versioned[AlertRules] {
	mine := slices.Contains(b.Owners, principalOf(ctx).Name)
	shown := AlertRules{Rules: make([]AlertRule, len(book.Rules)), NearLimit: b.AlertGauge(), Revision: book.Revision, UpdatedBy: book.UpdatedBy}
	if !book.UpdatedAt.IsZero() {
		shown.UpdatedAt = &book.UpdatedAt
	}
	for i, r := range book.Rules {
		shown.Rules[i] = AlertRule{ID: r.ID, Kind: r.Kind, Percent: r.Percent, Minutes: r.Minutes, EndMinutes: r.EndMinutes(), Enabled: r.Enabled}
		if open, is := book.Open[r.ID]; is {
			open.Mine = mine
			alert := showAlert(open)
			shown.Rules[i].Open = &alert
		}
	}
	return &versioned[AlertRules]{ETag: etag(book.Revision), Body: shown}
}

func showAlert(a model.Alert) Alert {
	shown := Alert{
		ID: a.ID, Bucket: a.Bucket, Deleted: a.Deleted, Mine: a.Mine, Kind: a.Rule.Kind, Percent: a.Rule.Percent, Minutes: a.Rule.Minutes,
		Since: utc(a.Since), StartedAt: utc(a.StartedAt), Cause: a.Cause, Value: a.Value, Peak: a.Peak,
	}
	if !a.EndedAt.IsZero() {
		ended := utc(a.EndedAt)
		shown.EndedAt = &ended
	}
	return shown
}
