package store_test

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func secret(n int) []byte { return bytes.Repeat([]byte{byte(n)}, 32) }

// Every server signs with the same key, whoever came first.
func TestFirstSigningKeyIsOneForAllServers(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		found := make([][]model.SigningKey, 8)
		for _, err := range together(len(found), func(i int) (err error) {
			found[i], err = servers[i%2].SigningKeys(t.Context(), secret(i))
			return err
		}) {
			ok(t, err)
		}
		for _, keys := range found {
			if len(keys) != 1 || len(keys[0].Secret) != 32 || !bytes.Equal(keys[0].Secret, found[0][0].Secret) {
				t.Errorf("keys %v", found)
			}
		}
	})
}

// The key of an earlier version is taken over, so that nobody is logged out by the upgrade.
func TestSigningKeyOfAnEarlierVersionIsTakenOver(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		d.exec(t, "INSERT INTO meta (name, value) VALUES ('signing_key', '"+hex.EncodeToString(secret(7))+"')")
		for range 2 {
			keys := must(s.SigningKeys(t.Context(), secret(1)))(t)
			if len(keys) != 1 || !bytes.Equal(keys[0].Secret, secret(7)) {
				t.Errorf("keys %v", keys)
			}
		}
		if n := d.count(t, "SELECT COUNT(*) FROM meta WHERE name = 'signing_key'"); n != 0 {
			t.Error("the key is kept in a second place")
		}
	})
}

func TestOfManyServersOneRotatesAnOldKey(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		servers := []*store.Store{d.migrated(t, now.use), d.open(t, now.use)}
		must(servers[0].SigningKeys(t.Context(), secret(1)))(t)
		now.move(time.Hour)
		rotation := func(i int) model.KeyRotation {
			return model.KeyRotation{Secret: secret(10 + i), Lead: time.Minute, OlderThan: time.Hour - time.Second}
		}
		made := make([]bool, 8)
		for _, err := range together(len(made), func(i int) (err error) {
			made[i], err = servers[i%2].RotateSigningKey(t.Context(), rotation(i), byAlice)
			return err
		}) {
			ok(t, err)
		}
		rotated := 0
		for _, m := range made {
			if m {
				rotated++
			}
		}
		if rotated != 1 {
			t.Errorf("%d of 8 servers rotated", rotated)
		}
		keys := must(servers[1].SigningKeys(t.Context(), nil))(t)
		if len(keys) != 2 || !keys[1].SignsFrom.Equal(now.Now().Truncate(time.Microsecond).Add(time.Minute)) || !bytes.Equal(keys[0].Secret, secret(1)) {
			t.Errorf("keys %+v", keys)
		}
		if n := must(servers[0].DropSigningKeys(t.Context(), now.Now(), byAlice))(t); n != 0 {
			t.Errorf("dropped %d keys, though the newer one does not sign yet", n)
		}
		now.move(2 * time.Minute)
		if n := must(servers[0].DropSigningKeys(t.Context(), now.Now(), byAlice))(t); n != 1 {
			t.Errorf("dropped %d keys, want 1", n)
		}
		if keys := must(servers[1].SigningKeys(t.Context(), nil))(t); len(keys) != 1 || bytes.Equal(keys[0].Secret, secret(1)) {
			t.Errorf("keys %+v", keys)
		}
	})
}
