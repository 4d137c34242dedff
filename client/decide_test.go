package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestAcquireGrantsUntilTheBucketIsEmptyAndThenSaysWhenToComeBack(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("partner-api", 3, 1, time.Hour))
		for left := int64(2); left >= 0; left-- {
			d := w.acquire("partner-api")
			wants(t, d, client.Granted, true)
			if d.Remaining != left || d.Limit != 3 || d.Revision != 1 || d.Bucket != "partner-api" || d.Source != client.SourceRedis || d.Shadow || d.Err != nil || d.RetryAfter != 0 {
				t.Fatalf("with %d left: %+v", left, d)
			}
		}
		d := w.acquire("partner-api")
		wants(t, d, client.Limited, false)
		if d.RetryAfter <= 59*time.Minute || d.RetryAfter > time.Hour || d.ResetAfter <= 2*time.Hour+59*time.Minute || d.ResetAfter > 3*time.Hour || d.Remaining != 0 {
			t.Fatalf("limited: %+v", d)
		}
	})
}

func TestPermitsAreTakenAllOrNone(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 5, 1, time.Hour))
		wants(t, w.acquire("b", client.Permits(3)), client.Granted, true)
		wants(t, w.acquire("b", client.Permits(3)), client.Limited, false)
		if d := w.acquire("b", client.Permits(2)); d.Outcome != client.Granted || d.Remaining != 0 {
			t.Fatalf("the refused call took something: %+v", d)
		}
	})
}

func TestMoreThanTheBucketHoldsIsTooManyAndTakesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 5, 1, time.Hour))
		for _, n := range []int64{6, 1_000_000_000, 1<<63 - 1} {
			d := w.acquire("b", client.Permits(n))
			wants(t, d, client.TooMany, false)
			if d.RetryAfter != 0 || d.Limit != 5 {
				t.Fatalf("%d permits: %+v", n, d)
			}
		}
		wants(t, w.acquire("b", client.Permits(5)), client.Granted, true)
	})
}

func TestPeekTakesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 2, 1, time.Hour))
		peek := func(n int64) client.Decision {
			d, err := w.c.Peek(t.Context(), "b", client.Permits(n))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		for range 5 {
			if d := peek(1); d.Outcome != client.Granted || d.Remaining != 2 {
				t.Fatalf("peek: %+v", d)
			}
		}
		w.acquire("b")
		if d := peek(2); d.Outcome != client.Limited || d.Remaining != 1 || d.RetryAfter <= 0 {
			t.Fatalf("peek for two with one left: %+v", d)
		}
		wants(t, peek(3), client.TooMany, false)
	})
}

func TestNotConfiguredIsRefusedUnlessAnOptionSaysOtherwise(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		lenient := w.client("checkout", client.Prefix(prefix), client.WithDeadline(20*time.Second), client.WithNotConfigured(client.Open))
		check := func(why, name string) {
			t.Helper()
			d := w.acquire(name)
			if d.Outcome != client.NotConfigured || d.Allowed || d.Source != client.SourceRedis || d.Err != nil {
				t.Fatalf("%s: %+v", why, d)
			}
			if d, err := lenient.Acquire(t.Context(), name); err != nil || d.Outcome != client.NotConfigured || !d.Allowed {
				t.Fatalf("%s, allowed by option: %+v, %v", why, d, err)
			}
		}
		check("never defined", "no-such-bucket")

		other := definition("others", 5, 1, time.Hour)
		other.Apps = []string{"billing"}
		w.install(other)
		check("app not listed", "others")

		w.install(definition("gone", 5, 1, time.Hour))
		wants(t, w.acquire("gone"), client.Granted, true)
		if _, err := w.engine.Remove(t.Context(), "gone", 2, deployment); err != nil {
			t.Fatal(err)
		}
		check("deleted", "gone")

		w.install(definition("taken-away", 5, 1, time.Hour))
		wants(t, w.acquire("taken-away"), client.Granted, true)
		without := definition("taken-away", 5, 1, time.Hour)
		without.Revision, without.Apps = 2, nil
		w.install(without)
		check("app taken off the list", "taken-away")
	})
}

func TestAKnownBucketThatRedisLostIsUnavailableAndFollowsItsPolicy(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		for _, policy := range []string{bucket.FailOpen, bucket.FailClosed} {
			d := definition("lost-"+policy, 5, 1, time.Hour)
			d.OnFailure = policy
			w.install(d)
			wants(t, w.acquire(d.Name), client.Granted, true)
			if err := w.rdb.Del(t.Context(), prefix+":{"+d.Name+"}").Err(); err != nil {
				t.Fatal(err)
			}
			got := w.acquire(d.Name)
			wants(t, got, client.Unavailable, policy == bucket.FailOpen)
			if !errors.Is(got.Err, client.ErrLost) || got.Source != client.SourcePolicy || got.Revision != 1 {
				t.Fatalf("lost: %+v", got)
			}
		}
	})
}

func TestADefinitionOfAnUnknownFormatIsUnavailable(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 5, 1, time.Hour))
		wants(t, w.acquire("b"), client.Granted, true)
		if err := w.rdb.HSet(t.Context(), prefix+":{b}", "fmt", "999", "head", "999 x").Err(); err != nil {
			t.Fatal(err)
		}
		if err := w.rdb.HDel(t.Context(), prefix+":{b}", "fast").Err(); err != nil {
			t.Fatal(err)
		}
		d := w.acquire("b")
		wants(t, d, client.Unavailable, true)
		if !errors.Is(d.Err, client.ErrUnknownFormat) {
			t.Fatalf("%+v", d)
		}
	})
}

