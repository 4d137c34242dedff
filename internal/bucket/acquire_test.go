package bucket_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// TestAReplyDescribesTheBucket: a decision tells all that a caller needs to know about the definition.
func TestAReplyDescribesTheBucket(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 240, time.Hour)
		d.Revision, d.Partition, d.Mode, d.MaxWait, d.OnFailure = 3, bucket.PartitionAppKey, bucket.ModeShadow, 1500*time.Millisecond, bucket.FailLocal
		e.install(t, d)
		older := d // whose revision the caller knows, and whose shape is the same
		older.Revision, older.Mode = 2, bucket.ModeEnforce
		reply := e.acquire(t, older, bucket.Entry{Permits: 4, Count: 1, Key: "k"})
		now, err := e.Time(t.Context())
		check(t, err)
		if behind := now.Sub(reply.Now); behind < 0 || behind > 10*time.Second {
			t.Fatalf("decided at %s, now %s", reply.Now, now)
		}
		reply.Now = time.Time{}
		want := bucket.Reply{
			Verdict: bucket.VerdictDecided, Revision: 3, RuleID: e.generation(t, d),
			Facts: &bucket.Facts{
				Revision: 3, Algorithm: bucket.TokenBucket, Partition: bucket.PartitionAppKey, Shards: 1, Mode: bucket.ModeShadow,
				OnFailure: bucket.FailLocal, MaxWait: 1500 * time.Millisecond, Generation: e.generation(t, d),
				MaxPermits: 10, Rate: 1, Period: 15 * time.Second,
			},
			Results: []bucket.Result{{Code: bucket.CodeGranted, Granted: 1, Remaining: 6, ResetAfter: time.Minute}},
		}
		if diff := cmp.Diff(want, reply); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestFactsThatHoldAreNotSentAgain: the reply then has the caller's own.
func TestFactsThatHoldAreNotSentAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		e.install(t, d)
		c := e.call(t, d, bucket.Entry{Permits: 1, Count: 1})
		reply, err := e.Acquire(t.Context(), c)
		check(t, err)
		expect(t, "facts", reply.Facts, c.Target.Facts)
		d.Revision = 2
		e.install(t, d)
		reply, err = e.Acquire(t.Context(), c)
		check(t, err)
		expect(t, "revision of the facts", reply.Facts.Revision, 2)
	})
}

// TestAStaleShapeTakesNothing: and is answered with the truth, as is a caller who has learned nothing.
func TestAStaleShapeTakesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.Partition = bucket.PartitionApp
		e.install(t, d)
		e.one(t, d, 1)
		before := e.snapshot(t, d.Name)
		believed := []*bucket.Facts{nil}
		for _, partition := range []string{bucket.PartitionShared, bucket.PartitionKey, bucket.PartitionAppKey} {
			f := *d.Facts()
			f.Partition = partition
			believed = append(believed, &f)
		}
		other := *d.Facts()
		other.Algorithm = bucket.FixedWindow
		believed = append(believed, &other)
		for _, f := range believed {
			target, err := e.Target(d.Name, "checkout", f)
			check(t, err)
			reply, err := e.Acquire(t.Context(), bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1, Count: 1, Key: "k"}}})
			check(t, err)
			expect(t, "verdict", reply.Verdict, bucket.VerdictStale)
			expect(t, "the truth", reply.Facts.Partition, bucket.PartitionApp)
			expect(t, "results", len(reply.Results), 0)
			expectSame(t, before, e.snapshot(t, d.Name))
		}
	})
}

// TestWhatIsNotConfiguredIsToldApart: never installed, removed, and an app that is not listed.
func TestWhatIsNotConfiguredIsToldApart(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		d.Apps = []string{"checkout"}
		expect(t, "before", e.verdictFor(t, d, "checkout"), bucket.VerdictAbsent)
		e.install(t, d)
		expect(t, "listed", e.verdictFor(t, d, "checkout"), bucket.VerdictDecided)
		expect(t, "not listed", e.verdictFor(t, d, "search"), bucket.VerdictNotListed)
		_, err := e.Remove(t.Context(), d.Name, 2, deployment)
		check(t, err)
		reply := e.ask(t, d, bucket.Entry{Permits: 1, Count: 1})
		expect(t, "removed", reply.Verdict, bucket.VerdictRemoved)
		expect(t, "revision of the removal", reply.Revision, 2)
	})
}

