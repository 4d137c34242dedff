package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/telemetry"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// full is a reading in which nothing is absent.
func full(context.Context) telemetry.Reading {
	sessions := int64(3)
	part := telemetry.Part{Up: true, Answer: time.Millisecond, Used: 1, Idle: 2, Most: 20}
	return telemetry.Reading{
		Database: part, Redis: part, Sync: telemetry.Sync{State: "ok", Repaired: time.Now()}, Sessions: &sessions,
		Audit: &telemetry.Audit{Rows: 7, Last: 8, Checkpoint: 5, Checkpointed: time.Now()},
	}
}

// metricNames are the names of Headgate's own metrics, as Prometheus reads them.
func metricNames(t *testing.T) []string {
	t.Helper()
	m := telemetry.New("1.2.3", full)
	m.Request(http.MethodGet, "/api/v1/buckets/:name", http.StatusOK, time.Millisecond)
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (headgate_\S+)`).FindAllStringSubmatch(scraped(t, m), -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return names
}

func scraped(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	answer := &recorded{header: http.Header{}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Handler().ServeHTTP(answer, req)
	return answer.body.String()
}

type recorded struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header         { return r.header }
func (r *recorded) Write(p []byte) (int, error) { return r.body.Write(p) }
func (r *recorded) WriteHeader(int)             {}

// docs/operations.md has one row for each metric, no more and no fewer.
func TestEveryMetricIsInTheOperationsTable(t *testing.T) {
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(headgate_[a-z_]+)` \\|").FindAllStringSubmatch(read(t, "docs/operations.md"), -1) {
		documented = append(documented, row[1])
	}
	slices.Sort(documented)
	if known := metricNames(t); !slices.Equal(documented, known) {
		t.Errorf("the table has\n%v\nthe program knows\n%v", documented, known)
	}
}

// The dashboard and the alert rules ask only for metrics that exist, and the dashboard shows all of them.
func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	known := metricNames(t)
	used := map[string]bool{}
	for _, file := range []string{"deploy/grafana/headgate.json", "deploy/prometheus/alerts.yaml"} {
		for _, name := range regexp.MustCompile(`headgate_[a-z_]+`).FindAllString(read(t, file), -1) {
			base := name
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				base = strings.TrimSuffix(base, suffix)
			}
			if !slices.Contains(known, base) {
				t.Errorf("%s asks for %s, which is not there", file, name)
			}
			used[base] = true
		}
	}
	for _, name := range known {
		if !used[name] {
			t.Errorf("no dashboard and no alert shows %s", name)
		}
	}
	if !json.Valid([]byte(read(t, "deploy/grafana/headgate.json"))) {
		t.Error("the dashboard is no JSON")
	}
}

// What callers choose makes no series: paths, names and methods of their own all count as one.
func TestCallersCannotMakeSeries(t *testing.T) {
	m := telemetry.New("1", full)
	for _, method := range []string{"BREW", "PROPFIND", "X-" + strings.Repeat("y", 200)} {
		for _, status := range []int{200, 201, 404, 418, 499, 503, 504} {
			m.Request(method, "", status, time.Millisecond)
		}
	}
	if n := strings.Count(scraped(t, m), "\nheadgate_api_requests_total{"); n != 3 {
		t.Errorf("%d series, want one for each class of status", n)
	}
}

// On a real server the figures are those of what happened, and stand on their own address alone.
func TestFiguresTellWhatHappenedAndStandApart(t *testing.T) {
	redis, prefix := testenv.Redis(t)
	cfg := Defaults()
	cfg.Listen, cfg.DebugListen, cfg.MySQLDSN = "127.0.0.1:0", "127.0.0.1:0", testenv.MySQL(t)
	cfg.RedisURL, cfg.RedisPrefix, cfg.AdminPassword = "redis://"+redis+"/0", prefix, "a-password-of-some-length"
	a := running(t, cfg)
	guess(t, a.URL())
	adminenv.Login(t, a.URL(), nil, "admin", cfg.AdminPassword)
	metrics := "http://" + a.DebugAddr() + "/metrics"
	for _, has := range []string{
		`headgate_logins_total{outcome="ok"} 1`, `headgate_logins_total{outcome="refused"} 1`,
		`headgate_api_requests_total{method="POST",route="/api/v1/auth/login",status="4xx"} 1`,
		"headgate_redis_up 1", "headgate_database_up 1", "headgate_sessions 1", `headgate_sync_state{state="ok"} 1`,
		`headgate_sync_pass_seconds_count{kind="repair",outcome="ok"}`, "headgate_audit_last_row ", "headgate_database_connections_most 20",
		`headgate_build_info{version="development"} 1`, "go_goroutines",
	} {
		testenv.Eventually(t, 10*time.Second, "the figures have "+has, func() bool {
			_, body := fetch(t, metrics, "")
			return strings.Contains(body, has)
		})
	}
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		if _, body := fetch(t, a.URL()+path, ""); strings.Contains(body, "headgate_") && strings.Contains(body, "# TYPE") || strings.Contains(body, "goroutine profile") || strings.Contains(body, "full goroutine stack dump") {
			t.Errorf("%s is served beside the console", path)
		}
	}
	if status, body := fetch(t, "http://"+a.DebugAddr()+"/debug/pprof/goroutine?debug=1", ""); status != http.StatusOK || !strings.Contains(body, "goroutine profile") {
		t.Errorf("the profiler: %d %.100s", status, body)
	}
	if status, _ := fetch(t, "http://"+a.DebugAddr()+"/debug/pprof/cmdline", ""); status != http.StatusNotFound {
		t.Errorf("the command line is shown: %d", status)
	}
}

// With a token nobody gets figures without it; without one nobody gets them under a name that merely leads here.
func TestFiguresAreGuarded(t *testing.T) {
	folder := t.TempDir()
	cfg := Defaults()
	cfg.Embedded, cfg.Demo, cfg.DataDir, cfg.Listen, cfg.EmbeddedRedisListen = true, false, folder, "127.0.0.1:0", "127.0.0.1:0"
	cfg.DebugListen = "127.0.0.1:0"
	a := running(t, cfg)
	if status, _ := fetchAs(t, "http://"+a.DebugAddr()+"/metrics", "rebound.example:80", ""); status != http.StatusForbidden {
		t.Errorf("asked under another name: %d", status)
	}
	cfg.DataDir, cfg.DebugListen, cfg.DebugToken = t.TempDir(), "0.0.0.0:0", "a-token-of-some-length"
	guarded := running(t, cfg)
	_, port, _ := strings.Cut(strings.TrimPrefix(guarded.DebugAddr(), "[::]"), ":")
	for token, want := range map[string]int{"": http.StatusUnauthorized, "a-token-of-some-lengtH": http.StatusUnauthorized, cfg.DebugToken: http.StatusOK} {
		for _, path := range []string{"/metrics", "/debug/pprof/"} {
			if status, _ := fetch(t, "http://127.0.0.1:"+port+path, token); status != want {
				t.Errorf("%s with token %q: %d, want %d", path, token, status, want)
			}
		}
	}
	cfg.DebugToken = ""
	if err := cfg.Validate(); err == nil {
		t.Error("figures would stand open to the network")
	}
}

// running starts a server that stops with the test.
func running(t *testing.T, cfg Config) *App {
	t.Helper()
	a, err := New(t.Context(), cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	adminenv.Run(t, a)
	return a
}

func fetch(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	return fetchAs(t, url, "", token)
}

func fetchAs(t *testing.T, url, host, token string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}
