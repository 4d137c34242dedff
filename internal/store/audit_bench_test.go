package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// BenchmarkVerify verifies a history of a million rows (HEADGATE_BENCH_ROWS: another number) on a real server, a
// checkpoint at every 1,000th: `make bench-audit`. Half of the rows are edits with both definitions.
func BenchmarkVerify(b *testing.B) {
	rows := 1_000_000
	if text := os.Getenv("HEADGATE_BENCH_ROWS"); text != "" {
		rows = must(strconv.Atoi(text))(b)
	}
	d := database{"mysql", store.Config{MySQLDSN: testenv.MySQL(b)}}
	s := d.migrated(b)
	filling := time.Now()
	fill(b, d.sqlDB(b), s, rows)
	b.Logf("filled in %s", time.Since(filling).Round(time.Second))
	for b.Loop() {
		r := must(audit.VerifySource(b.Context(), s, audit.Expect{}, nil, nil))(b)
		if !r.OK() || r.Rows != int64(rows) || r.Checkpoints == 0 {
			b.Fatalf("report %+v", r)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// fill writes a chain by bulk, past the store.
func fill(b *testing.B, db *sql.DB, s *store.Store, rows int) {
	b.Helper()
	signer := newSigner(b)
	head := must(s.AuditHead(b.Context()))(b)
	definition := json.RawMessage(`{"description":"calls to the partner","labels":{"team":"pay"},"apps":["checkout","billing"],"owners":["olivia"],"algorithm":"token_bucket",` +
		`"max_permits":1000,"rate":500,"period_ms":1000,"partition":"shared","shards":1,"mode":"enforce","max_wait_ms":10000,"on_redis_failure":"open","after_loss":"refill"}`)
	const batch = 500
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for done := 0; done < rows; done += batch {
		var args []any
		n := min(batch, rows-done)
		for i := range n {
			c := model.Change{
				At: start.Add(time.Duration(done+i) * time.Second), Actor: fmt.Sprintf("user%d", i%40), Action: model.ActionLogin, TargetKind: model.TargetUser,
				Target: fmt.Sprintf("user%d", i%40), Address: "192.0.2.1", RequestID: fmt.Sprintf("request-%d", done+i), Count: 1,
			}
			if i%2 == 0 {
				c.Action, c.TargetKind, c.Target = model.ActionBucketUpdate, model.TargetBucket, fmt.Sprintf("bucket-%d", i%200)
				c.Before, c.After, c.Reason, c.Revision = definition, definition, "the partner asked for it", int64(done+i)
			}
			e := head.Link(c)
			args = append(args, e.ID, e.At, e.Actor, e.Action, e.TargetKind, e.Target, e.Revision, orNull(e.Before), orNull(e.After), e.Reason, e.Address,
				e.RequestID, e.Token, e.Count, e.Prev[:], e.Hash[:])
		}
		one := "(" + strings.Repeat("?, ", 15) + "?)"
		insert(b, db, "INSERT INTO changes (id, at, actor, action, target_kind, target, revision, before_json, after_json, reason, address, request_id, token, times, prev_hash, hash) VALUES "+
			one+strings.Repeat(", "+one, n-1), args)
		insert(b, db, "UPDATE audit_head SET seq = ?, hash = ?", []any{head.Seq, head.Hash[:]})
		if done%1000 == 0 {
			checkpoint(b, s, signer, start)
		}
	}
}

func insert(b *testing.B, db *sql.DB, query string, args []any) {
	b.Helper()
	_, err := db.ExecContext(context.Background(), query, args...)
	ok(b, err)
}

func orNull(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}
