package client_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// asks are the ways to ask for permits of a bucket.
var asks = map[string]func(c *client.Client, ctx context.Context, name, key string, permits int64) (client.Decision, error){
	"Acquire": func(c *client.Client, ctx context.Context, name, key string, permits int64) (client.Decision, error) {
		return c.Acquire(ctx, name, client.Key(key), client.Permits(permits))
	},
	"Wait": func(c *client.Client, ctx context.Context, name, key string, permits int64) (client.Decision, error) {
		return c.Wait(ctx, name, client.Key(key), client.Permits(permits), client.MaxWait(time.Millisecond))
	},
	"Peek": func(c *client.Client, ctx context.Context, name, key string, permits int64) (client.Decision, error) {
		return c.Peek(ctx, name, client.Key(key), client.Permits(permits))
	},
	"AcquireAll": func(c *client.Client, ctx context.Context, name, key string, permits int64) (client.Decision, error) {
		ds, err := c.AcquireAll(ctx, client.Request{Bucket: "roomy"}, client.Request{Bucket: name, Key: key, Permits: permits})
		if err != nil {
			if ds != nil {
				return client.Decision{}, errors.New("there are Decisions beside the error")
			}
			return client.Decision{}, err
		}
		return ds[1], nil
	},
	"Do": func(c *client.Client, ctx context.Context, name, key string, permits int64) (client.Decision, error) {
		var d client.Decision
		choose := func(_ context.Context, refused client.Decision) error { d = refused; return nil }
		work := func(context.Context) error { return errors.New("the work was done") }
		err := c.Do(ctx, name, work, client.Custom(choose), client.Key(key), client.Permits(permits))
		return d, err
	},
}

// hostile is a world with buckets of each kind of which nothing must be taken.
func hostile(t *testing.T, addr, prefix string) *world {
	t.Helper()
	w := newWorld(t, addr, prefix)
	keyed := definition("keyed", 10, 1, time.Hour)
	keyed.Partition = bucket.PartitionKey
	others := definition("others", 10, 1, time.Hour)
	others.Apps = []string{"billing"}
	slots := definition("slots", 10, 1, time.Minute)
	slots.Algorithm, slots.Partition = bucket.Concurrency, bucket.PartitionKey
	for _, d := range []bucket.Definition{definition("shared", 10, 1, time.Hour), definition("roomy", 1000, 1, time.Hour), keyed, others, slots} {
		w.install(d)
	}
	return w
}

// untouched checks that no permit was taken.
func (w *world) untouched() {
	w.t.Helper()
	for name, key := range map[string]string{"shared": "", "keyed": "k", "roomy": ""} {
		d, err := w.c.Peek(w.t.Context(), name, client.Key(key))
		if err != nil || d.Remaining != d.Limit {
			w.t.Errorf("something was taken of %s: %+v, %v", name, d, err)
		}
	}
}

func TestNoCallTakesAnythingForMisuse(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := hostile(t, addr, prefix)
		for name, ask := range asks {
			for what, bad := range map[string]struct {
				bucket, key string
				permits     int64
				kind        *client.MisuseError
			}{
				"negative permits":        {"shared", "", -1, client.ErrPermits},
				"the least number":        {"shared", "", math.MinInt64, client.ErrPermits},
				"no key":                  {"keyed", "", 1, client.ErrNoKey},
				"a key of 513 bytes":      {"keyed", strings.Repeat("k", 513), 1, client.ErrKey},
				"a key of 10 kB":          {"keyed", strings.Repeat("k", 10_000), 1, client.ErrKey},
				"10 kB where none needed": {"shared", strings.Repeat("k", 10_000), 1, client.ErrKey},
				"no bucket":               {"", "k", 1, client.ErrBucket},
				"a name with braces":      {"a{shared}", "k", 1, client.ErrBucket},
				"a name with a star":      {"*", "k", 1, client.ErrBucket},
				"a name with NUL":         {"shared\x00", "k", 1, client.ErrBucket},
				"a name with a newline":   {"shared\n", "k", 1, client.ErrBucket},
				"a name with a colon":     {"shared:s", "k", 1, client.ErrBucket},
				"a name that is too long": {strings.Repeat("b", 129), "k", 1, client.ErrBucket},
			} {
				for range 2 { // before and after the bucket was learned
					d, err := ask(w.c, t.Context(), bad.bucket, bad.key, bad.permits)
					misuse(t, err, bad.kind)
					if d != (client.Decision{}) {
						t.Errorf("%s, %s: a decision beside the error: %+v", name, what, d)
					}
				}
			}
			if name == "Do" {
				continue // it enters such a bucket
			}
			d, err := ask(w.c, t.Context(), "slots", "k", 1)
			misuse(t, err, client.ErrConcurrency)
			if d != (client.Decision{}) {
				t.Errorf("%s of slots: %+v", name, d)
			}
		}
		w.untouched()
	})
}

