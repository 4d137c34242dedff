package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

const (
	// busy is how long a busy machine that runs the tests may take for what is quick else.
	busy = 250 * time.Millisecond
	// untroubled is the patience of servers whose Redis is well: however slow the machine is, its verdicts count.
	untroubled = time.Minute
)

// limitsOn makes the limiter of one server on a Redis.
func limitsOn(t *testing.T, addr, prefix string) *loginLimits {
	t.Helper()
	rdb, err := connectRedis(&Config{RedisURL: "redis://" + addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rdb.Close() })
	l, err := newLoginLimits(bucket.New(rdb, prefix+selfPrefix), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// patientOn is limitsOn for a Redis that is well.
func patientOn(t *testing.T, addr, prefix string) *loginLimits {
	t.Helper()
	l := limitsOn(t, addr, prefix)
	l.patience = untroubled
	return l
}

// ready waits until Redis decides for the limiter.
func (l *loginLimits) ready(t *testing.T) {
	t.Helper()
	probe := 0
	testenv.Eventually(t, 10*time.Second, "Redis decides", func() bool {
		probe++
		keys := auth.AttemptKeys(fmt.Sprintf("probe%d", probe), fmt.Sprintf("probe%d", probe))
		return l.ask(context.Background(), keys) != nil
	})
}

// fails takes attempts that are not given back, and returns how many went before one was held off.
func (l *loginLimits) fails(t *testing.T, most int, user, address string) (went int, held error) {
	t.Helper()
	for ; went < most; went++ {
		began := time.Now()
		_, err := l.Take(t.Context(), user, address)
		if took := time.Since(began); took > l.patience+busy {
			t.Errorf("an attempt waited %v for its limits", took)
		}
		if err != nil {
			return went, err
		}
	}
	return went, nil
}

func TestServersShareTheLimitOfLogins(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	one, two := patientOn(t, addr, prefix), patientOn(t, addr, prefix)
	one.ready(t)
	two.ready(t)
	if went, err := one.fails(t, 3, "ann", "192.0.2.1"); went != 3 {
		t.Fatalf("%d went, then %v", went, err)
	}
	went, err := two.fails(t, 3, "ann", "192.0.2.1")
	var e *model.Error
	if went != 2 || !errors.As(err, &e) || e.Code != model.CodeTooMany || e.RetryAfter < 2*time.Minute || e.RetryAfter > 3*time.Minute {
		t.Errorf("%d of 2 went on the second server, then %v after %v", went, err, e)
	}
	if went, err := one.fails(t, 5, "ann", "198.51.100.1"); went != 5 {
		t.Errorf("held off at another place: %v", err)
	}
	if went, err := two.fails(t, 5, "bob", "192.0.2.1"); went != 5 {
		t.Errorf("another user is held off: %v", err)
	}
	if _, err := one.fails(t, 60, "cleo", "192.0.2.1"); err == nil {
		t.Error("never held off")
	}
}

// Whoever succeeds is never held off for it, however the give-backs and the other attempts fall together.
func TestSuccessIsGivenBackInRedis(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	l := patientOn(t, addr, prefix)
	l.ready(t)
	for range 30 {
		giveBack, err := l.Take(t.Context(), "ann", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		giveBack()
		l.settled(t)
	}
	other := patientOn(t, addr, prefix) // has counted nothing itself
	other.ready(t)
	if went, err := other.fails(t, 6, "ann", "192.0.2.1"); went != 5 {
		t.Errorf("%d failures went after 30 successes, then %v", went, err)
	}
}

// settled waits until what was given back has reached Redis.
func (l *loginLimits) settled(t *testing.T) {
	t.Helper()
	l.work.Lock()
	defer l.work.Unlock()
	l.work.Wait()
}

func TestParallelAttemptsOnServersDoNotSlipThrough(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	servers := []*loginLimits{patientOn(t, addr, prefix), patientOn(t, addr, prefix), patientOn(t, addr, prefix)}
	for _, l := range servers {
		l.ready(t)
	}
	var mu sync.Mutex
	went := 0
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if _, err := servers[i%3].Take(context.Background(), "ann", "192.0.2.1"); err == nil {
				mu.Lock()
				went++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if went > 5 {
		t.Errorf("%d attempts went", went)
	}
}

// A Redis that is dead, stopped or back again neither opens nor locks the door, and makes nobody wait.
func TestRedisTroubleNeitherOpensNorLocksLogins(t *testing.T) {
	server := testenv.OwnRedis(t)
	l := limitsOn(t, server.Addr, "headgate")
	l.ready(t)
	check := func(when, user string) {
		t.Helper()
		for range 20 { // whoever knows the password comes in
			giveBack, err := l.Take(t.Context(), user+"-knows", "192.0.2.9")
			if err != nil {
				t.Errorf("%s: locked: %v", when, err)
				return
			}
			giveBack()
			l.settled(t)
		}
		if went, err := l.fails(t, 10, user, "192.0.2.1"); went != 5 || model.CodeOf(err) != model.CodeTooMany {
			t.Errorf("%s: %d attempts went, then %v", when, went, err)
		}
	}
	check("with Redis", "u1")
	if went, _ := l.fails(t, 3, "ann", "192.0.2.1"); went != 3 {
		t.Fatalf("%d went", went)
	}
	server.Pause(t)
	check("paused", "u2")
	if went, _ := l.fails(t, 3, "ann", "192.0.2.1"); went != 2 {
		t.Errorf("paused: %d more went after 3 before, want 2", went)
	}
	server.Resume(t)
	l.ready(t)
	check("resumed", "u3")
	server.Stop()
	check("dead", "u4")
	server.Start(t) // empty: the definitions are gone
	testenv.Eventually(t, 10*time.Second, "the limits are installed again", func() bool {
		_, _ = l.Take(t.Context(), "u5", "198.51.100.1")
		return l.ask(t.Context(), auth.AttemptKeys("u6", "198.51.100.2")) != nil
	})
	check("back", "u7")
	if went, _ := l.fails(t, 3, "ann", "192.0.2.1"); went != 0 {
		t.Errorf("back: %d more went; what this server counted is forgotten", went)
	}
}

func TestLimitsAreInstalledAgainAfterAFlush(t *testing.T) {
	server := testenv.OwnRedis(t)
	l := limitsOn(t, server.Addr, "headgate")
	l.ready(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Take(t.Context(), "ann", "192.0.2.1"); err != nil {
		t.Errorf("locked by a flush: %v", err)
	}
	l.ready(t)
	keys, err := rdb.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("%v, %v", keys, err)
	}
	for _, key := range keys {
		if len(key) < len("headgate:self:") || key[:len("headgate:self:")] != "headgate:self:" {
			t.Errorf("key %q lies outside of headgate:self", key)
		}
	}
}

// A Redis that was away from the beginning: the server limits alone, from the first login on.
func TestLoginsAreLimitedWithoutRedisFromTheStart(t *testing.T) {
	port, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	l := limitsOn(t, fmt.Sprintf("127.0.0.1:%d", port), "headgate")
	if went, err := l.fails(t, 10, "ann", "192.0.2.1"); went != 5 || model.CodeOf(err) != model.CodeTooMany {
		t.Errorf("%d went, then %v", went, err)
	}
}
