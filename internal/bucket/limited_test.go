package bucket_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/bucket"
)

func TestLimitedKeysAreSummedOverInstancesAndMinutes(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		ctx := t.Context()
		report := func(id string, minute int64, keys ...bucket.LimitedKey) {
			check(t, e.ReportLimited(ctx, id, []bucket.LimitedKeys{{Bucket: "login", Minute: minute, Keys: keys}}))
		}
		report("one", 100, bucket.LimitedKey{Key: "a", Limited: 3})
		report("one", 100, bucket.LimitedKey{Key: "a", Limited: 5}, bucket.LimitedKey{Key: "b", Limited: 1}) // in place of the last
		report("two", 100, bucket.LimitedKey{Key: "b", Limited: 9, Excess: 2})
		report("two", 102, bucket.LimitedKey{Key: "a:1:\x00{}", Limited: 4})
		read := func(from, to int64) []bucket.LimitedKey {
			keys, err := e.ReadLimited(ctx, "login", from, to)
			check(t, err)
			return keys
		}
		// An application may write anything there; the others' keys are still told.
		check(t, e.rdb.HSet(ctx, e.DefinitionKey("login")+":t:100", "three", "7:0:1:z9:nonsense").Err())
		want := []bucket.LimitedKey{{Key: "b", Limited: 10, Excess: 2}, {Key: "a", Limited: 5}, {Key: "a:1:\x00{}", Limited: 4}}
		if diff := cmp.Diff(want, read(100, 102)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want[:2], read(43, 100)); diff != "" {
			t.Error(diff)
		}
		expect(t, "keys of another minute", len(read(101, 101)), 0)
		expect(t, "keys of no minute", len(read(101, 100)), 0)
	})
}

func TestAnInstanceTellsOfNoMoreThanTwentyKeys(t *testing.T) {
	e := realEnv(t)
	keys := make([]bucket.LimitedKey, bucket.LimitedKeysBound+1)
	for i := range keys {
		keys[i] = bucket.LimitedKey{Key: strings.Repeat("x", i+1), Limited: 100 - int64(i)}
	}
	check(t, e.ReportLimited(t.Context(), "one", []bucket.LimitedKeys{{Bucket: "login", Minute: 1, Keys: keys}}))
	got, err := e.ReadLimited(t.Context(), "login", 1, 1)
	check(t, err)
	if diff := cmp.Diff(keys[:bucket.LimitedKeysBound], got); diff != "" {
		t.Error(diff)
	}
}

func TestBadLimitedKeysAreRefused(t *testing.T) {
	e := realEnv(t)
	ctx := t.Context()
	for what, r := range map[string]bucket.LimitedKeys{
		"no name": {Keys: []bucket.LimitedKey{{Key: "k"}}}, "no key": {Bucket: "b", Keys: []bucket.LimitedKey{{}}},
		"a long key": {Bucket: "b", Keys: []bucket.LimitedKey{{Key: strings.Repeat("k", bucket.KeyBound+1)}}},
		"a negative": {Bucket: "b", Keys: []bucket.LimitedKey{{Key: "k", Limited: -1}}},
	} {
		if e.ReportLimited(ctx, "one", []bucket.LimitedKeys{r}) == nil {
			t.Errorf("%s: taken", what)
		}
	}
	if _, err := e.ReadLimited(ctx, "b", 0, bucket.LimitedMinutesBound); err == nil {
		t.Error("more minutes than the bound were read")
	}
	if _, err := e.ReadLimited(ctx, "", 0, 1); err == nil {
		t.Error("a bucket without a name was read")
	}
}