// TestADeniedCallChangesNoLaterDecision: not a byte of state, nor its TTL.
func TestADeniedCallChangesNoLaterDecision(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, partition := range partitions {
			d := definition(10, 1, time.Hour)
			d.Name, d.Partition = "b-"+partition, partition
			e.install(t, d)
			e.one(t, d, 8)
			before := e.snapshot(t, d.Name)
			for range 20 {
				expect(t, "code", e.one(t, d, 3).Code, bucket.CodeLimited)
				expect(t, "code", e.one(t, d, 11).Code, bucket.CodeTooMany)
				expect(t, "peeked", e.peek(t, d, 2).Code, bucket.CodeGranted)
			}
			expectSame(t, before, e.snapshot(t, d.Name))
			expect(t, "granted", e.one(t, d, 2).Granted, 1)
		}
	})
}

// TestABatchEqualsCallsOneByOne: the same permits in the same order, in one call or many.
func TestABatchEqualsCallsOneByOne(t *testing.T) {
	e := miniEnv(t)
	r := random(t, 2)
	for range 60 {
		e.mini.FlushAll()
		d := definition(1+r.Int64N(50), spread(r, 1, 1000), time.Duration(spread(r, 1, 100_000))*time.Millisecond)
		d.Partition = bucket.PartitionKey
		batch, single := d, d
		batch.Name, single.Name = "batch", "single"
		e.install(t, batch)
		e.install(t, single)
		for range 5 {
			entries := make([]bucket.Entry, 1+r.IntN(4))
			for i := range entries {
				entries[i] = bucket.Entry{Permits: 1 + r.Int64N(d.MaxPermits+1), Count: 1 + r.Int64N(5), Key: pick(r, "a", "b")}
			}
			results := e.acquire(t, batch, entries...).Results
			for i, entry := range entries {
				one := bucket.Entry{Permits: entry.Permits, Count: 1, Key: entry.Key}
				granted := int64(0)
				var last bucket.Result
				for range entry.Count {
					last = e.acquire(t, single, one).Results[0]
					granted += last.Granted
				}
				last.Granted = granted
				if diff := cmp.Diff(last, results[i]); diff != "" {
					t.Fatalf("%+v: %s", entry, diff)
				}
			}
			e.pass(t, time.Duration(r.Int64N(int64(d.Period))))
		}
	}
}

// TestModes: shadow decides and takes as enforce does; off grants everything and leaves no state.
func TestModes(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, mode := range []string{bucket.ModeEnforce, bucket.ModeShadow} {
			d := definition(10, 1, time.Hour)
			d.Name, d.Mode = "b-"+mode, mode
			e.install(t, d)
			reply := e.acquire(t, d, bucket.Entry{Permits: 3, Count: 5})
			expect(t, "mode", reply.Facts.Mode, mode)
			expect(t, "code", reply.Results[0].Code, bucket.CodeLimited)
			expect(t, "granted", reply.Results[0].Granted, 3)
		}
		d := definition(10, 1, time.Hour)
		d.Mode = bucket.ModeOff
		e.install(t, d)
		reply := e.acquire(t, d, bucket.Entry{Permits: 3, Count: 50}, bucket.Entry{Permits: 11, Count: 1})
		expect(t, "first", reply.Results[0], bucket.Result{Code: bucket.CodeGranted, Granted: 50, Remaining: 10})
		expect(t, "second", reply.Results[1], bucket.Result{Code: bucket.CodeGranted, Granted: 1, Remaining: 10})
		expect(t, "states", e.rdb.Exists(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val(), 0)
	})
}

// TestPartitionsCountTogetherWhatTheySay: who shares with whom.
func TestPartitionsCountTogetherWhatTheySay(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for partition, want := range map[string][4]int64{ // left for: the same app and key, another key, another app, both other
			bucket.PartitionShared: {6, 6, 6, 6},
			bucket.PartitionApp:    {6, 6, 10, 10},
			bucket.PartitionKey:    {6, 10, 6, 10},
			bucket.PartitionAppKey: {6, 10, 10, 10},
		} {
			d := definition(10, 1, time.Hour)
			d.Name, d.Partition = "b-"+partition, partition
			e.install(t, d)
			e.one(t, d, 4)
			for i, who := range [][2]string{{"checkout", "k"}, {"checkout", "k2"}, {"search", "k"}, {"search", "k2"}} {
				reply, err := e.Acquire(t.Context(), e.callOf(t, d, who[0], bucket.Entry{Permits: 1, Key: who[1]}))
				check(t, err)
				expect(t, partition+" left for "+strings.Join(who[:], " "), reply.Results[0].Remaining, want[i])
			}
		}
	})
}

