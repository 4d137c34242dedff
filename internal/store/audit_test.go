package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// sqlDB opens the database past the store, as somebody does who wants to change history.
func (d database) sqlDB(t testing.TB) *sql.DB {
	t.Helper()
	dsn := d.config.MySQLDSN
	if dsn == "" {
		dsn = d.config.SQLitePath
	}
	db, err := sql.Open(d.name, dsn)
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d database) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	_, err := d.sqlDB(t).ExecContext(t.Context(), query, args...)
	ok(t, err)
}

// unguarded takes SQLite's triggers away, as an attacker with the file would.
func (d database) unguarded(t testing.TB) {
	t.Helper()
	if d.name == "sqlite" {
		for _, name := range []string{"changes_no_update", "changes_no_delete", "checkpoints_no_update", "checkpoints_no_delete"} {
			d.exec(t, "DROP TRIGGER "+name)
		}
	}
}

func verified(t testing.TB, s *store.Store, given ...audit.Checkpoint) audit.Report {
	t.Helper()
	id := must(s.DeploymentID(t.Context()))(t)
	return must(audit.VerifySource(t.Context(), s, audit.Expect{Chain: id}, given, nil))(t)
}

func wantVerified(t testing.TB, s *store.Store) audit.Report {
	t.Helper()
	r := verified(t, s)
	if !r.OK() {
		t.Fatalf("the history does not verify: %+v", r.Faults)
	}
	return r
}

func wantFault(t testing.TB, r audit.Report, kind audit.Kind, seq int64) {
	t.Helper()
	if len(r.Faults) == 0 || r.Faults[0].Kind != kind || r.Faults[0].Seq != seq {
		t.Errorf("found %+v, want %s at row %d", r.Faults, kind, seq)
	}
}

func logins(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		ok(t, s.AppendChange(t.Context(), model.Change{Actor: fmt.Sprint("u", i), Action: model.ActionLogin, TargetKind: model.TargetUser, After: json.RawMessage(`{"n":1.50}`)}))
	}
}

// checkpoint signs where the chain stands and keeps it.
func checkpoint(t testing.TB, s *store.Store, signer *audit.Signer, at time.Time) audit.Checkpoint {
	t.Helper()
	c := must(signer.Sign(must(s.DeploymentID(t.Context()))(t), must(s.AuditHead(t.Context()))(t), at))(t)
	if !must(s.AddCheckpoint(t.Context(), c))(t) {
		t.Fatal("there is such a checkpoint already")
	}
	return c
}

func newSigner(t testing.TB) *audit.Signer {
	t.Helper()
	return must(audit.SignerOf(audit.NewKey()))(t)
}

// Writers of several servers make one chain without a gap, whatever they write and whoever of them loses a race; edits
// and failed writes among them. A verification that runs meanwhile finds nothing wrong.
func TestManyWritersOnSeveralServersMakeOneChain(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t), d.open(t)}
		people(t, servers[0], "alice")
		apps(t, servers[0], "pay")
		stop := make(chan struct{})
		watched := make(chan error, 1)
		go func() { watched <- watch(t.Context(), servers[2], stop) }()
		const writers, each = 12, 15
		errs := together(writers, func(i int) error { return writeAlot(t.Context(), servers[i%3], i, each) })
		close(stop)
		ok(t, <-watched)
		for _, err := range errs {
			ok(t, err)
		}
		r := wantVerified(t, servers[1])
		if r.Unchained != 0 || r.First != 1 || r.Rows != r.Last {
			t.Errorf("report %+v", r)
		}
		if n := d.count(t, "SELECT COUNT(*) FROM changes WHERE actor = 'busy'"); n != writers*each*3 {
			t.Errorf("%d rows of the writers, want %d", n, writers*each*3)
		}
	})
}

// writeAlot makes three rows a round, one of them in a transaction that other writers want too.
func writeAlot(ctx context.Context, s *store.Store, writer, rounds int) error {
	busy := model.Origin{Actor: "busy", Reason: "because"}
	for n := range rounds {
		name := fmt.Sprintf("b-%d-%d", writer, n)
		b, err := s.CreateBucket(ctx, name, definition("alice", "pay"), busy)
		if err != nil {
			return err
		}
		if _, err := s.UpdateBucket(ctx, name, b.Revision, definition("alice", "pay"), busy); err != nil {
			return err
		}
		if _, err := s.UpdateBucket(ctx, name, b.Revision, definition("alice", "pay"), busy); model.CodeOf(err) != model.CodeStale {
			return fmt.Errorf("a stale edit answers %w", err)
		}
		if err := s.AppendChange(ctx, model.Change{Actor: "busy", Action: model.ActionLogin}); err != nil {
			return err
		}
	}
	return nil
}

