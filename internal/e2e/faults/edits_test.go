package faults_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// save is one save of a bucket, told from all others by its reason.
type save struct {
	bucket     string
	reason     string
	revision   int64 // that was answered; 0 without an answer
	maxPermits int64
}

// edits are those of a person who goes on editing, and what the answers said.
type edits struct {
	p       *person
	stopped chan struct{}
	once    sync.Once
	editing sync.WaitGroup

	mu         sync.Mutex
	answered   []save
	pending    int           // of the answered: Redis did not have them yet
	longest    time.Duration // of the answered, since a test last looked
	unanswered []save        // it is open whether they are saved
	refusals   []answer      // to the unanswered, if there were any
	seen       int           // how many of those a test has looked at
	wrong      []string      // answers that no fault here may cause
}

// serial numbers the edits of all people, so that no reason stands twice.
var serial atomic.Int32

// between is how long the person waits from one edit to the next.
const between = 20 * time.Millisecond

// startEdits edits the buckets in turn until stop. The definitions keep their limits, but for those of notes, which get
// another max_permits each time.
func startEdits(t *testing.T, p *person, definitions map[string]map[string]any) *edits {
	t.Helper()
	e := &edits{p: p, stopped: make(chan struct{})}
	e.editing.Go(func() { e.run(definitions) })
	t.Cleanup(e.stop)
	return e
}

func (e *edits) run(definitions map[string]map[string]any) {
	names := slices.Sorted(maps.Keys(definitions))
	revisions := map[string]int64{}
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		select {
		case <-e.stopped:
			return
		case <-tick.C:
		}
		i := int(serial.Add(1))
		name := names[i%len(names)]
		revisions[name] = e.edit(i, name, definitions[name], revisions[name])
	}
}

// edit saves once and returns the bucket's revision after that, 0 when it is not known.
func (e *edits) edit(i int, name string, definition map[string]any, base int64) int64 {
	if base == 0 {
		a := e.p.call(http.MethodGet, "/buckets/"+name, 0, nil)
		if a.err != nil || a.Status != http.StatusOK {
			e.p.goElsewhere()
			return 0
		}
		base = a.body.Revision
	}
	body := maps.Clone(definition)
	s := save{bucket: name, reason: fmt.Sprintf("edit %d of %s", i, name), maxPermits: int64(body["max_permits"].(int))}
	if isNote(name) {
		s.maxPermits += int64(i)
		body["max_permits"] = s.maxPermits
	}
	body["description"], body["reason"] = s.reason, s.reason
	began := time.Now()
	a := e.p.call(http.MethodPut, "/buckets/"+name, base, body)
	took := time.Since(began)

	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case a.err == nil && a.Status == http.StatusOK:
		s.revision = a.body.Revision
		e.answered = append(e.answered, s)
		e.longest = max(e.longest, took)
		if a.body.Sync.State == "pending" {
			e.pending++
		}
		return s.revision
	case a.err == nil && a.Status == http.StatusPreconditionFailed: // the system raised it, or a save without an answer got through
	case a.err != nil || a.Status == http.StatusServiceUnavailable || a.Status == http.StatusInsufficientStorage:
		e.unanswered, e.refusals = append(e.unanswered, s), append(e.refusals, a)
		e.p.goElsewhere()
	default:
		e.wrong = append(e.wrong, fmt.Sprintf("%s: %d %s", s.reason, a.Status, a.Raw))
	}
	return 0
}

// count returns how many saves were answered so far.
func (e *edits) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.answered)
}

// goOn waits until so many more saves are answered.
func (e *edits) goOn(t *testing.T, more int) {
	t.Helper()
	target := e.count() + more
	testenv.Eventually(t, comeback, "people can edit", func() bool { return e.count() >= target })
}

// pendingOn waits until so many more saves are answered as pending, and fails the test when one of those took longer than the
// two seconds of a push and what saves take on this machine, of which those before the fault tell.
func (e *edits) pendingOn(t *testing.T, more int, late time.Duration) {
	t.Helper()
	e.mu.Lock()
	target, usual := e.pending+more, e.longest
	e.longest = 0
	e.mu.Unlock()
	testenv.Eventually(t, comeback, "saves are answered as pending", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.pending >= target
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	most := 2*time.Second + 500*time.Millisecond + 3*usual + 3*late
	t.Logf("with Redis away a save took %v at most, of %v", e.longest.Round(time.Millisecond), most.Round(time.Millisecond))
	if e.longest > most {
		t.Errorf("with Redis away a save took %v, more than %v", e.longest, most)
	}
}

// refused waits until a save is answered with a status, after the last one that was waited for, and returns that answer.
func (e *edits) refused(t *testing.T, status int) (found answer) {
	t.Helper()
	testenv.Eventually(t, comeback, fmt.Sprintf("a save is refused with %d", status), func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		for ; e.seen < len(e.refusals); e.seen++ {
			if found = e.refusals[e.seen]; found.Status == status {
				e.seen = len(e.refusals)
				return true
			}
		}
		return false
	})
	return found
}

// stop ends the editing; the save under way is waited for.
func (e *edits) stop() {
	e.once.Do(func() { close(e.stopped) })
	e.editing.Wait()
}
