package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// algorithms are those that AcquireAll takes permits of.
var algorithms = []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog}

// counting is a bucket of any algorithm that grants max permits and no more for a long time.
func counting(name, algorithm string, maxPermits int64) bucket.Definition {
	d := definition(name, maxPermits, 1, time.Hour)
	if d.Algorithm = algorithm; algorithm != bucket.TokenBucket {
		d.Period = 31 * 24 * time.Hour
	}
	return d
}

// of asks for one permit of each of the buckets.
func of(names ...string) []client.Request {
	requests := make([]client.Request, len(names))
	for i, name := range names {
		requests[i].Bucket = name
	}
	return requests
}

// all makes an AcquireAll that must not be misuse, and checks its outcomes: a letter each, in order.
func (w *world) all(want string, requests ...client.Request) []client.Decision {
	w.t.Helper()
	ds, err := w.c.AcquireAll(w.t.Context(), requests...)
	if err != nil {
		w.t.Fatalf("AcquireAll: %v", err)
	}
	for i := range ds {
		if ds[i].Bucket != requests[i].Bucket {
			w.t.Fatalf("decision %d is on %q, want %q", i, ds[i].Bucket, requests[i].Bucket)
		}
	}
	if got := letters(ds); got != want {
		w.t.Fatalf("got %s, want %s: %+v", got, want, ds)
	}
	return ds
}

// letters has one for each outcome: Granted, Limited, Too many, Not configured, Unavailable; small where that is allowed
// though it was not granted.
func letters(ds []client.Decision) string {
	var all strings.Builder
	for _, d := range ds {
		letter := strings.ToUpper(string(d.Outcome[:1]))
		if d.Allowed && d.Outcome != client.Granted {
			letter = strings.ToLower(letter)
		}
		all.WriteString(letter)
	}
	return all.String()
}

// left is how many permits each of the buckets has.
func (w *world) left(names ...string) []int64 {
	w.t.Helper()
	all := make([]int64, len(names))
	for i, name := range names {
		d, err := w.c.Peek(w.t.Context(), name, client.Key("k"))
		if err != nil {
			w.t.Fatalf("Peek %s: %v", name, err)
		}
		all[i] = d.Remaining
	}
	return all
}

func (w *world) hasLeft(want []int64, names ...string) {
	w.t.Helper()
	if got := w.left(names...); !slices.Equal(got, want) {
		w.t.Fatalf("%v have %d left, want %d", names, got, want)
	}
}

func TestAcquireAllTakesOfEveryBucketOrOfNone(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		most := map[string]int64{bucket.TokenBucket: 9, bucket.FixedWindow: 7, bucket.SlidingWindow: 5, bucket.SlidingLog: 6}
		for name, n := range most {
			w.install(counting(name, name, n))
		}
		before := []int64{9, 7, 5, 6}
		for permits := range int64(12) {
			requests := of(algorithms...)
			requests[permits%4].Permits = 1 + permits%3
			ds, err := w.c.AcquireAll(t.Context(), requests...)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range ds {
				enough := max(1, requests[i].Permits) <= before[i]
				if (d.Outcome == client.Granted) != enough || d.Allowed != enough || d.Limit != most[d.Bucket] || d.Revision != 1 || d.At.IsZero() || d.Source != client.SourceRedis {
					t.Errorf("with %d: %+v", before, d)
				}
			}
			after := w.left(algorithms...)
			for i := range before {
				if client.AllAllowed(ds) {
					before[i] -= max(1, requests[i].Permits)
				}
				if after[i] != before[i] || ds[i].Remaining != before[i] {
					t.Errorf("%s: %d are left and it told %d, want %d", algorithms[i], after[i], ds[i].Remaining, before[i])
				}
			}
		}
	})
}

