package audit_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

func TestHistoryAsItWasWrittenVerifies(t *testing.T) {
	s := signer(t)
	for _, early := range []int{0, 3} {
		for _, n := range []int{0, 1, 2, 200} {
			rows, head := history(early, n)
			var points []audit.Checkpoint
			for i := early; i < early+n; i += 50 {
				points = append(points, at(t, s, rows, int64(i+1)))
			}
			r := verify(rows, audit.Expect{First: head.First, Chain: "deployment", Keys: []ed25519.PublicKey{s.Public()}}, &head, points...)
			wantClean(t, r)
			if r.Rows != int64(early+n) || r.Unchained != int64(early) || int(r.Checkpoints) != len(points) || n > 0 && r.Last != head.Seq {
				t.Errorf("report %+v", r)
			}
			wantClean(t, verify(rows, audit.Expect{}, nil)) // as of an export, of which nothing is known
		}
	}
}

// alterations changes one column each.
var alterations = map[string]func(e *audit.Entry){
	"at":          func(e *audit.Entry) { e.At = e.At.Add(time.Microsecond) },
	"actor":       func(e *audit.Entry) { e.Actor = "somebody" },
	"action":      func(e *audit.Entry) { e.Action = "login" },
	"target_kind": func(e *audit.Entry) { e.TargetKind = "app" },
	"target":      func(e *audit.Entry) { e.Target += " " },
	"revision":    func(e *audit.Entry) { e.Revision++ },
	"before":      func(e *audit.Entry) { e.Before = json.RawMessage(`{"a":1.5}`) },
	"before null": func(e *audit.Entry) { e.Before = json.RawMessage{} },
	"after":       func(e *audit.Entry) { e.After = nil },
	"reason":      func(e *audit.Entry) { e.Reason = "" },
	"address":     func(e *audit.Entry) { e.Address = "192.0.2.2" },
	"request_id":  func(e *audit.Entry) { e.RequestID = "R" },
	"token":       func(e *audit.Entry) { e.Token = "" },
	"times":       func(e *audit.Entry) { e.Count++ },
	"until_at":    func(e *audit.Entry) { e.Until = time.Time{} },
	"until_at 2":  func(e *audit.Entry) { e.Until = e.Until.Add(time.Microsecond) },
	"prev_hash":   func(e *audit.Entry) { e.Prev[5] ^= 1 },
	"hash":        func(e *audit.Entry) { e.Hash[5] ^= 1 },
	"no hash":     func(e *audit.Entry) { e.Chained, e.Prev, e.Hash = false, audit.Hash{}, audit.Hash{} },
	"both with a hash of its own": func(e *audit.Entry) {
		e.Reason = "another"
		e.Hash = audit.Sum(e.Prev, &e.Change)
	},
}

// Whatever column of whatever row is altered, exactly that row is named: in the database, and in an export of it.
func TestFirstAlteredRowIsNamed(t *testing.T) {
	const early, n = 2, 12 // rows 3..14; those that begin with a folded one are 3, 7 and 11
	for name, alter := range alterations {
		for _, seq := range []int64{3, 7, 11} {
			t.Run(fmt.Sprintf("%s of row %d", name, seq), func(t *testing.T) {
				rows, head := history(early, n)
				alter(&rows[seq-1])
				wantFault(t, verify(rows, audit.Expect{First: head.First}, &head), audit.Altered, seq)
				// A later alteration hides nothing.
				rows[12].Actor = "x"
				wantFault(t, verify(rows, audit.Expect{First: head.First}, &head), audit.Altered, seq)
			})
		}
	}
}

func TestLastRowAlteredWithItsHashIsFoundByTheHead(t *testing.T) {
	rows, head := history(0, 5)
	rows[4].Reason = "another"
	rehash(rows, 4)
	wantFault(t, verify(rows, audit.Expect{First: 1}, &head), audit.BadHead, 5)
}

