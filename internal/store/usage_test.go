package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

const anHour = int64(490_000) // since 1970

func used(bucket, app string, minute, granted, limited, shadow int64) model.UsageRow {
	return model.UsageRow{Bucket: bucket, App: app, Minute: minute, Used: model.Used{Granted: granted, Limited: limited, ShadowLimited: shadow}}
}

func usageWorld(t *testing.T, d database) *store.Store {
	t.Helper()
	s := d.migrated(t)
	people(t, s, "olivia")
	apps(t, s, "checkout", "mobile")
	for _, name := range []string{"a", "b"} {
		bucket(t, s, name, definition("olivia", "checkout", "mobile"))
	}
	return s
}

// However readings of the same minutes are cut, ordered, repeated and spread over two servers at once, the hours are the
// sums of each minute's last reading.
func TestHoursAreTheSumsOfTheMinutesInWhateverOrderTheyAreRead(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		first := usageWorld(t, d)
		second := d.open(t)
		random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano()))) //nolint:gosec // a test
		want := map[string]model.Used{}
		var readings []model.UsageRow
		for _, name := range []string{"a", "b"} {
			for _, app := range []string{"checkout", "mobile"} {
				for minute := anHour * 60; minute < anHour*60+120; minute += 1 + random.Int64N(5) {
					last := model.Used{Granted: 1 + random.Int64N(1e6), Limited: random.Int64N(1e4), ShadowLimited: random.Int64N(3)}
					for range 3 {
						readings = append(readings, model.UsageRow{Bucket: name, App: app, Minute: minute, Used: model.Used{Granted: random.Int64N(last.Granted + 1)}})
					}
					readings = append(readings, model.UsageRow{Bucket: name, App: app, Minute: minute, Used: last})
					key := fmt.Sprint(name, app, minute/60)
					want[key] = want[key].Plus(last)
				}
			}
		}
		random.Shuffle(len(readings), func(i, j int) { readings[i], readings[j] = readings[j], readings[i] })
		for _, err := range together(4, func(i int) error {
			s := []*store.Store{first, second}[i%2]
			for from := 0; from < len(readings); from += 50 {
				at := (from + i*100) % len(readings)
				if err := s.MergeUsage(t.Context(), readings[at:min(at+100, len(readings))]); err != nil {
					return err
				}
			}
			return nil
		}) {
			ok(t, err)
		}
		got := map[string]model.Used{}
		for _, name := range []string{"a", "b"} {
			for _, row := range must(first.UsageHours(t.Context(), name, anHour, anHour+1))(t) {
				got[fmt.Sprint(name, row.App, row.Minute/60)] = row.Used
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("hours (-want +got):\n%s", diff)
		}
	})
}

// A Redis that lost a minute and counts it anew lowers nothing that is kept, and what it counts of others is added.
func TestLostMinutesLowerNoHour(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := usageWorld(t, d)
		minute := anHour * 60
		ok(t, s.MergeUsage(t.Context(), []model.UsageRow{used("a", "checkout", minute, 100, 10, 0), used("a", "checkout", minute+1, 50, 0, 0)}))
		ok(t, s.MergeUsage(t.Context(), []model.UsageRow{used("a", "checkout", minute+1, 3, 0, 0), used("a", "checkout", minute+2, 7, 0, 1)}))
		got := must(s.UsageHours(t.Context(), "a", anHour, anHour))(t)
		if diff := cmp.Diff([]model.UsageRow{used("a", "checkout", minute, 157, 10, 1)}, got); diff != "" {
			t.Error(diff)
		}
		minutes := must(s.UsageMinutes(t.Context(), "a", minute+1, minute+2))(t)
		if diff := cmp.Diff([]model.UsageRow{used("a", "checkout", minute+1, 50, 0, 0), used("a", "checkout", minute+2, 7, 0, 1)}, minutes); diff != "" {
			t.Error(diff)
		}
	})
}

// Minutes are given up and hours removed at their ages, and no sum changes by it; doing it again does nothing more.
func TestPruningRemovesOldHoursAndGivesUpOldMinutes(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := usageWorld(t, d)
		for hour := anHour; hour < anHour+5; hour++ {
			ok(t, s.MergeUsage(t.Context(), []model.UsageRow{used("a", "checkout", hour*60+59, hour, 1, 0)}))
		}
		for range 2 {
			ok(t, s.PruneUsage(t.Context(), anHour+4, anHour+2))
		}
		var hours []int64
		for _, row := range must(s.UsageHours(t.Context(), "a", 0, anHour+10))(t) {
			hours = append(hours, row.Granted)
		}
		if diff := cmp.Diff([]int64{anHour + 2, anHour + 3, anHour + 4}, hours); diff != "" {
			t.Error(diff)
		}
		if minutes := must(s.UsageMinutes(t.Context(), "a", 0, (anHour+10)*60))(t); len(minutes) != 1 {
			t.Errorf("%d minutes are kept, want that of the last hour", len(minutes))
		}
		ok(t, s.MergeUsage(t.Context(), []model.UsageRow{used("a", "checkout", (anHour+3)*60, 1, 0, 0)}))
		if got := must(s.UsageHours(t.Context(), "a", anHour+3, anHour+3))(t); got[0].Granted != anHour+3 {
			t.Errorf("a minute that came after its hour was closed lowered it to %d", got[0].Granted)
		}
	})
}