// The test of the earlier system's sliding log: once a second and five times a minute together, asked at these times. It
// printed, as here, which rule let each of the eight requests pass.
func TestOnceASecondAndFiveTimesAMinuteTogether(t *testing.T) {
	mini := testenv.Mini(t)
	start := time.Unix(1484551710, 0)
	mini.SetTime(start)
	w := newWorld(t, mini.Addr(), client.DefaultPrefix)
	for name, rule := range map[string]bucket.Definition{
		"second": definition("second", 1, 1, time.Second), "minute": definition("minute", 5, 1, time.Minute),
	} {
		rule.Name, rule.Algorithm, rule.Partition = name, bucket.SlidingLog, bucket.PartitionKey
		w.install(rule)
	}
	for i, line := range []struct {
		at           time.Duration
		want         string
		left         int64 // of the five
		retry, reset time.Duration
	}{
		{0, "GG", 4, 0, 60}, {0, "LG", 4, 1, 60}, {1, "GG", 3, 0, 60}, {2, "GG", 2, 0, 60}, {3, "GG", 1, 0, 60},
		{4, "GG", 0, 0, 60}, {5, "GL", 0, 55, 59}, {66, "GG", 4, 0, 60},
	} {
		mini.SetTime(start.Add(line.at * time.Second))
		ds := w.all(line.want, client.Request{Bucket: "second", Key: "192.168.1.100"}, client.Request{Bucket: "minute", Key: "192.168.1.100"})
		retry := max(ds[0].RetryAfter, ds[1].RetryAfter)
		if ds[1].Remaining != line.left || ds[1].Limit != 5 || ds[0].Limit != 1 || ds[1].ResetAfter != line.reset*time.Second || retry != line.retry*time.Second {
			t.Errorf("line %d: %+v", i+1, ds)
		}
	}
}

// Document 003's combination: 3,000 in 10 s of everybody together and 100 of each user, all or nothing.
func TestThreeThousandOfAllAndAHundredOfEachUser(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	const ofAll, ofEach, users, period = 3000, 100, 40, 10 * time.Second
	global, user := definition("global", ofAll, 1, period), definition("user", ofEach, 1, period)
	user.Partition = bucket.PartitionKey
	for _, d := range []bucket.Definition{global, user} {
		d.Algorithm = bucket.SlidingLog
		w.install(d)
	}
	granted := make([][]int64, users) // the times
	var all sync.WaitGroup
	for i := range users {
		all.Go(func() {
			for range ofEach + 10 {
				ds, err := w.c.AcquireAll(t.Context(), client.Request{Bucket: "global"}, client.Request{Bucket: "user", Key: fmt.Sprint(i)})
				if err != nil {
					t.Errorf("AcquireAll: %v", err)
					return
				}
				if client.AllAllowed(ds) {
					granted[i] = append(granted[i], ds[0].At.UnixMicro())
				}
			}
		})
	}
	all.Wait()
	for i, times := range granted {
		neverOver(t, fmt.Sprintf("user %d", i), times, ofEach, period)
	}
	together := slices.Concat(granted...)
	neverOver(t, "all", together, ofAll, period)
	if len(together) < ofAll {
		t.Errorf("only %d of %d were granted, though %d were asked for", len(together), ofAll, users*(ofEach+10))
	}
}

// neverOver checks that no period had more than most of the times.
func neverOver(t *testing.T, who string, times []int64, most int, period time.Duration) {
	t.Helper()
	slices.Sort(times)
	for i := most; i < len(times); i++ {
		if times[i]-times[i-most] < period.Microseconds() {
			t.Errorf("%s: %d were granted within %d µs", who, most+1, times[i]-times[i-most])
			return
		}
	}
}

// TestMistake09ARefusalChargesNothingToTheOtherBuckets: whatever refuses, in whatever place, alone or among many callers,
// the other buckets are as if nobody had asked. (Of the earlier systems one charged 8 for each refusal.)
func TestMistake09ARefusalChargesNothingToTheOtherBuckets(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		for _, algorithm := range algorithms {
			w.install(counting("wide-"+algorithm, algorithm, 1000))
			w.install(counting("used-"+algorithm, algorithm, 1))
			wants(t, w.acquire("used-"+algorithm), client.Granted, true)
		}
		refusals := []client.Request{{Bucket: "no-such-bucket"}}
		for _, algorithm := range algorithms {
			refusals = append(refusals, client.Request{Bucket: "used-" + algorithm}, client.Request{Bucket: "used-" + algorithm, Permits: 2})
		}
		var wide []string
		for _, algorithm := range algorithms {
			wide = append(wide, "wide-"+algorithm)
		}
		var all sync.WaitGroup
		for range 5 {
			for _, refusal := range refusals {
				for place := range len(wide) + 1 {
					all.Go(func() {
						ds, err := w.c.AcquireAll(t.Context(), slices.Insert(of(wide...), place, refusal)...)
						if err != nil || client.AllAllowed(ds) || ds[place].Allowed {
							t.Errorf("%+v, %v", ds, err)
						}
					})
				}
			}
		}
		all.Wait()
		w.hasLeft([]int64{1000, 1000, 1000, 1000}, wide...)
		for name, used := range w.c.Stats().Buckets {
			if strings.HasPrefix(name, "wide") && used != (client.BucketStats{Revision: 1}) {
				t.Errorf("%s counts as used: %+v", name, used)
			}
		}
	})
}

