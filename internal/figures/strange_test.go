package figures_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/figures"
)

// Whoever may write keys of Redis can put a value of another kind where usage stands. The minutes of all others are rolled
// up, and what is passed over is counted and told of once.
func TestKeysThatHoldNoUsageDoNotStopTheRollUp(t *testing.T) {
	w := newWorld(t)
	w.report("a", "checkout", 0, 5, 1)
	w.report("a", "checkout", 3, 7, 0)
	w.report("b", "checkout", 0, 9, 0)
	strange := fmt.Sprintf("headgate:{b}:u:%d", w.now)
	w.ok(w.rdb.Set(t.Context(), strange, "no usage", 0).Err())
	var log bytes.Buffer
	r := figures.New(figures.Config{Store: w.store, Engine: w.engine, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		w.roll(r)
	}
	w.wantKept("a", 12, 1)
	if r.PassedOver() < 2 {
		t.Errorf("%d readings count as passed over", r.PassedOver())
	}
	if told := strings.Count(log.String(), strange); told != 1 {
		t.Errorf("%s is told of %d times:\n%s", strange, told, log.String())
	}
	reader := figures.Reader{Engine: w.engine, Roller: r}
	samples, _, err := reader.Sample(t.Context(), []string{"a", "b"})
	w.ok(err)
	if len(samples[0].Usage) == 0 {
		t.Errorf("of the others nothing is shown: %+v", samples)
	}
}

// One bucket whose key or state holds something else in Redis is shown without it, and all others as they are.
func TestAStrangeKeyOfOneBucketHidesNoOther(t *testing.T) {
	w := newWorld(t, "c")
	w.ok(w.rdb.Set(t.Context(), "headgate:{a}:s", "no state", 0).Err())
	w.ok(w.rdb.Del(t.Context(), "headgate:{b}").Err())
	w.ok(w.rdb.RPush(t.Context(), "headgate:{b}", "no definition").Err())
	samples, err := figures.Look(t.Context(), w.engine, "a", "b", "c")
	w.ok(err)
	if !samples[0].Present || samples[0].Permits != nil || samples[1].Present || samples[2].Permits == nil || *samples[2].Permits != 60 {
		t.Errorf("seen: %+v", samples)
	}
	levels, err := figures.Reader{Engine: w.engine}.Levels(t.Context(), []string{"a", "b", "c"})
	w.ok(err)
	if _, known := levels["c"]; len(levels) != 1 || !known {
		t.Errorf("levels: %v", levels)
	}
}
