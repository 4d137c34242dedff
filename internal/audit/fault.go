package audit

import "fmt"

// Kind is what is wrong with the history.
type Kind string

// The kinds of fault.
const (
	Altered   Kind = "altered"   // a row is not as it was written
	Removed   Kind = "removed"   // rows are missing
	Inserted  Kind = "inserted"  // rows stand where none were written
	Reordered Kind = "reordered" // a row stands in another's place
	CutOff    Kind = "cut_off"   // a checkpoint tells of rows at the end that are not there
	Rewritten Kind = "rewritten" // the chain holds together but is not the one that a checkpoint tells of
	Unsigned  Kind = "signature" // a checkpoint is not signed by the key that it should be signed by
	Foreign   Kind = "foreign"   // a checkpoint is of another deployment
	Unvouched Kind = "unsigned"  // a key is expected to have signed checkpoints, and there is none
	BadHead   Kind = "head"      // the chain's head does not fit its rows
)

// Fault says what is wrong, and where first.
type Fault struct {
	Kind Kind   `json:"kind"`
	Seq  int64  `json:"seq"`          // the first row that it concerns
	To   int64  `json:"to,omitempty"` // the last one; 0 when it is one row, or not known
	Text string `json:"text"`         // for people
}

// Report is what a verification found.
type Report struct {
	Rows        int64    `json:"rows"`        // read, the unchained ones included
	Unchained   int64    `json:"unchained"`   // written before the chain began; nothing protects them
	First       int64    `json:"first"`       // the first row that was verified; 0 when there is none
	Last        int64    `json:"last"`        // the last one
	Hash        string   `json:"hash"`        // of the last one
	PrunedTo    int64    `json:"pruned_to"`   // rows up to this one were removed by retention; 0 when none were
	Gaps        int64    `json:"gaps"`        // of a filtered export: places where rows are left out
	Checkpoints int64    `json:"checkpoints"` // that agree with the rows
	Unchecked   int64    `json:"unchecked"`   // checkpoints of rows that are not kept, or left out of a filtered export
	Keys        []string `json:"keys"`        // that signed the checkpoints
	KeysGiven   bool     `json:"keys_given"`  // whether the keys were compared with such as the reader gave
	Faults      []Fault  `json:"faults"`      // empty when all is well; the first row that is wrong comes first, then some checkpoints
	MoreFaults  int64    `json:"more_faults"` // of checkpoints, not listed
}

// OK tells whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

func faultAt(kind Kind, seq int64, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Seq: seq, Text: fmt.Sprintf(format, args...)}
}

func faultOver(kind Kind, from, to int64, format string, args ...any) *Fault {
	f := faultAt(kind, from, format, args...)
	if to > from {
		f.To = to
	}
	return f
}
