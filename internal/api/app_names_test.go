package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// heard adds instances of two apps to what is told of a bucket.
type heard struct{ api.Syncer }

func (heard) BucketSync(context.Context, string) (api.BucketSync, error) {
	return api.BucketSync{Instances: []api.SyncInstance{{ID: "i1", App: "checkout", Host: "checkout-host"}, {ID: "i2", App: "other", Host: "other-host"}}}, nil
}

// A bucket of all apps is shown to the members of each; what other apps use of it comes to them as one sum, without the
// others' names and hosts. Who sees all apps sees them apart.
func TestFiguresOfABucketOfAllAppsDoNotNameUnseenApps(t *testing.T) {
	w := onSQLite(t, func(c *api.Config) { c.Sync = heard{c.Sync} })
	w.bucket("everyones", []string{model.AllApps}, []string{root})
	w.install("everyones")
	now := time.Now().Unix() / 60
	must(t, w.engine.ReportUsage(t.Context(), []bucket.Usage{
		{Bucket: "everyones", App: "checkout", Minute: now, Granted: 5}, {Bucket: "everyones", App: "other", Minute: now, Granted: 2, Limited: 1},
		{Bucket: "everyones", App: "third", Minute: now, Granted: 3, Limited: 1},
	}))
	for id, app := range map[string]string{"i1": "checkout", "i2": "other"} {
		_, err := w.engine.Beat(t.Context(), bucket.Instance{ID: id, App: app, Host: app + "-host", Buckets: map[string]int64{"everyones": 1}}, nil)
		must(t, err)
	}
	const path = "/api/v1/buckets/everyones"
	for _, of := range []string{"/usage", "/usage?range=5m", "/usage?range=90d", "/live", "/instances", "/sync"} {
		if a := w.as(vic).do("GET", path+of, nil).want(t, http.StatusOK); strings.Contains(string(a.body), "other") || strings.Contains(string(a.body), "third") ||
			!strings.Contains(string(a.body), `"checkout"`) {
			t.Errorf("%s tells a viewer of checkout %s", of, a.body)
		}
		if a := w.as(aud).do("GET", path+of, nil).want(t, http.StatusOK); !strings.Contains(string(a.body), `"other"`) {
			t.Errorf("%s tells an auditor %s", of, a.body)
		}
	}
	var usage api.BucketUsage
	w.as(vic).do("GET", path+"/usage", nil).into(t, &usage)
	if len(usage.Items) != 2 || !slices.Contains(usage.Items, api.UsageRow{Minute: now, App: "*", Granted: 5, Limited: 2}) {
		t.Errorf("usage %+v", usage.Items)
	}
}

func TestStreamOfABucketOfAllAppsDoesNotNameUnseenApps(t *testing.T) {
	w := onSQLite(t)
	w.bucket("everyones", []string{model.AllApps}, []string{root})
	w.install("everyones")
	s := w.as(vic).mustOpen("/api/v1/stream?buckets=everyones")
	var sample api.StreamSample
	s.next("sample", &sample)
	now := time.Now().Unix() / 60
	for _, app := range []string{"checkout", "other", "third"} {
		must(t, w.engine.ReportUsage(t.Context(), []bucket.Usage{{Bucket: "everyones", App: app, Minute: now, Granted: 5}}))
	}
	seen := map[string]bool{}
	for range 5 {
		s.next("sample", &sample)
		for _, app := range sample.Buckets[0].Apps {
			seen[app.App] = true
		}
	}
	if len(seen) != 2 || !seen["checkout"] || !seen["*"] {
		t.Errorf("the stream names %v", seen)
	}
}
