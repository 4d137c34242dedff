package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// webhookRow is what people edit of an endpoint; how delivering goes stands in webhookState.
type webhookRow struct {
	ID          int64 `gorm:"primaryKey"`
	Name        string
	URL         string `gorm:"column:url"`
	Description string
	Actions     string
	TargetKind  string
	Target      string
	Checkpoints bool
	Enabled     bool
	Secret      string
	Revision    int64
	CreatedBy   string
	CreatedAt   time.Time `gorm:"autoCreateTime:false"`
	UpdatedBy   string
	UpdatedAt   time.Time `gorm:"autoUpdateTime:false"`
}

func (webhookRow) TableName() string { return "webhooks" }

func (r *webhookRow) set(w *model.Webhook) {
	r.URL, r.Description, r.Actions = w.URL, w.Description, strings.Join(w.Actions, " ")
	r.TargetKind, r.Target, r.Checkpoints, r.Enabled = string(w.TargetKind), w.Target, w.Checkpoints, w.Enabled
}

func (r *webhookRow) webhook() model.Webhook {
	return model.Webhook{
		Name: r.Name, URL: r.URL, Description: r.Description, Actions: strings.Fields(r.Actions),
		TargetKind: model.TargetKind(r.TargetKind), Target: r.Target, Checkpoints: r.Checkpoints, Enabled: r.Enabled, Secret: r.Secret,
		Revision: r.Revision, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), UpdatedBy: r.UpdatedBy, UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// Webhook reads one endpoint. CodeNotFound.
func (s *Store) Webhook(ctx context.Context, name string) (model.Webhook, error) {
	var out model.Webhook
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := webhookByName(db, name)
		if err != nil {
			return err
		}
		all, err := loadWebhooks(db, []webhookRow{*row})
		if err == nil {
			out = all[0]
		}
		return err
	})
	return out, err
}

// Webhooks lists all endpoints, at most model.WebhooksBound, by name.
func (s *Store) Webhooks(ctx context.Context) ([]model.Webhook, error) {
	var out []model.Webhook
	err := s.read(ctx, func(db *gorm.DB) error {
		var rows []webhookRow
		if err := db.Order("name").Find(&rows).Error; err != nil {
			return err
		}
		var err error
		out, err = loadWebhooks(db, rows)
		return err
	})
	return out, err
}

// CreateWebhook makes an endpoint; it is told of what changes from now on. CodeTaken; CodeInUse when there are
// model.WebhooksBound already; CodeInvalid.
func (s *Store) CreateWebhook(ctx context.Context, w model.Webhook, o model.Origin) (model.Webhook, error) {
	if err := w.Validate(); err != nil {
		return model.Webhook{}, err
	}
	err := s.write(ctx, func(t *tx) error {
		_, err := webhookByName(t.DB, w.Name)
		switch {
		case err == nil:
			return webhookTaken(w.Name)
		case model.CodeOf(err) != model.CodeNotFound:
			return err
		}
		var count int64
		if err := t.Model(&webhookRow{}).Count(&count).Error; err != nil {
			return err
		}
		if count >= model.WebhooksBound {
			return model.Errorf(model.CodeInUse, "there are %d webhooks already; delete one first", count)
		}
		row := &webhookRow{Name: w.Name, Secret: w.Secret, CreatedBy: o.Actor, CreatedAt: t.now}
		if err := t.saveWebhook(row, &w, o, model.Change{Action: model.ActionWebhookCreate}); err != nil {
			return err
		}
		return t.startState(row.ID)
	})
	if err != nil {
		return model.Webhook{}, err
	}
	return s.Webhook(ctx, w.Name)
}

// startState lets an endpoint begin with the next change and the next checkpoint.
func (t *tx) startState(id int64) error {
	head, err := readHead(t.DB)
	if err != nil {
		return err
	}
	return t.Create(&webhookState{WebhookID: id, CursorID: head.Seq, CheckpointSeq: head.Seq, NextAt: t.now, LeaseUntil: t.now}).Error
}

