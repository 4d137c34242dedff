package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

const bulkPath = buckets + "/bulk"

// bulk is a good body: what is to be changed, by name with the revision that was seen.
func bulk(seen map[string]int64, change map[string]any) map[string]any {
	list := []any{}
	for name, revision := range seen {
		list = append(list, map[string]any{"name": name, "revision": revision})
	}
	return map[string]any{"buckets": list, "change": change, "reason": "many at once"}
}

func (c *client) bulkEdit(body map[string]any) api.BulkEdited {
	c.t.Helper()
	var done api.BulkEdited
	c.do("POST", bulkPath, body).want(c.t, http.StatusOK).into(c.t, &done)
	return done
}

// One request changes many buckets: each gets its revision and its change row, Redis has them when the answer comes, and
// what was so already stays at its revision. A dry run told the same before.
func TestBulkEditChangesWhatDiffersAndTellsTheRest(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.bucket("one", []string{"checkout"}, []string{bob, ann})
		w.bucket("two", []string{"other"}, []string{bob})
		c := w.as(bob)
		body := bulk(map[string]int64{"one": 1, "two": 1, theBucket: 1}, map[string]any{
			"set_labels": map[string]string{"team": "red"}, "add_owners": []string{ann}, "mode": "shadow",
		})
		body["dry_run"] = true
		dry := c.bulkEdit(body)
		if b := c.do("GET", buckets+"/one", nil).bucket(t, http.StatusOK); b.Revision != 1 || len(b.Labels) > 0 || b.Mode != model.ModeEnforce {
			t.Errorf("the dry run left %+v", b)
		}
		delete(body, "dry_run")
		done := c.bulkEdit(body)
		if len(dry.Changed) != 3 || len(done.Changed) != 3 || len(done.Unchanged) != 0 {
			t.Fatalf("dry %+v, done %+v", dry, done)
		}
		for i, b := range done.Changed {
			if told := dry.Changed[i]; told.Name != b.Name || told.Revision != b.Revision || !slices.Equal(told.Owners, b.Owners) {
				t.Errorf("the dry run told %+v, then came %+v", told, b)
			}
			if b.Revision != 2 || b.Labels["team"] != "red" || !slices.Equal(b.Owners, []string{ann, bob}) || b.Mode != model.ModeShadow || b.Sync.State != "synced" {
				t.Errorf("changed %+v", b)
			}
			now := c.do("GET", buckets+"/"+b.Name, nil).bucket(t, http.StatusOK)
			if now.Revision != 2 || now.Labels["team"] != "red" || !slices.Equal(now.Owners, b.Owners) || now.Mode != model.ModeShadow || now.UpdatedBy != bob {
				t.Errorf("stored %+v", now)
			}
			installed, err := w.engine.Read(t.Context(), b.Name)
			must(t, err)
			if installed[0].Revision != 2 {
				t.Errorf("Redis has revision %d of %s", installed[0].Revision, b.Name)
			}
			page, err := w.store.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket, Target: b.Name})
			must(t, err)
			if row := page.Items[0]; len(page.Items) != 2 || row.Actor != bob || row.Reason != "many at once" || row.Revision != 2 || !strings.Contains(string(row.After), `"red"`) {
				t.Errorf("history %+v", page.Items)
			}
		}
		again := c.bulkEdit(bulk(map[string]int64{"one": 2, "two": 2}, map[string]any{
			"set_labels": map[string]string{"team": "red"}, "remove_labels": []string{"none"}, "add_owners": []string{bob}, "mode": "shadow",
		}))
		if len(again.Changed) != 0 || !slices.Equal(again.Unchanged, []string{"one", "two"}) {
			t.Errorf("again %+v", again)
		}
		removed := c.bulkEdit(bulk(map[string]int64{"one": 2}, map[string]any{"remove_labels": []string{"team"}, "remove_owners": []string{ann}}))
		if b := removed.Changed[0]; b.Revision != 3 || len(b.Labels) != 0 || !slices.Equal(b.Owners, []string{bob}) {
			t.Errorf("removed %+v", b)
		}
	})
}

