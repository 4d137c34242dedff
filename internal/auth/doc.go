// Package auth says who a caller is and what it may do: passwords, sessions, access tokens, and in policy.go the one
// table of permissions.
//
// A login makes a session. Its access token is short-lived and names the session; each request looks the session and
// its user up, so that a disabled user, a changed role or a logout counts at once. Its refresh token is exchanged for a
// new one at each use; an old one that comes back has been stolen, or its thief was first, and ends the session.
package auth
