package auth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func from(address string) auth.Client { return auth.Client{Address: address} }

func TestFailedLoginsOfOneUserAtOneAddressAreHeldOff(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	for range 5 {
		_, err := w.Login(t.Context(), "ann", "wrong password", here)
		wantCode(t, err, model.CodeUnauthorized)
	}
	_, err := w.Login(t.Context(), "ann", password, here)
	wantCode(t, err, model.CodeTooMany)
	var e *model.Error
	if !errors.As(err, &e) || e.RetryAfter <= 0 || e.RetryAfter > 15*time.Minute {
		t.Errorf("retry after %v", e.RetryAfter)
	}
	if _, err := w.Login(t.Context(), "ann", password, from("198.51.100.7")); err != nil {
		t.Errorf("the user is locked out everywhere: %v", err)
	}
	w.pass(e.RetryAfter)
	if _, err := w.Login(t.Context(), "ann", password, here); err != nil {
		t.Errorf("still held off after the time that was said: %v", err)
	}
}

// Attempts that run together must not slip through before the first one has failed.
func TestParallelAttemptsCountBeforeTheyEnd(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	var mu sync.Mutex
	tried := 0
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, err := w.Login(t.Context(), "ann", "wrong password", here)
			mu.Lock()
			defer mu.Unlock()
			if model.CodeOf(err) == model.CodeUnauthorized {
				tried++
			}
		})
	}
	wg.Wait()
	if tried > 5 {
		t.Errorf("%d passwords were tried", tried)
	}
}

func TestOneAddressMayNotTryManyNames(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		_, err := w.Login(t.Context(), fmt.Sprintf("user%d", i), "wrong password", here)
		wantCode(t, err, model.CodeUnauthorized)
	}
	_, err := w.Login(t.Context(), "another", "wrong password", here)
	wantCode(t, err, model.CodeTooMany)
}

func TestManyAddressesMayNotTryOneName(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	for i := range 100 {
		_, err := w.Login(t.Context(), "ann", "wrong password", from(fmt.Sprintf("198.51.100.%d", i)))
		wantCode(t, err, model.CodeUnauthorized)
	}
	_, err := w.Login(t.Context(), "ann", password, from("203.0.113.1"))
	wantCode(t, err, model.CodeTooMany)
}

// What succeeded was no failure: however often somebody logs in, it is not held off for it.
func TestSuccessIsGivenBack(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	for range 30 {
		w.login(t, "ann")
	}
	for range 5 {
		_, err := w.Login(t.Context(), "ann", "wrong password", here)
		wantCode(t, err, model.CodeUnauthorized)
	}
	_, err := w.Login(t.Context(), "ann", "wrong password", here)
	wantCode(t, err, model.CodeTooMany)
}

// What failed for a reason of ours was no attempt either.
func TestOurOwnFailureIsGivenBack(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	s, err := auth.New(auth.Config{Store: away{w.store}, Keys: [][]byte{testKey(1)}, Hashing: cheap, Now: w.time})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		_, err := s.Login(t.Context(), "ann", password, here)
		wantCode(t, err, model.CodeUnavailable)
	}
}

// away is the real store, as if its database did not answer for users.
type away struct{ *store.Store }

func (away) User(context.Context, string) (model.User, error) {
	return model.User{}, model.Errorf(model.CodeUnavailable, "the database does not answer")
}

// A typed password that can't be a name is hashed together with all others of its kind, and stands in no key.
func TestKeysOfAttemptsTellNoNames(t *testing.T) {
	first, second := auth.AttemptKeys("My Secret Pass!", "192.0.2.1"), auth.AttemptKeys("Another Secret!", "192.0.2.1")
	if first != second {
		t.Error("what can't be a name is told apart")
	}
	ann, elsewhere := auth.AttemptKeys("ann", "192.0.2.1"), auth.AttemptKeys("ann", "192.0.2.2")
	if ann[0] == elsewhere[0] || ann[1] == elsewhere[1] || ann[2] != elsewhere[2] || ann[1] != first[1] || ann[2] == first[2] {
		t.Errorf("keys %v and %v", ann, elsewhere)
	}
	for _, key := range ann {
		if strings.Contains(key, "ann") || strings.Contains(key, "192") {
			t.Errorf("key %q", key)
		}
	}
}

// However many names and places try, a process remembers a bounded number of them.
func TestLocalLimiterForgetsRatherThanGrows(t *testing.T) {
	l := auth.NewLocalLimiter(time.Now)
	for i := range 30_000 {
		if _, err := l.Take(t.Context(), fmt.Sprintf("user%d", i), fmt.Sprintf("address%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Remembers(); n > 20_000 {
		t.Errorf("%d keys are kept", n)
	}
}
