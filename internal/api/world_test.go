package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const (
	password  = "correct horse battery"
	theBucket = "partner-api"
)

// The people of the world. Bob owns the bucket theBucket, which lists the app checkout; Otto has an app of his own.
const (
	root     = "root"     // admin
	aud      = "aud"      // auditor
	ann      = "ann"      // owner of the app checkout
	vic      = "vic"      // viewer of the app checkout
	bob      = "bob"      // owner of the bucket, member of no app
	otto     = "otto"     // owner of the app other
	nemo     = "nemo"     // member of nothing
	disabled = "disabled" // logged in, then disabled
)

// world is the API over real HTTP on a real database and a real Redis.
type world struct {
	t      *testing.T
	server *httptest.Server
	store  *store.Store
	engine *bucket.Engine
	rdb    *redis.Client // of engine
	prefix string        // of its keys
	redis  *switchedPusher
	roller *figures.Roller // reads when a test says so
	log    *testenv.Output
	now    *clock
	hash   string
}

type clock struct {
	mu   sync.Mutex
	step time.Duration
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.step)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step += d
}

// onBoth runs a test on MySQL or MariaDB and on SQLite.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("mysql", func(t *testing.T) { test(t, newWorld(t, store.Config{MySQLDSN: testenv.MySQL(t)})) })
	t.Run("sqlite", func(t *testing.T) { test(t, onSQLite(t)) })
}

func onSQLite(t *testing.T, change ...func(*api.Config)) *world {
	t.Helper()
	return newWorld(t, store.Config{SQLitePath: filepath.Join(t.TempDir(), "test.db")}, change...)
}

func newWorld(t *testing.T, database store.Config, change ...func(*api.Config)) *world {
	t.Helper()
	w := &world{t: t, log: &testenv.Output{}, now: &clock{}}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	database.Now, database.Log = w.now.time, log
	var err error
	w.store, err = store.Open(t.Context(), database)
	must(t, err)
	t.Cleanup(func() { _ = w.store.Close() })
	must(t, w.store.Migrate(t.Context()))

	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	w.engine, w.rdb, w.prefix = bucket.New(rdb, prefix), rdb, prefix
	w.roller = figures.New(figures.Config{Store: w.store, Engine: w.engine, Log: log})
	w.redis = &switchedPusher{reconciler: reconcile.New(reconcile.Config{Store: w.store, Engine: w.engine, Log: log})}

	people, err := auth.New(auth.Config{
		Store: w.store, Keys: [][]byte{bytes.Repeat([]byte{7}, auth.KeyBytes)},
		Hashing: auth.Hashing{MemoryKiB: 64, Passes: 1, Threads: 1}, Log: log, Now: w.now.time,
	})
	must(t, err)
	w.hash, err = people.HashPassword(t.Context(), password)
	must(t, err)
	config := api.Config{
		Store: w.store, Auth: people, Pusher: w.redis, Overlay: w.redis, Live: live{w.engine}, Health: health{w.store},
		Figures: figures.Reader{Engine: w.engine, Roller: w.roller}, Sync: syncs{w.redis.reconciler}, Log: log, Now: w.now.time,
	}
	for _, c := range change {
		c(&config)
	}
	w.server = httptest.NewUnstartedServer(nil)
	w.server.Config = api.NewServer(api.New(config), log)
	w.server.Start()
	t.Cleanup(w.server.Close)
	w.settle()
	return w
}

// settle makes the people, the apps and the bucket.
func (w *world) settle() {
	w.t.Helper()
	for name, role := range map[string]model.Role{
		root: model.RoleAdmin, aud: model.RoleAuditor, ann: model.RoleMember, vic: model.RoleMember,
		bob: model.RoleMember, otto: model.RoleMember, nemo: model.RoleMember, disabled: model.RoleMember,
	} {
		_, err := w.store.CreateUser(w.t.Context(), model.User{Name: name, Role: role, PasswordHash: w.hash}, byRoot)
		must(w.t, err)
	}
	for name, members := range map[string][]model.Member{
		"checkout": {{User: ann, Role: model.AppOwner}, {User: vic, Role: model.AppViewer}},
		"other":    {{User: otto, Role: model.AppOwner}},
	} {
		_, err := w.store.CreateApp(w.t.Context(), model.App{Name: name, Members: members}, byRoot)
		must(w.t, err)
	}
	w.bucket(theBucket, []string{"checkout"}, []string{bob})
}

var byRoot = model.Origin{Actor: root, Reason: "the world's beginning"}

func (w *world) bucket(name string, apps, owners []string) model.Bucket {
	w.t.Helper()
	d := model.Definition{Apps: apps, Owners: owners, MaxPermits: 100, Rate: 50, MaxWait: model.DefaultMaxWait}
	d.SetDefaults()
	b, err := w.store.CreateBucket(w.t.Context(), name, d, byRoot)
	must(w.t, err)
	return b
}

// switchedPusher pushes to real Redis unless it is switched off, as if Redis were away.
type switchedPusher struct {
	reconciler *reconcile.Reconciler
	mu         sync.Mutex
	off        bool
}

func (p *switchedPusher) turn(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = off
}

func (p *switchedPusher) PushOverlay(ctx context.Context) error {
	p.mu.Lock()
	off := p.off
	p.mu.Unlock()
	if off {
		return model.Errorf(model.CodeUnavailable, "redis 10.1.2.3:6379 refused")
	}
	return p.reconciler.PushOverlay(ctx)
}

