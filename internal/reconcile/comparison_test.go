package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// Step by step all rows are compared, and the index with them: no name is taken for an orphan because it came by earlier,
// and none is passed over.
func TestAComparisonStepByStepSeesAll(t *testing.T) {
	onBoth(t, func(w *world) {
		names := w.crowd(12)
		r := w.server(func(c *reconcile.Config) { c.StepRows, c.RepairEvery = 5, 400*time.Millisecond })
		w.repair(r)
		w.remove(names[3])
		w.push(r, names[3])
		deployment, err := w.store.DeploymentID(t.Context())
		must(t, err)
		stray := w.read(names[0]).Definition
		stray.Name = "stray"
		_, err = w.engine.Install(t.Context(), stray, bucket.InstallOptions{Deployment: deployment})
		must(t, err)
		must(t, w.rdb.SRem(t.Context(), w.index(), names[11]).Err())
		w.run(r)
		testenv.Eventually(t, 10*time.Second, "the orphan is found and the index is whole", func() bool {
			indexed, err := w.rdb.SIsMember(t.Context(), w.index(), names[11]).Result()
			must(t, err)
			return indexed && slices.Equal(r.Status().Orphans, []string{"stray"})
		})
		first := r.Status().LastRepair
		testenv.Eventually(t, 10*time.Second, "another comparison ends", func() bool { return r.Status().LastRepair.After(first) })
		if s := r.Status(); s.Mended != 0 || !slices.Equal(s.Orphans, []string{"stray"}) {
			t.Errorf("status %+v", s)
		}
		if rows := w.repairs(); len(rows) != 0 {
			t.Errorf("history %+v", rows)
		}
	})
}

// What one step finds to differ has all the rest compared at once, and told in one row.
func TestADifferenceHasAllTheRestComparedAtOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		names := w.crowd(12)
		r := w.server(func(c *reconcile.Config) { c.StepRows, c.RepairEvery = 1, 4*time.Second })
		w.run(r)
		testenv.Eventually(t, 10*time.Second, "all is compared once", func() bool { return !r.Status().LastRepair.IsZero() })
		for _, name := range names {
			must(t, w.rdb.Del(t.Context(), w.hash(name)).Err()) // long before the next comparison begins
		}
		w.eventuallyEqual(10 * time.Second)
		testenv.Eventually(t, 10*time.Second, "the repair is recorded", func() bool { return len(w.repairs()) > 0 })
		if rows := w.repairs(); len(rows) != 1 || rows[0].Count != 12 {
			t.Errorf("history %+v", rows)
		}
	})
}
