package ginlimit

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/client/httplimit"
)

// FromRequest makes a key function of one for net/http, such as httplimit.FromContext.
func FromRequest(key func(*http.Request) string) func(*gin.Context) string {
	return func(c *gin.Context) string { return key(c.Request) }
}

// Static counts all requests under one key, for a bucket that counts by key but not on this route.
func Static(key string) func(*gin.Context) string { return FromRequest(httplimit.Static(key)) }

// Header counts by the first value of a header field; see httplimit.Header on when that can be relied on.
func Header(name string) func(*gin.Context) string { return FromRequest(httplimit.Header(name)) }

// IP counts by the address of the client as a tells it. It does not ask gin's ClientIP, which trusts every proxy unless
// the engine is told otherwise.
func IP(a httplimit.Address) func(*gin.Context) string { return FromRequest(httplimit.IP(a)) }

// Value counts by the text that an earlier handler has put into the context with c.Set(name, …), such as the user.
// Another type than string has no key.
func Value(name string) func(*gin.Context) string {
	return func(c *gin.Context) string { return c.GetString(name) }
}

// Param counts by a parameter of the route, such as the tenant of /tenants/:tenant.
func Param(name string) func(*gin.Context) string {
	return func(c *gin.Context) string { return c.Param(name) }
}

// Route counts by method and route, such as "GET /tenants/:tenant", for one bucket that gives each route a limit of its
// own. Requests that match no route have no key.
func Route() func(*gin.Context) string {
	return func(c *gin.Context) string {
		if route := c.FullPath(); route != "" {
			return c.Request.Method + " " + route
		}
		return ""
	}
}
