package api_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

// trial makes a bucket that is changed from the ordinary one and installs it.
func (w *world) trial(name string, change func(*model.Definition)) string {
	w.t.Helper()
	d := model.Definition{Apps: []string{"checkout"}, Owners: []string{bob}, MaxPermits: 10, Rate: 1, Period: 24 * 3600e9}
	change(&d)
	d.SetDefaults()
	_, err := w.store.CreateBucket(w.t.Context(), name, d, byRoot)
	must(w.t, err)
	w.install(name)
	return "/api/v1/buckets/" + name + "/try"
}

func (c *client) try(path string, body map[string]any) (got api.Tried) {
	c.t.Helper()
	c.do("POST", path, body).want(c.t, http.StatusOK).into(c.t, &got)
	return got
}

// A trial takes real permits, under the rules of every algorithm, counts as usage and leaves a change row.
func TestATrialIsARealAcquire(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		path := w.trial("tried", func(*model.Definition) {})
		c := w.as(bob)
		got := c.try(path, map[string]any{"permits": 7, "reason": "does it work?"})
		if got.App != "checkout" || got.Outcome != "granted" || !got.Allowed || got.Remaining != 3 || got.Limit != 10 || got.Revision != 1 || got.Source != "redis" || got.Mode != "enforce" {
			t.Errorf("first: %+v", got)
		}
		if got = c.try(path, map[string]any{"permits": 4}); got.Outcome != "limited" || got.Allowed || got.Remaining != 3 || got.RetryAfterMS < 1 || got.ResetAfterMS < got.RetryAfterMS {
			t.Errorf("second: %+v", got)
		}
		if got = c.try(path, map[string]any{"permits": 11}); got.Outcome != "too_many" {
			t.Errorf("third: %+v", got)
		}
		usage, err := w.engine.ReadUsage(t.Context(), "tried", w.minute()-1, w.minute())
		must(t, err)
		var granted, limited int64
		for _, u := range usage {
			granted, limited = granted+u.Granted, limited+u.Limited
		}
		if granted != 7 || limited != 4 || usage[0].App != "checkout" {
			t.Errorf("usage %+v", usage)
		}
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionBucketTry})
		must(t, err)
		row := page.Items[2]
		if len(page.Items) != 3 || row.Actor != bob || row.Target != "tried" || row.Reason != "does it work?" || !strings.Contains(string(row.After), `"permits":7`) {
			t.Errorf("rows %+v", page.Items)
		}
		if a := w.as(aud).do("GET", "/api/v1/buckets/tried", nil).bucket(t, http.StatusOK); a.Revision != 1 {
			t.Errorf("revision %d", a.Revision)
		}
	})
}

// A concurrency bucket is entered and left at once; shadow and off let through; each key has its own state.
func TestATrialFollowsTheBucketsKind(t *testing.T) {
	w := onSQLite(t)
	c := w.as(bob)
	slots := w.trial("slots", func(d *model.Definition) {
		d.Algorithm, d.Rate, d.MaxPermits, d.Period = model.Concurrency, 0, 1, 60e9
	})
	for range 3 {
		if got := c.try(slots, map[string]any{}); got.Outcome != "granted" {
			t.Errorf("slot: %+v", got)
		}
	}
	keyed := w.trial("keyed", func(d *model.Definition) { d.Partition, d.Shards, d.MaxPermits = model.PartitionAppKey, 4, 1 })
	for _, step := range []struct{ key, outcome string }{{"a", "granted"}, {"b", "granted"}, {"a", "limited"}} {
		if got := c.try(keyed, map[string]any{"key": step.key}); got.Outcome != step.outcome {
			t.Errorf("key %s: %+v", step.key, got)
		}
	}
	shadow := w.trial("shadow", func(d *model.Definition) { d.Mode, d.MaxPermits = model.ModeShadow, 1 })
	c.try(shadow, map[string]any{})
	if got := c.try(shadow, map[string]any{}); got.Outcome != "limited" || !got.Allowed {
		t.Errorf("shadow: %+v", got)
	}
	off := w.trial("off", func(d *model.Definition) { d.Mode, d.MaxPermits = model.ModeOff, 1 })
	c.try(off, map[string]any{})
	if got := c.try(off, map[string]any{}); got.Outcome != "granted" || !got.Allowed {
		t.Errorf("off: %+v", got)
	}
	if usage, err := w.engine.ReadUsage(t.Context(), "off", w.minute()-1, w.minute()); err != nil || len(usage) != 0 {
		t.Errorf("mode off counted %+v, %v", usage, err)
	}
}

