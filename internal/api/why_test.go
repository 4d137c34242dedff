package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// ask asks as somebody whether a user may do something.
func (w *world) ask(c *client, user string, action auth.Permission, bucket, app string) answer {
	q := url.Values{"action": {string(action)}}
	if bucket != "" {
		q.Set("bucket", bucket)
	}
	if app != "" {
		q.Set("app", app)
	}
	return c.do("GET", "/api/v1/users/"+user+"/permissions?"+q.Encode(), nil)
}

// The answer is the one that the routes give: for every person and every route of the walk that asks for a permission of
// the table, on the bucket or the app that it names.
func TestTheAnswerWhyIsWhatTheRoutesDo(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.disable(disabled)
		asker, needs, compared := w.as(aud), api.Needs(), 0
		for _, step := range walk {
			path, _, _ := strings.Cut(step.path, "?")
			action := needs[routeOf(needs, step.method, "/api/v1"+path)]
			bucket, app := whatOf(step.method, path, action)
			if !slices.Contains(auth.Table(), action) || (bucket == "") != (auth.TargetOf(action) != auth.OfBucket) || (app == "") != (auth.TargetOf(action) != auth.OfApp) {
				continue // a list shows what may be seen, a sum of several things asks for each
			}
			for i, who := range people {
				if who == "" {
					continue
				}
				got := status(t, step.people, len(people), i)
				hidden := got == http.StatusNotFound && bucket+app != "" && !strings.Contains(path, "ghost")
				routeLets := got != http.StatusUnauthorized && got != http.StatusForbidden && !hidden
				if strings.HasSuffix(path, "/members/ghost") && got == http.StatusNotFound {
					continue // of the app or of the member
				}
				var why api.Why
				w.ask(asker, who, action, bucket, app).want(t, http.StatusOK).into(t, &why)
				if compared++; why.Allowed != routeLets || why.Allowed && len(why.Through) == 0 || !why.Allowed && !why.Disabled && len(why.Missing) == 0 {
					t.Errorf("%s: %s %s answers %d, %s is told as %+v", who, step.method, step.path, got, action, why)
				}
			}
		}
		if compared < 300 {
			t.Errorf("only %d answers were compared", compared)
		}
	})
}

// whatOf is the bucket or the app that a route of the walk is asked for.
func whatOf(method, path string, action auth.Permission) (bucket, app string) {
	switch {
	case method == "POST" && path == "/buckets":
		return "", "checkout"
	case strings.HasPrefix(path, "/buckets/"+theBucket):
		return theBucket, ""
	case strings.HasPrefix(path, "/apps/checkout") && action != auth.BucketSee:
		return "", "checkout"
	}
	return "", ""
}

// All grounds that count are told, with their apps; what is missing is told with who could grant it.
func TestWhyTellsAllGroundsAndWhoCouldGrant(t *testing.T) {
	w := onSQLite(t)
	w.bucket("both", []string{"checkout", "other"}, []string{ann, bob})
	w.bucket("everyones", []string{model.AllApps}, []string{root})
	text := func(grounds []api.WhyGround) string {
		var list []string
		for _, g := range grounds {
			list = append(list, fmt.Sprintf("%s%v%v", g.Ground, g.Apps, g.By))
		}
		return strings.Join(list, "; ")
	}
	for _, c := range []struct {
		who              string
		action           auth.Permission
		bucket, app      string
		allowed          bool
		through, missing string
	}{
		{ann, auth.BucketSee, "both", "", true, "bucket owner[][]; app owner[checkout][]", ""},
		{otto, auth.BucketSee, "both", "", true, "app owner[other][]", ""},
		{vic, auth.BucketSee, "everyones", "", true, "app viewer[checkout][]", ""},
		{root, auth.BucketEdit, "everyones", "", true, "admin[][]; bucket owner[][]", ""},
		{aud, auth.BucketEdit, "both", "", false, "", "admin[][]; bucket owner[][ann bob]"},
		{vic, auth.AppManage, "", "checkout", false, "", "admin[][]; app owner[checkout][ann]"},
		{ann, auth.BucketCreate, "", "checkout", true, "app owner[checkout][]", ""},
		{ann, auth.SystemManage, "", "", false, "", "admin[][]"},
		{bob, auth.UserNames, "", "", true, "bucket owner[][]", ""},
	} {
		var why api.Why
		w.ask(w.as(aud), c.who, c.action, c.bucket, c.app).want(t, http.StatusOK).into(t, &why)
		if why.Allowed != c.allowed || text(why.Through) != c.through || text(why.Missing) != c.missing {
			t.Errorf("%s %s %s%s: %v through %q, missing %q", c.who, c.action, c.bucket, c.app, why.Allowed, text(why.Through), text(why.Missing))
		}
	}
}

