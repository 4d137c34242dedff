package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

// put replaces the definition of the bucket and returns the answer's revision.
func (w *world) put(who string, changes map[string]any) int64 {
	w.t.Helper()
	c := w.as(who)
	tag := c.do("GET", bucketPath, nil).header.Get("ETag")
	return c.do("PUT", bucketPath, definition(changes), "If-Match", tag).bucket(w.t, http.StatusOK).Revision
}

func (w *world) delete(path string) {
	w.t.Helper()
	c := w.as(root)
	tag := c.do("GET", path, nil).header.Get("ETag")
	c.do("DELETE", path+"?reason=gone", nil, "If-Match", tag).want(w.t, http.StatusOK)
}

func TestRevisionsAreComparedFieldByField(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(root, map[string]any{
			"owners": []string{bob, ann}, "apps": []string{"checkout", "other"}, "rate": 25, "labels": map[string]string{"tier": "gold", "x": "y"},
		})
		w.put(root, map[string]any{"owners": []string{ann}, "apps": []string{"other"}, "rate": 25, "labels": map[string]string{"tier": "silver"}})
		c := w.as(root)
		var got api.Comparison
		c.do("GET", bucketPath+"/revisions/2/compare/3", nil).want(t, http.StatusOK).into(t, &got)
		want := []string{
			`labels {"tier":"gold","x":"y"} {"tier":"silver"} [tier=silver] [tier=gold x=y]`,
			`apps ["checkout","other"] ["other"] [] [checkout]`, `owners ["ann","bob"] ["ann"] [] [bob]`,
		}
		if lines := diffLines(got.Fields); !slices.Equal(lines, want) {
			t.Errorf("fields %q, want %q", lines, want)
		}
		if got.From.Revision != 2 || got.To.Revision != 3 || got.From.Definition.Rate != 25 || got.To.Actor != root {
			t.Errorf("compared %+v", got)
		}
		c.do("GET", bucketPath+"/revisions/3/compare/1", nil).want(t, http.StatusOK).into(t, &got)
		if len(got.Fields) != 4 || got.Fields[3].Field != "rate" || string(got.Fields[3].Before) != "25" || string(got.Fields[3].After) != "50" {
			t.Errorf("backward %+v", got.Fields)
		}
		c.do("GET", bucketPath+"/revisions/2/compare/2", nil).want(t, http.StatusOK).into(t, &got)
		if len(got.Fields) != 0 {
			t.Errorf("equal revisions differ in %+v", got.Fields)
		}
		for _, path := range []string{"/revisions/0", "/revisions/4", "/revisions/-1", "/revisions/1/compare/9"} {
			c.do("GET", bucketPath+path, nil).problem(t, http.StatusNotFound)
		}
		c.do("GET", bucketPath+"/revisions/x", nil).problem(t, http.StatusUnprocessableEntity)
	})
}

func diffLines(fields []api.FieldDiff) []string {
	var lines []string
	for _, f := range fields {
		lines = append(lines, fmt.Sprintf("%s %s %s %v %v", f.Field, f.Before, f.After, f.Added, f.Removed))
	}
	return lines
}

// A name that was made anew is another bucket to those who see it only now.
func TestEarlierBucketOfTheNameIsHiddenFromNewcomers(t *testing.T) {
	w := onSQLite(t)
	w.put(root, map[string]any{"owners": []string{bob}, "rate": 7})
	w.delete(bucketPath)
	w.bucket(theBucket, []string{"other"}, []string{otto}) // revision 4
	for _, path := range []string{"/revisions/1", "/revisions/3", "/revisions/2/compare/4", "/revisions/4/compare/2"} {
		p := w.as(otto).do("GET", bucketPath+path, nil).problem(t, http.StatusNotFound)
		if strings.Contains(p.Detail, "deleted") {
			t.Errorf("the answer tells more than of one that never was: %s", p.Detail)
		}
		w.as(aud).do("GET", bucketPath+path, nil).want(t, http.StatusOK)
	}
	w.as(otto).do("GET", bucketPath+"/revisions/4", nil).want(t, http.StatusOK)
	w.as(bob).do("GET", bucketPath+"/revisions/1", nil).problem(t, http.StatusNotFound)
	var as api.BucketAsOfPeople
	before := url.QueryEscape(w.now.time().Add(-time.Hour).Format(time.RFC3339Nano))
	w.as(otto).do("GET", bucketPath+"/as-of?at="+before, nil).want(t, http.StatusOK).into(t, &as)
	if as.State != model.AsOfAbsent || as.Definition != nil {
		t.Errorf("as of before: %+v", as)
	}
}

