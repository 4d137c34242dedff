package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Change is a row of the history as the API shows it.
type Change struct {
	ID         int64            `json:"id"`
	At         time.Time        `json:"at"`
	Actor      string           `json:"actor" doc:"user name; system for what nobody did; empty for a login under what can't be a name"`
	Action     model.Action     `json:"action"`
	TargetKind model.TargetKind `json:"target_kind"`
	Target     string           `json:"target"`
	Revision   int64            `json:"revision" doc:"of the target after the change; 0 where it has none"`
	Before     json.RawMessage  `json:"before" doc:"fields before the change, in the target's shape; null where there was nothing"`
	After      json.RawMessage  `json:"after" doc:"fields after the change; null where nothing is left"`
	Reason     string           `json:"reason"`
	Address    string           `json:"address" doc:"where it was asked for; only for those who may read the whole log"`
	RequestID  string           `json:"request_id"`
	Token      string           `json:"token" doc:"name of the API token that was used; empty = none"`
	Count      int64            `json:"count" doc:"how many equal events the row stands for; refusals that repeat are folded into one row"`
	Until      *time.Time       `json:"until" doc:"when the last of several folded events happened; null for a single one"`
}

func (s *server) listChanges(ctx context.Context, in *struct {
	Paged
	TargetKind model.TargetKind `query:"target_kind" doc:"bucket, app, user, system or webhook"`
	Target     string           `query:"target"`
	Actor      string           `query:"actor"`
	Action     model.Action     `query:"action"`
	From       time.Time        `query:"from" doc:"inclusive"`
	To         time.Time        `query:"to" doc:"exclusive"`
}) (*listed[Change], error) {
	return s.changes(ctx, model.ChangeQuery{
		TargetKind: in.TargetKind, Target: in.Target, Actor: in.Actor, Action: in.Action, From: in.From, To: in.To,
		Cursor: in.Cursor, Limit: in.Limit,
	})
}

// bucketChanges is the history of revisions: refused attempts have none and stand in the whole log only. What happened to
// an earlier bucket of the same name is hidden from those who may not read that log; a deleted one's owners keep theirs.
func (s *server) bucketChanges(ctx context.Context, in *struct {
	Named
	Paged
}) (*listed[Change], error) {
	past, err := s.pastFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	q := model.ChangeQuery{TargetKind: model.TargetBucket, Target: past.Name, MinRevision: 1, Cursor: in.Cursor, Limit: in.Limit}
	if !principalOf(ctx).Everywhere(auth.AuditRead) {
		q.MinRevision = past.CreatedRevision
	}
	return s.changes(ctx, q)
}

func (s *server) changes(ctx context.Context, q model.ChangeQuery) (*listed[Change], error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	page, err := s.Store.Changes(ctx, q)
	if err != nil {
		return nil, err
	}
	whole := principalOf(ctx).Everywhere(auth.AuditRead)
	return listOf(page, func(c model.Change) Change { return showChange(c, whole) }), nil
}

func showChange(c model.Change, withAddress bool) Change {
	shown := Change{
		ID: c.ID, At: utc(c.At), Actor: c.Actor, Action: c.Action, TargetKind: c.TargetKind, Target: c.Target,
		Revision: c.Revision, Before: orNull(c.Before), After: orNull(c.After), Reason: c.Reason, RequestID: c.RequestID,
		Token: c.Token, Count: c.Count,
	}
	if !c.Until.IsZero() {
		until := utc(c.Until)
		shown.Until = &until
	}
	if withAddress {
		shown.Address = c.Address
	}
	return shown
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
