package audit_test

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

func TestCheckpointTextComesBack(t *testing.T) {
	rows, _ := history(2, 5)
	c := at(t, signer(t), rows, 6)
	back, err := audit.ParseCheckpoint(" " + c.String() + "\n")
	if err != nil || back.String() != c.String() || !back.SignedByItsKey() {
		t.Fatalf("%v, %v", back, err)
	}
	text := c.String()
	parts := strings.Split(text, ":")
	for i, part := range parts {
		for _, other := range []string{"", part + "x", "0" + part, part[:len(part)-1], strings.ToUpper(part) + " "} {
			changed := strings.Join(append(append(slices.Clone(parts[:i]), other), parts[i+1:]...), ":")
			if c, err := audit.ParseCheckpoint(changed); err == nil && c.SignedByItsKey() {
				t.Errorf("%q passes for the checkpoint", changed)
			}
		}
	}
}

// A cut-off tail, or a backup that was put back, leaves a chain that holds together; a checkpoint tells.
func TestCheckpointTellsOfACutOffTail(t *testing.T) {
	s := signer(t)
	rows, _ := history(0, 20)
	point := at(t, s, rows, 18)
	cut := rows[:12]
	head := audit.Head{Seq: 12, Hash: cut[11].Hash, First: 1}
	wantClean(t, verify(cut, audit.Expect{First: 1}, &head))
	wantFault(t, verify(cut, audit.Expect{First: 1}, &head, point), audit.CutOff, 13)
}

// The chain can be made anew by whoever knows its encoding, but not so that it fits a checkpoint.
func TestCheckpointTellsOfAChainMadeAnew(t *testing.T) {
	s := signer(t)
	rows, _ := history(0, 20)
	points := []audit.Checkpoint{at(t, s, rows, 4), at(t, s, rows, 10), at(t, s, rows, 18)}
	rows[6].Reason = "another"
	rehash(rows, 6)
	head := audit.Head{Seq: 20, Hash: rows[19].Hash, First: 1}
	wantClean(t, verify(rows, audit.Expect{First: 1}, &head, points[0]))
	r := verify(rows, audit.Expect{First: 1}, &head, points...)
	wantFault(t, r, audit.Rewritten, 5)
	if r.Faults[0].To != 10 {
		t.Errorf("fault %+v, want it between rows 5 and 10", r.Faults[0])
	}
	// Its beginning left out: the chain says that it begins later.
	rows, _ = history(0, 20)
	later := renumber(slices.Clone(rows[5:]))
	later[0].Prev = audit.Hash{}
	rehash(later, 0)
	for i := range later {
		if later[i].ID != int64(6+i) {
			t.Fatal("numbers")
		}
	}
	wantClean(t, verify(later, audit.Expect{}, nil))
	wantFault(t, verify(later, audit.Expect{}, nil, points[1]), audit.Rewritten, 6)
}

func TestForgedCheckpointIsRefused(t *testing.T) {
	ours, theirs := signer(t), signer(t)
	rows, head := history(0, 20)
	expect := audit.Expect{First: 1, Chain: "deployment", Keys: []ed25519.PublicKey{ours.Public()}}
	wantClean(t, verify(rows, expect, &head, at(t, ours, rows, 10)))
	wantFault(t, verify(rows, expect, &head, at(t, theirs, rows, 10)), audit.Unsigned, 10)
	forged := at(t, ours, rows, 10)
	forged.Seq = 11
	forged.Hash = rows[10].Hash
	wantFault(t, verify(rows, expect, &head, forged), audit.Unsigned, 11)
	// Without a key of the reader's own, at least the signature has to fit, and the report names the key.
	r := verify(rows, audit.Expect{First: 1}, &head, at(t, theirs, rows, 10))
	if !r.OK() || r.KeysGiven || len(r.Keys) != 1 || r.Keys[0] != audit.PublicText(theirs.Public()) {
		t.Errorf("report %+v", r)
	}
}

// With a wrong key every checkpoint is a fault; the report lists some and counts the rest.
func TestFaultsOfCheckpointsAreBounded(t *testing.T) {
	ours, theirs := signer(t), signer(t)
	rows, head := history(0, 50)
	var points []audit.Checkpoint
	for seq := int64(1); seq <= 50; seq++ {
		points = append(points, at(t, theirs, rows, seq))
	}
	rows[30].Reason = "x"
	r := verify(rows, audit.Expect{First: 1, Keys: []ed25519.PublicKey{ours.Public()}}, &head, points...)
	wantFault(t, r, audit.Altered, 31) // a row that is wrong comes first
	if len(r.Faults) != 21 || r.MoreFaults != 30 {
		t.Errorf("%d faults are listed and %d counted", len(r.Faults), r.MoreFaults)
	}
}