func TestRollBackTakesAnOldDefinitionOverAsANewRevision(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(bob, map[string]any{"owners": []string{bob}, "rate": 7})
		body := map[string]any{"revision": 1, "reason": "the new rate is too low"}
		w.as(bob).do("POST", bucketPath+"/rollback", body, "If-Match", `"1"`).problem(t, http.StatusPreconditionFailed)
		w.as(bob).do("POST", bucketPath+"/rollback", body).problem(t, http.StatusPreconditionRequired)
		a := w.as(bob).do("POST", bucketPath+"/rollback", body, "If-Match", `"2"`)
		b := a.bucket(t, http.StatusOK)
		if b.Revision != 3 || b.Rate != 50 || b.Sync.State != model.SyncSynced || a.header.Get("ETag") != `"3"` {
			t.Errorf("rolled back: %+v", b)
		}
		var list api.List[api.Change]
		w.as(bob).do("GET", bucketPath+"/changes?limit=1", nil).want(t, http.StatusOK).into(t, &list)
		var after struct {
			From int64 `json:"from_revision"`
		}
		must(t, json.Unmarshal(list.Items[0].After, &after))
		if c := list.Items[0]; c.Action != model.ActionBucketRollback || c.Reason != "the new rate is too low" || c.Actor != bob || after.From != 1 {
			t.Errorf("change %+v", c)
		}
		for _, bad := range []struct {
			body  map[string]any
			field string
		}{
			{map[string]any{"revision": 9, "reason": "x"}, "revision"}, {map[string]any{"revision": 3, "reason": "x"}, "revision"},
			{map[string]any{"revision": 1, "reason": " "}, "reason"}, {map[string]any{"reason": "x"}, "revision"},
			{map[string]any{"revision": 1, "reason": "x", "role": "admin"}, "role"},
			{map[string]any{"revision": 1, "reason": "x", "owners": []string{}}, "owners"},
		} {
			p := w.as(bob).do("POST", bucketPath+"/rollback", bad.body, "If-Match", `"3"`).problem(t, http.StatusUnprocessableEntity)
			if !slices.Contains(fields(p), bad.field) {
				t.Errorf("%v: %+v", bad.body, p.Errors)
			}
		}
	})
}

// A roll back is an edit: what one may not add by an edit one may not bring back either, and what is gone is named.
func TestRollBackIsBoundByWhatAnEditMayDo(t *testing.T) {
	w := onSQLite(t)
	w.put(root, map[string]any{"owners": []string{bob}, "apps": []string{"checkout", "other"}})
	w.put(root, map[string]any{"owners": []string{bob, nemo}, "apps": []string{"*"}})
	w.put(root, map[string]any{"owners": []string{bob}, "apps": []string{"checkout"}})
	back := func(who string, revision int, more map[string]any) answer {
		body := map[string]any{"revision": revision, "reason": "x"}
		for k, v := range more {
			body[k] = v
		}
		c := w.as(who)
		return c.do("POST", bucketPath+"/rollback", body, "If-Match", c.do("GET", bucketPath, nil).header.Get("ETag"))
	}
	if p := back(bob, 2, nil).problem(t, http.StatusUnprocessableEntity); p.Errors[0].Field != "apps[1]" || !strings.Contains(p.Errors[0].Message, "may see") {
		t.Errorf("an app that bob does not see: %+v", p.Errors)
	}
	back(bob, 3, nil).problem(t, http.StatusForbidden)
	w.disable(nemo)
	p := back(root, 3, nil).problem(t, http.StatusUnprocessableEntity)
	if len(p.Errors) != 1 || !reflect.DeepEqual(p.Errors[0], model.Broken("owners[1]", "%s is disabled", "nemo")) {
		t.Errorf("a disabled owner: %+v", p.Errors)
	}
	b := back(root, 3, map[string]any{"owners": []string{bob}}).bucket(t, http.StatusOK)
	if !slices.Equal(b.Apps, []string{"*"}) || !slices.Equal(b.Owners, []string{bob}) {
		t.Errorf("with other owners: %+v", b)
	}
}

