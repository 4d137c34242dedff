package bucket

import "time"

// LeaseCall asks for leases of one partition of a bucket of algorithm concurrency. A caller that holds several leases of
// one partition renews them all in one call.
type LeaseCall struct {
	Target *Target
	Shard  int       // of Key
	Key    string    // 1..512 bytes of any value for the key partitions, else ignored
	Ops    []LeaseOp // done in this order; 1..EntriesBound, ignored where the target's facts are not known

	Reply   Reply         // after Ask; its Results stay empty
	Results []LeaseResult // after Ask, for VerdictDecided: one for each op, in order
	Err     error         // after Ask: *InvalidError, or why Redis gave no answer
}

// LeaseOp is one thing to be done with one lease.
type LeaseOp struct {
	Do LeaseDo
	ID string // of the lease, made by the caller so that no two are the same: 1..64 of A-Za-z0-9_-; of LeasePeek ignored
}

// LeaseDo says what to do with a lease.
type LeaseDo string

// What can be done. An enter, a renew or a release whose answer was lost may be sent again.
const (
	// LeaseEnter grants a lease of one period if fewer than max_permits are held. One that is held is renewed.
	LeaseEnter LeaseDo = "enter"
	// LeaseRenew lets a lease end one period from now. One that is not held any more (it ended, or Redis lost it) enters
	// again if there is room, even in the period after a data loss in which newcomers wait. So it is for leases that the
	// caller believes to hold: never after a release, nor for one known to have ended. After an edit of the period it may
	// bring the end nearer, also when its answer is lost.
	LeaseRenew LeaseDo = "renew"
	// LeaseRelease ends a lease at once.
	LeaseRelease LeaseDo = "release"
	// LeasePeek changes nothing and says whether an enter would be granted.
	LeasePeek LeaseDo = "peek"
)

// LeaseCode says what came of a LeaseOp.
type LeaseCode int

// The codes.
const (
	LeaseHeld     LeaseCode = 1  // enter, renew: held until Expires; release: released; peek: an enter would be granted
	LeaseReheld   LeaseCode = 2  // renew: it was not held any more and entered again; others may have been in meanwhile
	LeaseNotThere LeaseCode = 0  // release: it was not held, so nothing changed
	LeaseRefused  LeaseCode = -1 // enter: no room; renew: not held any more, and no room: lost; peek: an enter would be refused
)

// LeaseResult is the answer to a LeaseOp, as things were after it. Durations count from Reply.Now, are whole µs, rounded
// up, and never negative.
type LeaseResult struct {
	Code LeaseCode
	Held int64 // leases held; after max_permits was lowered maybe more than that
	Free int64 // leases that may enter; 0 in the period after a data loss in which newcomers wait
	// RetryAfter is the time until an enter would be granted if nobody renews or releases; 0 = at once. Of a release, and
	// of a renew that succeeded, it and ResetAfter are 0.
	RetryAfter time.Duration
	ResetAfter time.Duration // until the last lease ends if nobody renews
	// Expires is, of enter and renew, the time until this lease ends; 0 when refused. A holder that counts it from when it
	// sent the call never believes in its lease for too long.
	Expires time.Duration
}

const leaseFigures = 6 // numbers of one result in the reply of lease.lua

const idRule = "must be 1..64 of A-Z a-z 0-9 _ -"

// validID tells whether s may name a lease or a client.
func validID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// ops are those to be sent: none where nothing was learned, since any call then only brings the truth.
func (c *LeaseCall) ops() []LeaseOp {
	if c.Target.Facts == nil {
		return nil
	}
	return c.Ops
}

func (c *LeaseCall) request() (request, error) {
	t, ops := c.Target, c.ops()
	if err := c.check(ops); err != nil {
		return request{}, err
	}
	keys := []string{t.places[0].definition}
	if len(ops) > 0 {
		keys = []string{t.places[c.Shard].definition, t.state(c.Shard, c.Key)}
	}
	r := newRequest(leaseScript, len(keys), 3+2*len(ops))
	for _, key := range keys {
		r.args = append(r.args, key)
	}
	r.args = append(r.args, t.App, t.shape, t.revision)
	for _, op := range ops {
		r.args = append(r.args, string(op.Do), op.ID)
	}
	return r, nil
}

// check refuses what the script would refuse, and what would not make a key.
func (c *LeaseCall) check(ops []LeaseOp) error {
	t := c.Target
	if t.Facts == nil {
		return nil
	}
	if t.Facts.Algorithm != Concurrency {
		return invalid("algorithm", "must be %s, not %s, which has no leases", Concurrency, t.Facts.Algorithm)
	}
	if len(ops) == 0 || len(ops) > EntriesBound {
		return invalid("ops", "must be 1..%d, not %d", EntriesBound, len(ops))
	}
	for _, op := range ops {
		switch op.Do {
		case LeasePeek:
			continue
		case LeaseEnter, LeaseRenew, LeaseRelease:
		default:
			return invalid("op", "must be enter, renew, release or peek, not %q", op.Do)
		}
		if !validID(op.ID) {
			return invalid("lease", idRule)
		}
	}
	return t.checkKey(c.Shard, c.Key)
}

func (c *LeaseCall) answer(value any, err error) {
	c.Reply, c.Results = Reply{}, nil
	if err == nil {
		err = c.decode(value)
	}
	c.Err = wrap(err, "lease from", c.Target.Name)
}

// decode reads the answer of lease.lua.
func (c *LeaseCall) decode(value any) error {
	t := tupleOf(value)
	r, decided := t.head(c.Target.Facts)
	var results []LeaseResult
	if decided {
		results = t.leases(c.ops())
	}
	if err := t.end(); err != nil {
		return err
	}
	c.Reply, c.Results = r, results
	return nil
}

func (t *tuple) leases(ops []LeaseOp) []LeaseResult {
	if len(t.items) != leaseFigures*len(ops) {
		t.err = errReply
		return nil
	}
	results := make([]LeaseResult, len(ops))
	for i := range results {
		r := &results[i]
		r.Code, r.Held, r.Free = LeaseCode(t.int()), t.count(), t.count()
		r.RetryAfter, r.ResetAfter, r.Expires = t.micros(), t.micros(), t.micros()
		if r.Code < LeaseRefused || r.Code > LeaseReheld {
			t.err = errReply
		}
	}
	return results
}