func watch(ctx context.Context, s *store.Store, stop chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		r, err := audit.VerifySource(ctx, s, audit.Expect{}, nil, nil)
		if err != nil {
			return err
		}
		if !r.OK() {
			return fmt.Errorf("while others write: %+v", r.Faults)
		}
	}
}

// A clock that goes back makes times go back, and nothing else: the chain follows the numbers.
func TestClockThatJumpsBackBreaksNoChain(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		for _, jump := range []time.Duration{time.Hour, -48 * time.Hour, time.Nanosecond, -time.Second} {
			now.move(jump)
			logins(t, s, 2)
		}
		if r := wantVerified(t, s); r.Rows != 8 {
			t.Errorf("report %+v", r)
		}
	})
}

// Every column counts: whatever is changed past the program, the first row that is not as it was written is named.
func TestAlterationsInTheDatabaseAreFound(t *testing.T) {
	set := map[string]string{
		"at": "'2020-01-01 00:00:00.000000'", "actor": "'x'", "action": "'x'", "target_kind": "'x'", "target": "'x'", "revision": "revision + 1",
		"before_json": "''", "after_json": `'{"n":1.5}'`, "reason": "'x'", "address": "'x'", "request_id": "'x'", "token": "'x'",
		"times": "times + 1", "until_at": "'2020-01-01 00:00:00.000000'", "prev_hash": "NULL", "hash": "NULL",
	}
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		d.unguarded(t)
		logins(t, s, 5)
		columns := 1 // the number itself
		for column, value := range set {
			columns++
			d.exec(t, "CREATE TABLE saved AS SELECT * FROM changes")
			d.exec(t, "UPDATE changes SET "+column+" = "+value+" WHERE id = 3")
			wantFault(t, verified(t, s), audit.Altered, 3)
			d.exec(t, "DELETE FROM changes")
			d.exec(t, "INSERT INTO changes SELECT * FROM saved")
			d.exec(t, "DROP TABLE saved")
			wantVerified(t, s)
		}
		if names := columnsOf(t, d.sqlDB(t), "changes"); len(names) != columns {
			t.Errorf("a column of changes is not among those that were tried: %v", names)
		}
		d.exec(t, "DELETE FROM changes WHERE id = 2")
		wantFault(t, verified(t, s), audit.Removed, 2)
	})
}

func columnsOf(t *testing.T, db *sql.DB, table string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	ok(t, err)
	defer func() { ok(t, rows.Close()) }()
	ok(t, rows.Err())
	return must(rows.Columns())(t)
}

// A backup that is put back, or a tail that is cut off with the head set back, is found by a checkpoint from outside.
func TestCutOffTailIsFoundByACheckpoint(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		d.unguarded(t)
		logins(t, s, 5)
		early := must(s.AuditHead(t.Context()))(t)
		logins(t, s, 5)
		kept := checkpoint(t, s, newSigner(t), time.Now())
		d.exec(t, "DELETE FROM changes WHERE id > 5")
		wantFault(t, verified(t, s), audit.Removed, 6)
		d.exec(t, "UPDATE audit_head SET seq = 5, hash = ?", early.Hash[:])
		wantFault(t, verified(t, s), audit.CutOff, 6)
		d.exec(t, "DELETE FROM audit_checkpoints")
		wantVerified(t, s)
		wantFault(t, verified(t, s, kept), audit.CutOff, 6)
	})
}

func TestOneCheckpointARow(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s, other := d.migrated(t), d.open(t)
		logins(t, s, 3)
		signer := newSigner(t)
		c := must(signer.Sign("id", must(s.AuditHead(t.Context()))(t), time.Now()))(t)
		added := make([]bool, 8)
		for _, err := range together(8, func(i int) (err error) {
			added[i], err = []*store.Store{s, other}[i%2].AddCheckpoint(t.Context(), c)
			return err
		}) {
			ok(t, err)
		}
		n := 0
		for _, a := range added {
			if a {
				n++
			}
		}
		got := must(s.Checkpoints(t.Context(), 0, 10))(t)
		if n != 1 || len(got) != 1 || got[0].String() != c.String() {
			t.Errorf("%d were told that theirs was kept; kept are %v", n, got)
		}
	})
}