func (p *switchedPusher) Push(ctx context.Context, name string) error {
	p.mu.Lock()
	off := p.off
	p.mu.Unlock()
	if off {
		return model.Errorf(model.CodeUnavailable, "redis 10.1.2.3:6379 refused")
	}
	_, err := p.reconciler.Push(ctx, name)
	return err
}

func (p *switchedPusher) PushAll(ctx context.Context, names []string) error {
	p.mu.Lock()
	off := p.off
	p.mu.Unlock()
	if off {
		return model.Errorf(model.CodeUnavailable, "redis 10.1.2.3:6379 refused")
	}
	return p.reconciler.PushAll(ctx, names)
}

// live reads from Redis as the composition root does.
type live struct{ engine *bucket.Engine }

func (l live) State(ctx context.Context, b model.Bucket) (api.State, error) {
	installed, err := l.engine.Read(ctx, b.Name)
	if err != nil {
		return api.State{}, err
	}
	now, err := l.engine.Time(ctx)
	return api.State{Present: installed[0].Present, Revision: installed[0].Revision, Now: now}, err
}

func (l live) Usage(ctx context.Context, name string, minutes int, until int64) (api.Usage, error) {
	now, err := l.engine.Time(ctx)
	if err != nil {
		return api.Usage{}, err
	}
	last := api.LastMinute(now, until)
	rows, err := l.engine.ReadUsage(ctx, name, last-int64(minutes)+1, last)
	usage := api.Usage{Now: now}
	for _, r := range rows {
		usage.Rows = append(usage.Rows, api.UsageRow{Minute: r.Minute, App: r.App, Granted: r.Granted, Limited: r.Limited, ShadowLimited: r.ShadowLimited})
	}
	return usage, err
}

// syncs compares with Redis as the composition root does.
type syncs struct{ reconciler *reconcile.Reconciler }

func (s syncs) BucketSync(ctx context.Context, name string) (api.BucketSync, error) {
	c, err := s.reconciler.Compare(ctx, name)
	return api.BucketSync{
		Revision: c.Row.Revision, InstalledRevision: c.Row.InstalledRevision, RedisRevision: c.RedisRevision, Drift: c.Drift, Pending: c.Pending(),
	}, err
}

func (s syncs) SystemSync(context.Context) (api.SystemSync, error) {
	status := s.reconciler.Status()
	return api.SystemSync{State: string(status.State), Pending: status.Pending, Drifted: status.Drifted, Orphans: status.OrphanCount, OrphanNames: status.Orphans}, nil
}

func (s syncs) Instances(context.Context) ([]api.SystemInstance, error) {
	return []api.SystemInstance{
		{ID: "one", App: "checkout", Host: "web-1", Buckets: 2, Behind: []api.BehindBucket{{Bucket: theBucket, Revision: 1, Present: 2}}, BehindCount: 1},
		{ID: "two", App: "other", Host: "web-2", Buckets: 1},
	}, nil
}

func (s syncs) Reconcile(ctx context.Context) error { return s.reconciler.Repair(ctx) }

type health struct{ store *store.Store }

func (h health) Ready(ctx context.Context) error { return h.store.Ping(ctx) }
func (h health) System(context.Context) api.System {
	return api.System{Version: "test", Database: api.Part{Kind: "test", OK: true}}
}

// client is a browser with its cookies.
type client struct {
	t       *testing.T
	base    string
	http    *http.Client
	headers []string // name, value, …, sent with every request
}

func (w *world) browser() *client {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	must(w.t, err)
	return &client{t: w.t, base: w.server.URL, http: &http.Client{Jar: jar, Timeout: 30 * time.Second}}
}

// as logs somebody in; "" is nobody.
func (w *world) as(name string) *client {
	w.t.Helper()
	c := w.browser()
	if name == "" {
		return c
	}
	c.do("POST", "/api/v1/auth/login", map[string]string{"name": name, "password": password}).want(w.t, http.StatusOK)
	return c
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	last   bool // the connection ends behind it
}

// do sends a request; a string is sent as it is, anything else as JSON. headers are name, value, name, value …
func (c *client) do(method, path string, body any, headers ...string) answer {
	c.t.Helper()
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(body)
	default:
		raw, err := json.Marshal(body)
		must(c.t, err)
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, reader)
	must(c.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	headers = append(slices.Clone(c.headers), headers...)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.http.Do(request)
	must(c.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	must(c.t, err)
	return answer{response.StatusCode, response.Header, raw, response.Close}
}

func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// problem is the answer as problem details; anything else fails the test.
func (a answer) problem(t *testing.T, status int) api.Problem {
	t.Helper()
	a.want(t, status)
	var p api.Problem
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("content type %q: %s", got, a.body)
	}
	a.into(t, &p)
	if p.Status != status || p.Code == "" || p.Title == "" || p.Detail == "" || p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("incomplete problem: %s", a.body)
	}
	return p
}

func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

func (a answer) bucket(t *testing.T, status int) api.Bucket {
	t.Helper()
	var b api.Bucket
	a.want(t, status).into(t, &b)
	return b
}

// fields lists the fields that a problem names.
func fields(p api.Problem) []string {
	var list []string
	for _, f := range p.Errors {
		list = append(list, f.Field)
	}
	return list
}

// definition is a good body for a bucket; changes are laid over it, nil removes a field.
func definition(changes map[string]any) map[string]any {
	body := map[string]any{"apps": []string{"checkout"}, "max_permits": 100, "rate": 50, "reason": "a test"}
	for field, value := range changes {
		if body[field] = value; value == nil {
			delete(body, field)
		}
	}
	return body
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
