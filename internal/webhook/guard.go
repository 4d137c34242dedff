package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/headgate/headgate/internal/model"
)

// resolveWithin bounds the look at a name's addresses when an endpoint is saved.
const resolveWithin = 2 * time.Second

// Guard says which addresses may be called: without AllowPrivate, only public ones over https, so that an endpoint can't
// make the server reach into its own network.
type Guard struct {
	AllowPrivate bool
}

// errPrivate is what a connection to an address that is not public ends with.
var errPrivate = errors.New("webhook: the address is not public")

const privateMessage = "must not point to a private, loopback or link-local address; HEADGATE_WEBHOOK_ALLOW_PRIVATE=on allows it"

// Check refuses a URL that may not be called, as far as that can be seen now: what the name resolves to may change, so
// each connection is checked again. A name that can't be resolved now is let through. CodeInvalid with field "url".
func (g Guard) Check(ctx context.Context, text string) error {
	if g.AllowPrivate {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return refused("must be a URL such as https://example.com/headgate")
	}
	if u.Scheme != "https" {
		return refused("must begin with https://; HEADGATE_WEBHOOK_ALLOW_PRIVATE=on allows http://")
	}
	host := u.Hostname()
	if oddHost(host) {
		return refused("must name its host in ASCII (xn--… for other letters), an address as 93.184.215.14 or [2606:2800::1]")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if !public(addr) {
			return refused(privateMessage)
		}
		return nil
	}
	if name := strings.ToLower(strings.TrimSuffix(host, ".")); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return refused(privateMessage)
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for _, addr := range addrs {
		if !public(addr) {
			return refused(privateMessage)
		}
	}
	return nil
}

// oddHost tells whether a host is written so that some resolvers take it for another one: in letters that are folded to
// ASCII, or as an address in one number, in hexadecimal, in octal or with parts left out. No domain ends in a number.
func oddHost(host string) bool {
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndex(host, ".")+1:])
	digits := "0123456789"
	if hex, isHex := strings.CutPrefix(last, "0x"); isHex {
		last, digits = hex, digits+"abcdef"
	}
	return strings.Trim(last, digits) == ""
}

func refused(message string) error {
	return &model.Error{
		Code: model.CodeInvalid, Message: "the webhook has invalid fields",
		Fields: []model.FieldError{model.Broken("url", "%s", message)},
	}
}

// control looks at the address of a connection that is about to be made. The name has been resolved by then, so a name
// that answers otherwise than it did a moment ago gains nothing.
func (g Guard) control(_, address string, _ syscall.RawConn) error {
	if g.AllowPrivate {
		return nil
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	if !public(to.Addr()) {
		return errPrivate
	}
	return nil
}

// special are ranges that are no public addresses, or that lead to other addresses, and that netip has no word for.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carriers' private addresses
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // relays from IPv6
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("::/96"),           // IPv4 in its old form
	netip.MustParsePrefix("64:ff9b::/96"),    // IPv4 behind a translator
	netip.MustParsePrefix("64:ff9b:1::/48"),  // the same, local
	netip.MustParsePrefix("100::/64"),        // discarded
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, among them tunnels of IPv4
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // IPv4 in IPv6
	netip.MustParsePrefix("fec0::/10"),       // site-local
}

// public tells whether an address belongs to the public internet.
func public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	for _, prefix := range special {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}