func TestEachModeAndOutcomeHasItsSayInOneCall(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		lenient := newWorld(t, addr, prefix, client.WithNotConfigured(client.Open))
		shadow, off := definition("shadow", 1, 1, time.Hour), definition("off", 1, 1, time.Hour)
		shadow.Mode, off.Mode = bucket.ModeShadow, bucket.ModeOff
		w.install(shadow)
		w.install(off)
		w.install(definition("enforce", 5, 1, time.Hour))
		names := []string{"enforce", "shadow", "off"}

		w.all("GGG", of(names...)...)
		w.hasLeft([]int64{4, 0, 1}, names...)
		ds := w.all("GlG", of(names...)...) // shadow has none left, takes none and stops nobody
		if !ds[1].Shadow || ds[1].RetryAfter <= 0 || ds[1].Remaining != 0 {
			t.Errorf("shadow: %+v", ds[1])
		}
		w.hasLeft([]int64{3, 0, 1}, names...)
		w.all("TtG", client.Request{Bucket: "enforce", Permits: 6}, client.Request{Bucket: "shadow", Permits: 2}, client.Request{Bucket: "off", Permits: 2})
		w.all("GtG", client.Request{Bucket: "enforce", Permits: 2}, client.Request{Bucket: "shadow", Permits: 2}, client.Request{Bucket: "off", Permits: 2})
		w.hasLeft([]int64{1, 0, 1}, names...)
		w.all("GN", of("enforce", "no-such-bucket")...)
		w.hasLeft([]int64{1, 0, 1}, names...)
		lenient.all("Gn", of("enforce", "no-such-bucket")...)
		w.hasLeft([]int64{0, 0, 1}, names...)
	})
}

func TestRequestsForOneBucketCountTogether(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 3, 1, time.Hour))
		keyed := definition("keyed", 3, 1, time.Hour)
		keyed.Partition = bucket.PartitionKey
		w.install(keyed)
		w.all("GG", of("b", "b")...)
		w.all("LL", of("b", "b")...)
		w.all("TT", client.Request{Bucket: "b", Permits: 2}, client.Request{Bucket: "b", Permits: 2})
		w.all("G", of("b")...)
		w.all("GGG", client.Request{Bucket: "keyed", Key: "k", Permits: 2}, client.Request{Bucket: "keyed", Key: "k"}, client.Request{Bucket: "keyed", Key: "other"})
		w.all("LG", client.Request{Bucket: "keyed", Key: "k"}, client.Request{Bucket: "keyed", Key: "other"})
		w.all("G", client.Request{Bucket: "keyed", Key: "other", Permits: 2})
	})
}

func TestAcquireAllLearnsWhatChanged(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		a, b := definition("a", 2, 1, time.Hour), definition("b", 2, 1, time.Hour)
		w.install(a)
		w.install(b)
		key := []client.Request{{Bucket: "a", Key: "k"}, {Bucket: "b", Key: "k"}}
		w.all("GG", key...) // nothing was known
		b.Revision, b.Partition = 2, bucket.PartitionKey
		w.install(b)
		for _, d := range w.all("GG", key...) {
			if d.Bucket == "b" && (d.Revision != 2 || d.Remaining != 1) {
				t.Errorf("after the edit: %+v", d)
			}
		}
		_, err := w.c.AcquireAll(t.Context(), of("a", "b")...)
		misuse(t, err, client.ErrNoKey)
		b.Revision, b.Partition, b.MaxPermits = 3, bucket.PartitionShared, 7
		w.install(b)
		w.all("LG", of("a", "b")...)
		a.Revision, a.Algorithm = 2, bucket.Concurrency
		w.install(a)
		_, err = w.c.AcquireAll(t.Context(), of("b", "a")...)
		misuse(t, err, client.ErrConcurrency)
		a.Revision, a.Algorithm = 3, bucket.FixedWindow
		a.Period = 31 * 24 * time.Hour
		w.install(a)
		w.all("GG", of("b", "a")...)
		w.hasLeft([]int64{1, 6}, "a", "b")
	})
}

