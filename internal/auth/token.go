package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

type tokens struct {
	keys   map[string][]byte // by key id
	signer string            // id of the key that signs
	now    func() time.Time
}

func newTokens(keys [][]byte, now func() time.Time) (*tokens, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("no signing key")
	}
	t := &tokens{keys: map[string][]byte{}, signer: keyID(keys[0]), now: now}
	for _, key := range keys {
		if len(key) < KeyBytes {
			return nil, fmt.Errorf("a signing key has %d bytes; it needs at least %d", len(key), KeyBytes)
		}
		t.keys[keyID(key)] = key
	}
	return t, nil
}

// keyID names a key without telling anything about it.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("headgate key id\x00"), key...))
	return hex.EncodeToString(sum[:8])
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
	token.Header["kid"] = t.signer
	return token.SignedString(t.keys[t.signer])
}

// session returns the session that a token names, if we signed it for this audience and it has not expired.
func (t *tokens) session(audience, token string) (string, error) {
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), // never what the token's header asks for
		jwt.WithAudience(audience), jwt.WithIssuer(issuer), jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.now))
	var c claims
	_, err := parser.ParseWithClaims(token, &c, func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		key, ok := t.keys[id]
		if !ok {
			return nil, fmt.Errorf("unknown key id %q", id)
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
