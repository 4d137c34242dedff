package suite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/bench/peers"
	"github.com/headgate/headgate/bench/redisserver"
	"github.com/headgate/headgate/bench/suite"
)

var server *redisserver.Server

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if server, err = redisserver.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer server.Stop()
	return m.Run()
}

func brief(only ...string) suite.Options {
	return suite.Options{Addr: server.Addr, Round: 20 * time.Millisecond, Rounds: 3, Pool: 10, Only: only}
}

// Each contender decides on every kind of work, takes the rounds in turn, and Headgate's decisions equal the model's.
func TestEveryContenderDoesEveryWorkItEnters(t *testing.T) {
	var steps []suite.Step
	o := brief("hot-10", "refused", "contended", "keys-100", "all")
	o.Progress = func(s suite.Step) { steps = append(steps, s) }
	result, err := suite.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range result.Workloads {
		for _, c := range w.Contenders {
			decided, redisTime := 0.0, 0.0
			for _, rate := range suite.Rates(&c) {
				decided += rate
			}
			for _, us := range c.RedisCPU {
				redisTime += us
			}
			if decided == 0 || len(c.Rounds) != o.Rounds || redisTime == 0 && c.Name != peers.Throttled {
				t.Errorf("%s: %s: rates %v, Redis µs %v", w.ID, c.Name, suite.Rates(&c), c.RedisCPU)
			}
			if c.Exactness != nil && !c.Exactness.Exact() {
				t.Errorf("%s: %+v", w.ID, c.Exactness)
			}
		}
	}
	if v := result.Exactness(); v.Grants == 0 {
		t.Errorf("nothing was held against the model: %+v", v)
	}
	last := steps[len(steps)-1]
	if len(steps) != last.Total || last.Done != last.Total-1 || steps[0].Contender == steps[1].Contender || steps[0].Round != steps[1].Round {
		t.Errorf("%d steps, the first %+v and %+v, the last %+v", len(steps), steps[0], steps[1], last)
	}
}

func TestRefusalsOfRedisAreHeldAgainstTheModelToo(t *testing.T) {
	o := brief("refused")
	o.Round, o.Contenders = 300*time.Millisecond, []string{peers.Headgate}
	result, err := suite.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if v := result.Exactness(); v.Refusals == 0 || !v.Exact() {
		t.Errorf("got %+v", v)
	}
}

func TestAForeignRedisKeepsItsKeysAndNoneOfOurs(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = rdb.Close() })
	theirs := []string{"headgate:{theirs}", "rate:theirs", "hgb", "other"}
	for _, key := range theirs {
		if err := rdb.Set(t.Context(), key, "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { rdb.Del(context.Background(), theirs...) })
	if _, err := suite.Run(t.Context(), brief("hot-10", "keys-100")); err != nil {
		t.Fatal(err)
	}
	keys, err := rdb.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != len(theirs) {
		t.Errorf("%d keys are there, want the %d of before: %.200s", len(keys), len(theirs), strings.Join(keys, " "))
	}
}

func TestAnEndedContextEndsTheSuiteWithWhatWasFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := brief("hot-1", "hot-10")
	o.Contenders = []string{peers.NoOp, peers.RedisRate}
	o.Progress = func(s suite.Step) {
		if s.ID == "hot-10" {
			cancel()
		}
	}
	result, err := suite.Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(result.Workloads) != 1 || result.Workloads[0].ID != "hot-1" {
		t.Errorf("finished: %+v", result.Workloads)
	}
}

func TestMemoryIsWeighed(t *testing.T) {
	result, err := suite.Run(t.Context(), brief("memory"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range result.Memory.Keys {
		if k.RedisRate < 50 || k.Key < 50 || k.AppKey <= k.Key {
			t.Errorf("implausible: %+v", k)
		}
	}
	for i, l := range result.Memory.Logs {
		if i > 0 && (l.BytesAnEntry < 1 || l.Bytes <= result.Memory.Logs[i-1].Bytes) {
			t.Errorf("implausible: %+v", l)
		}
	}
}
