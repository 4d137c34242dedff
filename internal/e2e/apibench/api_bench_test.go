// Package apibench measures the admin server, as it is shipped, with the rows of a large deployment: its API by
// `make bench-api`, its console by `make bench-console`.
package apibench

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
	"github.com/headgate/headgate/internal/testenv/bars"
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
	dir := b.TempDir()
	must(b, adminenv.Build(dir, nil, "admin"))
	binary, dsn, server := filepath.Join(dir, "admin"), testenv.MySQL(b), testenv.OwnRedis(b)
	p, _ := start(b, binary, dsn, server.Addr) // migrates
	p.Kill()
	b.Logf("seeding %d buckets, %d users and %d changes", buckets, users, changes)
	hash, err := auth.NewHasher(auth.DefaultHashing).Hash(b.Context(), password)
	must(b, err)
	must(b, seed.Fill(b.Context(), dsn, seed.Size{Users: users, Apps: apps, Buckets: buckets, Changes: changes, PasswordHash: hash}))

	p, took := start(b, binary, dsn, server.Addr)
	bars.Took(b, "start, Redis empty", took, barStart)
	waitForAll(b, server)
	p.Kill()
	p, took = start(b, binary, dsn, server.Addr)
	bars.Took(b, "start, 100,000 buckets in Redis", took, barStart)

	readers := []*reader{
		p.login(b, "admin", "admin", adminPassword),
		p.login(b, "owner of many", seed.Owner(), password),
		p.login(b, "viewer of one app", seed.Viewer(), password),
	}
	load(b, readers, warmUp)
	counted := load(b, readers, loadFor)
	for _, kind := range slices.Sorted(maps.Keys(counted)) {
		counted[kind].report(b, kind)
	}
	_, most := p.Memory()
	bars.Most(b, "memory at most", float64(most)/1e6, barMemory, "MB")
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
	bars.Told(b, "all buckets in Redis after that", bars.Milliseconds(time.Since(began)), "ms")
}

// reader is somebody who is logged in, and buckets that he may see.
type reader struct {
	*adminenv.Person
	role  string
	names []string
}

func (p *program) login(b *testing.B, role, name, password string) *reader {
	b.Helper()
	r := &reader{Person: adminenv.Login(b, p.URL, nil, name, password), role: role}
	var page struct{ Items []struct{ Name string } }
	must(b, r.Must(b, http.StatusOK, http.MethodGet, "/buckets?limit=200", nil, nil).Into(&page))
	for _, one := range page.Items {
		r.names = append(r.names, one.Name)
	}
	if len(r.names) == 0 {
		b.Fatalf("%s sees no bucket", name)
	}
	return r
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
func load(b *testing.B, readers []*reader, during time.Duration) map[string]*answers {
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
		path := q.path(r.names[dice.IntN(len(r.names))])
		asked.Go(func() {
			a, err := r.Ask(b.Context(), http.MethodGet, path, nil, nil)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			kind := q.kind + ", " + r.role
			if counted[kind] == nil {
				counted[kind] = &answers{}
			}
			if err != nil || a.Status != http.StatusOK {
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
	b.Logf("%-42s median %7.1f ms   p99 %7.1f ms   refused %3d   bar %3d ms   %s", kind,
		bars.Milliseconds(bars.Percentile(a.took, 50)), bars.Milliseconds(bars.Percentile(a.took, 99)), a.refused,
		barAnswer.Milliseconds(), bars.Verdict(bars.Percentile(a.took, 99) <= barAnswer && a.refused == 0))
}
