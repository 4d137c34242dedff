package webhook_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/webhook"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const patience = 20 * time.Second

var byRoot = model.Origin{Actor: "root", Reason: "a test"}

// world is a real database with changes to tell of.
type world struct {
	t     *testing.T
	store *store.Store
	clock *clock
}

// clock is the present, moved on by hand.
type clock struct {
	mu   sync.Mutex
	step time.Duration
}

func (c *clock) now() time.Time {
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

func onSQLite(t *testing.T) *world {
	t.Helper()
	return newWorld(t, store.Config{SQLitePath: filepath.Join(t.TempDir(), "test.db")})
}

func newWorld(t *testing.T, config store.Config) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{}}
	config.Now = w.clock.now
	var err error
	w.store, err = store.Open(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { _ = w.store.Close() })
	must(t, w.store.Migrate(t.Context()))
	return w
}

// change makes n changes of an action and returns the ids.
func (w *world) change(action model.Action, n int) []int64 {
	w.t.Helper()
	var ids []int64
	for i := range n {
		c := model.Change{
			Actor: "alice", Action: action, TargetKind: model.TargetUser, Target: fmt.Sprintf("user%d", i), Reason: "<why> & so",
			After: json.RawMessage(`{"n":1.50,"text":"<é> 😀"}`),
		}
		must(w.t, w.store.AppendChange(w.t.Context(), c))
		head, err := w.store.AuditHead(w.t.Context())
		must(w.t, err)
		ids = append(ids, head.Seq)
	}
	return ids
}

// alerts has n alerts start or end, as judging tells of them.
func (w *world) alerts(action model.Action, n int) []int64 {
	w.t.Helper()
	var ids []int64
	for i := range n {
		alert := model.Alert{ID: int64(i), Rule: model.AlertRule{Kind: model.AlertLimitedShare, Percent: 5, Minutes: 3}, Value: 7.5, Peak: 9}
		must(w.t, w.store.AppendChange(w.t.Context(), model.Change{
			Actor: model.SystemActor, Action: action, TargetKind: model.TargetBucket, Target: fmt.Sprintf("bucket%d", i), After: model.AlertJSON(&alert),
		}))
		head, err := w.store.AuditHead(w.t.Context())
		must(w.t, err)
		ids = append(ids, head.Seq)
	}
	return ids
}

// hook makes an endpoint that points to a receiver.
func (w *world) hook(name, url string, edit ...func(*model.Webhook)) model.Webhook {
	w.t.Helper()
	hook := model.Webhook{Name: name, URL: url, Enabled: true, Secret: "secret of " + name, Actions: []string{"login"}}
	for _, e := range edit {
		e(&hook)
	}
	made, err := w.store.CreateWebhook(w.t.Context(), hook, byRoot)
	must(w.t, err)
	return made
}

func (w *world) state(name string) model.WebhookState {
	w.t.Helper()
	hook, err := w.store.Webhook(w.t.Context(), name)
	must(w.t, err)
	return hook.State
}

// serve runs a server's delivering until the test ends or stop is called.
func (w *world) serve(edit ...func(*webhook.Config)) (d *webhook.Deliverer, stop func()) {
	w.t.Helper()
	config := webhook.Config{
		Store: source{w.store}, Owner: fmt.Sprintf("server-%p", new(int)), Guard: webhook.Guard{AllowPrivate: true}, Now: w.clock.now,
		Poll: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, e := range edit {
		e(&config)
	}
	d = webhook.New(config)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	w.t.Cleanup(stop)
	return d, stop
}

// source reads the change log as the composition root does.
type source struct{ *store.Store }

func (s source) ChangesAfter(ctx context.Context, after int64, limit int) ([]webhook.Change, error) {
	entries, err := s.AuditEntries(ctx, model.ChangeQuery{}, after, limit)
	changes := make([]webhook.Change, len(entries))
	for i, e := range entries {
		changes[i] = webhook.Change{Change: e.Change, Hash: e.Hash.String()}
	}
	return changes, err
}

func (s source) CheckpointsAfter(ctx context.Context, after int64, limit int) ([]webhook.Checkpoint, error) {
	kept, err := s.Checkpoints(ctx, after, limit)
	checkpoints := make([]webhook.Checkpoint, len(kept))
	for i, c := range kept {
		checkpoints[i] = webhook.Checkpoint{Seq: c.Seq, At: c.At, Text: c.String()}
	}
	return checkpoints, err
}

// checkpoint signs where the chain stands.
func (w *world) checkpoint() audit.Checkpoint {
	w.t.Helper()
	signer, err := audit.SignerOf(audit.NewKey())
	must(w.t, err)
	head, err := w.store.AuditHead(w.t.Context())
	must(w.t, err)
	c, err := signer.Sign("chain", head, w.clock.now())
	must(w.t, err)
	_, err = w.store.AddCheckpoint(w.t.Context(), c)
	must(w.t, err)
	return c
}

// delivery is what a receiver got.
type delivery struct {
	header http.Header
	body   []byte
	id     string
	event  string
	change int64
	inside []inside // the alerts that came together
}

// inside is one of several events in a delivery.
type inside struct {
	ID     string
	Event  string
	Change struct{ ID int64 }
}

// receiver is an endpoint over real HTTP. Its URL has a path of its own, so that whoever still calls the last owner of its
// port does not count.
type receiver struct {
	*httptest.Server
	path   string
	mu     sync.Mutex
	got    []delivery
	answer func(d delivery) int // nil: 204
}

func newReceiver(t *testing.T, answer func(delivery) int) *receiver {
	t.Helper()
	r := &receiver{path: "/" + rand.Text(), answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	r.URL += r.path
	t.Cleanup(r.Close)
	return r
}

// newHeldReceiver tells of each delivery as it arrives, and answers once release is closed.
func newHeldReceiver(t *testing.T) (r *receiver, arrived <-chan struct{}, release chan<- struct{}) {
	t.Helper()
	came, goOn := make(chan struct{}, 10), make(chan struct{})
	return newReceiver(t, func(delivery) int {
		came <- struct{}{}
		<-goOn
		return http.StatusOK
	}), came, goOn
}

func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	if !strings.HasPrefix(request.URL.Path, r.path) {
		http.NotFound(w, request)
		return
	}
	raw, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	var body struct {
		ID     string `json:"id"`
		Event  string `json:"event"`
		Change struct {
			ID int64 `json:"id"`
		} `json:"change"`
		Events []inside `json:"events"`
	}
	_ = json.Unmarshal(raw, &body)
	d := delivery{header: request.Header, body: raw, id: body.ID, event: body.Event, change: body.Change.ID, inside: body.Events}
	r.mu.Lock()
	r.got = append(r.got, d)
	answer := r.answer
	r.mu.Unlock()
	status := http.StatusNoContent
	if answer != nil {
		status = answer(d)
	}
	w.WriteHeader(status)
}

func (r *receiver) set(answer func(delivery) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery{}, r.got...)
}

// changes are the ids of the changes in the order in which they came.
func (r *receiver) changes() []int64 {
	var ids []int64
	for _, d := range r.deliveries() {
		ids = append(ids, d.change)
	}
	return ids
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