// TestAnAcquireReloadsItsScript: at the first call, and after Redis forgot its scripts.
func TestAnAcquireReloadsItsScript(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, time.Hour)
		for i := range int64(3) {
			check(t, e.rdb.ScriptFlush(t.Context()).Err())
			d.Revision = 1 + i
			e.install(t, d)
			check(t, e.rdb.ScriptFlush(t.Context()).Err())
			expect(t, "left", e.one(t, d, 1).Remaining, 9-i)
		}
	})
}

// TestALostAnswerIsNotAskedForAgain: the call may have taken permits, so go-redis must not repeat it even where it is
// set to retry.
func TestALostAnswerIsNotAskedForAgain(t *testing.T) {
	e := realEnv(t)
	d := definition(10, 1, time.Hour)
	e.install(t, d)
	e.one(t, d, 1) // the script is known
	var cut atomic.Bool
	rdb := redis.NewClient(&redis.Options{
		Addr: e.rdb.Options().Addr, MaxRetries: 5, DisableIdentity: true,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return &deafConn{Conn: conn, deaf: &cut}, err
		},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	prefix := strings.TrimSuffix(e.IndexKey(), ":index")
	lossy := bucket.New(rdb, prefix)
	c := e.call(t, d, bucket.Entry{Permits: 1, Count: 1})
	if _, err := lossy.Acquire(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	cut.Store(true)
	if reply, err := lossy.Acquire(t.Context(), c); err == nil {
		t.Fatalf("answered without an answer: %+v", reply)
	}
	expect(t, "left after one call whose answer was lost", e.peek(t, d, 1).Remaining, 7)
}

// deafConn loses the next answer of the server if told so, and ends.
type deafConn struct {
	net.Conn
	deaf *atomic.Bool
}

func (c *deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.deaf.CompareAndSwap(true, false) {
		_ = c.Close()
		return 0, io.EOF // which go-redis takes for a reason to try again
	}
	return n, err
}

// TestACallThatCanNotBeAskedIsRefused: with the field, before Redis is asked.
func TestACallThatCanNotBeAskedIsRefused(t *testing.T) {
	e := bucket.New(nil, "")
	d := definition(10, 1, time.Second)
	d.Partition, d.Shards = bucket.PartitionKey, 4
	target, err := e.Target(d.Name, "checkout", d.Facts())
	check(t, err)
	good := bucket.Call{Target: target, Shard: target.Shard("k"), Entries: []bucket.Entry{{Permits: 1, Count: 1, Key: "k"}}}
	for field, change := range map[string]func(c *bucket.Call){
		"entries": func(c *bucket.Call) { c.Entries = nil },
		"permits": func(c *bucket.Call) { c.Entries[0].Permits = 0 },
		"count":   func(c *bucket.Call) { c.Entries[0].Count = -1 },
		"shard":   func(c *bucket.Call) { c.Shard = 4 },
		"key":     func(c *bucket.Call) { c.Entries[0].Key = strings.Repeat("x", bucket.KeyBound+1) },
	} {
		c := good
		c.Entries = []bucket.Entry{good.Entries[0]}
		change(&c)
		_, err := e.Acquire(t.Context(), c)
		expectInvalid(t, err, field)
	}
	waits := good
	waits.Entries = []bucket.Entry{{Permits: 1, Count: 2, Key: "k", Wait: time.Second}}
	_, err = e.Acquire(t.Context(), waits)
	expectInvalid(t, err, "count")
	elsewhere := good
	elsewhere.Shard = (good.Shard + 1) % 4
	_, err = e.Acquire(t.Context(), elsewhere)
	expectInvalid(t, err, "key")
	_, err = bucket.New(nil, "a{b").Acquire(t.Context(), good)
	expectInvalid(t, err, "prefix")
}

// TestATargetThatNamesNothingIsRefused: with the field.
func TestATargetThatNamesNothingIsRefused(t *testing.T) {
	e := bucket.New(nil, "")
	_, err := e.Target("a{b}", "checkout", nil)
	expectInvalid(t, err, "bucket")
	_, err = e.Target("b", "a:k=b", nil)
	expectInvalid(t, err, "app")
	_, err = e.Target("b", "checkout", &bucket.Facts{Shards: bucket.ShardsBound + 1})
	expectInvalid(t, err, "shards")
	_, err = bucket.New(nil, "a{b").Target("b", "checkout", nil)
	expectInvalid(t, err, "prefix")
}

// TestStateIsSmall: one partition of a usual bucket costs Redis little.
func TestStateIsSmall(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(100, 50, time.Second)
		e.install(t, d)
		e.one(t, d, 1)
		if value := e.rdb.Get(t.Context(), e.StateKey(d.Name, d.Partition, "", "")).Val(); len(value) > 30 {
			t.Fatalf("state %q takes %d bytes", value, len(value))
		}
	})
}
