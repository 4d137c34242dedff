package syncbench

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/app"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
	"github.com/headgate/headgate/internal/testenv/bars"
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
	*adminenv.Person
}

// BenchmarkEdits: people edit at a steady rate, however long the answers take, through a real server; an edit counts as
// in Redis when its answer says so, which is later than the truth.
func BenchmarkEdits(b *testing.B) {
	server := testenv.OwnRedis(b)
	e := startServer(b, server.Addr)
	for i := range edited {
		e.save(http.MethodPost, "/buckets", 0, map[string]any{"name": name(i), "max_permits": 10, "rate": 10, "reason": "a benchmark"}, http.StatusCreated)
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
			synced := e.save(http.MethodPut, "/buckets/"+name(n), revisions[n], body, http.StatusOK)
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
	bars.Told(b, "from asking to being in Redis, median", bars.Milliseconds(bars.Percentile(took, 50)), "ms")
	bars.Took(b, "from asking to being in Redis, p99", bars.Percentile(took, 99), 50*time.Millisecond)
	for n := range edited {
		found, err := engine.Read(b.Context(), name(n))
		must(b, err)
		if found[0].Revision != revisions[n]+1 {
			b.Errorf("%s is at revision %d in Redis, %d was answered", name(n), found[0].Revision, revisions[n]+1)
		}
	}
}

// startServer runs a server on a database of its own, and logs its admin in.
func startServer(b *testing.B, redisAddr string) *editor {
	b.Helper()
	port, err := testenv.FreePort()
	must(b, err)
	cfg := app.Defaults()
	cfg.Listen = fmt.Sprintf("127.0.0.1:%d", port)
	cfg.MySQLDSN, cfg.RedisURL, cfg.AdminPassword = testenv.MySQL(b), "redis://"+redisAddr+"/0", password
	a, err := app.New(b.Context(), cfg, slog.New(slog.DiscardHandler))
	must(b, err)
	adminenv.Run(b, a)
	return &editor{b, adminenv.Login(b, a.URL(), nil, "admin", password)}
}

// save sends a bucket and tells whether the answer says that Redis has it. base is the revision that an edit is based on,
// 0 for none.
func (e *editor) save(method, path string, base int64, body map[string]any, want int) (synced bool) {
	var header http.Header
	if base > 0 {
		header = adminenv.Based(base)
	}
	a, err := e.Ask(e.Context(), method, path, header, body)
	if err != nil || a.Status != want {
		e.Errorf("%s %s: %d %s %v", method, path, a.Status, a.Raw, err)
		return false
	}
	var told struct {
		Sync struct{ State string }
	}
	must(e.B, a.Into(&told))
	return told.Sync.State == "synced"
}
