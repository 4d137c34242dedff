package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/alert"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

// flood is an app that was limited in every bucket in each whole minute, as Redis would tell it.
type flood struct {
	at      time.Time
	limited int64
	rows    []model.UsageRow
}

func (f *flood) Minutes(func(string) bool) ([]model.UsageRow, time.Time) { return f.rows, f.at }

func (f *flood) Levels(context.Context, []string) (map[string]float64, error) { return nil, nil }

// minute lets one pass, and has it judged as a server does.
func (f *flood) minute(t *testing.T, w *alert.Watcher) {
	t.Helper()
	for i := range bulk {
		used := model.Used{Granted: 1, Limited: f.limited}
		f.rows = append(f.rows, model.UsageRow{Bucket: fmt.Sprintf("bulk-%03d", i), App: "checkout", Minute: f.at.Unix() / 60, Used: used})
	}
	for range 6 {
		if err := w.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.at = f.at.Add(10 * time.Second)
	}
}

// posts counts what an endpoint was sent, and how often it was told of each start and each end.
type posts struct {
	mu    sync.Mutex
	count int
	told  map[string]int
}

func (p *posts) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	var got struct {
		ID, Event string
		Events    []struct{ ID, Event string }
	}
	_ = json.NewDecoder(request.Body).Decode(&got)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	for _, one := range got.Events {
		p.told[one.Event+" "+one.ID]++
	}
	if len(got.Events) == 0 {
		p.told[got.Event+" "+got.ID]++
	}
}

func (p *posts) have() (count, told int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, len(p.told)
}

// An app that floods 500 buckets with two rules each starts a thousand alerts at once. The endpoint is told of each, and of
// each end, once, in a handful of posts.
func TestAThousandAlertsAtOnceAreNoStormOfPosts(t *testing.T) {
	dsn, s := history(t, nil)
	addr, prefix := testenv.Redis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN, cfg.WebhookAllowPrivate, cfg.AdminPassword = "127.0.0.1:0", dsn, true, rollupPassword
	cfg.RedisURL, cfg.RedisPrefix = "redis://"+addr+"/0", prefix
	runServer(t, cfg)
	makeMany(t, s)
	by := model.Origin{Actor: "admin", Reason: "a test"}
	rules := []model.AlertRule{
		{Kind: model.AlertLimitedShare, Percent: 10, Minutes: 1, Enabled: true}, {Kind: model.AlertLimitedShare, Percent: 50, Minutes: 1, Enabled: true},
	}
	for i := range bulk {
		if _, err := s.SetAlertRules(t.Context(), fmt.Sprintf("bulk-%03d", i), 1, rules, by); err != nil {
			t.Fatal(err)
		}
	}
	receiver := &posts{told: map[string]int{}}
	endpoint := httptest.NewServer(receiver)
	t.Cleanup(endpoint.Close)
	hook := model.Webhook{Name: "pager", URL: endpoint.URL, Enabled: true, Secret: "secret", Actions: []string{"alert.started", "alert.ended"}}
	if _, err := s.CreateWebhook(t.Context(), hook, by); err != nil {
		t.Fatal(err)
	}

	f := &flood{at: time.Unix(time.Now().Unix()/60*60, 0), limited: 99}
	watcher := alert.New(alert.Config{Store: s, Source: f, Log: quiet()})
	f.minute(t, watcher)
	f.minute(t, watcher)
	testenv.Eventually(t, time.Minute, "a thousand starts", func() bool { _, told := receiver.have(); return told == 2*bulk })
	if count, _ := receiver.have(); count > 12 {
		t.Errorf("%d posts of a thousand starts", count)
	}
	f.limited = 0
	for range 7 {
		f.minute(t, watcher)
	}
	testenv.Eventually(t, time.Minute, "a thousand ends", func() bool { _, told := receiver.have(); return told == 4*bulk })
	count, _ := receiver.have()
	t.Logf("%d posts of a thousand starts and a thousand ends", count)
	if count > 24 {
		t.Errorf("%d posts of a thousand starts and a thousand ends", count)
	}
	for one, times := range receiver.told {
		if times != 1 {
			t.Errorf("%s was told %d times", one, times)
		}
	}
}
