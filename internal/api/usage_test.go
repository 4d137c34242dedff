package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// minute is Redis's running one.
func (w *world) minute() int64 {
	w.t.Helper()
	now, err := w.engine.Time(w.t.Context())
	must(w.t, err)
	return now.Unix() / 60
}

// report is what an SDK does.
func (w *world) report(name, app string, minute, granted, limited int64) {
	w.t.Helper()
	must(w.t, w.engine.ReportUsage(w.t.Context(), []bucket.Usage{{Bucket: name, App: app, Minute: minute, Granted: granted, Limited: limited}}))
}

// rollUp is what a server does every minute.
func (w *world) rollUp() {
	w.t.Helper()
	must(w.t, w.roller.Read(w.t.Context()))
	_, err := w.roller.Save(w.t.Context())
	must(w.t, err)
}

func (c *client) usage(path string) (u api.BucketUsage, granted int64) {
	c.t.Helper()
	c.do("GET", "/api/v1"+path, nil).want(c.t, http.StatusOK).into(c.t, &u)
	for _, row := range u.Items {
		granted += row.Granted
	}
	return u, granted
}

func minuteAt(minute int64) string { return strconv.FormatInt(minute, 10) }

// Every range is told, and every one adds up to what was reported in it, also right after Redis lost the minutes.
func TestUsageOfEveryRangeAddsUpToWhatWasReported(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		now := w.minute()
		for ago, granted := range map[int64]int64{0: 1, 3: 10, 50: 100, 1400: 1000} {
			w.report(theBucket, "checkout", now-ago, granted, 0)
		}
		must(t, w.store.MergeUsage(t.Context(), []model.UsageRow{{Bucket: theBucket, App: "checkout", Minute: now - 60*24*60, Used: model.Used{Granted: 10_000}}}))
		w.rollUp()
		w.report(theBucket, "checkout", now, 1, 0) // not rolled up yet
		c := w.as(vic)
		for asked, want := range map[string]int64{"?range=5m": 12, "?range=1h": 112, "?range=24h": 1112, "?range=90d": 11112, "": 112, "?minutes=53": 112, "?minutes=6": 12} {
			u, granted := c.usage("/buckets/" + theBucket + "/usage" + asked)
			if step := map[bool]int{true: 60, false: 1}[asked == "?range=90d"]; granted != want || u.StepMinutes != step || u.RedisTimeUS == 0 {
				t.Errorf("%q: %d granted, want %d: %+v", asked, granted, want, u)
			}
		}
		for asked, want := range map[string]int64{"minutes=47&until=" + minuteAt(now-4): 100, "minutes=48&until=" + minuteAt(now-3): 110, "minutes=46&until=" + minuteAt(now-4): 0, "range=5m&until=" + minuteAt(now+9): 12, "range=1h&until=" + minuteAt(now-1400): 1000} {
			if _, granted := c.usage("/buckets/" + theBucket + "/usage?" + asked); granted != want {
				t.Errorf("%q: %d granted, want %d", asked, granted, want)
			}
		}
		for asked, want := range map[string]int64{"?range=5m": 11, "": 111, "?range=24h": 1111, "?range=90d": 11111} {
			if _, granted := c.usage("/apps/checkout/usage" + asked); granted != want {
				t.Errorf("the app's %q: %d granted, want %d", asked, granted, want)
			}
		}
		for asked, field := range map[string]string{"range=1y": "range", "range=90d&until=7": "until", "until=-1": "until", "until=soon": "until", "minutes=2881": "minutes"} {
			p := c.do("GET", bucketPath+"/usage?"+asked, nil).problem(t, http.StatusUnprocessableEntity)
			if len(p.Errors) != 1 || !strings.HasSuffix(p.Errors[0].Field, field) {
				t.Errorf("%q: refused for %+v, want %s", asked, p.Errors, field)
			}
		}
	})
}

