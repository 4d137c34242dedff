package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/alert"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

// quick makes minutes of what Redis counted between two calls of close, so that a test need not wait for real ones. All else
// is as it is: the counts are those that an SDK reported.
type quick struct {
	figures.Reader
	t      *testing.T
	at     time.Time
	before model.Used
	rows   []model.UsageRow
}

func (q *quick) Minutes(func(string) bool) ([]model.UsageRow, time.Time) { return q.rows, q.at }

// sum is what Redis has counted of charted.
func (q *quick) sum() (sum model.Used) {
	q.t.Helper()
	if err := q.Roller.Read(q.t.Context()); err != nil {
		q.t.Fatal(err)
	}
	rows, _ := q.Reader.Minutes(func(name string) bool { return name == "charted" })
	for _, row := range rows {
		sum = sum.Plus(row.Used)
	}
	return sum
}

// close ends a minute in which that much was asked for, and has servers judge it, each several times.
func (q *quick) close(asked int64, servers ...*alert.Watcher) {
	q.t.Helper()
	testenv.Eventually(q.t, 30*time.Second, "the SDK's report", func() bool {
		sum := q.sum()
		return sum.Granted+sum.Limited == q.before.Granted+q.before.Limited+asked
	})
	sum := q.sum()
	used := model.Used{Granted: sum.Granted - q.before.Granted, Limited: sum.Limited - q.before.Limited}
	q.rows, q.before = append(q.rows, model.UsageRow{Bucket: "charted", App: "checkout", Minute: q.at.Unix() / 60, Used: used}), sum
	for range 6 {
		q.at = q.at.Add(10 * time.Second)
		for _, server := range servers {
			if err := server.Pass(q.t.Context()); err != nil {
				q.t.Fatal(err)
			}
		}
	}
}

// told collects the actions that a receiver was told of.
type told struct {
	mu      sync.Mutex
	actions []string
}

func (r *told) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	var event struct {
		Event  string
		Change struct{ Actor, Target string }
	}
	body, _ := io.ReadAll(request.Body)
	_ = json.Unmarshal(body, &event)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actions = append(r.actions, event.Event+" "+event.Change.Target+" by "+event.Change.Actor)
}

func (r *told) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.actions)
}

// Traffic of an SDK that is limited starts an alert, which a webhook tells once though two servers judge; minutes without
// Redis end nothing; when it is calm the end is told.
func TestLimitedTrafficIsToldToAWebhookOnceAndSoIsItsEnd(t *testing.T) {
	dsn, s := history(t, nil)
	addr, prefix := testenv.Redis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN, cfg.WebhookAllowPrivate = "127.0.0.1:0", testenv.DocumentedUser(t, dsn, securityPage, "sql-serving"), true
	cfg.RedisURL, cfg.RedisPrefix, cfg.AdminPassword = "redis://"+addr+"/0", prefix, rollupPassword
	runServer(t, cfg)
	makeCharted(t, s)
	by := model.Origin{Actor: "admin", Reason: "a test"}
	rules := []model.AlertRule{{Kind: model.AlertLimitedShare, Percent: 10, Minutes: 2, Enabled: true}}
	if _, err := s.SetAlertRules(t.Context(), "charted", 1, rules, by); err != nil {
		t.Fatal(err)
	}
	receiver := &told{}
	endpoint := httptest.NewServer(receiver)
	t.Cleanup(endpoint.Close)
	hook := model.Webhook{Name: "pager", URL: endpoint.URL, Enabled: true, Secret: "secret", Actions: []string{"alert.started", "alert.ended"}}
	if _, err := s.CreateWebhook(t.Context(), hook, by); err != nil {
		t.Fatal(err)
	}

	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	engine := bucket.New(rdb, prefix)
	q := &quick{t: t, at: time.Unix(time.Now().Unix()/60*60, 0)}
	q.Reader = figures.Reader{Engine: engine, Roller: figures.New(figures.Config{Store: s, Engine: engine, Log: quiet()})}
	watcher := func() *alert.Watcher { return alert.New(alert.Config{Store: s, Source: q, Log: quiet()}) }
	one, other := watcher(), watcher()
	sdk, err := client.New(rdb, "checkout", client.Prefix(prefix), client.WithLogger(quiet()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sdk.Close() })
	testenv.Eventually(t, 20*time.Second, "the bucket in Redis", func() bool {
		d, err := sdk.Peek(t.Context(), "charted")
		return err == nil && d.Outcome == client.Granted
	})

	burst := int64(1000)
	for range 3 {
		take(t.Context(), sdk, burst)
		q.close(burst, one, other)
	}
	q.close(0, one, other) // the last burst is judged in the minute after it
	started := []string{"alert.started charted by system"}
	testenv.Eventually(t, 30*time.Second, "the start at the receiver", func() bool { return slices.Equal(receiver.all(), started) })

	q.at = q.at.Add(30 * time.Minute) // Redis can't be read
	q.close(0, one, other)
	if open, err := s.Alerts(t.Context(), model.AlertQuery{Open: true}); err != nil || len(open.Items) != 1 || open.Items[0].Peak < 10 {
		t.Fatalf("open %+v, %v", open, err)
	}
	for range 8 {
		q.close(0, one, other)
	}
	both := append(slices.Clone(started), "alert.ended charted by system")
	testenv.Eventually(t, 30*time.Second, "the end at the receiver", func() bool { return slices.Equal(receiver.all(), both) })
}

// take asks for permits one by one, whatever comes of it.
func take(ctx context.Context, sdk *client.Client, n int64) {
	for range n {
		_, _ = sdk.Acquire(ctx, "charted")
	}
}
