package audit

// suspect is the first row that does not fit, with what was known before it. Which kind of fault it is shows in the
// rows that follow, so they are read on.
type suspect struct {
	want int64 // the number that was expected
	prev Hash  // of the row before it
	row  Entry
	self bool  // the row is whole by its own previous hash, which is not the hash of the row before it
	as   int64 // the number under which the row is whole; 0 = none was found

	seen bool // a further row was read
}

// nearby is how far a row is searched from where it stands.
const nearby = 4096

func (v *Verifier) suspectRow(e *Entry) {
	want := v.last + 1
	switch {
	case v.started && e.ID < v.report.First:
		v.fault = faultAt(Reordered, e.ID, "row %d stands behind row %d", e.ID, v.last)
		return
	case v.started && e.ID < want:
		v.fault = faultAt(Inserted, e.ID, "a second row %d stands behind row %d", e.ID, v.last)
		return
	case v.expect.Filtered && e.ID > want:
		v.fault = faultAt(Altered, e.ID, "row %d is not as it was written", e.ID)
		return
	case !e.Chained && e.ID == want:
		v.fault = faultAt(Altered, e.ID, "row %d has lost its hash", e.ID)
		return
	}
	if from, found := v.insertedFrom(e); found {
		v.fault = faultOver(Inserted, from, v.last, "row %d was inserted: row %d was written as row %d", from, e.ID, from)
		return
	}
	s := &suspect{want: want, prev: v.lastHash, row: *e}
	s.self = e.ID == want && Sum(e.Prev, &e.Change) == e.Hash
	if e.ID == want && !s.self {
		s.as = writtenAs(e)
	}
	v.doubt = s
}

// insertedFrom recognises the row that followed an earlier one before others were put in between and the later ones
// were renumbered.
func (v *Verifier) insertedFrom(e *Entry) (int64, bool) {
	for seq := v.last - 1; seq >= max(v.report.First-1, v.last-trailRows+1); seq-- {
		hash := v.beginsAt
		if seq >= v.report.First {
			hash = v.trail[seq%trailRows]
		}
		if hash == e.Prev && isWhole(e, seq+1) {
			return seq + 1, true
		}
	}
	return 0, false
}

// isWhole tells whether a row has its own hash if its number is taken to be seq.
func isWhole(e *Entry, seq int64) bool {
	c := e.Change
	c.ID = seq
	return Sum(e.Prev, &c) == e.Hash
}

// writtenAs finds the number under which a row was written, near the one that it has.
func writtenAs(e *Entry) int64 {
	for off := int64(1); off <= nearby; off++ {
		if isWhole(e, e.ID+off) {
			return e.ID + off
		}
		if e.ID > off && isWhole(e, e.ID-off) {
			return e.ID - off
		}
	}
	return 0
}

// next reads a row behind the suspect one, and decides when it can.
func (s *suspect) next(e *Entry) *Fault {
	first := !s.seen
	s.seen = true
	if e.Prev != s.prev || !isWhole(e, s.want) {
		if s.self {
			return s.whichOfTwo(first && e.Prev == s.row.Hash)
		}
		return nil
	}
	// This is the row that should have stood where the suspect one stands.
	switch {
	case s.row.ID > s.want:
		return faultAt(Reordered, s.want, "row %d stands behind row %d", s.want, s.row.ID)
	case s.as > 0 || isWhole(&s.row, e.ID):
		return faultAt(Reordered, s.want, "row %d has changed places: it stands as row %d", s.want, e.ID)
	default:
		return faultOver(Inserted, s.want, e.ID-1, "row %d was inserted: row %d was written as row %d", s.want, e.ID, s.want)
	}
}

// whichOfTwo decides between the suspect row and the one before it, which do not fit each other though each has its own
// hash: the one that also fits its other neighbour is as it was written.
func (s *suspect) whichOfTwo(fitsNext bool) *Fault {
	if fitsNext && s.want > 1 && s.prev != (Hash{}) {
		return faultAt(Altered, s.want-1, "row %d was altered and given a new hash", s.want-1)
	}
	return faultAt(Altered, s.want, "row %d was altered and given a new hash", s.want)
}

// end decides when no row follows.
func (s *suspect) end(head *Head) *Fault {
	switch {
	case s.self:
		return s.whichOfTwo(head == nil || head.Hash == s.row.Hash)
	case s.row.ID > s.want:
		return faultOver(Removed, s.want, s.row.ID-1, "%s missing before row %d", rowsText(s.want, s.row.ID-1), s.row.ID)
	case s.as > s.want:
		return faultOver(Removed, s.want, s.as-1, "%s removed: row %d was written as row %d", rowsText(s.want, s.as-1), s.row.ID, s.as)
	default:
		return faultAt(Altered, s.want, "row %d is not as it was written", s.want)
	}
}
