package syncbench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/app"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

const (
	editsASecond = 100
	editsFor     = 10 * time.Second
	edited       = 100 // buckets, edited in turn
	password     = "tin lantern under seven maps"
)

// editor is an admin who edits over HTTP.
type editor struct {
	*testing.B
	url  string
	http *http.Client
}

// BenchmarkEdits: people edit at a steady rate, however long the answers take, through a real server; an edit counts as
// in Redis when its answer says so, which is later than the truth.
func BenchmarkEdits(b *testing.B) {
	server := testenv.OwnRedis(b)
	e := startServer(b, server.Addr)
	for i := range edited {
		e.call(http.MethodPost, "/buckets", "", map[string]any{"name": name(i), "max_permits": 10, "rate": 10, "reason": "a benchmark"}, http.StatusCreated)
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	b.Cleanup(func() { _ = rdb.Close() })
	engine := bucket.New(rdb, "")

	var mu sync.Mutex
	var took []time.Duration
	var locks [edited]sync.Mutex // a person waits for the answer before editing the same bucket again
	revisions := [edited]int64{}
	var under sync.WaitGroup
	tick := time.NewTicker(time.Second / editsASecond)
	defer tick.Stop()
	total := int(editsFor.Seconds()) * editsASecond
	for i := range total {
		<-tick.C
		asked := time.Now()
		under.Go(func() {
			n := i % edited
			locks[n].Lock()
			defer locks[n].Unlock()
			revisions[n]++
			body := map[string]any{"owners": []string{"admin"}, "max_permits": 10 + i, "rate": 10, "reason": "a benchmark"}
			synced := e.call(http.MethodPut, "/buckets/"+name(n), fmt.Sprintf("%q", fmt.Sprint(revisions[n])), body, http.StatusOK)
			if !synced {
				testenv.Eventually(b, runTimeout, "the edit arrives", func() bool {
					found, err := engine.Read(b.Context(), name(n))
					return err == nil && found[0].Revision > revisions[n]
				})
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(asked))
		})
	}
	under.Wait()
	slices.Sort(took)
	b.Logf("%d edits, %d a second", len(took), editsASecond)
	b.Logf("%-45s %8.1f ms", "from asking to being in Redis, median", float64(took[len(took)/2].Microseconds())/1000)
	bar(b, "from asking to being in Redis, p99", took[len(took)*99/100], 50*time.Millisecond)
	for n := range edited {
		found, err := engine.Read(b.Context(), name(n))
		must(b, err)
		if found[0].Revision != revisions[n]+1 {
			b.Errorf("%s is at revision %d in Redis, %d was answered", name(n), found[0].Revision, revisions[n]+1)
		}
	}
}

func startServer(b *testing.B, redisAddr string) *editor {
	b.Helper()
	port, err := testenv.FreePort()
	must(b, err)
	cfg := app.Defaults()
	cfg.Listen = fmt.Sprintf("127.0.0.1:%d", port)
	cfg.MySQLDSN, cfg.RedisURL, cfg.AdminPassword = testenv.MySQL(b), "redis://"+redisAddr+"/0", password
	a, err := app.New(b.Context(), cfg, slog.New(slog.DiscardHandler))
	must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = a.Run(ctx) })
	b.Cleanup(func() { cancel(); running.Wait(); a.Close() })
	jar, err := cookiejar.New(nil)
	must(b, err)
	transport := &http.Transport{MaxIdleConnsPerHost: edited}
	b.Cleanup(transport.CloseIdleConnections)
	e := &editor{b, a.URL() + "/api/v1", &http.Client{Jar: jar, Transport: transport, Timeout: 30 * time.Second}}
	e.call(http.MethodPost, "/auth/login", "", map[string]any{"name": "admin", "password": password}, http.StatusOK)
	return e
}

// call sends a request and tells whether the answer says that Redis has what it brought.
func (e *editor) call(method, path, match string, body map[string]any, want int) (synced bool) {
	raw, err := json.Marshal(body)
	must(e.B, err)
	req, err := http.NewRequestWithContext(e.Context(), method, e.url+path, bytes.NewReader(raw))
	must(e.B, err)
	req.Header.Set("Content-Type", "application/json")
	if match != "" {
		req.Header.Set("If-Match", match)
	}
	res, err := e.http.Do(req)
	if err != nil {
		e.Errorf("%s %s: %v", method, path, err)
		return false
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		e.Errorf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
	}
	var told struct {
		Sync struct{ State string }
	}
	_ = json.Unmarshal(text, &told) // another answer says nothing of Redis
	return told.Sync.State == "synced"
}
