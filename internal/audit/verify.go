package audit

import (
	"crypto/ed25519"
	"encoding/json"

	"github.com/headgate/headgate/internal/model"
)

// Expect is what a verification knows beforehand. All of it may be left out.
type Expect struct {
	Keys     []ed25519.PublicKey // that may have signed checkpoints; none: each is checked by the key that it names itself
	Chain    string              // the deployment's present id; "" = not known
	First    int64               // the row with which the chain began; 0 = not known
	Filtered bool                // rows may be left out between others
}

// Verifier reads a history row by row, oldest first, and finds the first row that is not as it was written. It keeps
// the hashes of the last few rows and the checkpoints that are still ahead, nothing else.
type Verifier struct {
	expect Expect
	report Report
	fault  *Fault   // decided
	doubt  *suspect // a row that does not fit; what follows tells what was done
	others []Fault  // of checkpoints, the first few

	started  bool
	chained  int64 // rows accepted
	last     int64 // number of the last accepted row
	lastHash Hash
	beginsAt Hash // what stands before the first row that is here
	trail    [trailRows]Hash

	pruned int64 // rows up to here were removed, as a row of the chain says; 0 = none
	points points
}

// trailRows is how many inserted rows in a line are recognised as such.
const trailRows = 64

// NewVerifier makes a verifier that has read nothing.
func NewVerifier(expect Expect) *Verifier {
	v := &Verifier{expect: expect}
	v.points.init(expect)
	return v
}

// Broken tells whether a fault was found. Reading on may still tell better what was done.
func (v *Verifier) Broken() bool { return v.fault != nil || v.doubt != nil }

// Add reads the next row.
func (v *Verifier) Add(e *Entry) {
	v.report.Rows++
	switch {
	case v.fault != nil:
	case v.doubt != nil:
		v.fault = v.doubt.next(e)
	case !v.started && (!e.Chained || e.ID < v.expect.First):
		v.addEarly(e)
	case v.fits(e):
		v.accept(e)
	default:
		v.suspectRow(e)
	}
}

// addEarly reads a row from before the chain began.
func (v *Verifier) addEarly(e *Entry) {
	switch early := v.expect.First == 0 || e.ID < v.expect.First; {
	case early && !e.Chained:
		v.report.Unchained++
	case early:
		v.fault = faultAt(Altered, e.ID, "row %d has a hash, though the chain began with row %d", e.ID, v.expect.First)
	default:
		v.fault = faultAt(Altered, e.ID, "row %d has lost its hash", e.ID)
	}
}

// fits tells whether a row is the next one of the chain.
func (v *Verifier) fits(e *Entry) bool {
	if !e.Chained {
		return false
	}
	if !v.started {
		v.start(e)
	}
	if v.expect.Filtered && e.ID > v.last+1 && Sum(e.Prev, &e.Change) == e.Hash {
		v.report.Gaps++
		return true
	}
	return e.ID == v.last+1 && e.Prev == v.lastHash && Sum(v.lastHash, &e.Change) == e.Hash
}

// start settles what must stand before the first row with a hash: nothing where the chain began, else the row that
// retention kept as the anchor, which a later row must tell of.
func (v *Verifier) start(e *Entry) {
	v.started = true
	first := v.expect.First
	if first == 0 && e.Prev == (Hash{}) {
		first = e.ID
	}
	v.last = e.ID - 1
	if e.ID != first {
		v.lastHash = e.Prev
	}
	v.beginsAt = v.lastHash
	v.report.First = e.ID
}

func (v *Verifier) accept(e *Entry) {
	if v.chained == 0 {
		v.points.reach(v, e.ID-1, v.lastHash)
	}
	v.chained++
	v.last, v.lastHash = e.ID, e.Hash
	v.trail[e.ID%trailRows] = e.Hash
	v.points.reach(v, e.ID, e.Hash)
	switch e.Action {
	case model.ActionAuditPrune:
		v.readPrune(e)
	case model.ActionIdentityReset:
		v.points.readIdentity(e)
	}
}

// PruneNote is what the row about a removal of old rows says in After.
type PruneNote struct {
	To         int64  `json:"to"`         // the last row that was removed
	Hash       string `json:"hash"`       // of that row
	Checkpoint string `json:"checkpoint"` // that stands for the removed rows
}

// readPrune believes a row about retention only with a checkpoint of the removed rows.
func (v *Verifier) readPrune(e *Entry) {
	var note PruneNote
	if json.Unmarshal(e.After, &note) != nil {
		return
	}
	c, err := ParseCheckpoint(note.Checkpoint)
	if err != nil || c.Seq != note.To || c.Hash.String() != note.Hash || v.points.unsigned(&c) != "" {
		return
	}
	if note.To == v.report.First-1 && c.Hash != v.beginsAt {
		return
	}
	v.pruned = max(v.pruned, note.To)
}

// Finish tells what was found. Head is the chain's head, nil where it is not known, as of an export.
func (v *Verifier) Finish(head *Head) Report {
	if v.fault == nil && v.doubt != nil {
		v.fault = v.doubt.end(head)
	}
	if v.fault == nil {
		v.fault = v.checkBegin()
	}
	if v.fault == nil && head != nil {
		v.fault = v.checkHead(head)
	}
	v.points.finish(v)
	r := v.report
	r.Last, r.Hash = v.last, v.lastHash.String()
	if v.chained == 0 {
		r.First, r.Last, r.Hash = 0, 0, ""
	}
	r.PrunedTo = v.pruned
	r.Keys, r.KeysGiven = v.points.keysSeen(), len(v.expect.Keys) > 0
	r.Faults = []Fault{}
	if v.fault != nil {
		r.Faults = append(r.Faults, *v.fault)
	}
	r.Faults = append(r.Faults, v.others...)
	return r
}

// checkBegin wants a row that tells of the removal of what is missing at the beginning.
func (v *Verifier) checkBegin() *Fault {
	first := v.expect.First
	if v.chained == 0 || v.expect.Filtered || v.report.First == first || v.beginsAt == (Hash{}) && first == 0 {
		return nil
	}
	if v.pruned >= v.report.First-1 {
		return nil
	}
	first = max(first, 1)
	return faultOver(Removed, first, v.report.First-1, "the rows before row %d were removed, and no row with a checkpoint tells of it", v.report.First)
}

func (v *Verifier) checkHead(head *Head) *Fault {
	last, hash := v.last, v.lastHash
	if v.chained == 0 {
		last, hash = head.First-1, Hash{}
	}
	switch {
	case head.Seq > last:
		return faultOver(Removed, last+1, head.Seq, "rows %d to %d, the last ones, were removed: the chain's head tells of them", last+1, head.Seq)
	case head.Seq < last:
		return faultOver(Inserted, head.Seq+1, last, "the chain's head does not know of row %d and what follows it", head.Seq+1)
	case head.Hash != hash:
		return faultAt(BadHead, last, "the chain's head has another hash than row %d, the last one", last)
	}
	return nil
}
