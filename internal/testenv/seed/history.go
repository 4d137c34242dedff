package seed

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

const changeColumns = "id, at, actor, action, target_kind, target, revision, before_json, after_json, reason, address, request_id, token, times, prev_hash, hash"

var reasons = []string{"the partner asked for it", "more traffic since the launch", "less load on the database", "after the incident", "as agreed with the owners"}

// writeHistory writes the changes behind those that are there, and remembers where each bucket ends.
func (w *world) writeHistory(in *inserter) {
	head, err := readHead(in)
	if err != nil {
		in.err = err
		return
	}
	rows := in.table("changes", changeColumns)
	for i := range w.Changes {
		at := w.Until.Add(-span + span*time.Duration(i)/time.Duration(w.Changes)).UTC().Truncate(time.Microsecond)
		c := w.change(i, at)
		c.At, c.Address, c.RequestID, c.Count = at, "192.0.2.7", fmt.Sprintf("seed-%08d", i), 1
		e := head.Link(c)
		rows.add(e.ID, e.At, e.Actor, e.Action, e.TargetKind, e.Target, e.Revision, orNull(e.Before), orNull(e.After), e.Reason,
			e.Address, e.RequestID, e.Token, e.Count, e.Prev[:], e.Hash[:])
		if in.err != nil {
			return
		}
	}
	rows.flush()
	in.exec("UPDATE audit_head SET seq = ?, hash = ? WHERE id = 1", head.Seq, head.Hash[:])
}

func readHead(in *inserter) (audit.Head, error) {
	var head audit.Head
	var hash []byte
	err := in.db.QueryRowContext(in.ctx, "SELECT seq, hash, first_seq FROM audit_head WHERE id = 1").Scan(&head.Seq, &hash, &head.First)
	if err == nil && len(hash) != audit.HashBytes {
		err = fmt.Errorf("the audit chain's head has %d bytes", len(hash))
	}
	if err != nil {
		return head, fmt.Errorf("seed: %w", err)
	}
	head.Hash = audit.Hash(hash)
	return head, nil
}

// change makes up change i: the creations first, then four edits for each login.
func (w *world) change(i int, at time.Time) model.Change {
	if i < w.Users {
		u := w.user(i)
		return model.Change{Actor: model.SystemActor, Action: model.ActionUserCreate, TargetKind: model.TargetUser, Target: u.Name, Revision: 1, After: model.UserJSON(&u)}
	}
	if i -= w.Users; i < w.Apps {
		a := &w.apps[i]
		return model.Change{Actor: model.SystemActor, Action: model.ActionAppCreate, TargetKind: model.TargetApp, Target: a.Name, Revision: 1, After: model.AppJSON(&a.App)}
	}
	if i -= w.Apps; i < w.Buckets {
		b := &w.buckets[i]
		b.created, b.creator = at, UserName(b.owners[0])
		return b.next(model.ActionBucketCreate, nil, "a new service", at)
	}
	if i -= w.Buckets; i%5 == 4 || w.Buckets == 0 {
		who := UserName(w.rand.IntN(w.Users))
		return model.Change{Actor: who, Action: model.ActionLogin, TargetKind: model.TargetUser, Target: who}
	}
	b := &w.buckets[w.rand.IntN(w.Buckets)]
	before := b.json
	b.d.MaxPermits = int64(10 + w.rand.IntN(5000))
	b.json = model.DefinitionJSON(&b.d)
	return b.next(model.ActionBucketUpdate, before, reasons[i%len(reasons)], at)
}

// next makes the change to the bucket's next revision.
func (b *bucket) next(action model.Action, before json.RawMessage, reason string, at time.Time) model.Change {
	b.revision++
	b.updated, b.updater = at, UserName(b.owners[0])
	return model.Change{
		Actor: b.updater, Action: action, TargetKind: model.TargetBucket, Target: b.name, Revision: b.revision,
		Before: before, After: b.json, Reason: reason,
	}
}

func orNull(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}
