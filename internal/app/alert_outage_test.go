package app

import (
	"fmt"
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

// hurried has ten seconds go by between two readings of Redis that succeed, and between two that fail, so that a test need not
// wait for minutes. What is read, and whether it is, is as it is.
type hurried struct {
	figures.Reader
	t    *testing.T
	now  time.Time // by Redis's clock
	read time.Time // when it answered last
}

func (h *hurried) Minutes(func(string) bool) ([]model.UsageRow, time.Time) {
	h.now = h.now.Add(10 * time.Second)
	if h.Roller.Read(h.t.Context()) == nil {
		h.read = h.now
	}
	if h.now.Sub(h.read) > time.Minute {
		return nil, time.Time{}
	}
	return nil, h.read
}

// pass lets so many minutes go by.
func (h *hurried) pass(w *alert.Watcher, minutes int) {
	for range 6 * minutes {
		_ = w.Pass(h.t.Context()) // fails while Redis is away
	}
}

// Redis stops and starts again, empty, while a rule is watched whose alert is open: nothing is told of that. Only when the
// slots are seen to be free, minute after minute, is the end told, and once.
func TestARestartOfRedisTellsNothingFalse(t *testing.T) {
	dsn, s := history(t, nil)
	server := testenv.OwnRedis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN, cfg.RedisURL, cfg.AdminPassword = "127.0.0.1:0", dsn, "redis://"+server.Addr+"/0", rollupPassword
	runServer(t, cfg)
	by := model.Origin{Actor: "admin", Reason: "a test"}
	if _, err := s.CreateApp(t.Context(), model.App{Name: "checkout"}, by); err != nil {
		t.Fatal(err)
	}
	d := model.Definition{Apps: []string{"checkout"}, Owners: []string{"admin"}, Algorithm: model.Concurrency, MaxPermits: 2, Period: time.Hour, Partition: model.PartitionShared}
	d.SetDefaults()
	if _, err := s.CreateBucket(t.Context(), "slots", d, by); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetAlertRules(t.Context(), "slots", 1, []model.AlertRule{{Kind: model.AlertNearLimit, Percent: 90, Minutes: 2, Enabled: true}}, by); err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	holder := hold(t, rdb, 2)

	engine := bucket.New(rdb, "")
	h := &hurried{t: t, now: time.Unix(time.Now().Unix()/60*60, 0)}
	h.Reader = figures.Reader{Engine: engine, Roller: figures.New(figures.Config{Store: s, Engine: engine, Log: quiet()})}
	w := alert.New(alert.Config{Store: s, Source: h, Log: quiet()})
	expect := func(when string, started, ended int) {
		t.Helper()
		var got [2]int
		for i, action := range []model.Action{model.ActionAlertStarted, model.ActionAlertEnded} {
			page, err := s.Changes(t.Context(), model.ChangeQuery{Action: action})
			if err != nil {
				t.Fatal(err)
			}
			got[i] = len(page.Items)
		}
		if got != [2]int{started, ended} {
			t.Fatalf("%s: %d starts and %d ends were told, want %d and %d", when, got[0], got[1], started, ended)
		}
	}
	h.pass(w, 5)
	expect("both slots are held", 1, 0)
	server.Stop()
	_ = holder.Close() // else it would take its slots again
	h.pass(w, 30)
	expect("Redis is away", 1, 0)
	server.Start(t)
	testenv.Eventually(t, 30*time.Second, "the definition in Redis again", func() bool {
		levels, err := h.Levels(t.Context(), []string{"slots"})
		return err == nil && len(levels) == 1
	})
	h.pass(w, 5)
	expect("Redis is back, and free for less than it takes to end", 1, 0)
	h.pass(w, 5)
	expect("the slots were free long enough", 1, 1)
}

// hold takes slots, which the client keeps.
func hold(t *testing.T, rdb *redis.Client, slots int) *client.Client {
	t.Helper()
	sdk, err := client.New(rdb, "checkout", client.WithLogger(quiet()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sdk.Close() })
	for i := range slots {
		testenv.Eventually(t, 20*time.Second, fmt.Sprintf("slot %d", i), func() bool {
			_, decision, err := sdk.Enter(t.Context(), "slots")
			return err == nil && decision.Outcome == client.Granted
		})
	}
	return sdk
}
