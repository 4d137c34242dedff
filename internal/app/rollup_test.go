package app

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

const rollupPassword = "a-password-of-some-length"

// runServer starts an admin server; stop ends it as a signal does, and waits.
func runServer(t *testing.T, cfg Config) (url string, stop func()) {
	t.Helper()
	server, err := New(t.Context(), cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return server.URL(), adminenv.Run(t, server)
}

// browser is logged in as the first admin.
func browser(t *testing.T, url string) *http.Client {
	t.Helper()
	return adminenv.Login(t, url, nil, "admin", rollupPassword).HTTP
}

func get(t *testing.T, c *http.Client, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", url, answer.StatusCode)
	}
	return answer
}

// ofCheckout makes the app checkout, and tells the definition of a bucket of it and who makes one.
func ofCheckout(t *testing.T, s *store.Store) (model.Definition, model.Origin) {
	t.Helper()
	by := model.Origin{Actor: "admin", Reason: "a test"}
	if _, err := s.CreateApp(t.Context(), model.App{Name: "checkout"}, by); err != nil {
		t.Fatal(err)
	}
	d := model.Definition{Apps: []string{"checkout"}, Owners: []string{"admin"}, MaxPermits: 50, Rate: 20}
	d.SetDefaults()
	return d, by
}

// makeCharted makes the app checkout and the bucket charted.
func makeCharted(t *testing.T, s *store.Store) {
	t.Helper()
	d, by := ofCheckout(t, s)
	if _, err := s.CreateBucket(t.Context(), "charted", d, by); err != nil {
		t.Fatal(err)
	}
}

// charted sums what the API tells of 90 days, which the database keeps.
func charted(t *testing.T, c *http.Client, url string) (sum model.Used) {
	t.Helper()
	var usage struct {
		Items []struct {
			Granted, Limited int64
		}
	}
	answer := get(t, c, url+"/api/v1/buckets/charted/usage?range=90d")
	if err := json.NewDecoder(answer.Body).Decode(&usage); err != nil {
		t.Fatal(err)
	}
	for _, row := range usage.Items {
		sum = sum.Plus(model.Used{Granted: row.Granted, Limited: row.Limited})
	}
	return sum
}

// Two servers under the documented rights, one of them stopped under traffic with a live view open and started again: the
// view ends with the server, which does not wait for it, and the hours are exactly what the SDK counted.
func TestHoursAreWhatTheSDKCountedThroughARestart(t *testing.T) {
	dsn, s := history(t, nil)
	addr, prefix := testenv.Redis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN = "127.0.0.1:0", testenv.DocumentedUser(t, dsn, securityPage, "sql-serving")
	cfg.RedisURL, cfg.RedisPrefix, cfg.AdminPassword = "redis://"+addr+"/0", prefix, rollupPassword
	first, stopFirst := runServer(t, cfg)
	makeCharted(t, s)
	second, _ := runServer(t, cfg)

	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	sdk, err := client.New(rdb, "checkout", client.Prefix(prefix), client.WithLogger(quiet()))
	if err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 20*time.Second, "the bucket in Redis", func() bool {
		d, err := sdk.Acquire(t.Context(), "charted")
		return err == nil && d.Outcome == client.Granted
	})
	traffic := func() {
		for range 100 {
			_, _ = sdk.Acquire(t.Context(), "charted")
		}
	}
	traffic()
	view := bufio.NewScanner(get(t, browser(t, first), first+"/api/v1/stream?buckets=charted").Body)
	for view.Scan() && !strings.HasPrefix(view.Text(), "event: sample") {
		continue
	}
	began := time.Now()
	ended := make(chan string, 1)
	go func() {
		last := ""
		for view.Scan() {
			if view.Text() != "" {
				last = view.Text()
			}
		}
		ended <- last
	}()
	traffic()
	stopFirst()
	if took := time.Since(began); took > stopTimeout/2 {
		t.Errorf("the stop took %v", took)
	}
	if last := <-ended; !strings.Contains(last, "stopping") {
		t.Errorf("the view ended with %q", last)
	}
	traffic()
	if err := sdk.Close(); err != nil {
		t.Fatal(err)
	}
	counted := sdk.Stats().Buckets["charted"]
	third, _ := runServer(t, cfg)
	for _, url := range []string{second, third} {
		if got, want := charted(t, browser(t, url), url), (model.Used{Granted: counted.Granted, Limited: counted.Limited}); got != want || want.Limited == 0 {
			t.Errorf("hours %+v, the SDK counted %+v", got, want)
		}
	}
	testenv.Eventually(t, 10*time.Second, "the hours in the database", func() bool {
		rows, err := s.UsageHours(t.Context(), "charted", 0, 1<<40)
		var sum model.Used
		for _, row := range rows {
			sum = sum.Plus(row.Used)
		}
		return err == nil && sum == model.Used{Granted: counted.Granted, Limited: counted.Limited}
	})
}