func TestAcquireAllRefusesMisuseAndTakesNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(definition("b", 2, 1, time.Hour))
	keyed, slots := definition("keyed", 2, 1, time.Hour), definition("slots", 2, 1, time.Hour)
	keyed.Partition, slots.Algorithm = bucket.PartitionKey, bucket.Concurrency
	w.install(keyed)
	w.install(slots)
	for name, test := range map[string]struct {
		request client.Request
		kind    *client.MisuseError
	}{
		"no name":              {client.Request{}, client.ErrBucket},
		"negative permits":     {client.Request{Bucket: "b", Permits: -1}, client.ErrPermits},
		"a long key":           {client.Request{Bucket: "keyed", Key: strings.Repeat("k", client.MaxKey+1)}, client.ErrKey},
		"no key":               {client.Request{Bucket: "keyed"}, client.ErrNoKey},
		"a concurrency bucket": {client.Request{Bucket: "slots"}, client.ErrConcurrency},
	} {
		for range 2 { // before and after the bucket was learned
			ds, err := w.c.AcquireAll(t.Context(), client.Request{Bucket: "b"}, test.request)
			misuse(t, err, test.kind)
			if ds != nil {
				t.Errorf("%s: decisions beside the error: %+v", name, ds)
			}
		}
	}
	_, err := w.c.AcquireAll(t.Context(), make([]client.Request, client.MaxRequests+1)...)
	misuse(t, err, client.ErrRequests)
	if ds, err := w.c.AcquireAll(t.Context()); len(ds) != 0 || err != nil || !client.AllAllowed(ds) {
		t.Errorf("of nothing: %+v, %v", ds, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.c.AcquireAll(ctx, of("b")...); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context: %v", err)
	}
	w.hasLeft([]int64{2}, "b")
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = w.c.AcquireAll(t.Context(), of("b")...)
	misuse(t, err, client.ErrIsClosed)
}

// As many calls as may be want the same few permits of two buckets at once: none too many, none too few.
func TestManyCallersGetExactlyWhatTheBucketsHold(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("a", 50, 1, time.Hour))
		w.install(definition("b", 30, 1, time.Hour))
		var mu sync.Mutex
		count, least := map[string]int{}, map[string]int64{"a": 50, "b": 30}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 5 {
					ds, err := w.c.AcquireAll(t.Context(), of("a", "b")...)
					if err != nil {
						t.Errorf("AcquireAll: %v", err)
						return
					}
					mu.Lock()
					count[letters(ds)]++
					for _, d := range ds {
						least[d.Bucket] = min(least[d.Bucket], d.Remaining)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if count["GG"] != 30 || count["GL"] != 70 || least["a"] != 20 || least["b"] != 0 {
			t.Errorf("%v, at least %v left", count, least)
		}
		w.hasLeft([]int64{20, 0}, "a", "b")
		stats := w.c.Stats().Buckets
		if stats["a"].Granted != 30 || stats["a"].Limited != 0 || stats["b"].Granted != 30 || stats["b"].Limited != 70 {
			t.Errorf("usage: %+v", stats)
		}
	})
}

func TestACancelledAcquireAllGivesBackWhatItGot(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	proxy := testenv.Proxy(t, addr)
	w := newWorld(t, proxy.Addr, prefix)
	reader := newWorld(t, addr, prefix)
	names := []string{"token", "log"}
	w.install(counting("token", bucket.TokenBucket, 5))
	w.install(counting("log", bucket.SlidingLog, 5))
	w.all("GG", of(names...)...)
	proxy.Delay(t, 300*time.Millisecond)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := w.c.AcquireAll(ctx, of(names...)...)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v", err)
		}
	}
	testenv.Eventually(t, 10*time.Second, "the permits are back", func() bool { return slices.Equal(reader.left(names...), []int64{4, 4}) })
	if err := w.c.Close(); err != nil { // nothing more is under way now
		t.Fatal(err)
	}
	reader.hasLeft([]int64{4, 4}, names...)
}
