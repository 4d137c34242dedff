package bucket_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// The scripts of format 1 run beside the present ones on one Redis, as while clients and servers of both are about.
// Neither may misread what the other wrote, nor touch it.

// first runs a script of format 1.
func (e *env) first(t testing.TB, script string, keys []string, args ...any) (any, error) {
	t.Helper()
	var text []string
	for _, name := range []string{"arith", "state", script} {
		chunk, err := os.ReadFile(filepath.Join("testdata", "format1", name+".lua"))
		check(t, err)
		text = append(text, string(chunk))
	}
	return e.rdb.Eval(t.Context(), strings.Join(text, "\n"), keys, args...).Result()
}

// firstRefuses: a script of format 1 answers that it does not know the format. Where it reads a key of a type that format
// 1 did not have, Redis itself stops it.
func (e *env) firstRefuses(t testing.TB, script string, keys []string, args ...any) {
	t.Helper()
	got, err := e.first(t, script, keys, args...)
	if err != nil && strings.HasPrefix(err.Error(), "WRONGTYPE") {
		return
	}
	check(t, err)
	if list, ok := got.([]any); ok && len(list) > 0 {
		got = list[0]
	}
	expect(t, "answer of format 1's "+script, got, any(int64(-4)))
}

// installFirst installs d with the script of format 1, and takes a permit of its shared state.
func (e *env) installFirst(t testing.TB, d bucket.Definition) {
	t.Helper()
	keys := []string{e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "", "")}
	_, err := e.first(t, "install", keys, 1, deployment, 0, d.Revision, d.Algorithm, d.MaxPermits, d.Rate, d.Period.Microseconds(),
		d.Rate, d.Period.Microseconds(), d.Partition, 1, d.Mode, 0, d.OnFailure, d.AfterLoss, "*")
	check(t, err)
	got, err := e.first(t, "acquire", keys, 1, "checkout", d.Partition, 1, 1)
	check(t, err)
	expect(t, "granted by format 1", got.([]any)[12], any(int64(1)))
	check(t, e.rdb.SAdd(t.Context(), e.IndexKey(), d.Name).Err())
}

// TestDefinitionsOfFormat1AreLeftAlone by every script of ours.
func TestDefinitionsOfFormat1AreLeftAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d, other := definition(10, 1, time.Hour), named("other", 10)
		e.installFirst(t, d)
		e.install(t, other)
		before := e.snapshot(t, d.Name)
		unlearned, err := e.Target(d.Name, "checkout", nil)
		check(t, err)
		for _, target := range []*bucket.Target{e.target(t, d, "checkout"), unlearned} {
			c := bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1, Count: 1}}}
			reply, err := e.Acquire(t.Context(), c)
			check(t, err)
			expect(t, "acquire", reply.Verdict, bucket.VerdictUnknownFormat)
			r := e.all(t, 1, bucket.Part{Target: target, Permits: 1}, e.part(t, other, 1))
			expect(t, "granted beside it", r.Granted, 0)
			expect(t, "acquire all", r.Parts[0].Verdict, bucket.VerdictUnknownFormat)
		}
		g := bucket.GiveBack{Target: e.target(t, d, "checkout"), Permits: 1, At: time.Now(), RuleID: 1, ResetAfter: time.Hour}
		check(t, e.Ask(t.Context(), &g))
		if g.Err == nil || g.Given {
			t.Fatalf("gave back to format 1: %+v", g)
		}
		d.Revision = 9
		for what, change := range map[string]func() (bucket.InstallResult, error){
			"install": func() (bucket.InstallResult, error) { return e.Install(t.Context(), d, ours) },
			"remove":  func() (bucket.InstallResult, error) { return e.Remove(t.Context(), d.Name, 9, deployment) },
			"restart": func() (bucket.InstallResult, error) { return e.Restart(t.Context(), d.Name, deployment, always) },
			"reset":   func() (bucket.InstallResult, error) { return e.Reset(t.Context(), d.Name, deployment) },
		} {
			result, err := change()
			check(t, err)
			expect(t, what, result.Status, bucket.StatusUnknownFormat)
		}
		if err := e.Adopt(t.Context(), "other"); err == nil {
			t.Fatal("adopted a definition of format 1")
		}
		expect(t, "read", e.read(t, d.Name).UnknownFormat, true)
		expectSame(t, before, e.snapshot(t, d.Name))
	})
}

