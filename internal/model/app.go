package model

import "time"

// App is an application registered in Headgate. Its name is a declaration by the caller, not an authentication.
type App struct {
	Name        string
	Description string
	Revision    int64
	CreatedBy   string
	CreatedAt   time.Time
	UpdatedBy   string
	UpdatedAt   time.Time
	Members     []Member // sorted by user name
}

// Member is a user's place in an app.
type Member struct {
	User   string
	Role   AppRole // the higher one where both a person and a group gave one
	Mapped bool    // a group of the single sign-on gives it, alone or beside a person
}

// AppRole is what a member may do in an app.
type AppRole string

// The roles in an app.
const (
	AppOwner  AppRole = "owner"
	AppViewer AppRole = "viewer"
)

// HigherAppRole returns the role that may do more; "" is none.
func HigherAppRole(a, b AppRole) AppRole {
	if a == AppOwner || b == "" {
		return a
	}
	return b
}

// Validate checks an app's fields; the error names each broken one.
func (a *App) Validate() error {
	var v invalid
	if !ValidName(a.Name) {
		v.add("name", nameRule)
	}
	checkText(&v, "description", a.Description, 0, DescriptionBound)
	return v.err("the app")
}

// Validate checks a membership's fields.
func (m *Member) Validate() error {
	var v invalid
	if !ValidUserName(m.User) {
		v.add("user", userNameRule)
	}
	checkChoice(&v, "role", m.Role, AppOwner, AppViewer)
	return v.err("the member")
}