// UpdateWebhook replaces what people edit of an endpoint that is still at revision base, and lets one that was given up
// start again. CodeNotFound, CodeStale, CodeInvalid.
func (s *Store) UpdateWebhook(ctx context.Context, base int64, w model.Webhook, o model.Origin) (model.Webhook, error) {
	if err := w.Validate(); err != nil {
		return model.Webhook{}, err
	}
	err := s.write(ctx, func(t *tx) error {
		row, err := t.lockWebhook(w.Name, base)
		if err != nil {
			return err
		}
		before := row.webhook()
		c := model.Change{Action: model.ActionWebhookUpdate, Before: model.WebhookJSON(&before)}
		if err := t.saveWebhook(row, &w, o, c); err != nil {
			return err
		}
		return t.resume(row.ID, nil)
	})
	if err != nil {
		return model.Webhook{}, err
	}
	return s.Webhook(ctx, w.Name)
}

// SetWebhookSecret gives an endpoint another secret. The revision stays: the secret is no part of what an editor sees.
// CodeNotFound.
func (s *Store) SetWebhookSecret(ctx context.Context, name, secret string, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, err := webhookByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		if err := t.Model(row).Update("secret", secret).Error; err != nil {
			return err
		}
		return t.recordWebhook(row, o, model.Change{Action: model.ActionWebhookSecret, After: []byte(`{"secret":"changed"}`)})
	})
}

// DeleteWebhook removes an endpoint that is still at revision base. CodeNotFound, CodeStale.
func (s *Store) DeleteWebhook(ctx context.Context, name string, base int64, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, err := t.lockWebhook(name, base)
		if err != nil {
			return err
		}
		for _, table := range []any{&webhookAttempt{}, &webhookState{}} {
			if err := t.Where("webhook_id = ?", row.ID).Delete(table).Error; err != nil {
				return err
			}
		}
		if err := t.Delete(row).Error; err != nil {
			return err
		}
		before := row.webhook()
		row.Revision++
		return t.recordWebhook(row, o, model.Change{Action: model.ActionWebhookDelete, Before: model.WebhookJSON(&before)})
	})
}

func (t *tx) lockWebhook(name string, base int64) (*webhookRow, error) {
	row, err := webhookByName(forUpdate(t.DB), name)
	if err == nil && row.Revision != base {
		err = stale("webhook", row.Revision, base)
	}
	return row, err
}

// saveWebhook writes a locked (or new) row as its next revision, with its change.
func (t *tx) saveWebhook(row *webhookRow, w *model.Webhook, o model.Origin, c model.Change) error {
	row.set(w)
	row.Revision++
	row.UpdatedBy, row.UpdatedAt = o.Actor, t.now
	var err error
	if row.ID != 0 {
		err = t.Save(row).Error
	} else if err = t.Create(row).Error; isDuplicate(err) {
		err = webhookTaken(row.Name)
	}
	if err != nil {
		return err
	}
	after := row.webhook()
	c.After = model.WebhookJSON(&after)
	return t.recordWebhook(row, o, c)
}

func (t *tx) recordWebhook(row *webhookRow, o model.Origin, c model.Change) error {
	c.TargetKind, c.Target, c.Revision = model.TargetWebhook, row.Name, row.Revision
	return t.appendChange(o, c)
}

func webhookTaken(name string) error {
	return model.Errorf(model.CodeTaken, "the name %s is taken", name)
}

func webhookByName(db *gorm.DB, name string) (*webhookRow, error) {
	var row webhookRow
	err := db.Take(&row, "name = ?", name).Error
	if err == nil && row.Name != name {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return nil, orNotFound(err, "webhook")
	}
	return &row, nil
}

// loadWebhooks completes rows with how delivering goes, in their order.
func loadWebhooks(db *gorm.DB, rows []webhookRow) ([]model.Webhook, error) {
	out := make([]model.Webhook, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	head, err := readHead(db)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	var states []webhookState
	if err := db.Where("webhook_id IN ?", ids).Find(&states).Error; err != nil {
		return nil, err
	}
	byID := map[int64]model.WebhookState{}
	for i := range states {
		byID[states[i].WebhookID] = states[i].state(head.Seq)
	}
	for i := range rows {
		out[i] = rows[i].webhook()
		out[i].State = byID[rows[i].ID]
	}
	return out, nil
}