// A question without its object, or with one that is not the action's, is refused by field; a token that may not see
// buckets learns of none.
func TestWhyRefusesWhatItCannotAnswer(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	for _, q := range []struct {
		action             auth.Permission
		bucket, app, field string
	}{
		{"bucket.eat", "", "", "action"}, {auth.Self, "", "", "action"}, {auth.BucketEdit, "", "", "bucket"}, {auth.AppManage, "", "", "app"},
		{auth.SystemSee, theBucket, "", "bucket"}, {auth.SystemSee, "", "checkout", "app"},
	} {
		p := w.ask(c, ann, q.action, q.bucket, q.app).problem(t, http.StatusUnprocessableEntity)
		if !slices.Equal(fields(p), []string{q.field}) {
			t.Errorf("%+v: %v", q, fields(p))
		}
	}
	w.ask(c, "ghost", auth.SystemSee, "", "").problem(t, http.StatusNotFound)
	token := w.bearer(w.token(root, "admin-only", model.ScopeAdmin))
	there := w.ask(token, ann, auth.BucketSee, theBucket, "").problem(t, http.StatusNotFound)
	ghost := w.ask(token, ann, auth.BucketSee, "ghost", "").problem(t, http.StatusNotFound)
	if strings.ReplaceAll(there.Detail, theBucket, "ghost") != ghost.Detail {
		t.Errorf("%q differs from %q", there.Detail, ghost.Detail)
	}
}

func TestThePermissionTableIsData(t *testing.T) {
	w := onSQLite(t)
	var list api.List[api.Action]
	w.as(aud).do("GET", "/api/v1/permissions", nil).want(t, http.StatusOK).into(t, &list)
	if len(list.Items) != len(auth.Table()) {
		t.Errorf("%d actions", len(list.Items))
	}
	for _, a := range list.Items {
		if a.Action == auth.BucketEdit && (a.Of != auth.OfBucket || !slices.Equal(a.Held, []auth.Ground{"admin", "bucket owner"})) {
			t.Errorf("%+v", a)
		}
	}
}

// A token without the right to see buckets learns none of their names from the System page's figures.
func TestInstancesAreFilteredAndNameNoBucketToThoseWhoSeeNone(t *testing.T) {
	w := onSQLite(t)
	get := func(c *client, query string) (found api.SystemInstances) {
		c.do("GET", "/api/v1/system/instances"+query, nil).want(t, http.StatusOK).into(t, &found)
		return found
	}
	all := get(w.as(aud), "")
	if all.Total != 2 || all.Behind != 1 || len(all.Items) != 2 || len(all.Items[0].Behind) != 1 {
		t.Errorf("all: %+v", all)
	}
	if one := get(w.as(aud), "?search=WEB-2"); one.Total != 1 || one.Items[0].ID != "two" {
		t.Errorf("search: %+v", one)
	}
	if behind := get(w.as(aud), "?behind=true"); behind.Total != 1 || behind.Items[0].ID != "one" {
		t.Errorf("behind: %+v", behind)
	}
	blind := get(w.bearer(w.token(root, "admin-only", model.ScopeAdmin)), "")
	if blind.Items[0].BehindCount != 1 || len(blind.Items[0].Behind) != 0 {
		t.Errorf("without bucket.see: %+v", blind)
	}
}
