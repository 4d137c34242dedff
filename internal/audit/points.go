package audit

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// points are the checkpoints that a verification compares with the rows.
type points struct {
	expect Expect
	ahead  map[int64][]Checkpoint
	keys   map[string]bool
	chains map[string]bool // ids that the deployment has or had
	agreed int64           // number of the last row at which a checkpoint agreed
	apart  []disagreement  // of checkpoints under an id that is not known yet
}

// disagreement is a checkpoint that does not agree, and may be another deployment's.
type disagreement struct {
	chain string
	seq   int64
	fault *Fault
}

func (p *points) init(expect Expect) {
	p.expect, p.ahead, p.keys, p.chains = expect, map[int64][]Checkpoint{}, map[string]bool{}, map[string]bool{}
	if expect.Chain != "" {
		p.chains[expect.Chain] = true
	}
}

// otherFaults is how many faults of checkpoints a report lists: with a wrong key, every checkpoint is one.
const otherFaults = 20

func (v *Verifier) addOther(f *Fault) {
	if len(v.others) == otherFaults {
		v.report.MoreFaults++
		return
	}
	v.others = append(v.others, *f)
}

// AddCheckpoint adds a checkpoint to compare with; it must come before its row does.
func (v *Verifier) AddCheckpoint(c Checkpoint) {
	if why := v.points.unsigned(&c); why != "" {
		v.addOther(faultAt(Unsigned, c.Seq, "the checkpoint of row %d %s", c.Seq, why))
		return
	}
	if v.expect.First > 0 && c.First != v.expect.First {
		fault := beginsElsewhere(&c, v.expect.First)
		v.points.apart = append(v.points.apart, disagreement{c.Chain, c.Seq, fault})
		return
	}
	v.points.keys[PublicText(c.Key)] = true
	v.points.ahead[c.Seq] = append(v.points.ahead[c.Seq], c)
}

// unsigned tells what is wrong with a signature; "" when nothing is.
func (p *points) unsigned(c *Checkpoint) string {
	known := slices.ContainsFunc(p.expect.Keys, func(key ed25519.PublicKey) bool { return key.Equal(c.Key) })
	switch {
	case !c.SignedByItsKey():
		return "has a signature that does not fit"
	case len(p.expect.Keys) > 0 && !known:
		return "is signed by another key: " + PublicText(c.Key)
	}
	return ""
}

// reach compares the checkpoints of a row with it.
func (p *points) reach(v *Verifier, seq int64, hash Hash) {
	if len(p.ahead) == 0 {
		return
	}
	for _, c := range p.ahead[seq] {
		switch fault := p.compare(v, &c, hash); {
		case fault == nil:
			v.report.Checkpoints++
			p.agreed = seq
		case p.expect.Chain != "" && !p.chains[c.Chain]:
			p.apart = append(p.apart, disagreement{c.Chain, seq, fault})
		default:
			v.fault = fault
			return
		}
	}
	delete(p.ahead, seq)
}

func (p *points) compare(v *Verifier, c *Checkpoint, hash Hash) *Fault {
	from := p.agreed + 1
	if p.agreed == 0 {
		from = v.report.First
	}
	if c.Hash != hash {
		return faultOver(Rewritten, from, c.Seq,
			"%s not what the checkpoint of row %d tells of: at least one was altered, and the chain was made anew", rowsText(from, c.Seq), c.Seq)
	}
	if v.beginsAt == (Hash{}) && c.First != v.report.First && !p.expect.Filtered {
		return beginsElsewhere(c, v.report.First)
	}
	return nil
}

func beginsElsewhere(c *Checkpoint, first int64) *Fault {
	return faultAt(Rewritten, c.First, "the checkpoint of row %d says that the chain began with row %d, and here it began with row %d", c.Seq, c.First, first)
}

// readIdentity notes an id that the deployment had before.
func (p *points) readIdentity(e *Entry) {
	var was struct {
		ID string `json:"deployment_id"`
	}
	if json.Unmarshal(e.Before, &was) == nil && was.ID != "" {
		p.chains[was.ID] = true
	}
}

// finish judges the checkpoints whose rows did not come.
func (p *points) finish(v *Verifier) {
	for _, d := range p.apart {
		if p.expect.Chain != "" && !p.chains[d.chain] {
			v.addOther(foreign(d.seq, d.chain))
		} else if v.fault == nil {
			v.fault = d.fault
		}
	}
	var cut *Checkpoint
	for _, seq := range slices.Sorted(maps.Keys(p.ahead)) {
		for _, c := range p.ahead[seq] {
			switch {
			case p.expect.Chain != "" && !p.chains[c.Chain]:
				v.addOther(foreign(seq, c.Chain))
			case seq <= v.last || v.fault != nil:
				v.report.Unchecked++
			default:
				cut = &c
			}
		}
	}
	if cut != nil && !v.expect.Filtered {
		v.addOther(faultOver(CutOff, v.last+1, cut.Seq,
			"the history ends with row %d, and a checkpoint of %s tells of row %d: the rows behind were cut off, or an older copy was put back",
			v.last, cut.At.Format(timeForm), cut.Seq))
	} else if cut != nil {
		v.report.Unchecked++
	}
}

func foreign(seq int64, chain string) *Fault {
	return faultAt(Foreign, seq, "the checkpoint of row %d is of another deployment, %s", seq, chain)
}

// keysSeen are the keys in their order: an empty list, not null, where there are none.
func (p *points) keysSeen() []string {
	keys := slices.AppendSeq(make([]string, 0, len(p.keys)), maps.Keys(p.keys))
	slices.Sort(keys)
	return keys
}

func rowsText(from, to int64) string {
	if from >= to {
		return fmt.Sprintf("row %d is", from)
	}
	return fmt.Sprintf("rows %d to %d are", from, to)
}
