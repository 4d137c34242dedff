package audit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// history makes a chain of n rows behind some from before it.
func history(early, n int) (rows []audit.Entry, head audit.Head) {
	head = audit.Head{Seq: int64(early), First: int64(early) + 1}
	for i := range early {
		rows = append(rows, audit.Entry{Change: model.Change{ID: int64(i + 1), At: start, Actor: "old", Count: 1}})
	}
	for i := range n {
		rows = append(rows, head.Link(change(i)))
	}
	return rows, head
}

// change makes a row; the clock goes back now and then.
func change(i int) model.Change {
	c := model.Change{
		At: start.Add(time.Duration(i%7-3*(i%5)) * time.Minute), Actor: fmt.Sprintf("user%d", i%3), Action: model.ActionBucketUpdate,
		TargetKind: model.TargetBucket, Target: fmt.Sprintf("b%d", i%10), Revision: int64(i), Reason: "because \"of\" <this>",
		Address: "192.0.2.1", RequestID: fmt.Sprintf("r%d", i), Token: "ci", Count: 1,
		Before: json.RawMessage(`{"a":1.50,  "é":"\u00e9"}`), After: json.RawMessage(`{"a":` + fmt.Sprint(i) + `}`),
	}
	if i%4 == 0 {
		c.Before, c.Count, c.Until = nil, 7, c.At.Add(time.Minute)
	}
	return c
}

func verify(rows []audit.Entry, expect audit.Expect, head *audit.Head, checkpoints ...audit.Checkpoint) audit.Report {
	v := audit.NewVerifier(expect)
	for _, c := range checkpoints {
		v.AddCheckpoint(c)
	}
	for i := range rows {
		e := rows[i]
		v.Add(&e)
	}
	return v.Finish(head)
}

func wantFault(t *testing.T, r audit.Report, kind audit.Kind, seq int64) {
	t.Helper()
	if len(r.Faults) == 0 || r.Faults[0].Kind != kind || r.Faults[0].Seq != seq {
		t.Errorf("found %+v, want %s at row %d", r.Faults, kind, seq)
	}
}

func wantClean(t *testing.T, r audit.Report) {
	t.Helper()
	if !r.OK() {
		t.Errorf("found %+v in a history that is as it was written", r.Faults)
	}
}

func signer(t testing.TB) *audit.Signer {
	t.Helper()
	s, err := audit.SignerOf(audit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at signs where the chain stood at a row.
func at(t testing.TB, s *audit.Signer, rows []audit.Entry, seq int64) audit.Checkpoint {
	t.Helper()
	for _, e := range rows {
		if e.ID == seq {
			first := rows[slices.IndexFunc(rows, func(e audit.Entry) bool { return e.Chained })].ID
			c, err := s.Sign("deployment", audit.Head{Seq: seq, Hash: e.Hash, First: first}, start)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	t.Fatalf("no row %d", seq)
	return audit.Checkpoint{}
}

// rehash makes the chain anew from an index on, as one does who knows the encoding.
func rehash(rows []audit.Entry, from int) {
	for i := from; i < len(rows); i++ {
		if i > 0 {
			rows[i].Prev = rows[i-1].Hash
		}
		rows[i].Hash = audit.Sum(rows[i].Prev, &rows[i].Change)
	}
}

// renumber makes the numbers go up by one again.
func renumber(rows []audit.Entry) []audit.Entry {
	for i := range rows {
		rows[i].ID = rows[0].ID + int64(i)
	}
	return rows
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