// An app's usage is told by bucket too, over every range: it adds up to the rows, and leaves out what may not be seen.
func TestUsageOfAnAppIsToldByBucket(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		now := w.minute()
		for i := range int64(22) {
			name := fmt.Sprintf("b%02d", i)
			w.bucket(name, []string{"checkout"}, []string{bob})
			w.report(name, "checkout", now, 10*(i+1), i)
		}
		w.bucket("hidden", []string{"other"}, []string{otto})
		w.report("hidden", "checkout", now, 10_000, 0)
		w.report(theBucket, "other", now, 10_000, 0)
		w.rollUp()
		for _, asked := range []string{"5m", "1h", "24h", "90d"} {
			var u api.AppUsage
			w.as(vic).do("GET", "/api/v1/apps/checkout/usage?range="+asked, nil).want(t, http.StatusOK).into(t, &u)
			if u.Others == nil {
				t.Fatalf("%s: no others in %+v", asked, u)
			}
			sum, rows := u.Others.Permits, api.Permits{}
			for _, b := range u.Buckets {
				sum.Granted, sum.Limited = sum.Granted+b.Granted, sum.Limited+b.Limited
			}
			for _, row := range u.Items {
				rows.Granted, rows.Limited = rows.Granted+row.Granted, rows.Limited+row.Limited
			}
			if len(u.Buckets) != 20 || u.Buckets[0].Name != "b21" || u.Buckets[19].Name != "b02" || *u.Others != (api.OtherShares{Buckets: 2, Permits: api.Permits{Granted: 30, Limited: 1}}) ||
				sum != rows || sum != (api.Permits{Granted: 2530, Limited: 231}) {
				t.Errorf("%s: %+v, sum %+v, rows %+v", asked, u, sum, rows)
			}
			w.as(aud).do("GET", "/api/v1/apps/checkout/usage?range="+asked, nil).want(t, http.StatusOK).into(t, &u)
			if u.Buckets[0].Name != "hidden" || u.Others.Buckets != 3 {
				t.Errorf("%s: who sees all is told %+v", asked, u)
			}
		}
		_, err := w.store.DeleteBucket(t.Context(), "b21", 1, byRoot)
		must(t, err)
		w.bucket("b21", []string{"checkout"}, []string{bob})
		var u api.AppUsage
		w.as(vic).do("GET", "/api/v1/apps/checkout/usage?range=5m", nil).want(t, http.StatusOK).into(t, &u)
		if u.Buckets[0].Name != "b20" {
			t.Errorf("what was used under another's name is told: %+v", u.Buckets[0])
		}
	})
}

// Who gets a name that was another's before sees nothing of that one's usage; whoever may read the whole log does.
func TestEarlierUsageOfANameIsHiddenFromNewcomers(t *testing.T) {
	w := onSQLite(t)
	now := w.minute()
	w.bucket("again", []string{"checkout"}, []string{bob})
	w.report("again", "checkout", now-30, 5, 0)
	for ago := range int64(5) {
		w.report("again", "checkout", now-ago, 0, 7)
	}
	must(t, w.engine.ReportLimited(t.Context(), "i", []bucket.LimitedKeys{{Bucket: "again", Minute: now, Keys: []bucket.LimitedKey{{Key: "secret", Limited: 7}}}}))
	w.rollUp()
	_, err := w.store.DeleteBucket(t.Context(), "again", 1, byRoot)
	must(t, err)
	w.bucket("again", []string{"checkout"}, []string{bob})
	for who, want := range map[string]int64{vic: 0, bob: 0, aud: 5, root: 5} {
		for _, asked := range []string{"1h", "24h", "90d"} {
			if _, granted := w.as(who).usage("/buckets/again/usage?range=" + asked); granted != want {
				t.Errorf("%s sees %d in %s, want %d", who, granted, asked, want)
			}
		}
		var now api.BucketLive
		w.as(who).do("GET", "/api/v1/buckets/again/live", nil).want(t, http.StatusOK).into(t, &now)
		var keys api.LimitedKeys
		w.as(who).do("GET", "/api/v1/buckets/again/limited-keys?minutes=5", nil).want(t, http.StatusOK).into(t, &keys)
		if hidden := want == 0; (len(now.Usage) == 0) != hidden || (len(keys.Items) == 0) != hidden {
			t.Errorf("%s sees now %+v and of keys %+v", who, now.Usage, keys.Items)
		}
	}
	var o api.Overview
	w.rollUp()
	if w.as(bob).do("GET", "/api/v1/overview", nil).want(t, http.StatusOK).into(t, &o); o.RedisTimeUS == 0 || len(o.MostLimited) != 0 {
		t.Errorf("the overview ranks a bucket by an earlier one's usage: %+v", o.MostLimited)
	}
}

