package auth_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// Ten thousand logins at once, half of them from one place: some passwords are tried, the rest is told to come back
// later (429), nothing breaks, and the memory stays that of a few hashes, not of ten thousand.
func TestFloodOfLoginsIsTurnedAwayInBoundedMemory(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	log := slog.New(slog.DiscardHandler)
	counted := &countedReads{Store: w.store}
	s, err := auth.New(auth.Config{
		Store: counted, Keys: [][]byte{testKey(1)}, Hashing: auth.Hashing{MemoryKiB: 8 * 1024, Passes: 1, Threads: 1}, Recorder: audit.NewRecorder(w.store, w.time, log), Log: log, Now: w.time,
	})
	if err != nil {
		t.Fatal(err)
	}
	const flood, mostMemory = 10_000, 200 << 20 // all hashes at once would take 78 GiB
	before := s.Hashes()
	over, peak := make(chan struct{}), make(chan uint64)
	go watchHeap(over, peak)

	var mu sync.Mutex
	ended := map[model.Code]int{}
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range flood {
		address := "192.0.2.1"
		if i%2 == 0 {
			address = fmt.Sprintf("198.51.%d.%d", i/250, i%250)
		}
		wg.Go(func() {
			<-start
			_, err := s.Login(context.Background(), fmt.Sprintf("user%d", i), "wrong password", auth.Client{Address: address})
			mu.Lock()
			defer mu.Unlock()
			ended[model.CodeOf(err)]++
		})
	}
	close(start)
	wg.Wait()
	close(over)
	most := <-peak
	t.Logf("%v after %d hashes; %d MiB at most", ended, s.Hashes()-before, most>>20)
	for code, n := range ended {
		if code != model.CodeUnauthorized && code != model.CodeTooMany {
			t.Errorf("%d ended with %q", n, code)
		}
	}
	if ended[model.CodeUnauthorized] == 0 || ended[model.CodeTooMany] == 0 {
		t.Errorf("ended as %v, want some of both", ended)
	}
	// Who is turned away costs the database nothing; some may wait for a hash in vain.
	if read, made := counted.reads.Load(), s.Hashes()-before; read > 2*made+100 {
		t.Errorf("%d users were read for %d hashes", read, made)
	}
	if most > mostMemory {
		t.Errorf("the heap grew to %d MiB", most>>20)
	}
	if _, err := s.Login(t.Context(), "ann", password, auth.Client{Address: "203.0.113.9"}); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}

// countedReads counts how often a user is read.
type countedReads struct {
	*store.Store
	reads atomic.Int64
}

func (c *countedReads) User(ctx context.Context, name string) (model.User, error) {
	c.reads.Add(1)
	return c.Store.User(ctx, name)
}

// watchHeap sends the largest heap that it saw until over is closed.
func watchHeap(over <-chan struct{}, peak chan<- uint64) {
	var most uint64
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			peak <- most
			return
		case <-tick.C:
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
}