func TestShadowDecidesButAlwaysAllows(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		d := definition("b", 1, 1, time.Hour)
		d.Mode = bucket.ModeShadow
		w.install(d)
		for i, want := range []client.Outcome{client.Granted, client.Limited, client.Limited} {
			got := w.acquire("b")
			wants(t, got, want, true)
			if !got.Shadow {
				t.Fatalf("call %d does not say that it is shadow: %+v", i, got)
			}
		}
		wants(t, w.acquire("b", client.Permits(2)), client.TooMany, true)
	})
}

func TestOffGrantsWithoutCounting(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		d := definition("b", 1, 1, time.Hour)
		d.Mode = bucket.ModeOff
		w.install(d)
		for range 5 {
			wants(t, w.acquire("b"), client.Granted, true)
		}
		d.Revision, d.Mode = 2, bucket.ModeEnforce
		w.install(d)
		wants(t, w.acquire("b"), client.Granted, true)
		wants(t, w.acquire("b"), client.Limited, false)
	})
}

func TestPartitionsCountTogetherWhatBelongsTogether(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		apps := map[string]*client.Client{"checkout": w.c, "billing": w.client("billing", client.Prefix(prefix), client.WithDeadline(20*time.Second))}
		// Each call wants the only permit of its partition; the value is whether it gets it.
		calls := []struct{ app, key string }{{"checkout", "k1"}, {"checkout", "k2"}, {"billing", "k1"}, {"billing", "k2"}}
		for partition, granted := range map[string][]bool{
			bucket.PartitionShared: {true, false, false, false},
			bucket.PartitionApp:    {true, false, true, false},
			bucket.PartitionKey:    {true, true, false, false},
			bucket.PartitionAppKey: {true, true, true, true},
		} {
			d := definition("by-"+partition, 1, 1, time.Hour)
			d.Partition = partition
			w.install(d)
			for i, call := range calls {
				got, err := apps[call.app].Acquire(t.Context(), d.Name, client.Key(call.key))
				if err != nil || got.Allowed != granted[i] {
					t.Fatalf("%s, call %d %+v: %+v, %v", partition, i, call, got, err)
				}
			}
		}
	})
}

// A running client learns from the reply that the partition changed; no call fails over it.
func TestAChangedPartitionIsLearnedByARunningClient(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix, client.WithLocalDenial(false))
		d := definition("b", 1, 1, time.Hour)
		w.install(d)
		wants(t, w.acquire("b", client.Key("k1")), client.Granted, true)
		wants(t, w.acquire("b", client.Key("k2")), client.Limited, false)

		d.Revision, d.Partition = 2, bucket.PartitionKey
		w.install(d)
		for _, key := range []string{"k1", "k2"} {
			if got := w.acquire("b", client.Key(key)); got.Outcome != client.Granted || got.Revision != 2 {
				t.Fatalf("key %s after the change: %+v", key, got)
			}
			wants(t, w.acquire("b", client.Key(key)), client.Limited, false)
		}
		if _, err := w.c.Acquire(t.Context(), "b"); !errors.Is(err, client.ErrNoKey) {
			t.Fatalf("without the key that is needed now: %v", err)
		}

		d.Revision, d.Partition = 3, bucket.PartitionShared
		w.install(d)
		if got := w.acquire("b"); got.Outcome != client.Granted || got.Revision != 3 {
			t.Fatalf("without the key that is not needed any more: %+v", got)
		}
	})
}

func TestKeysOfAnyBytesAreTheirOwn(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	d := definition("b", 1, 1, time.Hour)
	d.Partition = bucket.PartitionKey
	w.install(d)
	long := make([]byte, client.MaxKey)
	for _, key := range []string{"{", "}", "{x}", "*", "a\x00b", "a\nb", "k:k", "\xff\xfe", string(long)} {
		wants(t, w.acquire("b", client.Key(key)), client.Granted, true)
		wants(t, w.acquire("b", client.Key(key)), client.Limited, false)
	}
}

func TestAContextThatIsDoneIsAnErrorAndTakesNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	w.install(definition("b", 1, 1, time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := w.c.Acquire(ctx, "b")
	if !errors.Is(err, context.Canceled) || d.Allowed {
		t.Fatalf("%+v, %v", d, err)
	}
	if err := w.c.Preload(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Preload: %v", err)
	}
	wants(t, w.acquire("b"), client.Granted, true)
}

func TestConcurrentCallersNeverGetMoreThanTheBucketHolds(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("b", 50, 1, time.Hour))
		const callers, each = 20, 10
		outcomes := make(chan client.Decision, callers*each)
		for range callers {
			go func() {
				for range each {
					d, err := w.c.Acquire(t.Context(), "b")
					if err != nil {
						d.Err = err
					}
					outcomes <- d
				}
			}()
		}
		count := map[string]int{}
		for range callers * each {
			d := <-outcomes
			count[fmt.Sprint(d.Outcome, d.Err)]++
		}
		if count["granted<nil>"] != 50 || count["limited<nil>"] != callers*each-50 {
			t.Fatalf("%v", count)
		}
	})
}
