package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/headgate/headgate/internal/model"
)

// Hashing is the cost of one argon2id hash. It is kept inside each hash, so it may be raised at any time: older hashes
// still prove.
type Hashing struct {
	MemoryKiB uint32 // memory that one hash takes
	Passes    uint32
	Threads   uint8
}

// DefaultHashing is OWASP's second choice for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one thread.
var DefaultHashing = Hashing{MemoryKiB: 19 * 1024, Passes: 2, Threads: 1}

// Bounds of the parameters in a stored hash, so that a doctored one can't exhaust the server.
const (
	hashMemoryMax = 256 * 1024 // KiB
	hashPassesMax = 16
	saltBytes     = 16
	hashBytes     = 32
)

// Bounds of the queue: with DefaultHashing the waiting cost nothing and the running 19 MiB each.
const (
	hashQueue = 64              // how many may wait for their turn
	hashWait  = 5 * time.Second // how long one waits
)

// Hasher hashes passwords, a few at a time: a flood of logins waits or is turned away, it does not exhaust the memory.
type Hasher struct {
	cost    Hashing
	made    atomic.Int64 // hashes made so far
	running chan struct{}
	present chan struct{} // running and waiting
}

// NewHasher makes a hasher that works on half as many hashes at once as there are cores, one at least: a flood of logins
// leaves the other half to everybody else.
func NewHasher(cost Hashing) *Hasher {
	atOnce := max(1, runtime.GOMAXPROCS(0)/2)
	return &Hasher{
		cost:    cost,
		running: make(chan struct{}, atOnce),
		present: make(chan struct{}, atOnce+hashQueue),
	}
}

// place is one among those that run or wait.
type place struct{ h *Hasher }

var errManyLogins = &model.Error{
	Code: model.CodeTooMany, Message: "too many logins at once; try again in a moment", RetryAfter: hashWait,
}

// enter takes a place, to be left. It waits for nothing: CodeTooMany when the queue is full.
func (h *Hasher) enter() (place, error) {
	select {
	case h.present <- struct{}{}:
		return place{h}, nil
	default:
		return place{}, errManyLogins
	}
}

func (p place) leave() { <-p.h.present }

// turn waits until one more hash may run and returns what ends it. CodeTooMany when the wait was too long.
func (p place) turn(ctx context.Context) (func(), error) {
	timeout := time.NewTimer(hashWait)
	defer timeout.Stop()
	select {
	case p.h.running <- struct{}{}:
		return func() { <-p.h.running }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timeout.C:
		return nil, errManyLogins
	}
}

// Hash encodes a password as a PHC string: $argon2id$v=19$m=…,t=…,p=…$salt$hash.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	p, err := h.enter()
	if err != nil {
		return "", err
	}
	defer p.leave()
	done, err := p.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	h.made.Add(1)
	sum := argon2.IDKey([]byte(password), salt, h.cost.Passes, h.cost.MemoryKiB, h.cost.Threads, hashBytes)
	return encodePHC(h.cost, salt, sum), nil
}

// verify tells whether the password made the hash. A hash that can't be read is an error, not a wrong password.
func (p place) verify(ctx context.Context, encoded, password string) (bool, error) {
	cost, salt, want, err := decodePHC(encoded)
	if err != nil {
		return false, err
	}
	done, err := p.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	p.h.made.Add(1)
	got := argon2.IDKey([]byte(password), salt, cost.Passes, cost.MemoryKiB, cost.Threads, uint32(len(want))) //nolint:gosec // decodePHC bounds it
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// isCurrent tells whether a hash was made at the hasher's own cost. One that can't be read is left as it is.
func (h *Hasher) isCurrent(encoded string) bool {
	cost, _, _, err := decodePHC(encoded)
	return err != nil || cost == h.cost
}

func encodePHC(cost Hashing, salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.MemoryKiB, cost.Passes, cost.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

var errHash = errors.New("not an argon2id hash within bounds")

func decodePHC(encoded string) (cost Hashing, salt, sum []byte, err error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cost, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.MemoryKiB, &cost.Passes, &cost.Threads); err != nil {
		return cost, nil, nil, errHash
	}
	if cost.MemoryKiB < 8*uint32(cost.Threads) || cost.MemoryKiB > hashMemoryMax ||
		cost.Passes < 1 || cost.Passes > hashPassesMax || cost.Threads < 1 {
		return cost, nil, nil, errHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(salt) < 8 || len(salt) > 64 || len(sum) < 16 || len(sum) > 64 {
		return cost, nil, nil, errHash
	}
	return cost, salt, sum, nil
}
