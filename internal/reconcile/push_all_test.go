package reconcile_test

import (
	"testing"

	"github.com/headgate/headgate/internal/model"
)

// Of many buckets that are pushed at once, those that can't be brought stay pending with a reason and hold up no other; what
// became of them is brought later.
func TestPushAllBringsAllButThoseThatFail(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		names := []string{"a", "b-string", "c", "d-newer", "e-deleted", "f"}
		for _, name := range names {
			w.create(name)
		}
		must(t, r.PushAll(t.Context(), names))
		w.requireEqual()
		for _, name := range names {
			w.setMax(name, 7)
		}
		w.remove("e-deleted")
		must(t, w.rdb.Set(t.Context(), w.hash("b-string"), "hello", 0).Err())
		_, err := w.raw.ExecContext(t.Context(), "UPDATE buckets SET algorithm = 'leaky' WHERE name = 'd-newer'")
		must(t, err)

		must(t, r.PushAll(t.Context(), append(names, "never-was")))
		for _, name := range []string{"a", "c", "f"} {
			if found, row := w.read(name), w.row(name); found.MaxPermits != 7 || row.Mark != 0 || row.InstalledRevision != row.Revision {
				t.Errorf("%s was not brought: Redis has %+v, the row is %+v", name, found, row)
			}
		}
		if !w.read("e-deleted").Tombstone {
			t.Error("the deleted bucket is still in Redis")
		}
		for _, name := range []string{"b-string", "d-newer"} {
			b, err := w.store.Bucket(t.Context(), name)
			must(t, err)
			if !b.Sync.Pending || b.Sync.LastError == "" {
				t.Errorf("%s: sync %+v", name, b.Sync)
			}
		}

		must(t, w.rdb.Del(t.Context(), w.hash("b-string")).Err()) // as the operator would
		_, err = w.raw.ExecContext(t.Context(), "UPDATE buckets SET algorithm = ? WHERE name = 'd-newer'", string(model.TokenBucket))
		must(t, err)
		must(t, r.PushAll(t.Context(), names))
		w.requireEqual()
	})
}
