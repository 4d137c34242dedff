package auth_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
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

func TestSuccessForgivesEarlierErrors(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	for range 4 {
		for range 4 {
			_, err := w.Login(t.Context(), "ann", "wrong password", here)
			wantCode(t, err, model.CodeUnauthorized)
		}
		w.login(t, "ann")
	}
}
