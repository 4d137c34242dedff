package httplimit

import (
	"context"
	"net/http"
)

// Static counts all requests under one key, for a bucket that counts by key but not on this route.
func Static(key string) func(*http.Request) string {
	return func(*http.Request) string { return key }
}

// Header counts by the first value of a header field, such as an API key. Callers choose what they send: use a field only
// where something before this middleware has verified it, or whoever changes it gets a limit of their own each time.
func Header(name string) func(*http.Request) string {
	name = http.CanonicalHeaderKey(name)
	return func(r *http.Request) string {
		if values := r.Header[name]; len(values) > 0 {
			return values[0]
		}
		return ""
	}
}

// FromContext counts by what find reads from the request's context, such as the user that an authenticating
// middleware before this one has put there. "" says that there is none.
func FromContext(find func(context.Context) string) func(*http.Request) string {
	return func(r *http.Request) string { return find(r.Context()) }
}

// IP counts by the address of the client as a tells it. Without trusted proxies it is the peer's. A request whose peer
// has no address has no key.
func IP(a Address) func(*http.Request) string {
	field := a.Field()
	return func(r *http.Request) string { return a.Key(r.RemoteAddr, r.Header[field]) }
}