// An old revision names its owners as they were called then. The person is brought back, not whoever has the name now.
func TestRollBackAndRestorationFollowARenamedOwner(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(root, map[string]any{"owners": []string{ann}})
		admin := w.as(root)
		tag := etagOf(admin.do("GET", users+"/"+bob, nil))
		renamed := map[string]any{"name": "robert", "display_name": "", "role": "member", "disabled": false}
		admin.do("PUT", users+"/"+bob, renamed, "If-Match", tag).want(t, http.StatusOK)
		made := map[string]any{"name": bob, "role": "member", "password": "another person's password"}
		admin.do("POST", users, made).want(t, http.StatusCreated)

		body := map[string]any{"revision": 1, "reason": "as it was"}
		b := admin.do("POST", bucketPath+"/rollback", body, "If-Match", `"2"`).bucket(t, http.StatusOK)
		if !slices.Equal(b.Owners, []string{"robert"}) {
			t.Errorf("rolled back, it is owned by %q", b.Owners)
		}
		w.put(root, map[string]any{"owners": []string{ann}})
		w.delete(bucketPath)
		b = admin.do("POST", bucketPath+"/restore", body).bucket(t, http.StatusOK)
		if !slices.Equal(b.Owners, []string{"robert"}) {
			t.Errorf("restored, it is owned by %q", b.Owners)
		}
		var past api.Revision
		admin.do("GET", bucketPath+"/revisions/1", nil).want(t, http.StatusOK).into(t, &past)
		if !slices.Equal(past.Definition.Owners, []string{bob}) {
			t.Errorf("the revision itself says %q; it is to be shown as it was written", past.Definition.Owners)
		}
	})
}

func TestDeletedBucketIsRestoredByItsFormerOwner(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(bob, map[string]any{"owners": []string{bob}, "rate": 7})
		before, err := w.engine.Read(t.Context(), theBucket)
		must(t, err)
		w.delete(bucketPath)
		for who, want := range map[string]string{root: theBucket, aud: theBucket, bob: theBucket, ann: "", vic: "", nemo: ""} {
			var list api.List[api.DeletedBucket]
			w.as(who).do("GET", "/api/v1/deleted-buckets", nil).want(t, http.StatusOK).into(t, &list)
			var names []string
			for _, b := range list.Items {
				names = append(names, b.Name)
				if b.MayRestore != (who != aud) || b.Reason != "gone" || b.DeletedBy != root || b.Definition.Rate != 7 {
					t.Errorf("%s sees %+v", who, b)
				}
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s sees %q", who, got)
			}
			one := w.as(who).do("GET", "/api/v1/deleted-buckets/"+theBucket, nil)
			if want == "" {
				one.problem(t, http.StatusNotFound)
				continue
			}
			var found api.DeletedBucket
			if one.want(t, http.StatusOK).into(t, &found); !reflect.DeepEqual(found, list.Items[0]) {
				t.Errorf("%s finds %+v alone and %+v in the list", who, found, list.Items[0])
			}
		}
		w.as(root).do("GET", "/api/v1/deleted-buckets/"+theBucket[:1], nil).problem(t, http.StatusNotFound)
		w.as(bob).do("GET", bucketPath+"/revisions/1/compare/2", nil).want(t, http.StatusOK)
		w.as(bob).do("GET", bucketPath+"/changes", nil).want(t, http.StatusOK)
		w.as(bob).do("GET", bucketPath, nil).problem(t, http.StatusNotFound)
		body := map[string]any{"reason": "still needed"}
		w.as(ann).do("POST", bucketPath+"/restore", body).problem(t, http.StatusNotFound)
		w.as(aud).do("POST", bucketPath+"/restore", body).problem(t, http.StatusForbidden)
		w.as(bob).do("POST", bucketPath+"/restore", map[string]any{"reason": "x", "revision": 3}).problem(t, http.StatusUnprocessableEntity)
		w.as(bob).do("POST", bucketPath+"/restore", map[string]any{"reason": ""}).problem(t, http.StatusUnprocessableEntity)

		b := w.as(bob).do("POST", bucketPath+"/restore", body).bucket(t, http.StatusOK)
		if b.Revision != 4 || b.Rate != 7 || !slices.Equal(b.Owners, []string{bob}) || b.Sync.State != model.SyncSynced || !b.May.Edit {
			t.Errorf("restored %+v", b)
		}
		after, err := w.engine.Read(t.Context(), theBucket)
		must(t, err)
		if !after[0].Present || after[0].Revision != 4 || after[0].Generation == before[0].Generation {
			t.Errorf("in Redis %+v, before %+v", after[0], before[0])
		}
		w.as(bob).do("POST", bucketPath+"/restore", body).problem(t, http.StatusConflict)
		w.as(bob).do("GET", bucketPath+"/revisions/1", nil).want(t, http.StatusOK) // its history goes on
		w.as(vic).do("GET", bucketPath, nil).want(t, http.StatusOK)
	})
}

