package reconcile_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

// history is a random interleaving of what people, servers and accidents do.
type history struct {
	*world
	rnd     *rand.Rand
	redis   *testenv.RedisServer
	servers [2]*reconcile.Reconciler
	stops   [2]func()
	pushes  sync.WaitGroup
	down    bool
	names   []string
	newest  map[string]int64 // the newest revision that was ever seen of a name
	hands   bool             // somebody also writes to Redis by hand
}

// After any interleaving of edits, deletes, recreations, late and doubled pushes, stops, flushes and old snapshots of
// Redis, restarts of servers and edits by hand: once it is quiet, Redis equals the database, and no revision went back.
func TestAnyHistoryEndsEqual(t *testing.T) {
	seeds := []uint64{1, 2, 3, rand.Uint64()}
	for _, hands := range []bool{false, true} {
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("hands=%v/seed=%d", hands, seed), func(t *testing.T) {
				server := testenv.OwnRedis(t)
				kind := []string{"mysql", "sqlite"}[seed%2]
				h := &history{world: newWorld(t, kind, server.Addr, ""), redis: server, hands: hands,
					rnd: rand.New(rand.NewPCG(seed, 1)), names: []string{"a", "b", "c"}, newest: map[string]int64{}}
				h.play(60)
			})
		}
	}
}

func (h *history) play(steps int) {
	for i := range h.servers {
		h.boot(i)
	}
	for range steps {
		h.step()
		h.observe()
	}
	if h.down {
		h.redis.Start(h)
	}
	h.pushes.Wait()
	h.eventuallyEqual(15 * time.Second)
	h.observe()
	if h.hands {
		return
	}
	for _, name := range h.names {
		if raised := h.raises(name); len(raised) != 0 {
			h.Errorf("%s was raised though nobody wrote to Redis by hand: %+v", name, raised)
		}
	}
}

// boot starts a server whose calls to Redis are held up at random.
func (h *history) boot(i int) {
	slow := func() { <-time.After(time.Duration(rand.IntN(4)) * time.Millisecond) }
	h.servers[i] = h.server(func(c *reconcile.Config) {
		c.PushTimeout = 500 * time.Millisecond
		c.Engine = &tampered{Engine: h.engine, install: func(bucket.Definition) { slow() }, remove: func(string) { slow() }, moving: slow}
	})
	h.stops[i] = h.run(h.servers[i])
}

func (h *history) step() {
	name := h.names[h.rnd.IntN(len(h.names))]
	row, err := h.store.SyncRow(h.Context(), name)
	living := err == nil && !row.Deleted
	switch n := h.rnd.IntN(100); {
	case n < 45:
		h.save(name, living)
	case n < 55 && living:
		h.remove(name)
		h.pushLater(name)
	case n < 75:
		h.pushLater(name)
	case n < 80 && !h.down:
		must(h.T, h.rdb.FlushAll(h.Context()).Err())
	case n < 84 && !h.down:
		_ = h.rdb.Save(h.Context()).Err()
	case n < 90:
		h.toggleRedis()
	case n < 94:
		i := h.rnd.IntN(len(h.servers))
		h.stops[i]()
		h.boot(i)
	case h.hands && !h.down && living:
		h.tamper(name)
	}
}

// tamper writes to a definition, or to where it was lost, by hand.
func (h *history) tamper(name string) {
	kinds := slices.Sorted(maps.Keys(damages))
	if n := h.rnd.IntN(2 * len(kinds)); n < len(kinds) {
		_ = damages[kinds[n]](h.Context(), h.rdb, h.hash(name))
		return
	}
	h.rdb.HSet(h.Context(), h.hash(name), "max", h.rnd.IntN(1000)+1, "mode", "off")
}

func (h *history) save(name string, living bool) {
	if living {
		h.setMax(name, int64(h.rnd.IntN(1000)+1))
	} else {
		h.create(name)
	}
	if h.rnd.IntN(3) > 0 { // else the server died between the commit and the push
		h.pushLater(name)
	}
}

// pushLater pushes from one of the servers while the history goes on.
func (h *history) pushLater(name string) {
	r := h.servers[h.rnd.IntN(len(h.servers))]
	h.pushes.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_, _ = r.Push(ctx, name) // Redis may be down: then it comes later
	})
}

func (h *history) toggleRedis() {
	if h.down {
		h.redis.Start(h)
	} else {
		h.redis.Stop()
	}
	h.down = !h.down
}

// observe holds the database to its word that no revision goes back.
func (h *history) observe() {
	for _, name := range h.names {
		row, err := h.store.SyncRow(h.Context(), name)
		if model.CodeOf(err) == model.CodeNotFound {
			continue
		}
		must(h.T, err)
		if row.Revision < h.newest[name] {
			h.Fatalf("%s went back from revision %d to %d", name, h.newest[name], row.Revision)
		}
		h.newest[name] = row.Revision
	}
}
