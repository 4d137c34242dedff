package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Limiter holds off those who try passwords. It must be safe for concurrent use.
type Limiter interface {
	// Take counts an attempt as failed before it is known how it ends, so that parallel ones can't slip through together.
	// CodeTooMany with RetryAfter when a bound is reached: then nothing is counted, and waiting helps. Otherwise the
	// attempt is handed to giveBack, at most once, when it succeeded or failed for a reason of ours.
	Take(ctx context.Context, user, address string) (giveBack func(), err error)
}

// AttemptLimit is a token bucket for login attempts: Most at once, then one more each Every.
type AttemptLimit struct {
	Name  string
	Most  int64
	Every time.Duration
}

// AttemptLimits are the bounds on failed logins. One person at one place may err a few times; one place may not try many
// names, nor many places one name. The last is wide, since reaching it locks the true user out for a while too.
var AttemptLimits = [3]AttemptLimit{
	{"login-pair", 5, 3 * time.Minute},
	{"login-address", 50, 15 * time.Minute / 50},
	{"login-user", 100, 15 * time.Minute / 100},
}

// AttemptKeys are what each of AttemptLimits counts an attempt by. They are hashes, so that names and addresses stand in
// no Redis. All that can't be a user's name counts as one name: it may be a password that was typed in the wrong place.
func AttemptKeys(user, address string) [3]string {
	if !model.ValidUserName(user) {
		user = ""
	}
	return [3]string{hashedKey("pair", user, address), hashedKey("address", address), hashedKey("user", user)}
}

func hashedKey(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// HeldOff is the refusal of an attempt while a bound is reached.
func HeldOff(retryAfter time.Duration) error {
	return &model.Error{
		Code: model.CodeTooMany, Message: "too many failed logins; try again later", RetryAfter: max(retryAfter, time.Second),
	}
}

// attemptEntries is the most keys that a process counts; the memory stays below a few MiB.
const attemptEntries = 20_000

// LocalLimiter counts the attempts of this process alone.
type LocalLimiter struct {
	mu     sync.Mutex
	levels map[attemptKey]time.Time // when the bucket was or will be empty
	now    func() time.Time
}

type attemptKey struct {
	limit int // index in AttemptLimits
	key   string
}

// NewLocalLimiter makes a limiter that has counted nothing.
func NewLocalLimiter(now func() time.Time) *LocalLimiter {
	return &LocalLimiter{levels: map[attemptKey]time.Time{}, now: now}
}

// Take implements Limiter.
func (l *LocalLimiter) Take(_ context.Context, user, address string) (giveBack func(), err error) {
	keys := AttemptKeys(user, address)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var wait time.Duration
	for i := range keys {
		wait = max(wait, l.after(i, keys[i], now).Sub(now))
	}
	if wait > 0 {
		return nil, HeldOff(wait)
	}
	l.makeRoom(now)
	for i := range keys {
		l.levels[attemptKey{i, keys[i]}] = l.after(i, keys[i], now)
	}
	return func() { l.giveBack(keys) }, nil
}

// after is when a bucket is empty once one more was taken from it: in the future if it can't be taken now.
func (l *LocalLimiter) after(limit int, key string, now time.Time) time.Time {
	rule := AttemptLimits[limit]
	empty, full := l.levels[attemptKey{limit, key}], now.Add(-time.Duration(rule.Most)*rule.Every)
	if empty.Before(full) {
		empty = full
	}
	return empty.Add(rule.Every)
}

func (l *LocalLimiter) giveBack(keys [3]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range keys {
		key := attemptKey{i, keys[i]}
		if empty, ok := l.levels[key]; ok {
			l.levels[key] = empty.Add(-AttemptLimits[i].Every)
		}
	}
}

// makeRoom keeps the map bounded: full buckets go first, for an absent one counts as full, then whichever the map yields.
func (l *LocalLimiter) makeRoom(now time.Time) {
	if len(l.levels) < attemptEntries {
		return
	}
	for key, empty := range l.levels {
		rule := AttemptLimits[key.limit]
		if now.Sub(empty) >= time.Duration(rule.Most)*rule.Every {
			delete(l.levels, key)
		}
	}
	for key := range l.levels {
		if len(l.levels) < attemptEntries*9/10 {
			return
		}
		delete(l.levels, key)
	}
}
