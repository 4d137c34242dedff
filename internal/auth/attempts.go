package auth

import (
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Bounds on failed logins within attemptWindow. One person at one place may err a few times; one place may not try many
// names, nor many places one name. The last bound is wide, since reaching it locks the true user out for a while too.
const (
	attemptWindow   = 15 * time.Minute
	attemptsPair    = 5
	attemptsAddress = 50
	attemptsUser    = 100
	attemptEntries  = 20_000 // the most windows kept; the memory stays below a few MiB
	attemptKeyBytes = 128    // longer names and addresses are cut
)

// attempts counts the failed logins of this process.
type attempts struct {
	mu      sync.Mutex
	windows map[attemptKey]*attemptCount
	now     func() time.Time
}

type attemptKey struct{ kind, user, address string }

type attemptCount struct {
	failed int
	ends   time.Time
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{windows: map[attemptKey]*attemptCount{}, now: now}
}

type attemptBound struct {
	key  attemptKey
	most int
}

func boundsOf(user, address string) [3]attemptBound {
	user, address = user[:min(len(user), attemptKeyBytes)], address[:min(len(address), attemptKeyBytes)]
	return [3]attemptBound{
		{attemptKey{"pair", user, address}, attemptsPair},
		{attemptKey{"address", "", address}, attemptsAddress},
		{attemptKey{"user", user, ""}, attemptsUser},
	}
}

// take counts one attempt as failed, before it is known how it ends: so parallel attempts can't slip through together.
// CodeTooMany when a bound is reached; then nothing is counted, and waiting helps.
func (a *attempts) take(user, address string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	bounds := boundsOf(user, address)
	for _, b := range bounds {
		if c := a.windows[b.key]; c != nil && now.Before(c.ends) && c.failed >= b.most {
			return &model.Error{
				Code: model.CodeTooMany, Message: "too many failed logins; try again later", RetryAfter: c.ends.Sub(now),
			}
		}
	}
	for _, b := range bounds {
		c := a.windows[b.key]
		if c == nil || !now.Before(c.ends) {
			a.makeRoom(now)
			c = &attemptCount{ends: now.Add(attemptWindow)}
			a.windows[b.key] = c
		}
		c.failed++
	}
	return nil
}

// refund takes back an attempt that was none: it failed for a reason of ours.
func (a *attempts) refund(user, address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range boundsOf(user, address) {
		if c := a.windows[b.key]; c != nil && c.failed > 0 {
			c.failed--
		}
	}
}

// forgive takes back an attempt that succeeded, and with it the person's earlier errors at this place.
func (a *attempts) forgive(user, address string) {
	a.refund(user, address)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.windows, boundsOf(user, address)[0].key)
}

// makeRoom keeps the map bounded: ended windows go first, then whichever the map yields.
func (a *attempts) makeRoom(now time.Time) {
	if len(a.windows) < attemptEntries {
		return
	}
	for key, c := range a.windows {
		if !now.Before(c.ends) {
			delete(a.windows, key)
		}
	}
	for key := range a.windows {
		if len(a.windows) < attemptEntries*9/10 {
			return
		}
		delete(a.windows, key)
	}
}
