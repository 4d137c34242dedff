package client

import (
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// group is a row of equal calls that travel together and are answered as if they had come one by one. All of them are
// under way at the same time, so any order among them is a true one: whoever picks up the answer first is the first.
type group struct {
	known   *known // nil where nothing was learned of the bucket
	target  *bucket.Target
	shard   int
	key     string
	permits int64
	peek    bool
	wait    time.Duration // positive: one call that reserves

	// Guarded by the lane until the group is sealed.
	lane    *lane
	opened  int64 // ns since the client's start
	callers int64
	sealed  bool

	done chan struct{} // closed when the following are set
	sent int64         // ns
	now  int64         // Redis time, µs
	repl *bucket.Reply
	res  bucket.Result
	err  error

	call  *bucket.Call // on its way
	entry int          // in call

	// out counts who is through: tickets in the lower half, leavers and the landing in the upper.
	out atomic.Int64
}

const leaver = int64(1) << 32

func (g *group) mapKey() groupKey { return keyOf(g.target, g.key, g.permits) }

// ticket is the place of a caller that picks up the answer: 1 for the first.
func (g *group) ticket() int64 {
	v := g.out.Add(1)
	g.checkOut(v)
	return v & (leaver - 1)
}

// checkOut gives back what was granted to callers that left, once everybody is through.
func (g *group) checkOut(v int64) {
	tickets, others := v&(leaver-1), v/leaver
	if tickets+others != g.callers+1 {
		return
	}
	if unused := g.res.Granted - min(g.res.Granted, tickets); unused > 0 && g.err == nil && !g.peek {
		g.lane.returnUnused(g, unused)
	}
}

// board puts the group on a flight.
func (g *group) board(f *flight) {
	if g.target.Facts == nil {
		g.call = &bucket.Call{Target: g.target}
		f.questions = append(f.questions, g.call)
		return
	}
	call := f.callOf(g.target, g.shard)
	entry := bucket.Entry{Permits: g.permits, Count: g.callers, Key: g.key, Wait: g.wait}
	if g.peek {
		entry.Count = 0
	}
	g.call, g.entry = call, len(call.Entries)
	call.Entries = append(call.Entries, entry)
}

// land takes in the answer, or the reason why there is none, and lets the callers go.
func (g *group) land(f *flight, err error) {
	g.sent = f.sent
	if err == nil {
		err = g.call.Err
	}
	g.err = err
	if err == nil {
		g.repl = &g.call.Reply
		g.now = g.repl.Now.UnixMicro()
		if g.entry < len(g.repl.Results) {
			g.res = g.repl.Results[g.entry]
		}
		g.lane.client.noted(g)
	}
	close(g.done)
	g.checkOut(g.out.Add(leaver))
}

func (g *group) waiting() int { return int(g.callers) }

func (g *group) since() int64 { return g.opened }

func (g *group) seal() {
	g.sealed = true
	if g.known != nil && g.known.open == g {
		g.known.open = nil
	}
}
