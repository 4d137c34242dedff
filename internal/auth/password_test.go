package auth_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

func TestHashProvesItsPasswordAndNoOther(t *testing.T) {
	h := auth.NewHasher(cheap)
	encoded, err := h.Hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(encoded, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("not a PHC string: %s", encoded)
	}
	again, _ := h.Hash(t.Context(), password)
	if again == encoded {
		t.Error("two hashes of one password are the same: the salt is missing")
	}
	// A hasher of another cost reads the parameters from the hash.
	other := auth.NewHasher(auth.Hashing{MemoryKiB: 128, Passes: 2, Threads: 2})
	for candidate, want := range map[string]bool{password: true, "": false, password + " ": false, "Correct horse battery": false} {
		if got, err := other.Verify(t.Context(), encoded, candidate); err != nil || got != want {
			t.Errorf("%q: %v, %v", candidate, got, err)
		}
	}
}

func TestDamagedOrDearHashIsRefusedWithoutHashing(t *testing.T) {
	h := auth.NewHasher(cheap)
	for _, encoded := range []string{
		"", "plain", "$argon2id$", "$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA",
		"$argon2id$v=16$m=64,t=1,p=1$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA",
		"$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA",
		"$argon2id$v=19$m=64,t=4294967295,p=1$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA",
		"$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA",
		"$argon2id$v=19$m=64,t=1,p=0$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA",
		"$argon2id$v=19$m=64,t=1,p=1$!$c29tZWhhc2hzb21laGFzaA", "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$",
	} {
		if ok, err := h.Verify(t.Context(), encoded, password); ok || err == nil {
			t.Errorf("%q: %v, %v", encoded, ok, err)
		}
	}
}

// A flood of logins is turned away once the queue is full; it neither hangs nor hashes all at once, and leaves half of the
// cores to everybody else.
func TestFloodOfHashesIsTurnedAway(t *testing.T) {
	h := auth.NewHasher(auth.Hashing{MemoryKiB: 16 * 1024, Passes: 4, Threads: 1})
	flood := 200 + runtime.GOMAXPROCS(0)
	var mu sync.Mutex
	refused, atOnce := 0, 0
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range flood {
		wg.Go(func() {
			<-start
			if _, err := h.Hash(context.Background(), password); err != nil {
				if model.CodeOf(err) != model.CodeTooMany {
					t.Errorf("unexpected error %v", err)
				}
				mu.Lock()
				refused++
				mu.Unlock()
				return
			}
			mu.Lock()
			atOnce = max(atOnce, h.Running())
			mu.Unlock()
		})
	}
	close(start)
	wg.Wait()
	if most := max(1, runtime.GOMAXPROCS(0)/2); atOnce == 0 || atOnce > most {
		t.Errorf("%d hashes were made at once, want %d at most", atOnce, most)
	}
	if refused == 0 || refused == flood {
		t.Errorf("%d of %d were turned away", refused, flood)
	}
}

func TestNewPasswordIsCheckedBeforeItIsHashed(t *testing.T) {
	w := newWorld(t)
	for _, bad := range []string{"", "short", strings.Repeat("x", 129), "bad\x00password"} {
		_, err := w.HashPassword(t.Context(), bad)
		wantCode(t, err, model.CodeInvalid)
	}
}

func FuzzVerifySurvivesAnyStoredHash(f *testing.F) {
	h := auth.NewHasher(cheap)
	encoded, _ := h.Hash(context.Background(), password)
	f.Add(encoded)
	f.Add("$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZWhhc2hzb21laGFzaA")
	f.Fuzz(func(t *testing.T, stored string) {
		if len(stored) > 200 || strings.Contains(stored, "m=") && !strings.Contains(stored, "m=64,t=1") {
			return // bounds are tested above; a dear but legal hash only makes this slow
		}
		ok, err := h.Verify(t.Context(), stored, "another password")
		if ok && err != nil {
			t.Errorf("both right and broken: %q", stored)
		}
	})
}