func TestRemovedRowsAreNamed(t *testing.T) {
	tests := map[string]struct {
		from, to int // indices
		renumber bool
		seq      int64
	}{
		"the first":              {0, 1, false, 1},
		"one":                    {3, 4, false, 4},
		"several":                {3, 7, false, 4},
		"the last":               {19, 20, false, 20},
		"one, numbers closed":    {3, 4, true, 4},
		"several, numbers clsd":  {3, 7, true, 4},
		"last two":               {18, 20, false, 19},
		"all":                    {0, 20, false, 1},
		"the first two, renumbd": {0, 2, true, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rows, head := history(0, 20)
			rows = slices.Delete(rows, test.from, test.to)
			if test.renumber {
				first := int64(1)
				for i := range rows {
					rows[i].ID = first + int64(i)
				}
			}
			wantFault(t, verify(rows, audit.Expect{First: 1}, &head), audit.Removed, test.seq)
		})
	}
}

// A chain that was made anew around a gap in the numbers is no whole chain.
func TestGapInTheNumbersIsFoundThoughHashesFit(t *testing.T) {
	rows, _ := history(0, 20)
	rows = slices.Delete(rows, 4, 6)
	rehash(rows, 4)
	head := audit.Head{Seq: 20, Hash: rows[17].Hash, First: 1}
	wantFault(t, verify(rows, audit.Expect{First: 1}, &head), audit.Removed, 5)
}

func TestInsertedRowsAreNamed(t *testing.T) {
	forged := func(prev audit.Hash, id int64) audit.Entry {
		e := audit.Entry{Change: model.Change{ID: id, At: start, Actor: "forged", Action: "login", Count: 1}, Chained: true, Prev: prev}
		e.Hash = audit.Sum(prev, &e.Change)
		return e
	}
	for _, place := range []int{0, 1, 5, 19} {
		for _, count := range []int{1, 3} {
			t.Run(fmt.Sprintf("%d before index %d", count, place), func(t *testing.T) {
				rows, head := history(0, 20)
				var prev audit.Hash
				if place > 0 {
					prev = rows[place-1].Hash
				}
				var added []audit.Entry
				for i := range count {
					e := forged(prev, int64(place+i+1))
					prev = e.Hash
					added = append(added, e)
				}
				whole := renumber(slices.Insert(slices.Clone(rows), place, added...))
				wantFault(t, verify(whole, audit.Expect{First: 1}, &head), audit.Inserted, int64(place+1))
				// The same with rows that carry no right hash.
				for i := range added {
					added[i].Hash[0] ^= 1
				}
				whole = renumber(slices.Insert(slices.Clone(rows), place, added...))
				wantFault(t, verify(whole, audit.Expect{First: 1}, &head), audit.Inserted, int64(place+1))
			})
		}
	}
	rows, head := history(0, 20)
	rows = append(rows, forged(rows[19].Hash, 21))
	wantFault(t, verify(rows, audit.Expect{First: 1}, &head), audit.Inserted, 21)
	rows, _ = history(0, 20)
	rows = slices.Insert(rows, 10, rows[4])
	wantFault(t, verify(rows, audit.Expect{First: 1}, nil), audit.Inserted, 5) // a line of an export that stands twice
}

func TestReorderedRowsAreNamed(t *testing.T) {
	for _, swap := range [][2]int{{0, 1}, {3, 4}, {3, 15}, {0, 19}, {18, 19}} {
		rows, head := history(0, 20)
		rows[swap[0]], rows[swap[1]] = rows[swap[1]], rows[swap[0]]
		lines := slices.Clone(rows) // an export whose lines were exchanged
		r := verify(lines, audit.Expect{}, nil)
		if swap[0] > 0 {
			wantFault(t, r, audit.Reordered, int64(swap[0]+1))
		} else if r.OK() {
			t.Errorf("%v: exchanged lines were not found", swap)
		}
		wantFault(t, verify(renumber(rowsFrom1(rows)), audit.Expect{First: 1}, &head), audit.Reordered, int64(swap[0]+1))
	}
}

// rowsFrom1 gives the first row number 1, so that renumber counts from there.
func rowsFrom1(rows []audit.Entry) []audit.Entry {
	rows[0].ID = 1
	return rows
}

// Rows from before the chain are no part of it, and a row of the chain can't be passed off as one of them.
func TestEarlyRowsStayApart(t *testing.T) {
	rows, head := history(3, 5)
	rows[3].Chained = false
	wantFault(t, verify(rows, audit.Expect{First: head.First}, &head), audit.Altered, 4)
	rows, head = history(3, 5)
	rows[2].Chained = true
	wantFault(t, verify(rows, audit.Expect{First: head.First}, &head), audit.Altered, 3)
}
