package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

const bucketPath = buckets + "/" + theBucket

func TestBucketLivesFromCreationToDeletion(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(ann)
		a := c.do("POST", buckets, definition(map[string]any{"name": "fresh", "labels": map[string]string{"team": "pay"}, "max_wait_ms": 0}))
		b := a.bucket(t, http.StatusCreated)
		if a.header.Get("ETag") != `"1"` || b.Revision != 1 || b.Sync.State != "synced" || b.Sync.InstalledRevision != 1 {
			t.Fatalf("created: %s", a.body)
		}
		want := model.DefinitionFields{
			Labels: map[string]string{"team": "pay"}, Apps: []string{"checkout"}, Owners: []string{ann}, Algorithm: "token_bucket",
			MaxPermits: 100, Rate: 50, PeriodMS: 1000, Partition: "shared", Shards: 1, Mode: "enforce", MaxWaitMS: 0,
			OnRedisFailure: "open", AfterLoss: "refill",
		}
		if got, wanted := fmt.Sprintf("%+v", b.DefinitionFields), fmt.Sprintf("%+v", want); got != wanted {
			t.Errorf("got %s\nwant %s", got, wanted)
		}
		installed, err := w.engine.Read(t.Context(), "fresh")
		must(t, err)
		if !installed[0].Present || installed[0].Revision != 1 || installed[0].Rate != 50 {
			t.Errorf("Redis has %+v", installed[0])
		}
		a = c.do("PUT", buckets+"/fresh", definition(map[string]any{"rate": 25, "owners": []string{ann, bob}}), "If-Match", a.header.Get("ETag"))
		b = a.bucket(t, http.StatusOK)
		if a.header.Get("ETag") != `"2"` || b.Rate != 25 || b.UpdatedBy != ann || len(b.Labels) != 0 || b.Sync.State != "synced" {
			t.Errorf("updated: %s", a.body)
		}
		a = c.do("DELETE", buckets+"/fresh?reason=done", nil, "If-Match", `"2"`).want(t, http.StatusOK)
		var deleted api.BucketDeleted
		a.into(t, &deleted)
		if deleted.Revision != 3 || deleted.Sync.State != "synced" {
			t.Errorf("deleted: %s", a.body)
		}
		c.do("GET", buckets+"/fresh", nil).problem(t, http.StatusNotFound)
		installed, err = w.engine.Read(t.Context(), "fresh")
		must(t, err)
		if !installed[0].Tombstone {
			t.Errorf("Redis has %+v", installed[0])
		}
	})
}

func TestWritesSayWhichRevisionTheyAreBasedOn(t *testing.T) {
	w := onSQLite(t)
	c := w.as(bob)
	body := definition(map[string]any{"owners": []string{bob}})
	for _, tag := range []string{"", "*"} {
		p := c.do("PUT", bucketPath, body, "If-Match", tag).problem(t, http.StatusPreconditionRequired)
		if p.Code != model.CodeMissingMatch {
			t.Errorf("code %s", p.Code)
		}
		c.do("DELETE", bucketPath+"?reason=x", nil, "If-Match", tag).problem(t, http.StatusPreconditionRequired)
	}
	for _, tag := range []string{`1`, `W/"1"`, `"1", "2"`, `"x"`, `"-1"`, `"0"`, `"01"`, `"+1"`, `"99999999999999999999"`, `"1`, `""`} {
		p := c.do("PUT", bucketPath, body, "If-Match", tag).problem(t, http.StatusUnprocessableEntity)
		if !slices.Equal(fields(p), []string{"If-Match"}) {
			t.Errorf("%s: %+v", tag, p)
		}
	}
	a := c.do("PUT", bucketPath, body, "If-Match", `"7"`)
	p := a.problem(t, http.StatusPreconditionFailed)
	raw, err := json.Marshal(p.Current)
	must(t, err)
	var current api.Bucket
	must(t, json.Unmarshal(raw, &current))
	if p.Code != model.CodeStale || current.Name != theBucket || current.Revision != 1 || !current.May.Edit || a.header.Get("ETag") != `"1"` {
		t.Errorf("stale: %s", a.body)
	}
}

