package api

import "github.com/headgate/headgate/internal/auth"

// Needs lists every route of the router, as "METHOD /path/:name", with the permission that it needs.
func Needs() map[string]auth.Permission {
	_, r := new(server).build()
	return r.needs
}
