package bucket

import "time"

// GiveBack returns permits that a decision took and nobody used, so that the bucket stands no higher than if they had not
// been asked for. At, RuleID, ResetAfter and Mark are those of the decision; for a row of calls those of the row. It is a
// question to be asked once: asked again, after whatever error, it would give back twice.
type GiveBack struct {
	Target     *Target // as of the decision: with another shape, the state that was taken from is gone
	Key        string
	Permits    int64
	At         time.Time
	RuleID     int64 // 0, of mode off, which takes nothing, is always stale
	ResetAfter time.Duration
	Mark       time.Duration

	// Given, after Ask, tells that they were given back, but for those that somebody relies on: later reservations, or a
	// bucket that would have been full meanwhile. Else they were stale, and Redis is unchanged: the bucket was edited or
	// restarted, the window is over, or the permits have arrived anew.
	Given bool
	Err   error // after Ask: *InvalidError, or why Redis gave no answer; then nothing more can be done
}

func (g *GiveBack) request() (request, error) {
	t := g.Target
	if t.Facts == nil {
		return request{}, invalid("facts", "must be those of the decision")
	}
	s := giveBackScripts[t.Facts.Algorithm]
	if s == nil {
		return request{}, notAcquired(t.Facts.Algorithm)
	}
	shard := t.Shard(g.Key)
	if err := t.checkKey(shard, g.Key); err != nil {
		return request{}, err
	}
	full := g.ResetAfter + g.Mark
	switch {
	case g.Permits < 1 || g.Permits > PermitsBound:
		return request{}, invalid("permits", "must be 1..%d, not %d", PermitsBound, g.Permits)
	case g.At.UnixMicro() < 0 || g.RuleID < 0 || g.RuleID > revisionMax:
		return request{}, invalid("decision", "must have a time and a rule id, not %s and %d", g.At, g.RuleID)
	case g.ResetAfter < 0 || g.Mark < 0 || full < 0 || full.Microseconds() > revisionMax:
		return request{}, invalid("decision", "must have a reset and a mark of 0 or more, not %s and %s", g.ResetAfter, g.Mark)
	}
	r := newRequest(s, 2, 5)
	r.args = append(r.args, t.places[shard].definition, t.state(shard, g.Key),
		t.shape, number(g.Permits), number(g.At.UnixMicro()), number(g.RuleID), number(full.Microseconds()))
	return r, nil
}

func (g *GiveBack) answer(value any, err error) {
	if err == nil {
		g.Given, err = decodeGiveBack(value)
	}
	g.Err = wrap(err, "give back to", g.Target.Name)
}

// decodeGiveBack reads the answer of give_back.lua.
func decodeGiveBack(value any) (given bool, err error) {
	t := tupleOf(value)
	status := t.int()
	t.int() // now
	switch status {
	case wireDecided:
		given = true
	case wireNotConfigured:
	case wireUnknownFormat:
		t.err = ErrUnknownFormat
	default:
		t.err = errReply
	}
	return given && t.err == nil, t.end()
}
