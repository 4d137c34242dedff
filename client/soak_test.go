package client_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

var soakTime = flag.Duration("soak.time", 1500*time.Millisecond, "how long the soak lasts in each weather")

const (
	soakDeadline = 60 * time.Millisecond
	soakWait     = 40 * time.Millisecond
	// soakMargin is how much later than it should a call may return on a busy machine. A lost wake-up never returns, and
	// go-redis alone would return after 3 s.
	soakMargin = time.Second
)

// soak is callers that use every call of a client at random, with contexts that end at random, and note the longest time
// that one took beyond what it may.
type soak struct {
	t    *testing.T
	c    *client.Client
	stop chan struct{}

	mu   sync.Mutex
	late time.Duration
	what string
	made int
}

func (s *soak) run(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	pace := time.NewTicker(3 * time.Millisecond) // what is answered at once would else leave nobody else the processor
	defer pace.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-pace.C:
			s.call(rng)
		}
	}
}

func (s *soak) call(rng *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch rng.IntN(4) {
	case 0:
		defer time.AfterFunc(time.Duration(rng.IntN(3000))*time.Microsecond, cancel).Stop()
	case 1:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(80_000))*time.Microsecond)
		defer cancel()
	}
	var what string
	may, began := soakDeadline, time.Now()
	var err error
	switch rng.IntN(8) {
	case 0:
		what, may = "Wait", 2*soakDeadline+soakWait
		_, err = s.c.Wait(ctx, "shared", client.MaxWait(soakWait))
	case 1:
		what = "AcquireAll"
		_, err = s.c.AcquireAll(ctx, client.Request{Bucket: "shared"}, client.Request{Bucket: "keyed", Key: fmt.Sprint(rng.IntN(50))})
	case 2:
		what = "Peek"
		_, err = s.c.Peek(ctx, "shared")
	case 3:
		what = "Enter"
		var lease *client.Lease
		if lease, _, err = s.c.Enter(ctx, "slots"); lease != nil {
			lease.Release()
		}
	case 4, 5:
		what = "Acquire by key"
		_, err = s.c.Acquire(ctx, "keyed", client.Key(fmt.Sprint(rng.IntN(50))))
	default:
		what = "Acquire"
		_, err = s.c.Acquire(ctx, "shared", client.Permits(1+rng.Int64N(3)))
	}
	s.note(what, time.Since(began)-may)
	if err != nil && ctx.Err() == nil && !errors.Is(err, client.ErrIsClosed) {
		s.t.Errorf("%s: %v", what, err)
	}
}

func (s *soak) note(what string, late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if late > s.late {
		s.late, s.what = late, what
	}
}

// install defines the buckets of the soak.
func (s *soak) install(engine *bucket.Engine) {
	s.t.Helper()
	shared := definition("shared", 100, 2000, time.Second)
	shared.MaxWait = time.Second
	keyed := definition("keyed", 5, 10, time.Second)
	keyed.Partition, keyed.OnFailure = bucket.PartitionKey, bucket.FailLocal
	slots := definition("slots", 5, 1, time.Second)
	slots.Algorithm, slots.OnFailure = bucket.Concurrency, bucket.FailClosed
	for _, d := range []bucket.Definition{shared, keyed, slots} {
		if _, err := engine.Install(s.t.Context(), d, bucket.InstallOptions{Deployment: deployment}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Whatever Redis and the callers' contexts do, also while the client closes: every call returns when it should, and Close
// leaves no goroutine behind but those of go-redis, which its own Close ends.
func TestEveryCallReturnsInTimeAndCloseLeavesNothingBehind(t *testing.T) {
	for name, weather := range map[string]func(p *testenv.NetProxy){
		"fair":          func(*testenv.NetProxy) {},
		"slow":          func(p *testenv.NetProxy) { p.Delay(t, 5*time.Millisecond) },
		"too slow":      func(p *testenv.NetProxy) { p.Delay(t, 80*time.Millisecond) },
		"replies lost":  func(p *testenv.NetProxy) { p.LoseReplies(t) },
		"requests lost": func(p *testenv.NetProxy) { p.LoseRequests(t) },
		"cut":           func(p *testenv.NetProxy) { p.CutReplies(t, 20_000) },
	} {
		t.Run(name, func(t *testing.T) {
			server := testenv.OwnRedis(t)
			proxy := testenv.Proxy(t, server.Addr)
			direct := redis.NewClient(&redis.Options{Addr: server.Addr})
			defer func() { _ = direct.Close() }()
			s := &soak{t: t, stop: make(chan struct{})}
			s.install(bucket.New(direct, client.DefaultPrefix))
			before := goleak.IgnoreCurrent()

			rdb := redis.NewClient(&redis.Options{Addr: proxy.Addr})
			var err error
			if s.c, err = client.New(rdb, "checkout", client.WithDeadline(soakDeadline), client.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
				t.Fatal(err)
			}
			var running sync.WaitGroup
			for i := range 48 {
				running.Go(func() { s.run(uint64(i)) })
			}
			turn := time.AfterFunc(*soakTime/3, func() { weather(proxy) })
			defer turn.Stop()
			testenv.Eventually(t, time.Hour, "the time is over", elapsed(*soakTime))
			closed := time.Now()
			_ = s.c.Close() // in such weather usage may be lost
			if took := time.Since(closed); took > 2*time.Second+2*soakDeadline+soakMargin {
				t.Errorf("Close took %v", took)
			}
			close(s.stop)
			returned := make(chan struct{})
			go func() {
				running.Wait()
				close(returned)
			}()
			select {
			case <-returned:
			case <-time.After(10 * time.Second):
				t.Fatal("some calls never return")
			}
			t.Logf("%d calls, at most %v late (%s)", s.made, s.late, s.what)
			if s.late > soakMargin {
				t.Errorf("%s returned %v too late", s.what, s.late)
			}
			_ = rdb.Close()
			proxy.Close()
			if err := goleak.Find(before, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run")); err != nil {
				t.Error(err)
			}
		})
	}
}