// SQLite has no users with fewer rights: its triggers refuse what no program of ours does.
func TestSQLiteRefusesToChangeHistory(t *testing.T) {
	d := database{"sqlite", store.Config{SQLitePath: t.TempDir() + "/headgate.db"}}
	s := d.migrated(t)
	logins(t, s, 3)
	checkpoint(t, s, newSigner(t), time.Now())
	for _, query := range []string{
		"UPDATE changes SET actor = 'x'", "DELETE FROM changes", "UPDATE audit_checkpoints SET chain = 'x'", "DELETE FROM audit_checkpoints",
	} {
		if _, err := d.sqlDB(t).ExecContext(t.Context(), query); err == nil || !strings.Contains(err.Error(), "only ever added") {
			t.Errorf("%s: %v", query, err)
		}
	}
	wantVerified(t, s)
}

// A clock that jumps makes no young row old: not one that was behind when a checkpoint was signed, nor one that is ahead
// when old rows are removed.
func TestClockThatJumpsLetsNoYoungRowBeRemoved(t *testing.T) {
	const month = 30 * 24 * time.Hour
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s, signer := d.migrated(t, now.use), newSigner(t)
		logins(t, s, 3)
		old := checkpoint(t, s, signer, now.Now())
		now.move(2 * month)
		logins(t, s, 3)
		now.move(-12 * month) // a server that began with a wrong clock
		logins(t, s, 1)
		checkpoint(t, s, signer, now.Now())
		now.move(12 * month)
		logins(t, s, 1)
		for ahead, want := range map[time.Duration]int64{0: old.Seq, 100 * month: old.Seq, -month - time.Hour: 0} {
			point, found, err := s.CheckpointOlderThan(t.Context(), month, now.Now().Add(ahead))
			ok(t, err)
			if point.Seq != want || found != (want != 0) {
				t.Errorf("by a clock that is %s ahead the rows up to %d are old, want %d", ahead, point.Seq, want)
			}
		}
	})
}

// Retention deletes no row of which no change tells, and keeps a history that verifies at each step of the way.
func TestRetentionKeepsAHistoryThatVerifies(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		signer := newSigner(t)
		logins(t, s, 10)
		checkpoint(t, s, signer, time.Now())
		logins(t, s, 10)
		anchor := checkpoint(t, s, signer, time.Now())
		logins(t, s, 10)
		if _, err := s.DeleteChanges(t.Context(), 20, 100); model.CodeOf(err) != model.CodeInternal {
			t.Fatalf("rows were deleted of which no change tells: %v", err)
		}
		note := must(json.Marshal(audit.PruneNote{To: 20, Hash: anchor.Hash.String(), Checkpoint: anchor.String()}))(t)
		ok(t, s.AppendChange(t.Context(), model.Change{Action: model.ActionAuditPrune, TargetKind: model.TargetSystem, After: note}))
		for _, want := range []int64{7, 7, 6, 0} {
			if n := must(s.DeleteChanges(t.Context(), 20, 7))(t); n != want {
				t.Errorf("%d rows deleted, want %d", n, want)
			}
			if r := wantVerified(t, s); r.PrunedTo != 20 {
				t.Errorf("report %+v", r)
			}
		}
		if kept := must(s.KeptChanges(t.Context()))(t); kept.First != 21 || kept.Last != 31 {
			t.Errorf("kept %+v", kept)
		}
		points := must(s.Checkpoints(t.Context(), 0, 10))(t)
		if len(points) != 1 || points[0].Seq != 20 {
			t.Errorf("checkpoints %v", points)
		}
		if d.name == "sqlite" {
			if _, err := d.sqlDB(t).ExecContext(t.Context(), "DELETE FROM changes"); err == nil {
				t.Error("after retention SQLite lets history be deleted")
			}
		}
		d.unguarded(t)
		d.exec(t, "DELETE FROM changes WHERE id = 21")
		wantFault(t, verified(t, s), audit.Removed, 1)
	})
}
