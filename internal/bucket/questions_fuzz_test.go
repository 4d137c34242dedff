package bucket_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// tap is a Redis that answers nothing and remembers what it was asked.
type tap struct{ asked [][]any }

var errTap = errors.New("no answer")

func (t *tap) DialHook(redis.DialHook) redis.DialHook {
	return func(context.Context, string, string) (net.Conn, error) { return nil, errTap }
}

func (t *tap) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		t.asked = append(t.asked, cmd.Args())
		cmd.SetErr(errTap)
		return errTap
	}
}

func (t *tap) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// keys are those of the script call that came last, none when none came.
func (t *tap) keys(tb testing.TB) (keys []string) {
	tb.Helper()
	if len(t.asked) == 0 {
		return nil
	}
	args := t.asked[len(t.asked)-1]
	t.asked = nil
	count, err := strconv.Atoi(args[2].(string))
	check(tb, err)
	for _, arg := range args[3 : 3+count] {
		switch key := arg.(type) {
		case string:
			keys = append(keys, key)
		case *string:
			keys = append(keys, *key)
		default:
			tb.Fatalf("%T as a key", arg)
		}
	}
	return keys
}

// FuzzQuestionsReachOnlyTheirKeys: whatever callers hand as keys and numbers, a question is refused, or asks for exactly
// the keys of its bucket, app, shard and key; and what a script then touches are those.
func FuzzQuestionsReachOnlyTheirKeys(f *testing.F) {
	f.Add("k", "k2", uint8(2), uint8(1), int64(1), int64(1), int64(0))
	f.Add("{a}", "*", uint8(3), uint8(64), int64(3), int64(5), int64(-1))
	f.Add("", "\x00\n\r", uint8(0), uint8(1), int64(0), int64(-1), int64(1))
	f.Add("k:a=x", string(make([]byte, 513)), uint8(2), uint8(8), int64(1<<62), int64(1<<62), int64(1<<62))
	t := &tap{}
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	rdb.AddHook(t)
	f.Cleanup(func() { _ = rdb.Close() })
	tapped := bucket.New(rdb, "")
	mini := miniEnv(f)
	f.Fuzz(func(tt *testing.T, one, two string, partition, shards uint8, permits, count, wait int64) {
		d := definition(10, 1, time.Hour)
		d.Partition, d.Shards = partitions[partition%4], 1
		if bucket.Keyed(d.Partition) {
			d.Shards = 1 + int(shards)%64
		}
		target, err := tapped.Target(d.Name, "checkout", d.Facts())
		check(tt, err)
		q := questions{target: target, d: d, one: one, two: two, permits: permits, count: count, wait: wait}
		for _, each := range q.all(tapped) {
			_ = tapped.Ask(tt.Context(), each.question)
			var invalid *bucket.InvalidError
			keys := t.keys(tt)
			if errors.As(each.err(), &invalid) {
				expect(tt, "keys of a refused question", len(keys), 0)
				continue
			}
			if !slices.Equal(keys, each.keys) {
				tt.Fatalf("asked for %q, want %q", keys, each.keys)
			}
			each.touches(tt, mini)
		}
	})
}

// questions are all that one caller asks.
type questions struct {
	target               *bucket.Target
	d                    bucket.Definition
	one, two             string
	permits, count, wait int64
}

type asking struct {
	question bucket.Question
	keys     []string // that it is about
	err      func() error
}

func (q *questions) all(e *bucket.Engine) []asking {
	copies := e.DefinitionKeys(q.d.Name, q.d.Shards)
	definition := func(key string) string { return copies[q.target.Shard(key)] }
	state := func(key string) string {
		return e.ShardStateKey(q.d.Name, q.d.Partition, q.d.Shards, "checkout", key)
	}
	c := &bucket.Call{Target: q.target, Shard: q.target.Shard(q.one), Entries: []bucket.Entry{
		{Permits: q.permits, Count: q.count, Key: q.one, Wait: time.Duration(q.wait)}, {Permits: 1, Count: 1, Key: q.two},
	}}
	a := &bucket.AllCall{Entries: []bucket.AllEntry{
		{Count: q.count, Parts: []bucket.Part{{Target: q.target, Permits: q.permits, Key: q.one}}},
		{Count: 1, Parts: []bucket.Part{{Target: q.target, Permits: 1, Key: q.two}}},
	}}
	g := &bucket.GiveBack{
		Target: q.target, Key: q.one, Permits: q.permits, At: time.UnixMicro(q.count), RuleID: q.wait,
		ResetAfter: time.Duration(q.wait), Mark: time.Duration(q.count),
	}
	definitions := []string{definition(q.one)}
	if definition(q.two) != definitions[0] {
		definitions = append(definitions, definition(q.two))
	}
	return []asking{
		{c, []string{definition(q.one), state(q.one), state(q.two)}, func() error { return c.Err }},
		{a, append(definitions, state(q.one), state(q.two)), func() error { return a.Err }},
		{g, []string{definition(q.one), state(q.one)}, func() error { return g.Err }},
	}
}

// touches asks a Redis that has the bucket.
func (a *asking) touches(t *testing.T, e *env) {
	t.Helper()
	e.mini.FlushAll()
	var d bucket.Definition
	switch q := a.question.(type) {
	case *bucket.Call:
		d = definitionFor(q.Target)
	case *bucket.AllCall:
		d = definitionFor(q.Entries[0].Parts[0].Target)
	case *bucket.GiveBack:
		d = definitionFor(q.Target)
	}
	e.install(t, d)
	installed := e.mini.Keys()
	check(t, e.Ask(t.Context(), a.question))
	check(t, a.err())
	for _, key := range e.mini.Keys() {
		if !slices.Contains(installed, key) && !slices.Contains(a.keys, key) {
			t.Fatalf("touched %q, which is none of %q", key, a.keys)
		}
	}
}

// definitionFor is what the facts of a target are of.
func definitionFor(t *bucket.Target) bucket.Definition {
	d := definition(10, 1, time.Hour)
	d.Partition, d.Shards = t.Facts.Partition, t.Facts.Shards
	return d
}