// Deleting a bucket keeps its hours; whoever gets the name next does not see them in an app's sums.
func TestAnAppsSumsAreOverWhatTheViewerMaySee(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		c := newClock()
		s := d.migrated(t, c.use)
		people(t, s, "olivia", "vic")
		apps(t, s, "checkout", "other")
		ok(t, s.SetMember(t.Context(), "checkout", model.Member{User: "vic", Role: model.AppViewer}, byAlice))
		bucket(t, s, "seen", definition("olivia", "checkout"))
		bucket(t, s, "unseen", definition("olivia", "other"))
		gone := bucket(t, s, "again", definition("olivia", "checkout"))
		hour := c.Now().Unix() / 3600
		ok(t, s.MergeUsage(t.Context(), []model.UsageRow{
			used("seen", "checkout", hour*60, 1, 0, 0), used("seen", "checkout", hour*60+30, 2, 0, 0), used("unseen", "checkout", hour*60, 10, 0, 0),
			used("again", "checkout", hour*60, 100, 0, 0), used("seen", "other", hour*60, 1000, 0, 0), used("never", "checkout", hour*60, 5, 0, 0),
		}))
		must(s.DeleteBucket(t.Context(), "again", gone.Revision, byAlice))(t)
		c.move(2 * time.Hour)
		bucket(t, s, "again", definition("olivia", "checkout"))
		ok(t, s.MergeUsage(t.Context(), []model.UsageRow{used("again", "checkout", (hour+3)*60, 7, 0, 0)}))

		sum := func(rows []model.UsageRow) (sums []int64) {
			for _, row := range rows {
				sums = append(sums, row.Granted)
			}
			return sums
		}
		for viewer, want := range map[string][]int64{"": {113, 7}, "vic": {3, 7}, "olivia": {13, 7}, "ghost": nil} {
			hours := must(s.AppUsageHours(t.Context(), viewer, "checkout", hour, hour+5, 9))(t)
			if diff := cmp.Diff(want, sum(hours.Rows)); diff != "" {
				t.Errorf("%q: hours %s", viewer, diff)
			}
		}
		minutes := must(s.AppUsageMinutes(t.Context(), "vic", "checkout", hour*60+30, (hour+3)*60, nil, 9))(t)
		if diff := cmp.Diff([]int64{2, 7}, sum(minutes.Rows)); diff != "" {
			t.Errorf("minutes %s", diff)
		}
		seen := must(s.SeenBuckets(t.Context(), "vic", "vic"))(t)
		if diff := cmp.Diff(map[string]bool{"seen": false, "again": false}, seen); diff != "" {
			t.Error(diff)
		}
		if seen = must(s.SeenBuckets(t.Context(), "", "olivia", "seen", "ghost"))(t); !cmp.Equal(seen, map[string]bool{"seen": true}) {
			t.Errorf("of two names: %v", seen)
		}
		if all, pending, err := s.CountBuckets(t.Context(), "vic"); err != nil || all != 2 || pending != 2 {
			t.Errorf("%d buckets, %d pending, %v", all, pending, err)
		}
	})
}

