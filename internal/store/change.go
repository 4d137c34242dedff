package store

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// changeRow is one row of the history. Rows are only ever inserted; nothing in this package updates one, and only
// retention (audit_prune.go) deletes any.
type changeRow struct {
	ID         int64 `gorm:"primaryKey;autoIncrement:false"`
	At         time.Time
	Actor      string
	Action     string
	TargetKind string
	Target     string
	Revision   int64
	BeforeJSON *string `gorm:"column:before_json"`
	AfterJSON  *string `gorm:"column:after_json"`
	Reason     string
	Address    string
	RequestID  string
	Token      string
	Times      int64
	UntilAt    *time.Time
	PrevHash   []byte // nil for a row from before the chain
	Hash       []byte
}

func (changeRow) TableName() string { return "changes" }

// AppendChange adds a change row for what is no write of the store itself: a login, a refused attempt, an export. The
// store sets ID, and At when it is zero; texts beyond their bounds are cut.
func (s *Store) AppendChange(ctx context.Context, c model.Change) error {
	return s.write(ctx, func(t *tx) error {
		t.insertChange(c)
		return nil
	})
}

// appendChange adds the change row of a write: who and why come from the origin, when from the transaction. The row is
// kept until the transaction ends, and joins the chain right before the commit (audit_chain.go).
func (t *tx) appendChange(o model.Origin, c model.Change) error {
	c.At, c.Actor, c.Reason, c.Address, c.RequestID, c.Token = t.now, o.Actor, o.Reason, o.Address, o.RequestID, o.Token
	t.insertChange(c)
	return nil
}

// insertChange brings a row to the form in which the database keeps it, so that what is hashed is what is read back.
func (t *tx) insertChange(c model.Change) {
	if c.At.IsZero() {
		c.At = t.now
	}
	c.At = micros(c.At)
	c.Actor, c.Action = clip(c.Actor, model.TargetBound), model.Action(clip(string(c.Action), model.ActionBound))
	c.TargetKind, c.Target = model.TargetKind(clip(string(c.TargetKind), model.TargetKindBound)), clip(c.Target, model.TargetBound)
	c.Before, c.After = validText(c.Before), validText(c.After)
	c.Reason, c.Address, c.RequestID = clip(c.Reason, model.ReasonBound), clip(c.Address, model.AddressBound), clip(c.RequestID, model.AddressBound)
	c.Token, c.Count = clip(c.Token, model.TargetBound), max(c.Count, 1)
	if !c.Until.IsZero() {
		c.Until = micros(c.Until)
	}
	t.changes = append(t.changes, c)
}

// Changes lists the history, newest first. CodeInvalid naming the field of the query.
func (s *Store) Changes(ctx context.Context, q model.ChangeQuery) (model.Page[model.Change], error) {
	var page model.Page[model.Change]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope := cursorScope("changes", q)
	var before int64
	if cursor != "" {
		if err := decodeCursor(scope, cursor, &before); err != nil {
			return page, err
		}
	}
	var rows []changeRow
	err := s.read(ctx, func(db *gorm.DB) error {
		query, err := changesSeen(db, q.Viewer)
		if err != nil {
			return err
		}
		query = changeFilters(query, q)
		if before > 0 {
			query = query.Where("changes.id < ?", before)
		}
		return query.Order("changes.id DESC").Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return page, err
	}
	rows, page.Next = cut(rows, limit, scope, func(r changeRow) any { return r.ID })
	page.Items = make([]model.Change, len(rows))
	for i := range rows {
		page.Items[i] = rows[i].change()
	}
	return page, nil
}

func changeFilters(db *gorm.DB, q model.ChangeQuery) *gorm.DB {
	equal := func(column, value string) {
		if value != "" {
			db = db.Where(column+" = ?", value)
		}
	}
	equal("changes.target_kind", string(q.TargetKind))
	equal("changes.target", q.Target)
	equal("changes.actor", q.Actor)
	equal("changes.action", string(q.Action))
	if !q.From.IsZero() {
		db = db.Where("changes.at >= ?", micros(q.From))
	}
	if !q.To.IsZero() {
		db = db.Where("changes.at < ?", micros(q.To))
	}
	if q.MinRevision > 0 {
		db = db.Where("changes.revision >= ?", q.MinRevision)
	}
	return db
}

// changesSeen limits the history to living buckets and apps that the viewer may see, each from its present beginning
// on: what a deleted one of the same name did is none of a newcomer's business.
func changesSeen(db *gorm.DB, viewer string) (*gorm.DB, error) {
	if viewer == "" {
		return db, nil
	}
	id, err := viewerID(db, viewer)
	if err != nil {
		return nil, err
	}
	bucket := db.Model(&bucketRow{}).Select("1").Where("buckets.deleted = ? AND buckets.name = changes.target AND changes.revision >= buckets.created_revision", false)
	app := db.Model(&appRow{}).Select("1").Where("apps.deleted = ? AND apps.name = changes.target AND changes.revision >= apps.created_revision", false)
	return db.Where("((changes.target_kind = ? AND EXISTS (?)) OR (changes.target_kind = ? AND EXISTS (?)))",
		model.TargetBucket, seenBuckets(bucket, id), model.TargetApp, seenApps(app, id)), nil
}

func (r *changeRow) change() model.Change {
	return model.Change{
		ID: r.ID, At: r.At.UTC(), Actor: r.Actor, Action: model.Action(r.Action), TargetKind: model.TargetKind(r.TargetKind), Target: r.Target,
		Revision: r.Revision, Before: jsonOf(r.BeforeJSON), After: jsonOf(r.AfterJSON), Reason: r.Reason, Address: r.Address, RequestID: r.RequestID,
		Token: r.Token, Count: r.Times, Until: orZero(r.UntilAt),
	}
}

func orZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// validText makes a text valid UTF-8, as the column demands; nil stays nil.
func validText(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
}

func textOf(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

func jsonOf(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// clip cuts a text that people or their programs chose to what its column holds, in characters, and makes it UTF-8.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}
