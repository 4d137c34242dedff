package httplimit

import (
	"net/netip"
	"strings"

	"github.com/headgate/headgate/client"
)

// DefaultIPv6Bits is the length of the IPv6 network that counts as one client.
const DefaultIPv6Bits = 64

// maxHops bounds how many proxies in a row are believed.
const maxHops = 32

// Address says how to find the address of the client behind proxies. The zero value believes no proxy: the client is the
// peer of the connection, whatever the header says.
//
// A proxy appends the address of its own peer to X-Forwarded-For or Forwarded, so only the rightmost entries come from
// proxies of ours; what stands left of them is whatever the client sent. The entries are walked from the right: as long as
// the address reached is trusted, it is believed about the one before it, and the first address that is not trusted is the
// client. Where an entry is missing or no address, the client is the last address reached.
type Address struct {
	// Trusted are the networks of the proxies in front of the service. Networks makes them from text. Don't trust networks
	// that clients are in.
	Trusted []netip.Prefix
	// Forwarded reads Forwarded (RFC 7239) instead of X-Forwarded-For. Only one of them is read: a proxy that writes the
	// one passes on the other as the client sent it.
	Forwarded bool
	// TrustSocket trusts peers that have no address, as on a Unix socket.
	TrustSocket bool
	// IPv6Bits is the length of the IPv6 network that counts as one client, 1..128. Default DefaultIPv6Bits (64), which
	// any other number stands for, since one customer commonly has all of a /64. IPv4 addresses count each by itself.
	IPv6Bits int
}

// Networks reads CIDRs such as 10.0.0.0/8 and single addresses. The error is a *client.MisuseError.
func Networks(cidrs ...string) ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, 0, len(cidrs))
	for _, text := range cidrs {
		network, err := netip.ParsePrefix(text)
		if addr, errAddr := netip.ParseAddr(text); errAddr == nil {
			network, err = addr.WithZone("").Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, &client.MisuseError{Argument: "networks", Advice: "write networks as 10.0.0.0/8 or 2001:db8::/32, and single addresses as they are"}
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Field is the header field that is read, in the form that http.Header keeps it in.
func (a Address) Field() string {
	if a.Forwarded {
		return "Forwarded"
	}
	return "X-Forwarded-For"
}

// Key returns the key of the client: an IPv4 address or an IPv6 network. peer is the other end of the connection, with or
// without a port; lines are those of Field, in the order that they came in. "" when there is no address.
func (a Address) Key(peer string, lines []string) string {
	addr := a.client(peer, lines)
	switch {
	case !addr.IsValid():
		return ""
	case addr.Is4():
		return addr.String()
	}
	bits := a.IPv6Bits
	if bits < 1 || bits > 128 {
		bits = DefaultIPv6Bits
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return "" // bits are within 1..128, so this does not happen
	}
	return network.String()
}

// client walks from the peer towards the client as far as the proxies are trusted.
func (a *Address) client(peer string, lines []string) netip.Addr {
	addr, ok := parseAddr(peer)
	if !ok && !a.TrustSocket {
		return netip.Addr{}
	}
	believed := !ok || a.trusts(addr)
	walked := 0
	var room [2*maxHops + 1]string
	for i := len(lines) - 1; i >= 0 && believed; i-- {
		entries, wellFormed := a.entries(lines[i], room[:0])
		if !wellFormed {
			return addr
		}
		for _, entry := range entries {
			before, ok := parseAddr(entry)
			if !ok {
				return addr
			}
			addr = before
			if walked++; walked == maxHops || !a.trusts(addr) {
				return addr
			}
		}
	}
	return addr
}

func (a *Address) trusts(addr netip.Addr) bool {
	for _, network := range a.Trusted {
		if network.Contains(addr) {
			return true
		}
		if network.Addr().Is4In6() && network.Contains(netip.AddrFrom16(addr.As16())) { // IPv4 written as IPv6
			return true
		}
	}
	return false
}

// entries cuts one line of the header field into what it says of each hop, the nearest first, appended to room.
func (a *Address) entries(line string, room []string) ([]string, bool) {
	if a.Forwarded {
		return appendForwarded(room, line)
	}
	return appendForwardedFor(room, line), true
}

// parseAddr reads an address as peers and proxies write it: with or without a port, IPv6 with or without brackets. Zones
// are dropped, and IPv4 written as IPv6 is IPv4.
func parseAddr(s string) (netip.Addr, bool) {
	if n := len(s); n > 2 && s[0] == '[' && s[n-1] == ']' && strings.Contains(s, ":") {
		s = s[1 : n-1]
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		withPort, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = withPort.Addr()
	}
	return addr.WithZone("").Unmap(), true
}
