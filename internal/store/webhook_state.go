package store

import (
	"context"
	"strconv"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// attemptsKept is how many of an endpoint's last attempts are kept.
const attemptsKept = 50

// webhookState is how far an endpoint has been told, how that goes, and which server does it.
type webhookState struct {
	WebhookID     int64 `gorm:"primaryKey;autoIncrement:false"`
	CursorID      int64
	CheckpointSeq int64
	Failures      int
	FailedAt      *time.Time
	NextAt        time.Time
	Failing       bool
	LastError     string
	LeaseOwner    string
	LeaseUntil    time.Time
}

func (webhookState) TableName() string { return "webhook_states" }

func (r *webhookState) state(head int64) model.WebhookState {
	return model.WebhookState{
		Cursor: r.CursorID, Checkpoint: r.CheckpointSeq, Failures: r.Failures, FailedAt: orZero(r.FailedAt), NextAt: r.NextAt.UTC(),
		Failing: r.Failing, LastError: r.LastError, Waiting: max(head-r.CursorID, 0),
	}
}

type webhookAttempt struct {
	ID        int64 `gorm:"primaryKey"`
	WebhookID int64
	Event     string
	ChangeID  int64
	At        time.Time
	TookUS    int64 `gorm:"column:took_us"`
	Status    int
	Error     string
}

func (webhookAttempt) TableName() string { return "webhook_attempts" }

// LeaseWebhooks returns the endpoints that owner is to deliver to until the given time: enabled, not given up, behind and
// due at now, and leased by no other server. Two servers that ask at once get different ones.
func (s *Store) LeaseWebhooks(ctx context.Context, owner string, now, until time.Time) ([]model.Webhook, error) {
	now, until = micros(now), micros(until)
	var due []int64
	const free = "(webhook_states.lease_owner = ? OR webhook_states.lease_until <= ?)"
	const behind = "(webhook_states.cursor_id < (SELECT MAX(seq) FROM audit_head)" +
		" OR webhooks.checkpoints = ? AND webhook_states.checkpoint_seq < (SELECT COALESCE(MAX(seq), 0) FROM audit_checkpoints))"
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Model(&webhookState{}).Joins("JOIN webhooks ON webhooks.id = webhook_states.webhook_id").
			Where("webhooks.enabled = ? AND webhook_states.failing = ? AND webhook_states.next_at <= ?", true, false, now).
			Where(free, owner, now).Where(behind, true).Order("webhook_states.webhook_id").Pluck("webhook_states.webhook_id", &due).Error
	})
	if err != nil || len(due) == 0 {
		return nil, err
	}
	var leased []model.Webhook
	err = s.write(ctx, func(t *tx) error {
		leased = nil
		var got []int64
		for _, id := range due {
			taken := t.Model(&webhookState{}).Where("webhook_id = ?", id).Where(free, owner, now).
				Updates(map[string]any{"lease_owner": owner, "lease_until": until})
			if taken.Error != nil {
				return taken.Error
			}
			if taken.RowsAffected > 0 {
				got = append(got, id)
			}
		}
		if len(got) == 0 {
			return nil
		}
		var rows []webhookRow
		if err := t.Where("id IN ? AND enabled = ?", got, true).Order("name").Find(&rows).Error; err != nil {
			return err
		}
		leased, err = loadWebhooks(t.DB, rows)
		return err
	})
	return leased, err
}

// AdvanceWebhook notes how far an endpoint has been told and prolongs the lease; it says how far, not how much further, so
// noting it twice does no harm. CodeStale when the lease went to another server, or the endpoint was edited, set back or
// deleted meanwhile: the caller then stops and leases anew.
func (s *Store) AdvanceWebhook(ctx context.Context, owner string, from, to model.Webhook, until time.Time) error {
	return s.write(ctx, func(t *tx) error {
		row, err := t.leasedState(owner, &from)
		if err != nil {
			return err
		}
		return t.Model(row).Updates(map[string]any{
			"cursor_id": to.State.Cursor, "checkpoint_seq": to.State.Checkpoint, "failures": 0, "failed_at": nil, "last_error": "",
			"next_at": t.now, "lease_until": micros(until),
		}).Error
	})
}

// FailWebhook notes a failed attempt and when to try next, or that the endpoint is given up, which leaves a change row.
// CodeStale as AdvanceWebhook.
func (s *Store) FailWebhook(ctx context.Context, owner string, w model.Webhook, failed model.WebhookState, until time.Time) error {
	return s.write(ctx, func(t *tx) error {
		state, err := t.leasedState(owner, &w)
		if err != nil {
			return err
		}
		err = t.Model(state).Updates(map[string]any{
			"failures": failed.Failures, "failed_at": micros(failed.FailedAt), "next_at": micros(failed.NextAt), "failing": failed.Failing,
			"last_error": clip(failed.LastError, errorBound), "lease_until": micros(until),
		}).Error
		if err != nil || !failed.Failing {
			return err
		}
		row, err := webhookByName(t.DB, w.Name)
		if err != nil {
			return err
		}
		o := model.Origin{Actor: model.SystemActor, Reason: "every attempt since " + failed.FailedAt.UTC().Format(time.RFC3339) + " failed"}
		return t.recordWebhook(row, o, model.Change{Action: model.ActionWebhookFailing})
	})
}

