package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

func (w *world) bucketSync() api.BucketSync {
	w.t.Helper()
	var sync api.BucketSync
	w.as(vic).do("GET", "/api/v1/buckets/"+theBucket+"/sync", nil).want(w.t, http.StatusOK).into(w.t, &sync)
	return sync
}

// A save that Redis has not got is pending and not converged; once Redis has it, both revisions are equal.
func TestBucketSyncTellsWhereTheLastEditIs(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		put := func(permits int) {
			t.Helper()
			c := w.as(bob)
			tag := c.do("GET", "/api/v1/buckets/"+theBucket, nil).header.Get("ETag")
			c.do("PUT", "/api/v1/buckets/"+theBucket, definition(map[string]any{"owners": []string{bob}, "max_permits": permits}), "If-Match", tag).want(t, http.StatusOK)
		}
		put(60)
		if s := w.bucketSync(); !s.Converged || s.Pending || s.Revision != 2 || s.RedisRevision != 2 || s.InstalledRevision != 2 || len(s.Drift) != 0 {
			t.Errorf("after a save: %+v", s)
		}
		w.redis.turn(true)
		put(70)
		if s := w.bucketSync(); s.Converged || !s.Pending || s.Revision != 3 || s.RedisRevision != 2 || s.InstalledRevision != 2 || len(s.Drift) != 0 {
			t.Errorf("while Redis is away: %+v", s)
		}
	})
}

// An admin has everything compared now: what differed is put right, and the history says who asked and what was found.
func TestReconcileNowPutsRightAndIsRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		must(t, w.redis.reconciler.Repair(t.Context()))
		deployment, err := w.store.DeploymentID(t.Context())
		must(t, err)
		_, err = w.engine.Remove(t.Context(), theBucket, 1, deployment) // by hand, at the very revision
		must(t, err)
		if _, err = w.engine.Remove(t.Context(), theBucket, 9, deployment); err != nil {
			t.Fatal(err)
		}
		if s := w.bucketSync(); s.Converged || !slices.Contains(s.Drift, "deleted") || !slices.Contains(s.Drift, "revision") || s.RedisRevision != 9 {
			t.Errorf("drifted: %+v", s)
		}
		var sync api.SystemSync
		w.as(root).do("POST", "/api/v1/system/reconcile", map[string]any{"reason": "after the incident"}).want(t, http.StatusOK).into(t, &sync)
		if sync.State != "ok" || sync.Drifted != 1 || sync.Pending != 0 || sync.OrphanNames == nil {
			t.Errorf("after it: %+v", sync)
		}
		if s := w.bucketSync(); !s.Converged || s.Revision != 10 {
			t.Errorf("put right: %+v", s)
		}
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionReconcile})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Actor != root || page.Items[0].Reason != "after the incident" || page.Items[0].Target != model.SyncTarget {
			t.Errorf("history %+v", page.Items)
		}
	})
}
