package grpclimit

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/headgate/headgate/client/httplimit"
)

// Static counts all calls under one key, for a bucket that counts by key but not on this method.
func Static(key string) func(Call) string { return func(Call) string { return key } }

// Method counts by the full name of the method, for one bucket that gives each method a limit of its own.
func Method() func(Call) string { return func(c Call) string { return c.Method } }

// Metadata counts by the first value of an entry of the metadata, such as an API key. Callers choose what they send: use
// an entry only where something before these interceptors has verified it, or whoever changes it gets a limit of their
// own each time.
func Metadata(name string) func(Call) string {
	return func(c Call) string {
		if values := metadata.ValueFromIncomingContext(c.Context, name); len(values) > 0 {
			return values[0]
		}
		return ""
	}
}

// FromContext counts by what find reads from the call's context, such as the user that an authenticating interceptor
// before these has put there. "" says that there is none.
func FromContext(find func(context.Context) string) func(Call) string {
	return func(c Call) string { return find(c.Context) }
}

// IP counts by the address of the client as a tells it, with x-forwarded-for or forwarded read from the metadata. Without
// trusted proxies it is the peer's. A call whose peer has no address, as on a Unix socket, has no key unless a trusts
// sockets.
func IP(a httplimit.Address) func(Call) string {
	field := strings.ToLower(a.Field())
	return func(c Call) string {
		from, ok := peer.FromContext(c.Context)
		if !ok || from.Addr == nil {
			return ""
		}
		if len(a.Trusted) == 0 && !a.TrustSocket {
			return a.Key(from.Addr.String(), nil) // no proxy is believed, so the metadata need not be copied
		}
		return a.Key(from.Addr.String(), metadata.ValueFromIncomingContext(c.Context, field))
	}
}
