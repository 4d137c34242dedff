package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// While strangers cause refusals as fast as a processor makes them, edits are about as quick as without: the flood
// makes few rows, and takes no lock for long. Both halves of the comparison share the machine with the same load, so
// that only what the database has to do differs.
func TestFloodOfRefusalsDoesNotSlowEdits(t *testing.T) {
	s := database{"mysql", store.Config{MySQLDSN: testenv.MySQL(t)}}.migrated(t)
	recorder := audit.NewRecorder(s, nil, nil)
	const edits = 500
	calm := flooded(t, s, edits, func(context.Context, model.Change) error { return nil })
	flood := flooded(t, s, edits, recorder.Record)
	recorder.Close(t.Context())
	if flood.median > 3*calm.median+2*time.Millisecond {
		t.Errorf("an edit takes %s in a flood and %s without", flood.median, calm.median)
	}
	if flood.events < 5_000 {
		t.Errorf("only %d events came; that is no flood", flood.events)
	}
	var rows, events int64
	for after := int64(0); ; {
		page := must(s.AuditEntries(t.Context(), model.ChangeQuery{Action: model.ActionLoginRefused}, after, 1000))(t)
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			rows++
			events += e.Count
		}
		after = page[len(page)-1].ID
	}
	if events != flood.events || rows > 250 {
		t.Errorf("%d events are recorded in %d rows, of %d", events, rows, flood.events)
	}
	t.Logf("edit: %s, in a flood of %d refusals %s; they made %d rows", calm.median, flood.events, flood.median, rows)
}

type floodResult struct {
	median time.Duration
	events int64
}

// flooded times edits while others record refusals under random names.
func flooded(t *testing.T, s *store.Store, edits int, record func(context.Context, model.Change) error) floodResult {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var events atomic.Int64
	var strangers sync.WaitGroup
	for w := range 4 {
		strangers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				c := model.Change{Action: model.ActionLoginRefused, TargetKind: model.TargetUser, Target: fmt.Sprintf("name-%d-%d", w, i), Address: fmt.Sprintf("192.0.2.%d", i%250)}
				if record(context.WithoutCancel(ctx), c) == nil {
					events.Add(1)
				}
				if i%100 == 99 {
					pause(ctx) // about 40,000 a second
				}
			}
		})
	}
	took := make([]time.Duration, edits)
	for i := range took {
		started := time.Now()
		must(s.CreateApp(t.Context(), model.App{Name: fmt.Sprintf("app-%d-%d", started.UnixNano(), i)}, byAlice))(t)
		took[i] = time.Since(started)
	}
	stop()
	strangers.Wait()
	slices.Sort(took)
	return floodResult{took[edits/2], events.Load()}
}

// pause lets others run for ten milliseconds, so that the flood does not take the processor away from the edits.
func pause(ctx context.Context) {
	timer := time.NewTimer(10 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