// Keys of any bytes are told so that they can be shown.
func TestLimitedKeysAreShownSafely(t *testing.T) {
	w := onSQLite(t)
	must(t, w.engine.ReportLimited(t.Context(), "instance-1", []bucket.LimitedKeys{{Bucket: theBucket, Minute: w.minute(), Keys: []bucket.LimitedKey{
		{Key: "user:42", Limited: 9, Excess: 2}, {Key: "名前 é", Limited: 8}, {Key: "\xff\x00", Limited: 7}, {Key: "a\u202eb", Limited: 6}, {Key: "<b>\n", Limited: 5},
	}}}))
	var got api.LimitedKeys
	w.as(vic).do("GET", bucketPath+"/limited-keys?minutes=2", nil).want(t, http.StatusOK).into(t, &got)
	want := []api.LimitedKey{
		{Key: "user:42", Limited: 9, AtMostTooHigh: 2}, {Key: "名前 é", Limited: 8}, {Key: `"\xff\x00"`, Escaped: true, Limited: 7},
		{Key: `"a\u202eb"`, Escaped: true, Limited: 6}, {Key: `"<b>\n"`, Escaped: true, Limited: 5},
	}
	if fmt.Sprint(got.Items) != fmt.Sprint(want) {
		t.Errorf("keys %+v", got.Items)
	}
	w.as(vic).do("GET", bucketPath+"/limited-keys?minutes=61", nil).problem(t, http.StatusUnprocessableEntity)
}

func TestInstancesTellTheRevisionThatEachActsOn(t *testing.T) {
	w := onSQLite(t)
	for id, revision := range map[string]int64{"i1": 1, "i2": 3} {
		_, err := w.engine.Beat(t.Context(), bucket.Instance{ID: id, App: "checkout", Host: "h", Version: "v1", Uptime: time.Minute, Buckets: map[string]int64{theBucket: revision}}, nil)
		must(t, err)
	}
	_, err := w.engine.Beat(t.Context(), bucket.Instance{ID: "i3", App: "checkout", Buckets: map[string]int64{"another": 1}}, nil)
	must(t, err)
	var got api.Instances
	w.as(vic).do("GET", bucketPath+"/instances", nil).want(t, http.StatusOK).into(t, &got)
	if len(got.Items) != 2 || got.Revision != 1 || got.Items[0].Revision != 1 || got.Items[1].Revision != 3 || got.Items[0].LastSeen.IsZero() || got.Items[0].Host != "h" {
		t.Errorf("instances %+v", got)
	}
}

// The overview shows to each what it may see, the most limited first but one's own before all, and those near their limit.
func TestOverviewRanksWhatOneMaySee(t *testing.T) {
	w := onSQLite(t)
	now := w.minute()
	for _, name := range []string{"half", "tenth", "near", "idle"} {
		w.bucket(name, []string{"checkout"}, []string{root})
	}
	w.bucket("unseen", []string{"other"}, []string{otto})
	w.report("half", "checkout", now, 10, 10)
	w.report("tenth", "checkout", now-1, 90, 10)
	w.report(theBucket, "checkout", now, 99, 1)
	w.report("unseen", "other", now, 0, 50)
	for ago := int64(-1); ago <= 6; ago++ { // a minute may pass meanwhile
		w.report("near", "checkout", now-ago, 50*60*85/100, 0)
		w.report("idle", "checkout", now-ago, 5, 0)
	}
	w.report("half", "checkout", now-7, 0, 1000) // long ago
	w.rollUp()
	for who, want := range map[string]string{
		vic: "half tenth partner-api | near", bob: "partner-api | ", root: "half tenth unseen partner-api | near", otto: "unseen | ", nemo: " | ",
		aud: "unseen half tenth partner-api | near",
	} {
		var o api.Overview
		w.as(who).do("GET", "/api/v1/overview", nil).want(t, http.StatusOK).into(t, &o)
		names := func(rows []api.OverviewBucket) (all string) {
			for i, row := range rows {
				if all += row.Name; i < len(rows)-1 {
					all += " "
				}
			}
			return all
		}
		if got := names(o.MostLimited) + " | " + names(o.NearLimit); got != want {
			t.Errorf("%s: %q, want %q", who, got, want)
		}
		if who == root && (o.Sync.Buckets != 6 || o.Sync.Pending != 6 || o.Sync.Mine != 4 || len(o.Changes) != 10 || o.MostLimited[0].LimitedShare != 0.5) {
			t.Errorf("overview %+v", o)
		}
		if who == nemo && (len(o.Changes) != 0 || o.Sync != (api.OverviewSync{})) {
			t.Errorf("nemo sees %+v", o)
		}
	}
}
