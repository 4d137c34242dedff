package client_test

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
)

// nameRule is the rule of docs for names, said otherwise than in the SDK.
var nameRule = regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9._-]{0,127}\z`)

// target is an embedded Redis for one fuzz target, with a world of its own for each input.
type target struct {
	mini *miniredis.Miniredis
	rdb  *redis.Client
	made int
}

func newTarget(f *testing.F) *target {
	mini := miniredis.RunT(f)
	rdb := redis.NewClient(&redis.Options{Addr: mini.Addr()})
	f.Cleanup(func() { _ = rdb.Close() })
	return &target{mini: mini, rdb: rdb}
}

// world makes a client, with the buckets keyed and shared, of five permits, and slots, of one slot for each key.
func (f *target) world(t *testing.T) *world {
	t.Helper()
	f.mini.FlushAll()
	f.made++
	prefix := fmt.Sprint("p", f.made)
	c, err := client.New(f.rdb, "checkout", client.Prefix(prefix), client.WithDeadline(20*time.Second),
		client.WithLogger(slog.New(slog.DiscardHandler)), client.WithLocalDenial(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		for _, key := range f.mini.Keys() {
			if !strings.HasPrefix(key, prefix+":") {
				t.Errorf("a key beyond the prefix: %q", key)
			}
		}
	})
	w := &world{t: t, rdb: f.rdb, engine: bucket.New(f.rdb, prefix), c: c}
	keyed, slots := definition("keyed", 5, 1, time.Hour), definition("slots", 1, 1, time.Hour)
	keyed.Partition, slots.Partition, slots.Algorithm = bucket.PartitionKey, bucket.PartitionKey, bucket.Concurrency
	for _, d := range []bucket.Definition{keyed, slots, definition("shared", 5, 1, time.Hour)} {
		w.install(d)
	}
	return w
}

// mistake is the misuse in asking a bucket of a world for permits, nil where there is none. Which of several is told does
// not matter here: the first that shows.
func mistake(name, key string, permits int64) *client.MisuseError {
	switch {
	case !nameRule.MatchString(name):
		return client.ErrBucket
	case permits < 1:
		return client.ErrPermits
	case len(key) > 512:
		return client.ErrKey
	case name == "slots":
		return client.ErrConcurrency
	case name == "keyed" && key == "":
		return client.ErrNoKey
	}
	return nil
}

// remaining is what the keyed bucket has for a key.
func remaining(t *testing.T, w *world, name, key string) int64 {
	t.Helper()
	d, err := w.c.Peek(t.Context(), name, client.Key(key))
	if err != nil || d.Source != client.SourceRedis {
		t.Fatalf("Peek %q %q: %+v, %v", name, key, d, err)
	}
	return d.Remaining
}

func FuzzAcquire(f *testing.F) {
	f.Add("keyed", "user:42", int64(1))
	f.Add("keyed", "{keyed}", int64(2))
	f.Add("keyed", "*", int64(5))
	f.Add("keyed", "a\x00b\r\nDEL *\r\n", int64(3))
	f.Add("keyed", "\xff\xfe", int64(6))
	f.Add("keyed", "", int64(1))
	f.Add("keyed", strings.Repeat("k", 512), int64(4))
	f.Add("keyed", strings.Repeat("k", 513), int64(1))
	f.Add("shared", "ignored", int64(1<<63-1))
	f.Add("shared", "", int64(0))
	f.Add("slots", "k", int64(-1<<63))
	f.Add("slots", "k", int64(1))
	f.Add("absent", "k", int64(1))
	f.Add("sha{red}", "k", int64(1))
	on := newTarget(f)
	f.Fuzz(func(t *testing.T, name, key string, permits int64) {
		w := on.world(t)
		wrong := mistake(name, key, permits)
		for n := int64(1); n <= 2; n++ {
			d, err := w.c.Acquire(t.Context(), name, client.Key(key), client.Permits(permits))
			switch {
			case wrong != nil:
				if !errors.Is(err, wrong) || d != (client.Decision{}) {
					t.Fatalf("%+v, %v, want the misuse %v", d, err, wrong)
				}
				continue
			case err != nil:
				t.Fatal(err)
			}
			want := client.Granted
			switch {
			case name != "keyed" && name != "shared":
				want = client.NotConfigured
			case permits > 5:
				want = client.TooMany
			case permits*n > 5:
				want = client.Limited
			}
			if d.Outcome != want || d.Allowed != (want == client.Granted) || d.Bucket != name || d.Source != client.SourceRedis {
				t.Fatalf("call %d: %+v, want %s", n, d, want)
			}
			if want == client.Granted && (d.Remaining != 5-n*permits || remaining(t, w, name, key) != d.Remaining) {
				t.Fatalf("call %d: %+v", n, d)
			}
		}
		if other := key + "x"; len(other) <= 512 && remaining(t, w, "keyed", other) != 5 {
			t.Fatalf("a call for key %q took from key %q", key, other)
		}
	})
}

func FuzzAcquireAll(f *testing.F) {
	f.Add("keyed", "a", int64(1), "keyed", "b", int64(5))
	f.Add("keyed", "a", int64(3), "keyed", "a", int64(3))
	f.Add("keyed", "{", int64(0), "shared", "}", int64(6))
	f.Add("shared", "", int64(2), "shared", "x", int64(3))
	f.Add("shared", "", int64(2), "slots", "x", int64(1))
	f.Add("shared", "", int64(2), "keyed", "", int64(1))
	f.Add("shared", "", int64(2), "absent", "\x00", int64(1))
	f.Add("shared", "", int64(1<<62), "keyed", strings.Repeat("\n", 512), int64(-1))
	on := newTarget(f)
	f.Fuzz(func(t *testing.T, name1, key1 string, permits1 int64, name2, key2 string, permits2 int64) {
		w := on.world(t)
		requests := []client.Request{{Bucket: name1, Key: key1, Permits: permits1}, {Bucket: name2, Key: key2, Permits: permits2}}
		ds, err := w.c.AcquireAll(t.Context(), requests...)
		asked, wrong, absent := map[[2]string]int64{}, false, false
		for _, r := range requests {
			permits := max(r.Permits, min(1, r.Permits+1)) // 0 stands for 1
			wrong = wrong || mistake(r.Bucket, r.Key, permits) != nil
			switch r.Bucket {
			case "keyed":
				asked[[2]string{r.Bucket, r.Key}] += min(permits, 6)
			case "shared":
				asked[[2]string{r.Bucket, ""}] += min(permits, 6)
			default:
				absent = true
			}
		}
		var typed *client.MisuseError
		if wrong != errors.As(err, &typed) || wrong == (ds != nil) || !wrong && err != nil {
			t.Fatalf("%+v, %v", ds, err)
		}
		possible := !wrong && !absent
		for _, n := range asked {
			possible = possible && n <= 5
		}
		if !wrong && client.AllAllowed(ds) != possible {
			t.Fatalf("%+v, want all allowed: %v", ds, possible)
		}
		for at, n := range asked {
			if at[0] == "keyed" && (at[1] == "" || len(at[1]) > 512) {
				continue
			}
			if !possible {
				n = 0
			}
			if left := remaining(t, w, at[0], at[1]); left != 5-n {
				t.Fatalf("%d left of %q after %+v", left, at, ds)
			}
		}
	})
}

func FuzzEnter(f *testing.F) {
	f.Add("slots", "user:42")
	f.Add("slots", "{}*\x00\n")
	f.Add("slots", "")
	f.Add("slots", strings.Repeat("k", 600))
	f.Add("shared", "k")
	f.Add("absent", "k")
	f.Add("-", "k")
	on := newTarget(f)
	f.Fuzz(func(t *testing.T, name, key string) {
		w := on.world(t)
		wrong := mistake(name, key, 1)
		switch {
		case errors.Is(wrong, client.ErrConcurrency):
			if wrong = nil; key == "" {
				wrong = client.ErrNoKey
			}
		case wrong == nil && name == "shared", name == "keyed" && len(key) <= 512:
			wrong = client.ErrNoLeases
		}
		lease, d, err := w.c.Enter(t.Context(), name, client.Key(key))
		switch {
		case wrong != nil:
			if lease != nil || !errors.Is(err, wrong) || d != (client.Decision{}) {
				t.Fatalf("%+v, %v, want the misuse %v", d, err, wrong)
			}
		case err != nil:
			t.Fatal(err)
		case name != "slots":
			if lease != nil || d.Outcome != client.NotConfigured {
				t.Fatalf("%+v", d)
			}
		case lease == nil || d.Outcome != client.Granted:
			t.Fatalf("%+v", d)
		default:
			if second, d, err := w.c.Enter(t.Context(), name, client.Key(key)); second != nil || err != nil || d.Outcome != client.Limited {
				t.Fatalf("a second one: %+v, %v", d, err)
			}
			if other, d, err := w.c.Enter(t.Context(), name, client.Key("another")); key != "another" && (other == nil || err != nil) {
				t.Fatalf("by another key: %+v, %v", d, err)
			}
			lease.Release()
		}
	})
}
