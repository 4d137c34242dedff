package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Both kinds of token are JWTs signed with HS256. The audience keeps one from standing in for the other.
const (
	issuer          = "headgate"
	audienceAccess  = "headgate/access"
	audienceRefresh = "headgate/refresh"
)

// claims of a token. ID makes each refresh token another one, Session names the login it belongs to.
type claims struct {
	jwt.RegisteredClaims
	Session string `json:"sid"`
}

// errUnknownKey says that a token names a key that is not, or not yet, or no more among ours.
var errUnknownKey = errors.New("unknown key id")

type tokens struct {
	ring atomic.Pointer[keyRing]
	now  func() time.Time
}

// sign makes a token of one session that is good until expires.
func (t *tokens) sign(audience, session string, expires time.Time) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    issuer,
			Audience:  jwt.ClaimStrings{audience},
			ID:        randomText(16),
			IssuedAt:  jwt.NewNumericDate(t.now()),
			ExpiresAt: jwt.NewNumericDate(expires),
		},
		Session: session,
	})
	key := t.ring.Load().signer(t.now())
	token.Header["kid"] = keyID(key)
	return token.SignedString(key)
}

// session returns the session that a token names, if we signed it for this audience and it has not expired.
func (t *tokens) session(audience, token string) (string, error) {
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), // never what the token's header asks for
		jwt.WithAudience(audience), jwt.WithIssuer(issuer), jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.now),
		jwt.WithStrictDecoding()) // one token, one text
	var c claims
	_, err := parser.ParseWithClaims(token, &c, func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		key, ok := t.ring.Load().byID[id]
		if !ok {
			return nil, errUnknownKey
		}
		return key, nil
	})
	if err != nil {
		return "", err
	}
	if c.Session == "" {
		return "", fmt.Errorf("the token names no session")
	}
	return c.Session, nil
}

// tokenHash is what the database keeps of a refresh token.
func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