// One bucket that stands in the way holds up all, and the answer names every one with what is wrong with it.
func TestBulkEditNamesEveryBucketInItsWayAndChangesNone(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.bucket("mine", []string{"checkout"}, []string{ann})
		w.bucket("moved", []string{"checkout"}, []string{ann})
		w.bucket("unseen", []string{"other"}, []string{otto})
		c := w.as(ann)
		c.do("PUT", buckets+"/moved", definition(map[string]any{"owners": []string{ann}}), "If-Match", `"1"`).want(t, http.StatusOK)
		seen := map[string]int64{"mine": 1, "moved": 1, "unseen": 1, "ghost": 1, theBucket: 1}
		faults := func(status int, change map[string]any) string {
			t.Helper()
			var list []string
			for _, b := range c.do("POST", bulkPath, bulk(seen, change)).problem(t, status).Buckets {
				text := fmt.Sprintf("%s %s %d", b.Name, b.Code, b.Revision)
				for _, rule := range b.Errors {
					text += fmt.Sprintf(" %s=%s", rule.Field, rule.Code)
				}
				list = append(list, text)
			}
			slices.Sort(list)
			return strings.Join(list, ", ")
		}
		off := map[string]any{"mode": "off"}
		if got := faults(http.StatusForbidden, off); got != "ghost not_found 0, moved stale 2, partner-api forbidden 0, unseen not_found 0" {
			t.Error(got)
		}
		delete(seen, theBucket)
		if got := faults(http.StatusNotFound, off); got != "ghost not_found 0, moved stale 2, unseen not_found 0" {
			t.Error(got)
		}
		delete(seen, "ghost")
		delete(seen, "unseen")
		if got := faults(http.StatusPreconditionFailed, off); got != "moved stale 2" {
			t.Error(got)
		}
		if got := faults(http.StatusPreconditionFailed, map[string]any{"remove_owners": []string{ann}}); got != "mine invalid 0 owners=owners, moved stale 2" {
			t.Error(got)
		}
		if b := c.do("GET", buckets+"/mine", nil).bucket(t, http.StatusOK); b.Revision != 1 || b.Mode != model.ModeEnforce {
			t.Errorf("changed all the same: %+v", b)
		}
	})
}

// A refused bulk edit is in the history with the buckets that were tried.
func TestRefusedBulkEditIsRecordedWithItsBuckets(t *testing.T) {
	w := onSQLite(t)
	w.bucket("second", []string{"checkout"}, []string{bob})
	c := w.as(vic)
	if p := c.do("POST", bulkPath, bulk(map[string]int64{theBucket: 1}, map[string]any{"mode": "off"})).problem(t, http.StatusForbidden); p.Permission != string(auth.BucketEdit) {
		t.Errorf("permission %q", p.Permission)
	}
	c.do("POST", bulkPath, map[string]any{
		"buckets": []any{map[string]any{"name": theBucket, "revision": 1}, map[string]any{"name": "second", "revision": 1}},
		"change":  map[string]any{"mode": "off"}, "reason": "x",
	}).problem(t, http.StatusForbidden)
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionRefused})
	must(t, err)
	var rows []string
	for _, c := range page.Items {
		rows = append(rows, fmt.Sprintf("%s %s %s: %s", c.Actor, c.TargetKind, c.Target, c.Reason))
	}
	want := []string{
		"vic bucket : POST /api/v1/buckets/bulk needs bucket.edit for 2 buckets: partner-api, second",
		"vic bucket partner-api: POST /api/v1/buckets/bulk needs bucket.edit for 1 buckets: partner-api",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("history %q, want %q", rows, want)
	}
}

// Each rule of the request is told with its field.
func TestBulkEditIsChecked(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	many := map[string]int64{}
	for i := range model.BulkMost + 1 {
		many[fmt.Sprintf("b%d", i)] = 1
	}
	one := map[string]int64{theBucket: 1}
	for want, body := range map[string]map[string]any{
		"buckets":                 bulk(many, map[string]any{"mode": "off"}),
		"buckets[0].revision":     bulk(map[string]int64{theBucket: 0}, map[string]any{"mode": "off"}),
		"change":                  bulk(one, map[string]any{}),
		"change.mode":             bulk(one, map[string]any{"mode": "loud"}),
		"change.set_labels":       bulk(one, map[string]any{"set_labels": map[string]string{"a b": "x"}}),
		"change.remove_labels[0]": bulk(one, map[string]any{"remove_labels": []string{"k"}, "set_labels": map[string]string{"k": "x"}}),
		"change.add_owners[0]":    bulk(one, map[string]any{"add_owners": []string{"stranger"}}),
		"change.remove_owners[0]": bulk(one, map[string]any{"add_owners": []string{ann}, "remove_owners": []string{ann}}),
		"reason":                  {"buckets": []any{map[string]any{"name": theBucket, "revision": 1}}, "change": map[string]any{"mode": "off"}},
		"buckets[1].name":         {"buckets": []any{map[string]any{"name": theBucket, "revision": 1}, map[string]any{"name": theBucket, "revision": 1}}, "change": map[string]any{"mode": "off"}, "reason": "x"},
	} {
		p := c.do("POST", bulkPath, body).problem(t, http.StatusUnprocessableEntity)
		if got := fields(p); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: fields %v", want, got)
		}
	}
}

