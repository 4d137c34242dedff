package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Times of a signing key.
const (
	// KeyLife is how old a key gets before a new one is made.
	KeyLife = 90 * 24 * time.Hour
	// KeyLead is how long a new key only proves, so that every server knows it before the first token comes with it.
	KeyLead = 2 * time.Minute
	// KeyProves is how long an older key proves on: the life of the longest token, and time for slow servers.
	KeyProves = SessionIdle + time.Hour
	// keysEvery is how often a server reads the keys, and looks whether they are too old.
	keysEvery = 10 * time.Second
	// keysAgain is how often at most it reads them because a token names one that it does not know.
	keysAgain = time.Second
)

// KeyBytes is the least length of a signing key.
const KeyBytes = 32

// KeyStore keeps the signing keys where every server of the deployment reads the same ones. It must be atomic between
// servers.
type KeyStore interface {
	// SigningKeys returns the keys by the time from which they sign; if there are none it keeps and returns fresh.
	SigningKeys(ctx context.Context, fresh []byte) ([]model.SigningKey, error)
	// RotateSigningKey makes a new key and tells whether it did.
	RotateSigningKey(ctx context.Context, r model.KeyRotation, o model.Origin) (bool, error)
	// DropSigningKeys removes the keys that have not signed since a time.
	DropSigningKeys(ctx context.Context, notSince time.Time, o model.Origin) (int64, error)
}

// NewKey makes a signing key.
func NewKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // documented never to fail
	return key
}

// keyID names a key without telling anything about it.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("headgate key id\x00"), key...))
	return hex.EncodeToString(sum[:8])
}

// keyRing is a set of keys that does not change.
type keyRing struct {
	byID map[string][]byte
	keys []model.SigningKey // by the time from which they sign
}

func newKeyRing(keys []model.SigningKey) (*keyRing, error) {
	if len(keys) == 0 {
		return nil, errors.New("no signing key")
	}
	r := &keyRing{byID: map[string][]byte{}, keys: keys}
	for _, key := range keys {
		if len(key.Secret) < KeyBytes {
			return nil, fmt.Errorf("a signing key has %d bytes; it needs at least %d", len(key.Secret), KeyBytes)
		}
		r.byID[keyID(key.Secret)] = key.Secret
	}
	return r, nil
}

// signer is the newest key whose time has come. On a server whose clock is behind all of them it is the oldest.
func (r *keyRing) signer(now time.Time) []byte {
	signer := r.keys[0].Secret
	for _, key := range r.keys {
		if !now.Before(key.SignsFrom) {
			signer = key.Secret
		}
	}
	return signer
}

// fixedKeys are keys that nobody keeps; the first signs.
func fixedKeys(secrets [][]byte) []model.SigningKey {
	keys := make([]model.SigningKey, len(secrets))
	for i, secret := range secrets {
		keys[i].Secret = secret
	}
	slices.Reverse(keys)
	return keys
}

// keeper follows the keys of a KeyStore.
type keeper struct {
	store KeyStore
	read  atomic.Int64 // Unix ns of the last reading
}

// loadKeys reads the keys; without a KeyStore they stay.
func (s *Service) loadKeys(ctx context.Context) error {
	if s.keeper.store == nil {
		return nil
	}
	s.keeper.read.Store(s.now().UnixNano())
	keys, err := s.keeper.store.SigningKeys(ctx, NewKey())
	if err != nil {
		return err
	}
	ring, err := newKeyRing(keys)
	if err == nil {
		s.tokens.ring.Store(ring)
	}
	return err
}

// sessionOf returns the session that a token names. A key that this server does not know may be newer than its keys.
func (s *Service) sessionOf(ctx context.Context, audience, token string) (string, error) {
	id, err := s.tokens.session(audience, token)
	if !errors.Is(err, errUnknownKey) || s.keeper.store == nil {
		return id, err
	}
	last, now := s.keeper.read.Load(), s.now().UnixNano()
	if now-last < int64(keysAgain) || !s.keeper.read.CompareAndSwap(last, now) {
		return "", err
	}
	if loading := s.loadKeys(ctx); loading != nil {
		s.log.WarnContext(ctx, "the signing keys could not be read", "error", loading)
		return "", err
	}
	return s.tokens.session(audience, token)
}

// KeepKeys follows the signing keys until ctx ends: it takes over what other servers and commands have changed, makes a
// new key when the newest is KeyLife old, and drops those that no token can be signed with any more.
func (s *Service) KeepKeys(ctx context.Context) {
	tick := time.NewTicker(keysEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.TendKeys(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "the signing keys could not be tended; this is tried again", "error", err)
			}
		}
	}
}

// TendKeys does once what KeepKeys does again and again.
func (s *Service) TendKeys(ctx context.Context) error {
	if err := s.loadKeys(ctx); err != nil || s.keeper.store == nil {
		return err
	}
	now, changed := s.now(), false
	keys := s.tokens.ring.Load().keys
	origin := model.Origin{Actor: model.SystemActor, Reason: "by age"}
	if newest := keys[len(keys)-1]; now.Sub(newest.CreatedAt) > KeyLife {
		made, err := s.keeper.store.RotateSigningKey(ctx, model.KeyRotation{Secret: NewKey(), Lead: KeyLead, OlderThan: KeyLife}, origin)
		if err != nil {
			return err
		}
		changed = made
	}
	if len(keys) > 1 && now.Sub(keys[1].SignsFrom) > KeyProves {
		if _, err := s.keeper.store.DropSigningKeys(ctx, now.Add(-KeyProves), origin); err != nil {
			return err
		}
		changed = true
	}
	if changed {
		return s.loadKeys(ctx)
	}
	return nil
}
