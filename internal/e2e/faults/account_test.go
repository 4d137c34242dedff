package faults_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// excess is how many times max_permits the design lets each bucket grant beyond its limit, for the faults of a test.
type excess map[string]int64

// settle lets everybody stop and compares what was answered, what the database has, what Redis has and what was granted.
func (w *world) settle(allowed excess) {
	w.Helper()
	w.load.stop()
	took := time.Since(w.began)
	w.edits.stop()
	for name, limit := range map[string]struct{ maxPermits, perHour int64 }{
		vault: {vaultPermits, 1}, burst: {vaultPermits, 1}, stream: {streamPermits, streamRate * 3600},
	} {
		w.checkGrants(name, limit.maxPermits, limit.perHour, allowed[name], took)
	}
	w.checkSaves()
}

// checkGrants holds a bucket to max_permits, and that once more for each time that the design allows, and what came at its
// rate meanwhile.
func (w *world) checkGrants(name string, maxPermits, perHour, times int64, took time.Duration) {
	w.Helper()
	r := w.load[name].Quick(w, name, w.deadline)
	bound := maxPermits*(1+times) + int64(took.Hours()*float64(perHour)) + 1
	w.Logf("%-6s %d granted of %d allowed", name, r.Granted, bound)
	if r.Granted > bound {
		w.Errorf("%s granted %d, more than %d", name, r.Granted, bound)
	}
	if r.Allowed+r.Local > 0 { // the buckets here are closed without Redis
		w.Errorf("%s let %d calls pass without Redis, and decided on %d itself", name, r.Allowed, r.Local)
	}
}

// checkSaves compares the answers with the database, the database with itself, and Redis with the database.
func (w *world) checkSaves() {
	w.Helper()
	s, err := store.Open(w.Context(), w.database)
	must(w.T, err)
	defer func() { _ = s.Close() }()
	rows := w.changes(s)
	e := w.edits
	w.Logf("%d saves answered, %d refused or without an answer, %d changes of buckets", len(e.answered), len(e.unanswered), len(rows))
	for _, wrong := range e.wrong {
		w.Errorf("a save was answered wrongly: %s", wrong)
	}
	byReason := map[string][]model.Change{}
	for _, c := range rows {
		byReason[c.Reason] = append(byReason[c.Reason], c)
	}
	for _, a := range e.answered {
		if found := byReason[a.reason]; len(found) != 1 || found[0].Target != a.bucket || found[0].Revision != a.revision || maxPermitsOf(found[0]) != a.maxPermits {
			w.Errorf("answered %+v, the history has %s", a, told(found))
		}
	}
	for _, u := range e.unanswered {
		if found := byReason[u.reason]; len(found) > 1 {
			w.Errorf("%+v stands %d times in the history", u, len(found))
		}
	}
	w.checkRows(s, rows)
	w.checkRedis(s)
	w.verifyHistory()
}

// told is what matters here of some changes.
func told(changes []model.Change) (text string) {
	for _, c := range changes {
		text += fmt.Sprintf("[%d %s %s revision %d, %d permits]", c.ID, c.Action, c.Target, c.Revision, maxPermitsOf(c))
	}
	return text
}

// changes reads the whole history of the buckets, oldest first.
func (w *world) changes(s *store.Store) (all []model.Change) {
	w.Helper()
	for q := (model.ChangeQuery{TargetKind: model.TargetBucket, Limit: 200}); ; {
		page, err := s.Changes(w.Context(), q)
		must(w.T, err)
		all = append(all, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			slices.Reverse(all)
			return all
		}
	}
}

// checkRows demands that each bucket is what its last change says, and that its revisions follow each other.
func (w *world) checkRows(s *store.Store, rows []model.Change) {
	w.Helper()
	last := map[string]model.Change{}
	for _, c := range rows {
		switch c.Action {
		case model.ActionBucketCreate, model.ActionBucketUpdate, model.ActionBucketRaise:
			if before := last[c.Target].Revision; before > 0 && c.Action != model.ActionBucketRaise && c.Revision != before+1 {
				w.Errorf("%s goes from revision %d to %d in the history", c.Target, before, c.Revision)
			}
			last[c.Target] = c
		}
	}
	for name := range definitions() {
		b, err := s.Bucket(w.Context(), name)
		must(w.T, err)
		if c := last[name]; b.Revision != c.Revision || b.MaxPermits != maxPermitsOf(c) {
			w.Errorf("%s is at revision %d with %d permits, its history ends with revision %d and %d", name, b.Revision, b.MaxPermits, c.Revision, maxPermitsOf(c))
		}
	}
}

func maxPermitsOf(c model.Change) int64 {
	var after struct {
		MaxPermits int64 `json:"max_permits"`
	}
	_ = json.Unmarshal(c.After, &after) // 0 is no bucket's
	return after.MaxPermits
}

// checkRedis waits until every definition in Redis equals the database and nothing waits to be brought.
func (w *world) checkRedis(s *store.Store) {
	w.Helper()
	engine, difference := bucket.New(w.own, ""), ""
	defer func() {
		if w.Failed() {
			w.Log("the last difference:", difference)
		}
	}()
	testenv.Eventually(w, comeback, "Redis equals the database", func() bool {
		difference = w.difference(s, engine)
		return difference == ""
	})
}

func (w *world) difference(s *store.Store, engine *bucket.Engine) string {
	rows, err := s.SyncRows(w.Context(), "", 1000)
	if err != nil {
		return err.Error()
	}
	indexed, err := engine.IndexedNames(w.Context())
	if err != nil {
		return err.Error()
	}
	for _, row := range rows {
		found, err := engine.Read(w.Context(), row.Name)
		switch {
		case err != nil:
			return err.Error()
		case row.Mark != 0:
			return row.Name + " is still to be brought: " + row.LastError
		case !found[0].Present || found[0].Damaged || !slices.Contains(indexed, row.Name):
			return fmt.Sprintf("%s is not whole in Redis: %+v, index %v", row.Name, found[0], indexed)
		}
		b, f := row.Bucket, found[0]
		want := []any{row.Revision, b.Apps, string(b.Algorithm), b.MaxPermits, b.Rate, b.Period, string(b.Partition), b.Shards, string(b.Mode), b.MaxWait, string(b.OnRedisFailure), string(b.AfterLoss)}
		have := []any{f.Revision, f.Apps, f.Algorithm, f.MaxPermits, f.Rate, f.Period, f.Partition, f.Shards, f.Mode, f.MaxWait, f.OnFailure, f.AfterLoss}
		if w, h := fmt.Sprint(want...), fmt.Sprint(have...); w != h {
			return fmt.Sprintf("%s: the database has %s, Redis %s", row.Name, w, h)
		}
	}
	return ""
}

// verifyHistory has the program check the chain of the whole history.
func (w *world) verifyHistory() {
	w.Helper()
	args := []string{"audit", "verify", "--quiet"}
	if w.database.SQLitePath != "" {
		args = append(args, "--embedded")
	}
	cmd := exec.CommandContext(w.Context(), admin, args...)
	cmd.Env = adminenv.Environment(w.settings)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Errorf("the history does not follow from itself: %v\n%s", err, out)
	}
}
