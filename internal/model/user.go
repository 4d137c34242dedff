package model

import (
	"slices"
	"time"
)

// Role is a user's role in the whole of Headgate.
type Role string

// The global roles.
const (
	RoleAdmin   Role = "admin"
	RoleAuditor Role = "auditor"
	RoleMember  Role = "member"
)

// Bounds of a password, in characters. The upper one keeps hashing affordable.
const (
	PasswordMin = 12
	PasswordMax = 128
)

// User is a person who can log in, or a service account.
type User struct {
	ID           int64
	Name         string // unique, lower case
	DisplayName  string
	Role         Role
	Disabled     bool
	PasswordHash string // encoded argon2id with its parameters; never leaves the server
	Service      bool   // a service account: programs act as it by API tokens, nobody can log in as it
	Revision     int64
	CreatedBy    string
	CreatedAt    time.Time
	UpdatedBy    string
	UpdatedAt    time.Time
}

// reservedUserNames can't be given to users: the first acts in the history for Headgate itself, the second is a route.
var reservedUserNames = []string{SystemActor, "names"}

// Validate checks a user's fields; the password is checked by ValidatePassword before it is hashed.
func (u *User) Validate() error {
	var v invalid
	if !ValidUserName(u.Name) {
		v.add("name", userNameRule)
	}
	if slices.Contains(reservedUserNames, u.Name) {
		v.add("name", "is reserved for Headgate itself")
	}
	checkText(&v, "display_name", u.DisplayName, 0, 100)
	checkChoice(&v, "role", u.Role, RoleAdmin, RoleAuditor, RoleMember)
	return v.err("the user")
}

// ValidatePassword checks a new password's length: 12..128 characters of valid UTF-8. What is easily guessed is refused by
// auth.CheckPassword.
func ValidatePassword(password string) error {
	var v invalid
	checkText(&v, "password", password, PasswordMin, PasswordMax)
	return v.err("the user")
}

// Session is one login of one user: a family of refresh tokens, of which only the newest is good.
type Session struct {
	ID          string // random, 128 bits, also in the access token
	UserID      int64
	RefreshHash []byte // SHA-256 of the newest refresh token
	PrevHash    []byte // of the one before it: seen again, it proves a theft and ends the session
	CreatedAt   time.Time
	RotatedAt   time.Time
	ExpiresAt   time.Time
	Address     string
	UserAgent   string
}