// What a deleted bucket listed may be gone; then other apps are given, and any revision will do.
func TestRestorationTakesAnyRevisionAndOtherApps(t *testing.T) {
	w := onSQLite(t)
	w.put(root, map[string]any{"owners": []string{bob}, "rate": 7, "apps": []string{"other"}})
	w.delete(bucketPath)
	app, err := w.store.App(t.Context(), "other")
	must(t, err)
	must(t, w.store.DeleteApp(t.Context(), "other", app.Revision, byRoot))
	p := w.as(root).do("POST", bucketPath+"/restore", map[string]any{"reason": "x"}).problem(t, http.StatusUnprocessableEntity)
	if !reflect.DeepEqual(p.Errors[0], model.Broken("apps[0]", "%s is not registered", "other")) {
		t.Errorf("an app that is gone: %+v", p.Errors)
	}
	p = w.as(bob).do("POST", bucketPath+"/restore", map[string]any{"reason": "x", "revision": 1}).problem(t, http.StatusUnprocessableEntity)
	if p.Errors[0].Field != "apps[0]" { // checkout, which bob does not see and the last revision did not list
		t.Errorf("an unseen app: %+v", p.Errors)
	}
	b := w.as(bob).do("POST", bucketPath+"/restore", map[string]any{"reason": "x", "revision": 1, "apps": []string{}}).bucket(t, http.StatusOK)
	if b.Rate != 50 || len(b.Apps) != 0 {
		t.Errorf("restored %+v", b)
	}
}

// "What was in force, and who could change it, on date D", for one bucket and for all.
func TestAsOfTellsTheDefinitionAndWhoCouldChangeIt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		asked := w.now.time()
		w.now.pass(time.Hour)
		w.disable(bob)
		w.put(root, map[string]any{"owners": []string{ann}, "rate": 7})
		u, err := w.store.User(t.Context(), ann)
		must(t, err)
		role := model.RoleAdmin
		_, err = w.store.UpdateUser(t.Context(), ann, u.Revision, model.UserPatch{Role: &role}, byRoot)
		must(t, err)
		ask := func(who string, at time.Time) (as api.BucketAsOfPeople) {
			t.Helper()
			w.as(who).do("GET", bucketPath+"/as-of?at="+url.QueryEscape(at.Format(time.RFC3339Nano)), nil).want(t, http.StatusOK).into(t, &as)
			return as
		}
		then, now := ask(aud, asked), ask(aud, w.now.time().Add(-time.Millisecond))
		if then.State != model.AsOfInForce || then.Revision != 1 || then.Definition.Rate != 50 || then.By != root {
			t.Errorf("then %+v", then)
		}
		if got := fmt.Sprint(then.CouldChange); got != "[{bob owner  false} {root admin  false}]" {
			t.Errorf("could change it then: %s", got)
		}
		if got := fmt.Sprint(then.CouldSee); got != "[{ann app_owner checkout false} {vic app_viewer checkout false} {aud auditor  false}]" {
			t.Errorf("could see it then: %s", got)
		}
		if got := fmt.Sprint(now.CouldChange); now.Definition.Rate != 7 || got != "[{ann owner  false} {ann admin  false} {root admin  false}]" {
			t.Errorf("now %+v: %s", now.BucketAsOf, got)
		}
		if seen := ask(vic, asked); seen.Definition == nil || seen.CouldChange != nil || seen.CouldSee != nil {
			t.Errorf("a member learns %+v", seen)
		}
		var all api.BucketsAsOf
		w.as(aud).do("GET", "/api/v1/as-of?at="+url.QueryEscape(asked.Format(time.RFC3339Nano)), nil).want(t, http.StatusOK).into(t, &all)
		if len(all.Items) != 1 || all.Items[0].Name != theBucket || fmt.Sprint(all.Admins) != "[{root admin  false}]" || fmt.Sprint(all.Owners) != "[{bob owner  false}]" {
			t.Errorf("all: %+v", all)
		}
	})
}

