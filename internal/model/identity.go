package model

import (
	"time"
	"unicode/utf8"
)

// IdentityBound is the most bytes of an issuer and of a subject.
const IdentityBound = 255

// Identity is who a user is at a provider of single sign-on: a subject never names two people of one issuer, unlike a
// name or a mail address.
type Identity struct {
	Issuer    string
	Subject   string
	User      string // the user's name in Headgate
	CreatedBy string
	CreatedAt time.Time
	UsedAt    time.Time // of the last login; zero = never
}

// Validate checks issuer and subject: 1..255 bytes each.
func (i *Identity) Validate() error {
	var v invalid
	if n := len(i.Issuer); n == 0 || n > IdentityBound {
		v.add("issuer", "must be 1..%d bytes", IdentityBound)
	}
	if n := len(i.Subject); n == 0 || n > IdentityBound || !utf8.ValidString(i.Subject) {
		v.add("subject", "must be 1..%d bytes of valid UTF-8", IdentityBound)
	}
	return v.err("the identity")
}

// SignOn is what a provider and its groups say about somebody who has just proved there who it is.
type SignOn struct {
	Issuer  string
	Subject string

	Name        string // for a new user: the name to take
	DisplayName string
	Create      bool // make a user at the first login; else only linked ones get in

	Role *Role // the role that the groups give; nil leaves the user's role alone
	// Apps are the memberships that the groups give, by app name. MapsApps says that groups give memberships at all:
	// those that they gave before and that are not in Apps any more then end.
	Apps     map[string]AppRole
	MapsApps bool
}

// SignedOn is what a SignOn came to.
type SignedOn struct {
	User    User
	Created bool
	// KeptAdmin says that the groups would have taken away the last admin, who stays one.
	KeptAdmin bool
	// UnknownApps are apps that the groups name and nobody has registered.
	UnknownApps []string
}