func TestPermitsOfZeroAreMisuseButInARequest(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := hostile(t, addr, prefix)
	for name, ask := range asks {
		d, err := ask(w.c, t.Context(), "shared", "", 0)
		if name == "AcquireAll" {
			if err != nil || d.Outcome != client.Granted || d.Remaining != 9 {
				t.Errorf("0 in a Request stands for 1: %+v, %v", d, err)
			}
			continue
		}
		misuse(t, err, client.ErrPermits)
	}
	if d, err := w.c.Peek(t.Context(), "shared"); err != nil || d.Remaining != 9 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestMoreThanABucketCanHoldIsRefusedForeverByEveryCall(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := hostile(t, addr, prefix)
		for name, ask := range asks {
			for _, permits := range []int64{11, 1_000_000_000, 1_000_000_001, 1 << 53, math.MaxInt64} {
				for _, at := range []struct{ bucket, key string }{{"shared", ""}, {"keyed", "k"}} {
					d, err := ask(w.c, t.Context(), at.bucket, at.key, permits)
					if err != nil || d.Outcome != client.TooMany || d.Allowed || d.RetryAfter != 0 || d.Limit != 10 || d.Remaining != 10 {
						t.Errorf("%s of %d of %s: %+v, %v", name, permits, at.bucket, d, err)
					}
				}
			}
		}
		w.untouched()
	})
}

func TestEveryCallSaysNotConfigured(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := hostile(t, addr, prefix)
		for name, ask := range asks {
			for _, unknown := range []string{"absent", "others"} {
				for range 2 {
					if d, err := ask(w.c, t.Context(), unknown, "k", 1); err != nil || d.Outcome != client.NotConfigured || d.Allowed || d.Bucket != unknown {
						t.Errorf("%s of %s: %+v, %v", name, unknown, d, err)
					}
				}
			}
		}
		if lease, d, err := w.c.Enter(t.Context(), "absent"); lease != nil || err != nil || d.Outcome != client.NotConfigured {
			t.Errorf("Enter: %+v, %v", d, err)
		}
		w.untouched()
	})
}

func TestADoneContextEndsEveryCallBeforeItTakesAnything(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := hostile(t, addr, prefix)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for ctx, want := range map[context.Context]error{cancelled: context.Canceled, late: context.DeadlineExceeded} {
		for name, ask := range asks {
			if d, err := ask(w.c, ctx, "shared", "k", 1); !errors.Is(err, want) || d.Allowed {
				t.Errorf("%s: %+v, %v", name, d, err)
			}
		}
		if lease, d, err := w.c.Enter(ctx, "slots", client.Key("k")); lease != nil || !errors.Is(err, want) || d.Allowed {
			t.Errorf("Enter: %+v, %v", d, err)
		}
		if err := w.c.Preload(ctx, "shared"); !errors.Is(err, want) {
			t.Errorf("Preload: %v", err)
		}
	}
	w.untouched()
}

func TestEveryCallOfAClosedClientIsMisuse(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := hostile(t, addr, prefix)
	if err := w.c.Preload(t.Context(), "shared", "slots"); err != nil {
		t.Fatal(err)
	}
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ask := range asks {
		_, err := ask(w.c, t.Context(), "shared", "k", 1)
		misuse(t, err, client.ErrIsClosed)
	}
	_, _, err := w.c.Enter(t.Context(), "slots", client.Key("k"))
	misuse(t, err, client.ErrIsClosed)
}

func TestNewRefusesEachKindOfNilRedisAndOption(t *testing.T) {
	var single *redis.Client
	var cluster *redis.ClusterClient
	var ring *redis.Ring
	for _, rdb := range []redis.UniversalClient{nil, single, cluster, ring} {
		c, err := client.New(rdb, "checkout")
		misuse(t, err, client.ErrRedis)
		if c != nil {
			t.Error("there is a client beside the error")
		}
	}
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = rdb.Close() }()
	for name, option := range map[string]client.Option{
		"nil":                    nil,
		"no queue":               client.WithQueue(0),
		"negative queue":         client.WithQueue(-1),
		"queue too long":         client.WithQueue(client.MaxQueue + 1),
		"deadline too short":     client.WithDeadline(client.MinDeadline - 1),
		"negative deadline":      client.WithDeadline(-time.Second),
		"too many instances":     client.WithInstances(client.MaxInstances + 1),
		"empty unknown policy":   client.WithUnknownPolicy(""),
		"not configured: local":  client.WithNotConfigured(client.Local),
		"unknown policy unknown": client.WithUnknownPolicy("half"),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.New(rdb, "checkout", option)
			misuse(t, err, client.ErrOption)
			if c != nil {
				t.Error("there is a client beside the error")
			}
		})
	}
}

func TestMisusedOptionsOfACallTakeNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := hostile(t, addr, prefix)
	_, err := w.c.Wait(t.Context(), "shared", client.MaxWait(-1))
	misuse(t, err, client.ErrMaxWait)
	_, _, err = w.c.Enter(t.Context(), "slots", client.Key("k"), client.MaxWait(math.MinInt64))
	misuse(t, err, client.ErrMaxWait)
	_, _, err = w.c.Enter(t.Context(), "slots", client.Key("k"), client.Permits(2))
	misuse(t, err, client.ErrOneSlot)
	_, _, err = w.c.Enter(t.Context(), "shared")
	misuse(t, err, client.ErrNoLeases)
	_, _, err = w.c.Enter(t.Context(), "slots")
	misuse(t, err, client.ErrNoKey)
	err = w.c.Do(t.Context(), "shared", func(context.Context) error { return errors.New("done") }, client.Strategy{})
	misuse(t, err, client.ErrStrategy)
	_, err = w.c.AcquireAll(t.Context(), make([]client.Request, client.MaxRequests+1)...)
	misuse(t, err, client.ErrRequests)
	w.untouched()
	// An option that no function made says nothing.
	if d, err := w.c.Acquire(t.Context(), "shared", client.CallOption{}); err != nil || d.Remaining != 9 {
		t.Errorf("%+v, %v", d, err)
	}
}