// Of many edits based on one revision exactly one is saved, and the others are told what it was.
func TestLostUpdateIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		const editors = 6
		c := w.as(bob)
		answers := make([]answer, editors)
		var wg sync.WaitGroup
		for i := range editors {
			wg.Go(func() {
				answers[i] = c.do("PUT", bucketPath, definition(map[string]any{"rate": 1 + i, "owners": []string{bob}}), "If-Match", `"1"`)
			})
		}
		wg.Wait()
		saved := 0
		for _, a := range answers {
			switch a.status {
			case http.StatusOK:
				saved++
			default:
				if p := a.problem(t, http.StatusPreconditionFailed); p.Current == nil {
					t.Errorf("no current state: %s", a.body)
				}
			}
		}
		if b := c.do("GET", bucketPath, nil).bucket(t, http.StatusOK); saved != 1 || b.Revision != 2 {
			t.Errorf("%d edits were saved, revision %d", saved, b.Revision)
		}
	})
}

// The taken name is told even where the bucket may not be seen; a recreated one hides what was before.
func TestRecreatedNameHidesItsEarlierHistoryFromNewcomers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		mine := func(name string) answer {
			return w.as(otto).do("POST", buckets, definition(map[string]any{"name": name, "apps": []string{"other"}}))
		}
		if p := mine(theBucket).problem(t, http.StatusConflict); p.Code != model.CodeTaken || p.Current != nil {
			t.Errorf("problem %+v", p)
		}
		w.as(bob).do("DELETE", bucketPath+"?reason=over", nil, "If-Match", `"1"`).want(t, http.StatusOK)
		if b := mine(theBucket).bucket(t, http.StatusCreated); b.Revision != 3 {
			t.Errorf("revision %d does not go on counting", b.Revision)
		}
		count := func(who string) (actions []string) {
			var list api.List[api.Change]
			w.as(who).do("GET", bucketPath+"/changes", nil).want(t, http.StatusOK).into(t, &list)
			for _, c := range list.Items {
				actions = append(actions, string(c.Action))
				if (c.Address != "") != (who == aud) && c.Actor != root {
					t.Errorf("%s reads address %q", who, c.Address)
				}
			}
			return actions
		}
		if got := count(otto); !slices.Equal(got, []string{"bucket.create"}) {
			t.Errorf("the newcomer reads %v", got)
		}
		if got := count(aud); !slices.Equal(got, []string{"bucket.create", "bucket.delete", "bucket.create"}) {
			t.Errorf("the auditor reads %v", got)
		}
	})
}

func TestSaveSucceedsAndSaysPendingWhileRedisIsAway(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.redis.turn(true)
		c := w.as(bob)
		a := c.do("PUT", bucketPath, definition(map[string]any{"owners": []string{bob}}), "If-Match", `"1"`)
		b := a.bucket(t, http.StatusOK)
		if b.Revision != 2 || b.Sync.State != "pending" || b.Sync.InstalledRevision != 0 || b.Sync.Message == "" || strings.Contains(string(a.body), "10.1.2.3") {
			t.Errorf("answer %s", a.body)
		}
		if b = c.do("GET", bucketPath, nil).bucket(t, http.StatusOK); b.Sync.State != "pending" {
			t.Errorf("state %s", b.Sync.State)
		}
		w.redis.turn(false)
		a = c.do("PUT", bucketPath, definition(map[string]any{"owners": []string{bob}}), "If-Match", `"2"`)
		if b = a.bucket(t, http.StatusOK); b.Sync.State != "synced" || b.Sync.InstalledRevision != 3 || b.Sync.Message != "" {
			t.Errorf("answer %s", a.body)
		}
	})
}

// A browser that leaves after the commit must not leave Redis behind.
func TestPushGoesOnWhenTheClientHasLeft(t *testing.T) {
	blocked := &leavingPusher{called: make(chan struct{}), leave: make(chan struct{}), alive: make(chan bool, 1)}
	w := onSQLite(t, func(c *api.Config) { c.Pusher = blocked })
	ctx, cancel := context.WithCancel(t.Context())
	c := w.as(bob)
	raw, err := json.Marshal(definition(map[string]any{"owners": []string{bob}}))
	must(t, err)
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, c.base+bucketPath, strings.NewReader(string(raw)))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("If-Match", `"1"`)
	go func() {
		<-blocked.called
		cancel()
	}()
	if response, err := c.http.Do(request); err == nil {
		_ = response.Body.Close()
		t.Fatal("the request was answered")
	}
	close(blocked.leave)
	select {
	case alive := <-blocked.alive:
		if !alive {
			t.Error("the push was cancelled with the request")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the push never ended")
	}
}

