// Package apibench measures the admin server, as it is shipped, with the rows of a large deployment: its API by
// `make bench-api`, its console by `make bench-console`.
package apibench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/seed"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// What a large deployment has, and what is asked of it.
const (
	users, apps, buckets, changes = 1_000, 200, 100_000, 1_000_000

	requestsASecond = 100
	loadFor         = 30 * time.Second
	warmUp          = 3 * time.Second // the same load, not counted
	password        = "seven maps beneath a tin lantern"

	barAnswer = 50 * time.Millisecond // p99
	barStart  = 5 * time.Second
	barMemory = 300 // MB
)

// BenchmarkAPI: people list, search and open buckets at a steady rate, however long the answers take. A request's time
// counts from when it was due, so that a server that falls behind can't hide it.
func BenchmarkAPI(b *testing.B) {
	binary, dsn, server := build(b, "admin"), testenv.MySQL(b), testenv.OwnRedis(b)
	p, _ := start(b, binary, dsn, server.Addr) // migrates
	p.stop()
	b.Logf("seeding %d buckets, %d users and %d changes", buckets, users, changes)
	hash, err := auth.NewHasher(auth.DefaultHashing).Hash(b.Context(), password)
	must(b, err)
	must(b, seed.Fill(b.Context(), dsn, seed.Size{Users: users, Apps: apps, Buckets: buckets, Changes: changes, PasswordHash: hash}))

	p, took := start(b, binary, dsn, server.Addr)
	logStart(b, "start, Redis empty", took)
	waitForAll(b, server)
	p.stop()
	p, took = start(b, binary, dsn, server.Addr)
	logStart(b, "start, 100,000 buckets in Redis", took)

	readers := []*reader{
		p.login(b, "admin", "admin", adminPassword),
		p.login(b, "owner of many", seed.Owner(), password),
		p.login(b, "viewer of one app", seed.Viewer(), password),
	}
	p.load(b, readers, warmUp)
	counted := p.load(b, readers, loadFor)
	for _, kind := range slices.Sorted(maps.Keys(counted)) {
		counted[kind].report(b, kind)
	}
	most := p.memory(b, "VmHWM")
	b.Logf("%-38s %9.0f MB  bar %5d MB  %s", "memory at most", most, barMemory, verdict(most < barMemory))
}

func logStart(b *testing.B, what string, took time.Duration) {
	b.Helper()
	b.Logf("%-38s %9.1f s   bar %5.0f s   %s", what, took.Seconds(), barStart.Seconds(), verdict(took <= barStart))
}

// waitForAll waits until the server has brought all buckets to Redis, which it does after it is ready.
func waitForAll(b *testing.B, server *testenv.RedisServer) {
	b.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer func() { must(b, rdb.Close()) }()
	began := time.Now()
	testenv.Eventually(b, 5*time.Minute, "all buckets are in Redis", func() bool {
		installed, err := rdb.SCard(b.Context(), "headgate:index").Result()
		must(b, err)
		return installed == buckets
	})
	b.Logf("%-38s %9.1f s", "all buckets in Redis after that", time.Since(began).Seconds())
}

// reader is somebody who is logged in, and buckets that he may see.
type reader struct {
	role  string
	http  *http.Client
	names []string
}

func (p *program) login(b *testing.B, role, name, password string) *reader {
	b.Helper()
	jar, err := cookiejar.New(nil)
	must(b, err)
	transport := &http.Transport{MaxIdleConnsPerHost: requestsASecond}
	b.Cleanup(transport.CloseIdleConnections)
	r := &reader{role: role, http: &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}}
	body, err := json.Marshal(map[string]string{"name": name, "password": password})
	must(b, err)
	res, err := r.http.Post(p.url+"/api/v1/auth/login", "application/json", bytes.NewReader(body))
	must(b, err)
	must(b, res.Body.Close())
	if res.StatusCode != http.StatusOK {
		b.Fatalf("login of %s: %d", name, res.StatusCode)
	}
	text, err := r.get(b.Context(), p.url+"/api/v1/buckets?limit=200")
	must(b, err)
	var page struct{ Items []struct{ Name string } }
	must(b, json.Unmarshal(text, &page))
	for _, one := range page.Items {
		r.names = append(r.names, one.Name)
	}
	if len(r.names) == 0 {
		b.Fatalf("%s sees no bucket", name)
	}
	return r
}

func (r *reader) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := r.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", address, res.StatusCode, text)
	}
	return text, err
}

// questions are what readers ask, of a bucket that they may see.
var questions = []struct {
	kind string
	path func(name string) string
}{
	{"list", func(string) string { return "/buckets?limit=50" }},
	{"list by last edit", func(string) string { return "/buckets?limit=50&sort=-updated_at" }},
	{"search by the beginning", func(name string) string { return "/buckets?limit=50&search=" + url.QueryEscape(name[:len(name)-2]) }},
	{"search in vain", func(name string) string { return "/buckets?limit=50&search=" + url.QueryEscape(name+"x") }},
	{"open", func(name string) string { return "/buckets/" + url.PathEscape(name) }},
}

// answers are those to one kind of question by one reader.
type answers struct {
	took    []time.Duration
	refused int // 503 and the like: a server that turns people away has missed its bar
}

// load asks at the steady rate, and gathers how long each kind of question took for each reader.
func (p *program) load(b *testing.B, readers []*reader, during time.Duration) map[string]*answers {
	b.Helper()
	counted := map[string]*answers{}
	var mu sync.Mutex
	var asked sync.WaitGroup
	dice := rand.New(rand.NewPCG(3, 4))
	began := time.Now()
	gap := time.Second / requestsASecond
	for i := range int(during / gap) {
		due := began.Add(time.Duration(i) * gap)
		<-time.After(time.Until(due))
		r := readers[i%len(readers)]
		q := questions[i/len(readers)%len(questions)]
		address := p.url + "/api/v1" + q.path(r.names[dice.IntN(len(r.names))])
		asked.Go(func() {
			_, err := r.get(b.Context(), address)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			kind := q.kind + ", " + r.role
			if counted[kind] == nil {
				counted[kind] = &answers{}
			}
			if err != nil {
				counted[kind].refused++
				return
			}
			counted[kind].took = append(counted[kind].took, took)
		})
	}
	asked.Wait()
	return counted
}

func (a *answers) report(b *testing.B, kind string) {
	b.Helper()
	slices.Sort(a.took)
	at := func(percent int) time.Duration {
		if len(a.took) == 0 {
			return 0
		}
		return a.took[len(a.took)*percent/100]
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.Logf("%-42s median %7.1f ms   p99 %7.1f ms   refused %3d   bar %3d ms   %s", kind, ms(at(50)), ms(at(99)), a.refused,
		barAnswer.Milliseconds(), verdict(at(99) <= barAnswer && a.refused == 0))
}

func verdict(kept bool) string {
	if kept {
		return "kept"
	}
	return "MISSED"
}