// A definition that said enforce was not in force while break-glass had its calls in shadow; the answer says so.
func TestAsOfTellsWhatBreakGlassCovered(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		admin := w.as(root)
		for _, covered := range []map[string]any{{"scope": "app", "app": "checkout"}, {"scope": "app", "app": "other"}, {"scope": "all"}} {
			covered["reason"], covered["confirm"] = "the callee is down", "SHADOW"
			admin.do("POST", "/api/v1/break-glass", covered).want(t, http.StatusCreated)
		}
		during := url.QueryEscape(w.now.time().Format(time.RFC3339Nano))
		w.now.pass(time.Minute)
		var now api.List[api.BreakGlass]
		admin.do("GET", "/api/v1/break-glass", nil).want(t, http.StatusOK).into(t, &now)
		for _, b := range now.Items {
			admin.do("DELETE", fmt.Sprint("/api/v1/break-glass/", b.ID), nil).want(t, http.StatusOK)
		}
		after := url.QueryEscape(w.now.time().Format(time.RFC3339Nano))
		shown := func(list []api.BreakGlassAsOf) (texts []string) {
			for _, b := range list {
				texts = append(texts, fmt.Sprintf("%s %s by %s, %s, %t", b.Scope, b.App, b.By, b.Reason, b.Since != nil))
			}
			return texts
		}
		all := []string{"app checkout by root, the callee is down, true", "app other by root, the callee is down, true", "all  by root, the callee is down, true"}
		for at, want := range map[string][2][]string{during: {{all[0], all[2]}, all}, after: {}} {
			var one api.BucketAsOfPeople
			w.as(aud).do("GET", bucketPath+"/as-of?at="+at, nil).want(t, http.StatusOK).into(t, &one)
			var every api.BucketsAsOf
			w.as(aud).do("GET", "/api/v1/as-of?at="+at, nil).want(t, http.StatusOK).into(t, &every)
			if !slices.Equal(shown(one.BreakGlass), want[0]) || !slices.Equal(shown(every.BreakGlass), want[1]) || one.BreakGlass == nil || every.BreakGlass == nil {
				t.Errorf("at %s: the bucket %q, all %q; want %q", at, shown(one.BreakGlass), shown(every.BreakGlass), want)
			}
		}
		var member api.BucketAsOfPeople
		w.as(vic).do("GET", bucketPath+"/as-of?at="+during, nil).want(t, http.StatusOK).into(t, &member)
		if member.BreakGlass != nil {
			t.Errorf("a member is told of %+v", member.BreakGlass)
		}
	})
}

func TestAsOfNeedsAnInstantThatHasPassed(t *testing.T) {
	w := onSQLite(t)
	for _, at := range []string{"", "?at=", "?at=yesterday", "?at=2999-01-01T00:00:00Z", "?at=2026-02-30T00:00:00Z"} {
		w.as(aud).do("GET", bucketPath+"/as-of"+at, nil).problem(t, http.StatusUnprocessableEntity)
		w.as(aud).do("GET", "/api/v1/as-of"+at, nil).problem(t, http.StatusUnprocessableEntity)
	}
}