type leavingPusher struct {
	called, leave chan struct{}
	alive         chan bool
}

func (p *leavingPusher) Push(ctx context.Context, _ string) error {
	close(p.called)
	<-p.leave
	p.alive <- ctx.Err() == nil
	return nil
}

func (p *leavingPusher) PushAll(ctx context.Context, _ []string) error { return p.Push(ctx, "") }

func TestBucketsAreFilteredSortedAndPaged(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		for i := range 7 {
			c.do("POST", buckets, definition(map[string]any{
				"name": fmt.Sprintf("list-%d", i), "labels": map[string]string{"n": fmt.Sprint(i % 2)}, "owners": []string{[]string{ann, bob}[i%2]},
				"mode": []string{"enforce", "shadow"}[i%2],
			})).want(t, http.StatusCreated)
		}
		names := func(query string) (all []string) {
			t.Helper()
			cursor, pages := "", 0
			for {
				var list api.List[api.Bucket]
				c.do("GET", buckets+"?limit=2&"+query+"&cursor="+cursor, nil).want(t, http.StatusOK).into(t, &list)
				if len(list.Items) > 2 {
					t.Fatalf("a page of %d", len(list.Items))
				}
				for _, b := range list.Items {
					all = append(all, b.Name)
				}
				if cursor = list.Next; cursor == "" {
					return all
				}
				if pages++; pages > 20 {
					t.Fatal("the pages do not end")
				}
			}
		}
		odd, even := []string{"list-1", "list-3", "list-5"}, []string{"list-0", "list-2", "list-4", "list-6"}
		for query, want := range map[string][]string{
			"search=list-3": {"list-3"}, "label=n%3D1": odd, "mode=shadow": odd, "owner=ann": even, "search=list&sort=-name&owner=ann": {"list-6", "list-4", "list-2", "list-0"},
			"app=other": nil, "app=checkout&search=partner": {theBucket},
		} {
			if got := names(query); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		if got := names("sort=-updated_at"); len(got) != 8 || got[0] != "list-6" || got[7] != theBucket {
			t.Errorf("by time: %v", got)
		}
	})
}

func TestUsageAndLiveStateComeFromRedis(t *testing.T) {
	w := onSQLite(t)
	c := w.as(vic)
	now, err := w.engine.Time(t.Context())
	must(t, err)
	minute := now.Unix() / 60
	var live api.BucketLive
	c.do("GET", bucketPath+"/live", nil).want(t, http.StatusOK).into(t, &live)
	if live.Present || live.Revision != 0 || live.Usage == nil || live.MaxPermits != 100 {
		t.Errorf("before the push: %+v", live)
	}
	must(t, w.redis.Push(t.Context(), theBucket))
	must(t, w.engine.ReportUsage(t.Context(), []bucket.Usage{
		{Bucket: theBucket, App: "checkout", Minute: minute, Granted: 50, Limited: 7, ShadowLimited: 1},
		{Bucket: theBucket, App: "checkout", Minute: minute - 30, Granted: 5},
	}))
	c.do("GET", bucketPath+"/live", nil).want(t, http.StatusOK).into(t, &live)
	if !live.Present || live.Revision != 1 || len(live.Usage) != 1 || live.Usage[0].Granted != 50 || live.RedisTimeUS < now.UnixMicro() {
		t.Errorf("after the push: %+v", live)
	}
	var usage api.BucketUsage
	c.do("GET", bucketPath+"/usage", nil).want(t, http.StatusOK).into(t, &usage)
	if len(usage.Items) != 2 || usage.RedisTimeUS < now.UnixMicro() {
		t.Errorf("usage %+v", usage)
	}
	c.do("GET", bucketPath+"/usage?minutes=2", nil).want(t, http.StatusOK).into(t, &usage)
	if want := (api.UsageRow{Minute: minute, App: "checkout", Granted: 50, Limited: 7, ShadowLimited: 1}); len(usage.Items) != 1 || usage.Items[0] != want {
		t.Errorf("usage %+v", usage)
	}
}