// leasedState locks the state of an endpoint that is still as the caller knows it, under the caller's lease.
func (t *tx) leasedState(owner string, w *model.Webhook) (*webhookState, error) {
	lost := model.Errorf(model.CodeStale, "the webhook %s is not this server's to deliver to any more", w.Name)
	row, err := webhookByName(t.DB, w.Name)
	if model.CodeOf(err) == model.CodeNotFound {
		return nil, lost
	}
	if err != nil {
		return nil, err
	}
	var state webhookState
	if err := forUpdate(t.DB).Take(&state, "webhook_id = ?", row.ID).Error; err != nil {
		return nil, err
	}
	same := row.Revision == w.Revision && row.Secret == w.Secret && state.CursorID == w.State.Cursor && state.CheckpointSeq == w.State.Checkpoint
	if state.LeaseOwner != owner || !same {
		return nil, lost
	}
	return &state, nil
}

// ReleaseWebhooks ends all leases of a server that stops, so that another one need not wait for their end.
func (s *Store) ReleaseWebhooks(ctx context.Context, owner string) error {
	return s.write(ctx, func(t *tx) error {
		return t.Model(&webhookState{}).Where("lease_owner = ?", owner).Updates(map[string]any{"lease_owner": "", "lease_until": t.now}).Error
	})
}

// RedeliverWebhook sets an endpoint back (or on) so that the change from, or the first one after it, is the next that it
// is told of, and lets one that was given up start again. CodeNotFound; CodeInvalid with field "from" unless 1..the newest
// change + 1.
func (s *Store) RedeliverWebhook(ctx context.Context, name string, from int64, o model.Origin) error {
	return s.write(ctx, func(t *tx) error {
		row, err := webhookByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		head, err := readHead(t.DB)
		if err != nil {
			return err
		}
		if from < 1 || from > head.Seq+1 {
			return invalidField("the webhook", "from", "must be the id of a change that there is")
		}
		if err := t.resume(row.ID, map[string]any{"cursor_id": from - 1}); err != nil {
			return err
		}
		after := []byte(`{"from":` + strconv.FormatInt(from, 10) + `}`)
		return t.recordWebhook(row, o, model.Change{Action: model.ActionWebhookRedeliver, After: after})
	})
}

// ResumeWebhook lets an endpoint that failed or was given up be tried again at once. CodeNotFound.
func (s *Store) ResumeWebhook(ctx context.Context, name string) error {
	return s.write(ctx, func(t *tx) error {
		row, err := webhookByName(forUpdate(t.DB), name)
		if err != nil {
			return err
		}
		return t.resume(row.ID, nil)
	})
}

// resume forgets an endpoint's failures and makes it due now, with further columns set.
func (t *tx) resume(id int64, also map[string]any) error {
	set := map[string]any{"failures": 0, "failed_at": nil, "failing": false, "next_at": t.now, "last_error": ""}
	for column, value := range also {
		set[column] = value
	}
	return t.Model(&webhookState{}).Where("webhook_id = ?", id).Updates(set).Error
}

// NoteWebhookAttempt keeps an attempt among the endpoint's last ones. An endpoint that is gone is none to note it of.
func (s *Store) NoteWebhookAttempt(ctx context.Context, name string, a model.WebhookAttempt) error {
	return s.write(ctx, func(t *tx) error {
		row, err := webhookByName(t.DB, name)
		if model.CodeOf(err) == model.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		noted := &webhookAttempt{
			WebhookID: row.ID, Event: a.Event, ChangeID: a.Change, At: micros(a.At), TookUS: a.Took.Microseconds(), Status: a.Status,
			Error: clip(a.Error, errorBound),
		}
		if err := t.Create(noted).Error; err != nil {
			return err
		}
		var surplus []int64
		err = t.Model(&webhookAttempt{}).Where("webhook_id = ?", row.ID).Order("id DESC").Offset(attemptsKept).Limit(attemptsKept).Pluck("id", &surplus).Error
		if err != nil || len(surplus) == 0 {
			return err
		}
		return t.Where("id IN ?", surplus).Delete(&webhookAttempt{}).Error
	})
}

// WebhookAttempts lists an endpoint's last attempts, newest first, at most 50. CodeNotFound.
func (s *Store) WebhookAttempts(ctx context.Context, name string) ([]model.WebhookAttempt, error) {
	out := []model.WebhookAttempt{}
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := webhookByName(db, name)
		if err != nil {
			return err
		}
		var rows []webhookAttempt
		if err := db.Where("webhook_id = ?", row.ID).Order("id DESC").Limit(attemptsKept).Find(&rows).Error; err != nil {
			return err
		}
		out = out[:0]
		for _, r := range rows {
			out = append(out, model.WebhookAttempt{
				Event: r.Event, Change: r.ChangeID, At: r.At.UTC(), Took: time.Duration(r.TookUS) * time.Microsecond, Status: r.Status, Error: r.Error,
			})
		}
		return nil
	})
	return out, err
}