func TestATrialNamesAListedApp(t *testing.T) {
	w := onSQLite(t)
	many := w.trial("many", func(d *model.Definition) { d.Apps = []string{"checkout", "other"} })
	all := w.trial("all", func(d *model.Definition) { d.Apps, d.Owners = []string{model.AllApps}, []string{bob, otto} })
	none := w.trial("none", func(d *model.Definition) { d.Apps = nil })
	keyed := w.trial("keyed", func(d *model.Definition) { d.Partition = model.PartitionKey })
	c := w.as(bob)
	for _, step := range []struct {
		path  string
		body  map[string]any
		field string
	}{
		{many, map[string]any{}, "app"}, {many, map[string]any{"app": "ghost"}, "app"}, {all, map[string]any{}, "app"}, {all, map[string]any{"app": "ghost"}, "app"},
		{none, map[string]any{"app": "checkout"}, "app"}, {many, map[string]any{"app": "checkout", "key": "x"}, "key"}, {keyed, map[string]any{}, "key"},
		{keyed, map[string]any{"key": strings.Repeat("x", 513)}, "key"}, {many, map[string]any{"app": "other", "permits": 0}, "permits"},
	} {
		p := c.do("POST", step.path, step.body).problem(t, http.StatusUnprocessableEntity)
		if got := fields(p); len(got) != 1 || got[0] != step.field {
			t.Errorf("%s %v: fields %v", step.path, step.body, got)
		}
	}
	for path, who := range map[string]string{many: bob, all: otto} {
		if got := w.as(who).try(path, map[string]any{"app": "other"}); got.Outcome != "granted" || got.App != "other" {
			t.Errorf("%s: %+v", path, got)
		}
	}
	unseen, ghost := c.do("POST", all, map[string]any{"app": "other"}), c.do("POST", all, map[string]any{"app": "ghost"})
	if a, b := unseen.problem(t, http.StatusUnprocessableEntity), ghost.problem(t, http.StatusUnprocessableEntity); !reflect.DeepEqual(a.Errors, b.Errors) {
		t.Errorf("an app that may not be seen is told from one that there is not: %+v, %+v", a.Errors, b.Errors)
	}
}

// While break-glass covers the app, a trial is let pass and counted as the app's own calls are.
func TestATrialUnderBreakGlassIsLetPass(t *testing.T) {
	w := onSQLite(t)
	path := w.trial("covered", func(d *model.Definition) { d.MaxPermits = 1 })
	w.as(root).do("POST", breakGlassPath, glass(map[string]any{"scope": "app", "app": "checkout"})).want(t, http.StatusCreated)
	c := w.as(bob)
	c.try(path, map[string]any{})
	if got := c.try(path, map[string]any{}); got.Outcome != "limited" || !got.Allowed || got.Mode != "shadow" {
		t.Errorf("%+v", got)
	}
	usage, err := w.engine.ReadUsage(t.Context(), "covered", w.minute()-1, w.minute())
	must(t, err)
	var limited, shadowed int64
	for _, u := range usage {
		limited, shadowed = limited+u.Limited, shadowed+u.ShadowLimited
	}
	if limited != 0 || shadowed != 1 {
		t.Errorf("counted %d as limited and %d as let pass", limited, shadowed)
	}
}

// With Redis away the answer says so, and what applications would have done; the attempt is in the history.
func TestATrialWithoutRedisSaysSo(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	w := onSQLite(t, func(c *api.Config) { c.Figures = figures.Reader{Engine: bucket.New(rdb, "")} })
	server.Stop()
	p := w.as(bob).do("POST", bucketPath+"/try", map[string]any{}).problem(t, http.StatusServiceUnavailable)
	if !strings.Contains(p.Detail, "failure policy, open") {
		t.Errorf("detail %q", p.Detail)
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionBucketTry})
	must(t, err)
	if len(page.Items) != 1 || !strings.Contains(string(page.Items[0].After), `"permits":1`) {
		t.Errorf("rows %+v", page.Items)
	}
}

// The row comes first: where the history takes none, no permit is taken either.
func TestATrialThatCannotBeRecordedTakesNoPermit(t *testing.T) {
	history := &brokenHistory{}
	w := onSQLite(t, func(c *api.Config) {
		history.Store = c.Store
		c.Store = history
	})
	path := w.trial("unrecorded", func(*model.Definition) {})
	c := w.as(bob)
	history.fails.Store(true)
	c.do("POST", path, map[string]any{"permits": 7}).problem(t, http.StatusServiceUnavailable)
	history.fails.Store(false)
	if got := c.try(path, map[string]any{"permits": 1}); got.Remaining != 9 {
		t.Errorf("%d of 10 remain after one permit: the unrecorded trial took some", got.Remaining)
	}
}

// brokenHistory is a store whose change log can be made to refuse rows.
type brokenHistory struct {
	api.Store
	fails atomic.Bool
}

func (h *brokenHistory) AppendChange(ctx context.Context, c model.Change) error {
	if h.fails.Load() && c.Action == model.ActionBucketTry {
		return model.Errorf(model.CodeUnavailable, "the database does not answer now; try again")
	}
	return h.Store.AppendChange(ctx, c)
}
