package auth

import (
	"context"
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// TokenStore is what the service needs of the database for API tokens.
type TokenStore interface {
	// TokenByHash returns a token and the user that it acts as, both as they are now; it does not check whether they
	// are still good. CodeNotFound.
	TokenByHash(ctx context.Context, hash []byte) (model.Token, model.User, error)
	// TouchToken notes a use, unless a recent one is noted already.
	TouchToken(ctx context.Context, id int64, at time.Time, address string) error
}

// An API token is a prefix, 256 random bits and a checksum over both, all in digits and letters, so that a double click
// selects it whole. Prefix and checksum let secret scanners tell a leaked token from other text, and let us refuse a
// mistyped one without asking the database.
const (
	prefixPersonal  = "hgp_"
	prefixService   = "hgs_"
	tokenRandom     = 32 // bytes
	tokenDigits     = 43 // 62^43 > 2^256
	checksumDigits  = 6  // 62^6 > 2^32
	tokenHintLength = 10 // characters that lists show
)

// tokenPattern is what docs/api-tokens.md gives to secret scanners.
var tokenPattern = regexp.MustCompile(`^hg[ps]_[0-9A-Za-z]{49}$`)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewAPIToken makes the secret of a new API token, with what the database keeps of it: its hash, and the beginning that
// lists show.
func NewAPIToken(kind model.TokenKind) (secret string, hash []byte, hint string) {
	var raw [tokenRandom]byte
	_, _ = rand.Read(raw[:]) // documented never to fail
	prefix := prefixPersonal
	if kind == model.TokenService {
		prefix = prefixService
	}
	body := prefix + base62(new(big.Int).SetBytes(raw[:]), tokenDigits)
	secret = body + tokenChecksum(body)
	return secret, tokenHash(secret), secret[:tokenHintLength]
}

// tokenChecksum is the CRC-32 (IEEE) of the prefix and the random part, in base 62. It guards against mistakes, not
// against anybody.
func tokenChecksum(body string) string {
	return base62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), checksumDigits)
}

// base62 writes a number with leading zeros.
func base62(n *big.Int, digits int) string {
	text := make([]byte, digits)
	base, digit := big.NewInt(int64(len(alphabet))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = alphabet[digit.Int64()]
	}
	return string(text)
}

// wellFormed tells whether a text may be an API token at all.
func wellFormed(secret string) bool {
	if !tokenPattern.MatchString(secret) {
		return false
	}
	body := secret[:len(secret)-checksumDigits]
	return strings.HasSuffix(secret, tokenChecksum(body))
}

var errNoToken = model.Errorf(model.CodeUnauthorized, "the API token is not one of this installation")

// refusedTokens says why a token that was good once is not good any more. Who holds the secret may know.
var refusedTokens = map[model.TokenState]string{
	model.TokenExpired:   "the API token has expired",
	model.TokenRevoked:   "the API token was revoked",
	model.TokenSuspended: "the API token's user or maker may not use it now",
}

// AuthenticateToken says who is behind an API token. It reads the token, its user and its maker each time, so that a
// revocation, a disabled user and a changed role count at once. CodeUnauthorized when it is unknown or has ended; the
// use of one that has ended leaves a change row.
func (s *Service) AuthenticateToken(ctx context.Context, secret string, c Client) (Principal, error) {
	if !wellFormed(secret) {
		return Principal{}, errNoToken
	}
	token, user, err := s.store.TokenByHash(ctx, tokenHash(secret))
	if model.CodeOf(err) == model.CodeNotFound {
		return Principal{}, errNoToken
	}
	if err != nil {
		return Principal{}, err
	}
	now := s.now()
	if why, ended := refusedTokens[token.State(now)]; ended {
		return Principal{}, s.refuseToken(ctx, token, why, c)
	}
	if now.Sub(token.LastUsedAt) >= model.TokenTouchEvery {
		if err := s.store.TouchToken(ctx, token.ID, now, c.Address); err != nil {
			s.log.WarnContext(ctx, "the use of an API token could not be noted", "error", err, "request_id", c.RequestID)
		}
	}
	return Principal{
		UserID: user.ID, Name: user.Name, DisplayName: user.DisplayName, Role: user.Role, Revision: user.Revision,
		TokenID: token.ID, Token: token.Name, Scopes: token.Scopes,
	}, nil
}

func (s *Service) refuseToken(ctx context.Context, token model.Token, why string, c Client) error {
	// What runs with an ended token often goes on for days: the history folds it, and the log has it at debug.
	s.log.DebugContext(ctx, "API token refused", "user", token.User, "token", token.Name, "reason", why, "address", c.Address, "request_id", c.RequestID)
	change := s.change(model.ActionTokenRefused, token.User, why, c)
	change.Token = token.Name
	if err := s.recorder.Record(ctx, change); err != nil {
		return err
	}
	return model.Errorf(model.CodeUnauthorized, "%s", why)
}