// TestFormat1LeavesOurDefinitionsAlone: of every algorithm, and our tombstones.
func TestFormat1LeavesOurDefinitionsAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog, "gone"} {
			d := definition(10, 1, 24*time.Hour)
			d.Name, d.Algorithm = "b-"+algorithm, algorithm
			if algorithm == "gone" {
				d.Algorithm = bucket.TokenBucket
			}
			e.install(t, d)
			e.one(t, d, 1)
			if algorithm == "gone" {
				_, err := e.Remove(t.Context(), d.Name, 2, deployment)
				check(t, err)
			}
			before := e.definitionOf(t, d)
			keys := []string{e.DefinitionKey(d.Name), e.StateKey(d.Name, d.Partition, "", "")}
			e.firstRefuses(t, "acquire", keys, 1, "checkout", d.Partition, 1, 1)
			e.firstRefuses(t, "install", keys, 1, deployment, 0, 9, "token_bucket", 5, 1, 1000, 1, 1000, d.Partition, 1, "enforce", 0, "open", "full", "*")
			e.firstRefuses(t, "remove", keys, 1, deployment, 9)
			e.firstRefuses(t, "restart", keys[:1], 1, deployment, "inf")
			e.firstRefuses(t, "adopt", keys[:1], 1, "other")
			expectSame(t, before, e.definitionOf(t, d))
		}
	})
}

// definitionOf is a definition with the dump of its state, whatever type that has.
func (e *env) definitionOf(t testing.TB, d bucket.Definition) map[string]string {
	t.Helper()
	all, err := e.rdb.HGetAll(t.Context(), e.DefinitionKey(d.Name)).Result()
	check(t, err)
	state := e.StateKey(d.Name, d.Partition, "", "")
	switch e.rdb.Type(t.Context(), state).Val() {
	case "list":
		all["state"] = strings.Join(e.rdb.LRange(t.Context(), state, 0, -1).Val(), " ")
	case "string":
		all["state"] = e.rdb.Get(t.Context(), state).Val()
	}
	return all
}

// TestStateOfTheOtherFormatIsLeftAlone: where the definition is of one format and the state of the other.
func TestStateOfTheOtherFormatIsLeftAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		first := definition(10, 1, 24*time.Hour)
		first.Name = "first"
		e.installFirst(t, first)
		keys := []string{e.DefinitionKey("first"), e.StateKey("first", first.Partition, "", "")}
		value := e.rdb.Get(t.Context(), keys[1]).Val()
		for _, algorithm := range []string{bucket.TokenBucket, bucket.FixedWindow, bucket.SlidingWindow} {
			d := definition(10, 1, 24*time.Hour)
			d.Name, d.Algorithm = "b-"+algorithm, algorithm
			e.install(t, d)
			g, _ := e.grab(t, d, 1, 0)
			state := e.StateKey(d.Name, d.Partition, "", "")
			mine := e.rdb.Get(t.Context(), state).Val()
			check(t, e.rdb.Set(t.Context(), state, value, time.Hour).Err())
			before := e.snapshot(t, d.Name)
			expect(t, algorithm+": acquire", e.ask(t, d, bucket.Entry{Permits: 1, Count: 1}).Verdict, bucket.VerdictUnknownFormat)
			expect(t, algorithm+": acquire all", e.all(t, 1, e.part(t, d, 1)).Parts[0].Verdict, bucket.VerdictUnknownFormat)
			check(t, e.Ask(t.Context(), &g))
			if g.Err == nil {
				t.Fatalf("%s gave back to state of format 1", algorithm)
			}
			edited := d
			edited.Revision, edited.MaxPermits = 2, 20
			result, err := e.Install(t.Context(), edited, ours)
			check(t, err)
			expect(t, algorithm+": install", result.Status, bucket.StatusUnknownFormat)
			expectSame(t, before, e.snapshot(t, d.Name))

			check(t, e.rdb.Set(t.Context(), keys[1], mine, time.Hour).Err())
			e.firstRefuses(t, "acquire", keys, 1, "checkout", first.Partition, 1, 1)
			expect(t, "state of ours under format 1", e.rdb.Get(t.Context(), keys[1]).Val(), mine)
		}
	})
}
