package app

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/webhook"
)

var (
	_ webhook.Store = webhookStore{}
	_ api.Webhooks  = webhookCalls{}
)

// webhookStore lets delivering read the change log without knowing its chain.
type webhookStore struct{ *store.Store }

// ChangesAfter reads changes with their hashes.
func (s webhookStore) ChangesAfter(ctx context.Context, after int64, limit int) ([]webhook.Change, error) {
	entries, err := s.AuditEntries(ctx, model.ChangeQuery{}, after, limit)
	if err != nil {
		return nil, err
	}
	changes := make([]webhook.Change, len(entries))
	for i, e := range entries {
		changes[i].Change = e.Change
		if e.Chained {
			changes[i].Hash = e.Hash.String()
		}
	}
	return changes, nil
}

// CheckpointsAfter reads checkpoints in their text form.
func (s webhookStore) CheckpointsAfter(ctx context.Context, after int64, limit int) ([]webhook.Checkpoint, error) {
	kept, err := s.Checkpoints(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	checkpoints := make([]webhook.Checkpoint, len(kept))
	for i, c := range kept {
		checkpoints[i] = webhook.Checkpoint{Seq: c.Seq, At: c.At, Text: c.String()}
	}
	return checkpoints, nil
}

// webhookCalls is what the API needs of webhooks.
type webhookCalls struct {
	webhook.Guard
	*webhook.Sender
}

func (a *App) webhookGuard() webhook.Guard {
	return webhook.Guard{AllowPrivate: a.cfg.WebhookAllowPrivate}
}

// openWebhooks makes what keeps endpoints told. Its name among the servers is new at each start, so that what a dead one
// held is not taken for its own.
func (a *App) openWebhooks() {
	a.webhooks = webhook.New(webhook.Config{
		Store: webhookStore{a.store}, Owner: strings.ToLower(rand.Text()), Guard: a.webhookGuard(), Log: a.log,
	})
}
