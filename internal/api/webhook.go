package api

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Webhooks calls endpoints on behalf of people. What keeps them told is not the API's.
type Webhooks interface {
	// Check refuses a URL that may not be called. CodeInvalid with field "url".
	Check(ctx context.Context, url string) error
	// Test sends a test and tells how that went; a failed delivery is no error.
	Test(ctx context.Context, w model.Webhook) (model.WebhookAttempt, error)
}

// Webhook is an endpoint that changes are told to, as the API shows it.
type Webhook struct {
	Name string `json:"name"`
	WebhookFields
	Revision  int64        `json:"revision"`
	CreatedBy string       `json:"created_by"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedBy string       `json:"updated_by"`
	UpdatedAt time.Time    `json:"updated_at"`
	State     WebhookState `json:"state"`
}

// WebhookFields are what people edit of an endpoint.
type WebhookFields struct {
	URL         string           `json:"url" doc:"https, and no private address unless the server allows it"`
	Description string           `json:"description"`
	Actions     []string         `json:"actions" doc:"only these: an action such as bucket.update, or what stands before a dot, such as bucket; empty = all"`
	TargetKind  model.TargetKind `json:"target_kind" doc:"only changes of this kind of thing; empty = all"`
	Target      string           `json:"target" doc:"only changes of the thing of this name; empty = all"`
	Checkpoints bool             `json:"checkpoints" doc:"also the signed checkpoints of the change log, as audit.checkpoint"`
	Enabled     bool             `json:"enabled"`
}

// WebhookState is how telling an endpoint goes.
type WebhookState struct {
	State     string     `json:"state" doc:"ok; retrying after a failed attempt; failing: given up after three days, until an edit, a good test or a redelivery; off"`
	Cursor    int64      `json:"cursor" doc:"id of the newest change that was delivered or does not concern it"`
	Waiting   int64      `json:"waiting" doc:"changes after that one, whether they concern it or not"`
	Failures  int        `json:"failures" doc:"failed attempts in a row"`
	FailedAt  *time.Time `json:"failed_at" doc:"of the first of them; null without"`
	NextAt    *time.Time `json:"next_at" doc:"of the next attempt; null without failures, and when given up"`
	LastError string     `json:"last_error"`
}

// WebhookDetail is an endpoint with its last attempts.
type WebhookDetail struct {
	Webhook
	Attempts []WebhookAttempt `json:"attempts" doc:"the last ones, newest first, at most 50"`
}

// WebhookAttempt is one attempt to tell an endpoint something.
type WebhookAttempt struct {
	Event    string    `json:"event" doc:"the id that the receiver got"`
	ChangeID int64     `json:"change_id" doc:"the first one that it was told of; 0 for a test or a checkpoint"`
	At       time.Time `json:"at"`
	TookMS   int64     `json:"took_ms"`
	Status   int       `json:"status" doc:"of the answer; 0 = there was none"`
	Error    string    `json:"error" doc:"empty when it went well"`
}

// WebhookSecret is an endpoint's secret, shown once.
type WebhookSecret struct {
	Secret string `json:"secret" doc:"signs deliveries; it is shown this once"`
}

// WebhookCreated is a new endpoint with its secret.
type WebhookCreated struct {
	Webhook
	WebhookSecret
}

// WebhookInput are the fields of an endpoint as a client sends them.
type WebhookInput struct {
	URL         string           `json:"url"`
	Description string           `json:"description,omitempty"`
	Actions     []string         `json:"actions,omitempty"`
	TargetKind  model.TargetKind `json:"target_kind,omitempty"`
	Target      string           `json:"target,omitempty"`
	Checkpoints bool             `json:"checkpoints,omitempty"`
	Enabled     *bool            `json:"enabled,omitempty" doc:"default true"`
	Reason      string           `json:"reason,omitempty" doc:"why, for the history"`
}

// WebhookCreate makes an endpoint.
type WebhookCreate struct {
	Name string `json:"name" doc:"1..128 of A-Z a-z 0-9 . _ - starting with a letter or digit; it can't be changed later"`
	WebhookInput
}

// WebhookRedeliver sets an endpoint back.
type WebhookRedeliver struct {
	From   int64  `json:"from" doc:"id of the change that is to be told next; those after it follow"`
	Reason string `json:"reason,omitempty" doc:"why, for the history"`
}

func (in *WebhookInput) webhook(name string) model.Webhook {
	return model.Webhook{
		Name: name, URL: in.URL, Description: in.Description, Actions: in.Actions, TargetKind: in.TargetKind, Target: in.Target,
		Checkpoints: in.Checkpoints, Enabled: valueOr(in.Enabled, true),
	}
}

func (s *server) listWebhooks(ctx context.Context, _ *struct{}) (*listed[Webhook], error) {
	all, err := s.Store.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	return listOf(model.Page[model.Webhook]{Items: all}, showWebhook), nil
}

func (s *server) getWebhook(ctx context.Context, in *Named) (*versioned[WebhookDetail], error) {
	w, err := s.Store.Webhook(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	attempts, err := s.Store.WebhookAttempts(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	detail := WebhookDetail{Webhook: showWebhook(w), Attempts: []WebhookAttempt{}}
	for _, a := range attempts {
		detail.Attempts = append(detail.Attempts, showAttempt(a))
	}
	return &versioned[WebhookDetail]{ETag: etag(w.Revision), Body: detail}, nil
}

func (s *server) createWebhook(ctx context.Context, in *struct{ Body WebhookCreate }) (*versioned[WebhookCreated], error) {
	w := in.Body.webhook(in.Body.Name)
	if err := s.checkWebhook(ctx, &w, in.Body.Reason); err != nil {
		return nil, err
	}
	w.Secret = model.NewWebhookSecret()
	w, err := s.Store.CreateWebhook(ctx, w, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, err
	}
	return &versioned[WebhookCreated]{ETag: etag(w.Revision), Body: WebhookCreated{showWebhook(w), WebhookSecret{w.Secret}}}, nil
}

func (s *server) updateWebhook(ctx context.Context, in *struct {
	Named
	Based
	Body WebhookInput
}) (*versioned[Webhook], error) {
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	w := in.Body.webhook(in.Name)
	if err := s.checkWebhook(ctx, &w, in.Body.Reason); err != nil {
		return nil, err
	}
	w, err = s.Store.UpdateWebhook(ctx, base, w, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, s.staleWebhook(ctx, in.Name, err)
	}
	return &versioned[Webhook]{ETag: etag(w.Revision), Body: showWebhook(w)}, nil
}

func (s *server) deleteWebhook(ctx context.Context, in *struct {
	Named
	Based
	Reason string `query:"reason" doc:"why, for the history"`
}) (*struct{}, error) {
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	if err := model.ValidateOptionalReason(in.Reason); err != nil {
		return nil, err
	}
	return nil, s.staleWebhook(ctx, in.Name, s.Store.DeleteWebhook(ctx, in.Name, base, originOf(ctx, in.Reason)))
}

// testWebhook sends a test. Its change row is committed before, so that nothing leaves the server that the history knows
// nothing of; how it went is among the endpoint's attempts. One that went well lets an endpoint that had been given up
// start again.
func (s *server) testWebhook(ctx context.Context, in *Named) (*struct{ Body WebhookAttempt }, error) {
	w, err := s.Store.Webhook(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	c := model.Change{Action: model.ActionWebhookTest, TargetKind: model.TargetWebhook, Target: w.Name, Revision: w.Revision}
	if err := s.Store.AppendChange(ctx, signed(c, originOf(ctx, ""))); err != nil {
		return nil, err
	}
	attempt, err := s.Webhooks.Test(ctx, w)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // it was sent, so it is recorded
	if err := s.Store.NoteWebhookAttempt(ctx, w.Name, attempt); err != nil {
		return nil, err
	}
	if attempt.Error == "" && w.State.Failures > 0 {
		if err := s.Store.ResumeWebhook(ctx, w.Name); err != nil {
			return nil, err
		}
	}
	return &struct{ Body WebhookAttempt }{showAttempt(attempt)}, nil
}

func (s *server) renewWebhookSecret(ctx context.Context, in *Named) (*struct{ Body WebhookSecret }, error) {
	secret := model.NewWebhookSecret()
	if err := s.Store.SetWebhookSecret(ctx, in.Name, secret, originOf(ctx, "")); err != nil {
		return nil, err
	}
	return &struct{ Body WebhookSecret }{WebhookSecret{secret}}, nil
}

func (s *server) redeliver(ctx context.Context, in *struct {
	Named
	Body WebhookRedeliver
}) (*struct{ Body Webhook }, error) {
	if err := model.ValidateOptionalReason(in.Body.Reason); err != nil {
		return nil, err
	}
	if err := s.Store.RedeliverWebhook(ctx, in.Name, in.Body.From, originOf(ctx, in.Body.Reason)); err != nil {
		return nil, err
	}
	w, err := s.Store.Webhook(ctx, in.Name)
	return &struct{ Body Webhook }{showWebhook(w)}, err
}

// checkWebhook names every wrong field at once, and asks last whether the address may be called.
func (s *server) checkWebhook(ctx context.Context, w *model.Webhook, reason string) error {
	if err := together("the webhook", w.Validate(), model.ValidateOptionalReason(reason)); err != nil {
		return err
	}
	return s.Webhooks.Check(ctx, w.URL)
}

func (s *server) staleWebhook(ctx context.Context, name string, err error) error {
	if model.CodeOf(err) != model.CodeStale {
		return err
	}
	w, err := s.Store.Webhook(ctx, name)
	if err != nil {
		return err
	}
	return stale(w.Revision, showWebhook(w))
}

// signed says in a change row on whose behalf it is.
func signed(c model.Change, o model.Origin) model.Change {
	c.Actor, c.Reason, c.Address, c.RequestID, c.Token = o.Actor, o.Reason, o.Address, o.RequestID, o.Token
	return c
}

func showWebhook(w model.Webhook) Webhook {
	return Webhook{
		Name: w.Name,
		WebhookFields: WebhookFields{
			URL: w.URL, Description: w.Description, Actions: append([]string{}, w.Actions...), TargetKind: w.TargetKind, Target: w.Target,
			Checkpoints: w.Checkpoints, Enabled: w.Enabled,
		},
		Revision: w.Revision, CreatedBy: w.CreatedBy, CreatedAt: utc(w.CreatedAt), UpdatedBy: w.UpdatedBy, UpdatedAt: utc(w.UpdatedAt),
		State: showWebhookState(w),
	}
}

func showWebhookState(w model.Webhook) WebhookState {
	s := w.State
	shown := WebhookState{State: "ok", Cursor: s.Cursor, Waiting: s.Waiting, Failures: s.Failures, LastError: s.LastError}
	switch {
	case !w.Enabled:
		shown.State = "off"
	case s.Failing:
		shown.State = "failing"
	case s.Failures > 0:
		shown.State = "retrying"
	}
	if s.Failures > 0 {
		since, next := utc(s.FailedAt), utc(s.NextAt)
		shown.FailedAt = &since
		if !s.Failing {
			shown.NextAt = &next
		}
	}
	return shown
}

func showAttempt(a model.WebhookAttempt) WebhookAttempt {
	return WebhookAttempt{Event: a.Event, ChangeID: a.Change, At: utc(a.At), TookMS: a.Took.Milliseconds(), Status: a.Status, Error: a.Error}
}

// noWebhooks stands in where no delivery is set up.
type noWebhooks struct{}

var errNoWebhooks = model.Errorf(model.CodeUnavailable, "this server delivers no webhooks")

func (noWebhooks) Check(context.Context, string) error { return errNoWebhooks }
func (noWebhooks) Test(context.Context, model.Webhook) (model.WebhookAttempt, error) {
	return model.WebhookAttempt{}, errNoWebhooks
}
