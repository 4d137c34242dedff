package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// What is settled together is settled as one by one: revisions only rise, an edit made meanwhile stays due, and the time
// of the install is kept.
func TestManyInstallsAreSettledAsOneByOne(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		names := numbered("b", 5)
		var all []model.Installed
		for _, name := range names {
			bucket(t, s, name, definition("alice"))
			all = append(all, model.Installed{Name: name, Revision: 1, Mark: 1})
		}
		must(s.UpdateBucket(t.Context(), names[1], 1, definition("alice"), byAlice))(t) // while it was pushed
		ok(t, s.MarkInstalled(t.Context(), names[2], 7, 1))                             // as no push could
		all = append(all, model.Installed{Name: "absent", Revision: 1, Mark: 1})
		ok(t, s.MarkInstalledAll(t.Context(), all))
		ok(t, s.MarkInstalledAll(t.Context(), nil))
		heads := must(s.SyncHeadsOf(t.Context(), append(names, "absent")))(t)
		if len(heads) != len(names) {
			t.Errorf("%d heads, want %d", len(heads), len(names))
		}
		for i, name := range names {
			want := model.SyncHead{Name: name, Revision: 1, Shards: 1, InstalledRevision: 1}
			switch i {
			case 1:
				want.Revision, want.Mark = 2, 2
			case 2:
				want.InstalledRevision = 7
			}
			if heads[name] != want {
				t.Errorf("%+v, want %+v", heads[name], want)
			}
			if row := must(s.SyncRow(t.Context(), name))(t); !row.InstalledAt.Equal(now.Now().Truncate(time.Microsecond)) {
				t.Errorf("%s: installed at %v", name, row.InstalledAt)
			}
		}
	})
}

// Pages of rows hold every name once, and rows by name are those of the walk over all.
func TestRowsOfManyNames(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		names := numbered("b", 7)
		for _, name := range names {
			bucket(t, s, name, definition("alice"))
		}
		must(s.DeleteBucket(t.Context(), names[3], 1, byAlice))(t)
		var walked []string
		for after := ""; ; after = walked[len(walked)-1] {
			rows := must(s.SyncRows(t.Context(), after, 3))(t)
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				walked = append(walked, row.Name)
				if row.Deleted != (row.Name == names[3]) || row.Shards != 1 {
					t.Errorf("row %+v", row)
				}
			}
		}
		if fmt.Sprint(walked) != fmt.Sprint(names) {
			t.Errorf("walked %v", walked)
		}
		rows := must(s.SyncRowsOf(t.Context(), append(names, "absent")))(t)
		for _, one := range must(s.SyncRows(t.Context(), "", 100))(t) {
			many := rows[one.Name]
			if (one.Bucket == nil) != (many.Bucket == nil) || one.Bucket != nil && fmt.Sprint(*one.Bucket) != fmt.Sprint(*many.Bucket) {
				t.Errorf("%+v, of all %+v", many, one)
			}
		}
		if len(rows) != len(names) {
			t.Errorf("%d rows", len(rows))
		}
	})
}
