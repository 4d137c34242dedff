package faults_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// A server is killed after a save was committed and before it reached Redis: nobody was answered, the save stands with its
// change row, and the next server brings it. Whoever was answered before finds everything.
func TestServerKilledBetweenCommitAndPush(t *testing.T) {
	t.Parallel()
	redis := testenv.OwnRedis(t)
	dsn, proxy := testenv.MySQL(t), testenv.Proxy(t, redis.Addr)
	g := onRedis(t, dsn, redis.Addr, redis.Addr)
	g.settings = onServers(dsn, "redis://"+proxy.Addr) // only the server goes through the proxy
	w := newWorld(t, g.calm(), 1)
	s, err := store.Open(t.Context(), g.database)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	for times := 0; times < 3; {
		proxy.LoseRequests(t)
		testenv.Eventually(t, comeback, "a save is committed that Redis does not have", func() bool { return w.behind(s) })
		w.servers[0].Kill()
		proxy.Heal(t)
		if w.behind(s) { // else what Redis did not have yet had been under way to it
			times++
		}
		if times == 3 {
			w.edits.stop() // no later edit of the same bucket may bring it
		}
		w.servers[0].Start()
		w.servers[0].WaitReady()
		if times < 3 {
			w.goesOn()
		}
	}
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

// behind tells whether Redis has an older revision of a bucket than the database.
func (w *world) behind(s *store.Store) bool {
	w.Helper()
	rows, err := s.SyncRows(w.Context(), "", 1000)
	must(w.T, err)
	engine := bucket.New(w.own, "")
	return slices.ContainsFunc(rows, func(row model.SyncRow) bool {
		found, err := engine.Read(w.Context(), row.Name)
		must(w.T, err)
		return found[0].Revision < row.Revision
	})
}

// A server is killed with a save committed that Redis does not have, and stays away: another one brings it, by the outbox.
func TestAnotherServerBringsWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	redis := testenv.OwnRedis(t)
	dsn, proxy := testenv.MySQL(t), testenv.Proxy(t, redis.Addr)
	g := onRedis(t, dsn, redis.Addr, redis.Addr)
	direct := g.settings
	g.settings = onServers(dsn, "redis://"+proxy.Addr)
	w := newWorld(t, g.calm(), 1)
	adminenv.Serve(t, admin, direct, "serve") // which nobody edits through
	s, err := store.Open(t.Context(), g.database)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	for left := false; !left; {
		proxy.LoseRequests(t)
		testenv.Eventually(t, comeback, "a save is committed that Redis does not have", func() bool { return w.behind(s) })
		w.servers[0].Kill()
		if left = w.behind(s); left { // else the other one was quicker
			break
		}
		proxy.Heal(t)
		w.servers[0].Start()
		w.servers[0].WaitReady()
		w.edits.goOn(t, 5)
	}
	testenv.Eventually(t, comeback, "the other server has brought it", func() bool { return !w.behind(s) })
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

// One of two servers is killed while people edit: the other goes on, whatever the first was in the middle of, and applications
// notice nothing.
func TestOneOfTwoServersKilled(t *testing.T) {
	t.Parallel()
	g, _ := onOwnRedis(t)
	w := newWorld(t, g.calm(), 2)
	for i := range 4 {
		victim := w.servers[i%2]
		testenv.Eventually(t, comeback, "the person is at the victim", func() bool {
			if w.person.here() != w.person.at[i%2] {
				w.person.goElsewhere()
			}
			return w.person.here() == w.person.at[i%2]
		})
		w.edits.goOn(t, 10)
		victim.Kill()
		w.goesOn()
		victim.Start()
		victim.WaitReady()
	}
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

// balancer hands requests on to servers whose /readyz said yes at the last probe, as balancers do.
type balancer struct {
	t       *testing.T
	url     string
	servers []*adminenv.Server

	mu    sync.Mutex
	ready []bool
	next  int
	lost  []string // requests that no server answered
}

const probeEvery = 200 * time.Millisecond

func newBalancer(t *testing.T, servers ...*adminenv.Server) *balancer {
	t.Helper()
	b := &balancer{t: t, servers: servers, ready: make([]bool, len(servers))}
	stopped, probing := make(chan struct{}), sync.WaitGroup{}
	for i := range servers {
		b.ready[i] = true
		probing.Go(func() { b.probe(i, stopped) })
	}
	front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: b.route, ErrorHandler: b.fail})
	b.url = front.URL
	t.Cleanup(func() {
		front.Close()
		close(stopped)
		probing.Wait()
	})
	return b
}

func (b *balancer) probe(i int, stopped <-chan struct{}) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-stopped:
			return
		case <-tick.C:
		}
		ready := b.servers[i].Probe("/readyz") == http.StatusOK
		b.mu.Lock()
		b.ready[i] = ready
		b.mu.Unlock()
	}
}

// route picks the next server that was ready.
func (b *balancer) route(r *httputil.ProxyRequest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.servers {
		b.next = (b.next + 1) % len(b.servers)
		if b.ready[b.next] {
			break
		}
	}
	target, err := url.Parse(b.servers[b.next].URL)
	if err != nil {
		b.t.Error(err)
		return
	}
	r.SetURL(target)
	r.Out.Host = r.In.Host
}

func (b *balancer) fail(w http.ResponseWriter, r *http.Request, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = append(b.lost, r.Method+" "+r.URL.Path+": "+err.Error())
	w.WriteHeader(http.StatusBadGateway)
}

// Behind a balancer that probes /readyz, a rolling restart of two servers loses no request at all: a server that is
// told to stop says so first, goes on answering until the balancer has noticed, and lets go of kept connections.
func TestRollingRestartBehindABalancerLosesNoRequest(t *testing.T) {
	t.Parallel()
	g, _ := onOwnRedis(t)
	g.settings = append(g.settings, "HEADGATE_DRAIN_DELAY=2s")
	w := newWorld(t, g.calm(), 2)
	b := newBalancer(t, w.servers...)
	w.edits.stop()
	w.checkSaves()
	w.person = w.person.through(b.url)
	w.edits = startEdits(t, w.person, definitions())
	for range 2 {
		for _, s := range w.servers {
			w.edits.goOn(t, 10)
			s.Signal(syscall.SIGTERM)
			testenv.Eventually(t, comeback, "/readyz says no while the listener is open", func() bool { return s.Probe("/readyz") == http.StatusServiceUnavailable })
			if got := s.Probe("/healthz"); got != http.StatusOK {
				t.Errorf("/healthz says %d while the server drains", got)
			}
			if err := s.Wait(comeback); err != nil {
				t.Errorf("a server that was told to stop ended with %v", err)
			}
			s.Start()
			s.WaitReady()
		}
	}
	w.edits.goOn(t, 10)
	w.drained()
	w.settle(nil)
	w.noticedNothing()
	for _, lost := range b.lost {
		t.Errorf("no server answered %s", lost)
	}
	if len(w.edits.unanswered) > 0 {
		t.Errorf("%d saves were not answered: %+v", len(w.edits.unanswered), w.edits.refusals)
	}
}
