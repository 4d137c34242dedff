package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// headRow is the one row of table audit_head.
type headRow struct {
	ID       int64 `gorm:"primaryKey;autoIncrement:false"`
	Seq      int64
	Hash     []byte
	FirstSeq int64
}

func (headRow) TableName() string { return "audit_head" }

const headID = 1

// chainChanges adds the collected change rows to the chain. It runs last in a transaction: the head is locked after all
// other rows, so that writers who wait for it hold nothing that its holder needs, and only until the commit, so that
// they wait for little more than that commit.
func (t *tx) chainChanges() error {
	if len(t.changes) == 0 {
		return nil
	}
	head, err := readHead(forUpdate(t.DB))
	if err != nil {
		return err
	}
	rows := make([]changeRow, len(t.changes))
	for i, c := range t.changes {
		rows[i] = rowOf(head.Link(c))
	}
	if err := insertAll(t, rows); err != nil {
		return err
	}
	moved := map[string]any{"seq": head.Seq, "hash": head.Hash[:]}
	return t.Model(&headRow{}).Where("id = ?", headID).Updates(moved).Error
}

func readHead(db *gorm.DB) (audit.Head, error) {
	var row headRow
	err := db.Take(&row, "id = ?", headID).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && len(row.Hash) != audit.HashBytes {
		return audit.Head{}, internal(errors.New("the audit chain's head is missing or damaged"))
	}
	if err != nil {
		return audit.Head{}, err
	}
	return audit.Head{Seq: row.Seq, Hash: audit.Hash(row.Hash), First: row.FirstSeq}, nil
}

func rowOf(e audit.Entry) changeRow {
	row := changeRow{
		ID: e.ID, At: e.At, Actor: e.Actor, Action: string(e.Action), TargetKind: string(e.TargetKind), Target: e.Target,
		Revision: e.Revision, BeforeJSON: textOf(e.Before), AfterJSON: textOf(e.After), Reason: e.Reason, Address: e.Address,
		RequestID: e.RequestID, Token: e.Token, Times: e.Count, PrevHash: bytes.Clone(e.Prev[:]), Hash: bytes.Clone(e.Hash[:]),
	}
	if !e.Until.IsZero() {
		row.UntilAt = &e.Until
	}
	return row
}

// AuditHead is where the chain stands.
func (s *Store) AuditHead(ctx context.Context) (audit.Head, error) {
	var head audit.Head
	err := s.readOne(ctx, func(db *gorm.DB) (err error) {
		head, err = readHead(db)
		return err
	})
	return head, err
}

// changeColumns are the columns of an entry, in the order in which scanEntry reads them.
const changeColumns = "changes.id, changes.at, changes.actor, changes.action, changes.target_kind, changes.target, changes.revision, " +
	"changes.before_json, changes.after_json, changes.reason, changes.address, changes.request_id, changes.token, changes.times, " +
	"changes.until_at, changes.prev_hash, changes.hash"

// AuditEntries reads up to limit rows behind number after, oldest first, under a query's filters (its cursor and its
// limit don't count), with all that an export and a verification need. CodeInvalid naming the field of the query.
func (s *Store) AuditEntries(ctx context.Context, q model.ChangeQuery, after int64, limit int) ([]audit.Entry, error) {
	q.Cursor, q.Limit = "", 0
	if err := q.Validate(); err != nil {
		return nil, err
	}
	var entries []audit.Entry
	err := s.readOne(ctx, func(db *gorm.DB) error {
		seen, err := changesSeen(db, q.Viewer)
		if err != nil {
			return err
		}
		entries, err = entriesAfter(changeFilters(seen, q), after, limit)
		return err
	})
	return entries, err
}

// entriesAfter scans by hand: verifying a million rows spends most of its time here.
func entriesAfter(db *gorm.DB, after int64, limit int) (entries []audit.Entry, err error) {
	query := db.Model(&changeRow{}).Select(changeColumns).Where("changes.id > ?", after).Order("changes.id").Limit(limit)
	rows, err := query.Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	entries = make([]audit.Entry, 0, limit)
	for rows.Next() {
		var e audit.Entry
		if err := scanEntry(rows, &e); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return slices.Clip(entries), rows.Err()
}

func scanEntry(rows interface{ Scan(...any) error }, e *audit.Entry) error {
	var before, after, prev, hash []byte
	var until *time.Time
	err := rows.Scan(&e.ID, &e.At, &e.Actor, &e.Action, &e.TargetKind, &e.Target, &e.Revision, &before, &after,
		&e.Reason, &e.Address, &e.RequestID, &e.Token, &e.Count, &until, &prev, &hash)
	if err != nil {
		return err
	}
	e.At, e.Until = e.At.UTC(), orZero(until)
	e.Before, e.After = json.RawMessage(before), json.RawMessage(after)
	// A hash of another length was not written by us: both stay zero then, which never verifies.
	e.Chained = hash != nil
	if len(prev) == audit.HashBytes && len(hash) == audit.HashBytes {
		e.Prev, e.Hash = audit.Hash(prev), audit.Hash(hash)
	}
	return nil
}
