package model

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TokenKind says for whom an API token stands.
type TokenKind string

// The kinds of API tokens.
const (
	TokenPersonal TokenKind = "personal" // acts as the person who made it
	TokenService  TokenKind = "service"  // acts as a service account; made by an admin
)

// TokenScope is a part of its user's rights that an API token has. Package auth holds the table from scope to
// permissions.
type TokenScope string

// The scopes.
const (
	ScopeRead  TokenScope = "read"
	ScopeWrite TokenScope = "write"
	ScopeAudit TokenScope = "audit"
	ScopeAdmin TokenScope = "admin"
)

// TokenScopes lists every scope, in the order in which they are shown.
var TokenScopes = []TokenScope{ScopeRead, ScopeWrite, ScopeAudit, ScopeAdmin}

// TokenState says whether a token is good now, and else why not.
type TokenState string

// The states of an API token.
const (
	TokenActive    TokenState = "active"
	TokenExpired   TokenState = "expired"
	TokenRevoked   TokenState = "revoked"
	TokenSuspended TokenState = "suspended" // its user or its maker is disabled, or the maker may not make it any more
)

// Bounds of API tokens.
const (
	TokenNameBound    = 64                   // characters of a name
	TokenLifeMax      = 365 * 24 * time.Hour // none lives longer; there is no token without an end
	TokensPerUser     = 50                   // living tokens of one user or service account
	TokenTouchEvery   = time.Minute          // how coarse the last use is kept
	TokenKeptAfterEnd = 90 * 24 * time.Hour  // how long an ended one is still listed
)

// Token is one API token. The secret itself is shown once and kept nowhere.
type Token struct {
	ID         int64
	Kind       TokenKind
	Name       string // unique among its user's living tokens
	UserID     int64  // who it acts as: a person, or a service account
	User       string // that one's name
	MakerID    int64  // for a personal token the user itself
	Maker      string
	Scopes     []TokenScope // in the order of TokenScopes, none twice
	Hash       []byte       // SHA-256 of the whole secret
	Hint       string       // the secret's first characters, so that its owner finds it again
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RevokedAt  time.Time // zero: not revoked
	RevokedBy  string
	LastUsedAt time.Time // zero: never used; coarse, see TokenTouchEvery
	LastUsedBy string    // the address of that use
	Suspended  bool      // see TokenSuspended; filled in when it is read
}

const tokenNameRule = "must be 1..64 of A-Z a-z 0-9 . _ - and start with a letter or digit"

var tokenNamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Validate checks what the maker of a token chooses: name, scopes, and an end within TokenLifeMax after now.
func (t *Token) Validate(now time.Time) error {
	var v invalid
	if !tokenNamePattern.MatchString(t.Name) {
		v.add("name", tokenNameRule)
	}
	if len(t.Scopes) == 0 {
		v.add("scopes", "must name at least one of %s", joinScopes(", "))
	}
	checkList(&v, "scopes", scopeTexts(t.Scopes), func(s string) bool {
		return slices.Contains(TokenScopes, TokenScope(s))
	}, "must be one of "+joinScopes(", "))
	if !t.ExpiresAt.After(now) || t.ExpiresAt.Sub(now) > TokenLifeMax {
		v.add("expires_in_days", "must be 1..365")
	}
	return v.err("the token")
}

// State tells whether the token is good at a time.
func (t *Token) State(now time.Time) TokenState {
	switch {
	case !t.RevokedAt.IsZero():
		return TokenRevoked
	case !now.Before(t.ExpiresAt):
		return TokenExpired
	case t.Suspended:
		return TokenSuspended
	default:
		return TokenActive
	}
}

// SortScopes brings scopes into the order of TokenScopes.
func SortScopes(scopes []TokenScope) {
	slices.SortFunc(scopes, func(a, b TokenScope) int { return slices.Index(TokenScopes, a) - slices.Index(TokenScopes, b) })
}

// TokenJSON encodes a token for a change row; neither the secret nor its hash is in it.
func TokenJSON(t *Token) json.RawMessage {
	return encode(struct {
		ID        int64        `json:"id"`
		Kind      TokenKind    `json:"kind"`
		Name      string       `json:"name"`
		Scopes    []TokenScope `json:"scopes"`
		MadeBy    string       `json:"made_by"`
		ExpiresAt time.Time    `json:"expires_at"`
	}{t.ID, t.Kind, t.Name, t.Scopes, t.Maker, t.ExpiresAt.UTC()})
}

// TokenQuery says which tokens to list, newest first.
type TokenQuery struct {
	ID     int64 // only this one; 0 = all
	UserID int64 // only those that act as this user; 0 = everybody's
	Cursor string
	Limit  int // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *TokenQuery) Validate() error {
	var v invalid
	checkPage(&v, "", q.Limit)
	return v.err("the query")
}

// ValidateOptionalReason checks a reason that may be left out: 0..500 characters after trimming. CodeInvalid with field
// "reason".
func ValidateOptionalReason(reason string) error {
	var v invalid
	checkText(&v, "reason", strings.TrimSpace(reason), 0, ReasonBound)
	return v.err("the change")
}

func joinScopes(separator string) string { return strings.Join(scopeTexts(TokenScopes), separator) }

func scopeTexts(scopes []TokenScope) []string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return texts
}