// By bucket an app's usage adds up to what it is over time, whatever part of it is kept already; the top ones are named,
// and only to those who may see them.
func TestAnAppsUsageIsToldByBucket(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		c := newClock()
		s := d.migrated(t, c.use)
		people(t, s, "olivia", "vic")
		apps(t, s, "checkout", "other")
		ok(t, s.SetMember(t.Context(), "checkout", model.Member{User: "vic", Role: model.AppViewer}, byAlice))
		for _, name := range []string{"a", "b", "c"} {
			bucket(t, s, name, definition("olivia", "checkout"))
		}
		bucket(t, s, "unseen", definition("olivia", "other"))
		gone := bucket(t, s, "gone", definition("olivia", "checkout"))
		again := bucket(t, s, "again", definition("olivia", "checkout"))
		must(s.DeleteBucket(t.Context(), "gone", gone.Revision, byAlice))(t)
		must(s.DeleteBucket(t.Context(), "again", again.Revision, byAlice))(t)
		c.move(time.Minute)
		bucket(t, s, "again", definition("olivia", "checkout"))
		hour := c.Now().Unix() / 3600
		now := hour * 60
		ok(t, s.MergeUsage(t.Context(), []model.UsageRow{
			used("a", "checkout", now, 5, 1, 0), used("a", "checkout", now+1, 4, 0, 0), used("b", "checkout", now, 20, 0, 0),
			used("unseen", "checkout", now, 50, 0, 0), used("gone", "checkout", now, 3, 0, 0), used("a", "other", now, 1000, 0, 0),
		}))
		recent := []model.UsageRow{ // more, less and nothing of what is kept
			used("a", "checkout", now+1, 30, 0, 0), used("b", "checkout", now, 6, 0, 0), used("c", "checkout", now+1, 1, 1, 1), used("unseen", "checkout", now+1, 7, 0, 0),
			used("again", "checkout", now+1, 9, 0, 0), used("never", "checkout", now+1, 100, 0, 0), used("b", "checkout", now-5, 500, 0, 0),
		}
		minutes := func(viewer string, top int) model.AppUsage {
			return must(s.AppUsageMinutes(t.Context(), viewer, "checkout", now, now+1, recent, top))(t)
		}
		a, b, third := model.Used{Granted: 35, Limited: 1}, model.Used{Granted: 20}, model.Used{Granted: 1, Limited: 1, ShadowLimited: 1}
		rows := []model.UsageRow{used("", "checkout", now, 25, 1, 0), used("", "checkout", now+1, 31, 1, 1)}
		want := model.AppUsage{Rows: rows, Top: []model.BucketUsed{{Bucket: "a", Used: a}, {Bucket: "b", Used: b}, {Bucket: "c", Used: third}}}
		if diff := cmp.Diff(want, minutes("vic", 3)); diff != "" {
			t.Errorf("a viewer's minutes: %s", diff)
		}
		want = model.AppUsage{Rows: rows, Top: want.Top[:1], Others: b.Plus(third), OtherBuckets: 2}
		if diff := cmp.Diff(want, minutes("vic", 1)); diff != "" {
			t.Errorf("the top one: %s", diff)
		}
		all := minutes("", 9)
		named := map[string]int64{}
		for _, one := range all.Top {
			named[one.Bucket] = one.Granted
			if one.Deleted != (one.Bucket == "gone") {
				t.Errorf("%s is deleted: %v", one.Bucket, one.Deleted)
			}
		}
		if diff := cmp.Diff(map[string]int64{"unseen": 57, "a": 35, "b": 20, "again": 9, "gone": 3, "c": 1}, named); diff != "" {
			t.Errorf("to those who see all: %s", diff)
		}
		hours := must(s.AppUsageHours(t.Context(), "vic", "checkout", hour, hour, 1))(t)
		want = model.AppUsage{Rows: []model.UsageRow{used("", "checkout", now, 29, 1, 0)}, Top: []model.BucketUsed{{Bucket: "b", Used: b}}, Others: model.Used{Granted: 9, Limited: 1}, OtherBuckets: 1}
		if diff := cmp.Diff(want, hours); diff != "" {
			t.Errorf("hours: %s", diff)
		}
	})
}

// Which buckets an app may use follows every edit.
func TestBucketsOfAnAppFollowEveryEdit(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "olivia")
		apps(t, s, "checkout", "other")
		listed := func() map[string][]string {
			return must(s.AppBuckets(t.Context(), []string{"checkout", "other", "ghost"}))(t)
		}
		bucket(t, s, "b", definition("olivia", "checkout"))
		bucket(t, s, "everyones", definition("olivia", model.AllApps))
		both := bucket(t, s, "a", definition("olivia", "checkout", "other"))
		if diff := cmp.Diff(map[string][]string{"checkout": {"a", "b", "everyones"}, "other": {"a", "everyones"}}, listed()); diff != "" {
			t.Error(diff)
		}
		must(s.UpdateBucket(t.Context(), "a", both.Revision, definition("olivia", "other"), byAlice))(t)
		must(s.DeleteBucket(t.Context(), "b", 1, byAlice))(t)
		if diff := cmp.Diff(map[string][]string{"checkout": {"everyones"}, "other": {"a", "everyones"}}, listed()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMarksOfTheRollUpAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		ok(t, s.SetUsageMarks(t.Context(), nil))
		ok(t, s.SetUsageMarks(t.Context(), map[string]int64{"x": 5, "y": 6}))
		ok(t, s.SetUsageMarks(t.Context(), map[string]int64{"x": 4}))
		if got := must(s.UsageMarks(t.Context()))(t); !cmp.Equal(got, map[string]int64{"x": 4, "y": 6}) {
			t.Error(got)
		}
	})
}
