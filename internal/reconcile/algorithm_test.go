package reconcile_test

import (
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// engineForm is how the engine is told each algorithm: those without a rate of their own get the one that they amount to.
var engineForm = map[model.Algorithm]struct {
	algorithm string
	rate      int64
}{
	model.TokenBucket:   {"token_bucket", 3},
	model.FixedWindow:   {"fixed_window", 10},
	model.SlidingWindow: {"sliding_window", 10},
	model.SlidingLog:    {"sliding_log", 10},
	model.Concurrency:   {"concurrency", 1},
}

func (w *world) turnInto(name string, algorithm model.Algorithm) model.Bucket {
	w.Helper()
	return w.edit(name, func(d *model.Definition) {
		d.Algorithm, d.MaxPermits, d.Rate, d.Period = algorithm, 10, 0, time.Minute
		if algorithm.HasRate() {
			d.Rate = 3
		}
	})
}

// Redis gets every algorithm in the engine's form, and a repair finds nothing to mend in it.
func TestEachAlgorithmReachesRedisAndStaysAsItIs(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		for _, algorithm := range model.Algorithms {
			b := w.turnInto("api", algorithm)
			w.push(r, "api")
			found, want := w.read("api"), engineForm[algorithm]
			if found.Algorithm != want.algorithm || found.Rate != want.rate || found.MaxPermits != 10 || found.Period != time.Minute || found.Revision != b.Revision {
				t.Errorf("%s: Redis has %+v", algorithm, found.Definition)
			}
			w.repair(r)
			if after := w.read("api"); after.Generation != found.Generation || after.Revision != found.Revision {
				t.Errorf("%s: before the repair %+v, after it %+v", algorithm, found, after)
			}
		}
		if raised := w.raises("api"); len(raised) > 0 {
			t.Errorf("the system changed what nobody touched: %+v", raised)
		}
	})
}

// Another algorithm, partition or number of shards starts the state anew; other edits leave it alone.
func TestOnlyAnotherWayOfCountingStartsAnew(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.push(r, "api")
		for what, edit := range map[string]struct {
			change func(*model.Definition)
			anew   bool
		}{
			"algorithm":   {func(d *model.Definition) { d.Algorithm, d.Rate = model.SlidingLog, 0 }, true},
			"partition":   {func(d *model.Definition) { d.Partition = model.PartitionKey }, true},
			"shards":      {func(d *model.Definition) { d.Partition, d.Shards = model.PartitionKey, 4 }, true},
			"max_permits": {func(d *model.Definition) { d.MaxPermits = 20 }, false},
			"mode":        {func(d *model.Definition) { d.Mode = model.ModeShadow }, false},
		} {
			w.edit("api", func(d *model.Definition) { *d = definition() })
			w.push(r, "api")
			before := w.read("api")
			w.edit("api", edit.change)
			w.push(r, "api")
			if after := w.read("api"); (after.Generation != before.Generation) != edit.anew {
				t.Errorf("another %s: generation %d became %d", what, before.Generation, after.Generation)
			}
		}
	})
}

// What drifted in Redis is mended for every algorithm.
func TestDriftOfEachAlgorithmIsMended(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		for _, algorithm := range model.Algorithms {
			w.turnInto("api", algorithm)
			w.push(r, "api")
			must(t, w.rdb.HSet(t.Context(), w.hash("api"), "max", 9).Err())
			w.repair(r)
			if found := w.read("api"); found.MaxPermits != 10 || found.Algorithm != engineForm[algorithm].algorithm || found.Mode != bucket.ModeEnforce {
				t.Errorf("%s: Redis has %+v", algorithm, found.Definition)
			}
		}
	})
}
