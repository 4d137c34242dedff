package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Lifetimes of what a login makes.
const (
	AccessLife     = 15 * time.Minute
	SessionIdle    = 7 * 24 * time.Hour  // a session unused for this long ends
	SessionMaxLife = 30 * 24 * time.Hour // a session ends after this, however busy
)

// Store is what the service needs of the database. Errors are *model.Error; CodeNotFound where a user or a session is
// not there.
type Store interface {
	User(ctx context.Context, name string) (model.User, error)
	// CreateSession saves a session with the change row of its login.
	CreateSession(ctx context.Context, s model.Session, c model.Change) error
	// Session returns a session with its user, both as they are now; it does not check whether they are still good.
	Session(ctx context.Context, id string) (model.Session, model.User, error)
	// RotateSession exchanges the hash of a refresh token; of two calls with the same old one only one succeeds.
	RotateSession(ctx context.Context, id string, old, next []byte, at, expires time.Time) (model.RotateResult, error)
	// DeleteSession ends a session with the change row that tells why; one that is not there leaves none.
	DeleteSession(ctx context.Context, id string, c model.Change) error
	// RehashPassword replaces a hash by one of the same password, unless another password was set meanwhile.
	RehashPassword(ctx context.Context, userID int64, old, next string, o model.Origin) error
	// ChangePassword replaces a hash and ends the user's sessions but the one named. CodeStale when old is not the hash.
	ChangePassword(ctx context.Context, userID int64, old, next, keepSession string, o model.Origin) error
	AppendChange(ctx context.Context, c model.Change) error
	TokenStore
}

// Config is what New needs.
type Config struct {
	Store Store
	// KeyStore keeps the keys that sign and prove tokens. Nil: Keys do, each of at least KeyBytes; the first signs.
	KeyStore KeyStore
	Keys     [][]byte
	Hashing  Hashing // zero: DefaultHashing
	// Limits hold off those who try passwords. Nil: NewLocalLimiter, for this process alone.
	Limits Limiter
	// Recorder keeps refusals. Nil: each is written to Store at once.
	Recorder Recorder
	Log      *slog.Logger     // nil: slog.Default()
	Now      func() time.Time // nil: time.Now
}

// Service logs people in and out and says who is behind a token. It is safe for concurrent use.
type Service struct {
	store    Store
	recorder Recorder
	tokens   *tokens
	keeper   keeper
	hasher   *Hasher
	limits   Limiter
	log      *slog.Logger
	now      func() time.Time
	decoy    string // hash of a password that nobody has: an unknown user costs as much time as a known one
}

// New makes the service. It fails when a key is missing or too short.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Recorder == nil {
		c.Recorder = plainRecorder{c.Store}
	}
	if c.Limits == nil {
		c.Limits = NewLocalLimiter(c.Now)
	}
	if c.Hashing == (Hashing{}) {
		c.Hashing = DefaultHashing
	}
	hasher := NewHasher(c.Hashing)
	decoy, err := hasher.Hash(context.Background(), randomText(16))
	if err != nil {
		return nil, err
	}
	s := &Service{
		store: c.Store, recorder: c.Recorder, tokens: &tokens{now: c.Now}, hasher: hasher, limits: c.Limits, log: c.Log, now: c.Now, decoy: decoy,
	}
	if c.KeyStore != nil {
		s.keeper.store = c.KeyStore
		if err := s.loadKeys(context.Background()); err != nil {
			return nil, err
		}
		return s, nil
	}
	ring, err := newKeyRing(fixedKeys(c.Keys))
	if err != nil {
		return nil, err
	}
	s.tokens.ring.Store(ring)
	return s, nil
}

// randomText returns n random bytes as URL-safe text.
func randomText(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // documented never to fail
	return base64.RawURLEncoding.EncodeToString(raw)
}
