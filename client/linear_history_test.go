package client_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/headgate/headgate/client"
)

// kind says what happened.
type kind string

const (
	acquired kind = "Acquire"
	all      kind = "AcquireAll"
	waited   kind = "Wait"
	peeked   kind = "Peek"
	unsure   kind = "?"         // a call without an answer: its permits may have been taken, now or later
	gaveBack kind = "give back" // what an unsure call took, if it did
	edited   kind = "edit"
)

// happened is one thing that took place in a history, at one instant between call and ret.
type happened struct {
	kind      kind
	by        int // which client
	permits   int64
	wait      time.Duration // the longest that the call might wait
	call, ret int64         // ns since 1970 by the clock of the machine, which is Redis's too
	decision  client.Decision
	there     int64 // of a Wait that was granted: a Redis time after it returned, µs
	id        int   // of a call that may have taken permits and given them back, and of that give-back
	lasts     bool  // an unsure call that may take its permits long after it returned
	late      bool  // such a Wait: its turn may have come too late

	// Entered when the history is complete: where this stands among the decisions by their Redis times, the Redis time by
	// which everything had taken place, and how many permits all give-backs may bring.
	place, peers int
	until        int64
	returns      int64
	// Of a refusal in the client: for how many permits unsure calls of that client asked, which may have been refused.
	unseen [mostAsked + 1]bool
}

// decided tells whether Redis decided it, so that its instant is known.
func (h *happened) decided() bool { return h.decision.Source == client.SourceRedis }

func (h *happened) at() int64 { return h.decision.At.UnixMicro() }

func (h *happened) String() string {
	d := &h.decision
	s := fmt.Sprintf("[%d %d] client %d %s %d", h.call/1000, h.ret/1000, h.by, h.kind, h.permits)
	if h.wait > 0 {
		s += fmt.Sprintf(" up to %v", h.wait)
	}
	if d.Source != "" {
		s += fmt.Sprintf(": %s by %s, remaining %d, retry %v, reset %v, revision %d", d.Outcome, d.Source, d.Remaining, d.RetryAfter, d.ResetAfter, d.Revision)
	}
	if h.decided() {
		s += fmt.Sprintf(", at %d", h.at())
	}
	return s
}

// history is what several clients did to one bucket.
type history struct {
	mu     sync.Mutex
	list   []*happened
	unsure int
}

// mostUnsure bounds the calls without an answer in one history: each doubles what has to be looked at.
const mostUnsure = 30

func (y *history) add(h happened) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.list = append(y.list, &h)
}

func (y *history) nextID() int {
	if y.unsure == mostUnsure {
		panic("more calls without an answer than a model has bits for")
	}
	y.unsure++
	return y.unsure - 1
}

// addLate adds a Wait that was refused, perhaps because its turn had come too late.
func (y *history) addLate(h happened) {
	y.mu.Lock()
	defer y.mu.Unlock()
	h.late, h.id = true, y.nextID()
	back := h
	back.kind, back.decision = gaveBack, client.Decision{}
	y.list = append(y.list, &h, &back)
}

// addUnsure adds a call without an answer, with its give-back if it has one. It lasts if its script may run later.
func (y *history) addUnsure(h happened, givesBack, lasts bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	h.kind, h.decision, h.id, h.lasts = unsure, client.Decision{}, y.nextID(), lasts
	y.list = append(y.list, &h)
	if givesBack {
		back := h
		back.kind = gaveBack
		y.list = append(y.list, &back)
	}
}