// A save of many stands though Redis is away, and says that it waits.
func TestBulkEditStandsWhenRedisIsAway(t *testing.T) {
	w := onSQLite(t)
	w.redis.turn(true)
	done := w.as(bob).bulkEdit(bulk(map[string]int64{theBucket: 1}, map[string]any{"mode": "off"}))
	if b := done.Changed[0]; b.Revision != 2 || b.Sync.State != "pending" || strings.Contains(b.Sync.Message, "10.1.2.3") {
		t.Errorf("answer %+v", b)
	}
}

// The largest bulk edit comes through whole, with Redis in step.
func TestBulkEditOfTheMostBucketsIsInRedisWithTheAnswer(t *testing.T) {
	w := onSQLite(t)
	seen := map[string]int64{}
	for i := range model.BulkMost {
		name := fmt.Sprintf("many-%03d", i)
		w.bucket(name, []string{"checkout"}, []string{bob})
		seen[name] = 1
	}
	done := w.as(bob).bulkEdit(bulk(seen, map[string]any{"set_labels": map[string]string{"batch": "1"}}))
	if len(done.Changed) != model.BulkMost {
		t.Fatalf("%d changed", len(done.Changed))
	}
	for _, b := range done.Changed {
		if b.Sync.State != "synced" {
			t.Fatalf("%+v", b)
		}
	}
}

// The labels to filter by are those of the buckets that one may see, with their numbers.
func TestLabelsAreThoseOfSeenBuckets(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		for name, labels := range map[string]map[string]string{
			"a": {"team": "red", "tier": "1"}, "b": {"team": "red"}, "c": {"team": "blue"},
		} {
			app := map[string]string{"a": "checkout", "b": "checkout", "c": "other"}[name]
			admin.do("POST", buckets, definition(map[string]any{"name": name, "apps": []string{app}, "labels": labels})).want(t, http.StatusCreated)
		}
		admin.do("DELETE", buckets+"/b?reason=x", nil, "If-Match", `"1"`).want(t, http.StatusOK)
		labels := func(who, query string) (string, bool) {
			t.Helper()
			var list api.Labels
			w.as(who).do("GET", "/api/v1/bucket-labels"+query, nil).want(t, http.StatusOK).into(t, &list)
			var told []string
			for _, l := range list.Items {
				told = append(told, fmt.Sprintf("%s=%s %d", l.Key, l.Value, l.Buckets))
			}
			return strings.Join(told, ", "), list.Complete
		}
		for _, c := range []struct {
			who, query, want string
			complete         bool
		}{
			{root, "", "team=blue 1, team=red 1, tier=1 1", true}, {vic, "", "team=red 1, tier=1 1", true}, {otto, "", "team=blue 1", true},
			{nemo, "", "", true}, {root, "?search=re", "team=red 1", true},
			{root, "?search=team%3Dred", "team=red 1", true}, {root, "?search=AM%3DB", "team=blue 1", true}, {root, "?search=team%3D", "team=blue 1, team=red 1", true},
			{root, "?search=am%3Ded", "", true}, {root, "?search=%3D1", "tier=1 1", true}, {root, "?search=%25%3Dr", "", true}, {root, "?limit=2", "team=blue 1, team=red 1", false},
		} {
			if got, complete := labels(c.who, c.query); got != c.want || complete != c.complete {
				t.Errorf("%s %s: %q %v, want %q %v", c.who, c.query, got, complete, c.want, c.complete)
			}
		}
	})
}