func TestCheckpointOfAnotherDeploymentIsCalledSo(t *testing.T) {
	s := signer(t)
	rows, head := history(0, 20)
	point, err := s.Sign("another", audit.Head{Seq: 10, Hash: audit.Hash{1}, First: 1}, start)
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, verify(rows, audit.Expect{First: 1, Chain: "deployment"}, &head, point), audit.Foreign, 10)
	point, err = s.Sign("another", audit.Head{Seq: 100, Hash: audit.Hash{1}, First: 1}, start)
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, verify(rows, audit.Expect{First: 1, Chain: "deployment"}, &head, point), audit.Foreign, 100)
	// An id that the deployment had before is its own.
	rows = append(rows, head.Link(model.Change{At: start, Action: model.ActionIdentityReset, Before: json.RawMessage(`{"deployment_id":"another"}`), Count: 1}))
	wantFault(t, verify(rows, audit.Expect{First: 1, Chain: "deployment"}, &head, point), audit.CutOff, 22)
}

// pruned is a history of 20 rows of which the first ten were removed, with the row that tells of it.
func pruned(t *testing.T, s *audit.Signer) ([]audit.Entry, audit.Head) {
	t.Helper()
	rows, head := history(0, 20)
	point := at(t, s, rows, 10)
	note, err := json.Marshal(audit.PruneNote{To: 10, Hash: point.Hash.String(), Checkpoint: point.String()})
	if err != nil {
		t.Fatal(err)
	}
	rows = append(rows, head.Link(model.Change{At: start, Action: model.ActionAuditPrune, After: note, Count: 1}))
	return rows, head
}

func TestHistoryVerifiesFromTheCheckpointThatRetentionKept(t *testing.T) {
	s := signer(t)
	rows, head := pruned(t, s)
	keys := []ed25519.PublicKey{s.Public()}
	for _, gone := range []int{0, 4, 10} { // not begun, broken off, done
		r := verify(rows[gone:], audit.Expect{First: 1, Keys: keys}, &head, at(t, s, rows, 10), at(t, s, rows, 15))
		wantClean(t, r)
		if r.PrunedTo != 10 {
			t.Errorf("report %+v", r)
		}
		wantClean(t, verify(rows[gone:], audit.Expect{Keys: keys}, nil))
	}
	wantFault(t, verify(rows[11:], audit.Expect{First: 1, Keys: keys}, &head), audit.Removed, 1)
	wantFault(t, verify(rows[5:20], audit.Expect{First: 1}, nil), audit.Removed, 1) // without the row that tells of it
	// A row that tells of a removal under a checkpoint of another key is worth nothing.
	forged, forgedHead := pruned(t, signer(t))
	wantFault(t, verify(forged[10:], audit.Expect{First: 1, Keys: keys}, &forgedHead), audit.Removed, 1)
}

// A filtered export leaves rows out; each row that is there still shows that it was not altered.
func TestFilteredExportVerifiesRowByRow(t *testing.T) {
	rows, _ := history(2, 30)
	var some []audit.Entry
	for i, e := range rows {
		if i%3 == 0 || i%7 == 0 {
			some = append(some, e)
		}
	}
	if r := verify(some, audit.Expect{}, nil); r.OK() {
		t.Error("rows that are left out are no fault of a whole export")
	}
	r := verify(some, audit.Expect{Filtered: true}, nil, at(t, signer(t), rows, 31))
	wantClean(t, r)
	if r.Gaps == 0 || r.Checkpoints+r.Unchecked != 1 {
		t.Errorf("report %+v", r)
	}
	some[5].Actor = "x"
	wantFault(t, verify(some, audit.Expect{Filtered: true}, nil), audit.Altered, some[5].ID)
}

// What is left behind a removal must continue from the checkpoint that stands for what was removed.
func TestRestOfAPrunedHistoryContinuesItsAnchor(t *testing.T) {
	s := signer(t)
	rows, head := pruned(t, s)
	rest := slices.Clone(rows[10:])
	rest[0].Prev[0] ^= 1
	rehash(rest, 0)
	head.Hash = rest[len(rest)-1].Hash
	r := verify(rest, audit.Expect{First: 1, Keys: []ed25519.PublicKey{s.Public()}}, &head)
	wantFault(t, r, audit.Removed, 1)
}