// complete enters what only the whole history tells. The last thing that happened was a decision.
func (y *history) complete(t *testing.T) []porcupine.Operation {
	t.Helper()
	var decisions []*happened
	for _, h := range y.list {
		if !h.decided() {
			continue
		}
		decisions = append(decisions, h)
		if h.at() < h.call/1000 || h.at() > h.ret/1000 {
			t.Errorf("the decision is of no time at which the call was under way: %v", h)
		}
	}
	slices.SortStableFunc(decisions, func(a, b *happened) int { return int(a.at() - b.at()) })
	for i := 0; i < len(decisions); {
		n := i + 1
		for n < len(decisions) && decisions[n].at() == decisions[i].at() {
			n++
		}
		for _, h := range decisions[i:n] {
			h.place, h.peers = i, n-i
		}
		i = n
	}
	last := decisions[len(decisions)-1]
	ops := make([]porcupine.Operation, len(y.list))
	returns := int64(0)
	for _, h := range y.list {
		if h.kind == gaveBack {
			returns += h.permits
		}
	}
	for i, h := range y.list {
		h.until, h.returns = last.at(), returns
		if h.decision.Source == client.SourceDenial {
			y.enterUnseen(h)
		}
		switch {
		case h.kind == gaveBack || h.lasts:
			h.ret = last.call
		case h.kind == unsure:
			h.until = h.ret/1000 + 1
		}
		ops[i] = porcupine.Operation{ClientId: i, Input: h, Call: h.call, Return: h.ret}
	}
	return ops
}

func (y *history) enterUnseen(denial *happened) {
	for _, h := range y.list {
		if h.kind == unsure && h.by == denial.by && h.permits <= denial.permits && h.call <= denial.ret {
			denial.unseen[h.permits] = true
		}
	}
}

// check tells whether what happened equals some order of calls that a sequential model answers one by one.
func (y *history) check(t *testing.T, model porcupine.Model) {
	t.Helper()
	const patience = time.Minute
	ops := y.complete(t)
	result := porcupine.CheckOperationsTimeout(model, ops, patience)
	if result == porcupine.Ok {
		return
	}
	_, info := porcupine.CheckOperationsVerbose(model, ops, patience)
	var longest []porcupine.Operation
	for _, order := range info.PartialLinearizationsOperations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	var lines strings.Builder
	state := model.Init()
	for _, op := range longest {
		_, state = model.Step(state, op.Input, op.Output)
		fmt.Fprintln(&lines, op.Input)
	}
	fmt.Fprintf(&lines, "in %s can't be followed by any of\n", model.DescribeState(state))
	for _, h := range y.list {
		if !slices.ContainsFunc(longest, func(op porcupine.Operation) bool { return op.Input == h }) {
			fmt.Fprintln(&lines, h)
		}
	}
	t.Fatalf("the search for an order came to %q. At best:\n%s", result, lines.String())
}

// refusal is what Redis said last when it refused a client some permits.
type refusal struct {
	at, said int64 // µs: when it refused, and when it said that the permits come
}

const (
	parties   = 3 // clients of one bucket
	mostAsked = 6 // permits of one call
)

// refusals are those of each client, by permits.
type refusals [parties][mostAsked + 1]refusal

// note takes in a refusal.
func (r *refusals) note(h *happened) {
	if h.kind != acquired && h.kind != waited || h.permits > mostAsked {
		return
	}
	old := &r[h.by][h.permits]
	old.at = max(old.at, h.at())
	old.said = max(old.said, h.at()+h.decision.RetryAfter.Microseconds())
}

// longestDenial is how long a client may refuse by itself, in µs.
const longestDenial = 250_000

// allow tells whether a client may refuse a call by itself: for no fewer permits than Redis refused it, no longer than
// 250 ms after it did, and until those permits come at the latest. latest is when n permits can have come at the latest
// by a refusal that nobody saw.
func (r *refusals) allow(h *happened, latest func(n int64) int64) bool {
	d := &h.decision
	if d.Outcome != client.Limited || d.RetryAfter <= 0 || !d.At.IsZero() {
		return false
	}
	for permits := int64(1); permits <= min(h.permits, mostAsked); permits++ {
		was, until := r[h.by][permits], h.call+int64(d.RetryAfter)
		if h.call/1000 <= was.at+longestDenial && until <= was.said*1000 || h.unseen[permits] && until <= latest(permits)*1000 {
			return true
		}
	}
	return false
}

// one is a set of one state.
func one(state any) []any { return []any{state} }
