package api

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// Only what trusted proxies say counts, and of that only what they, and not the client, have written. The proxies here
// are 10.0.0.0/8; clients come from elsewhere.
func TestOriginIsWhatTheLastTrustedProxySaw(t *testing.T) {
	const proxy, stranger = "10.0.0.1:1234", "198.51.100.7:1234"
	lines := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, c := range []struct {
		name    string
		peer    string
		kind    ProxyHeader
		headers http.Header
		address string
		https   bool
	}{
		{"no proxy", stranger, "", lines(), "198.51.100.7", false},
		{"a client that pretends", stranger, "", lines("X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https"), "198.51.100.7", false},
		{"a client that pretends by RFC 7239", stranger, Forwarded, lines("Forwarded", "for=192.0.2.1;proto=https"), "198.51.100.7", false},
		{"a proxy that says nothing", proxy, "", lines(), "10.0.0.1", false},
		{"one proxy", proxy, "", lines("X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https"), "192.0.2.1", true},
		{"a client that writes in front of the proxy", proxy, "", lines("X-Forwarded-For", "127.0.0.1, 10.0.0.9, 192.0.2.1"), "192.0.2.1", false},
		{"the same in two lines", proxy, "", lines("X-Forwarded-For", "127.0.0.1", "X-Forwarded-For", "192.0.2.1"), "192.0.2.1", false},
		{"a client that has the proxy add its protocol to a list", proxy, "", lines("X-Forwarded-For", "1.1.1.1, 192.0.2.1", "X-Forwarded-Proto", "https, http"), "192.0.2.1", false},
		{"two proxies", proxy, "", lines("X-Forwarded-For", "192.0.2.1, 10.0.0.2", "X-Forwarded-Proto", "https, http"), "192.0.2.1", true},
		{"a protocol alone", proxy, "", lines("X-Forwarded-Proto", "HTTPS"), "10.0.0.1", true},
		{"no address", proxy, "", lines("X-Forwarded-For", "192.0.2.1, unknown"), "10.0.0.1", false},
		{"nonsense", proxy, "", lines("X-Forwarded-For", "<script>, \r\n,,"), "10.0.0.1", false},
		{"nothing but proxies", proxy, "", lines("X-Forwarded-For", "10.0.0.3, 10.0.0.2"), "10.0.0.3", false},
		{"a port", proxy, "", lines("X-Forwarded-For", "192.0.2.1:5555"), "192.0.2.1", false},
		{"IPv6", proxy, "", lines("X-Forwarded-For", "2001:db8::1"), "2001:db8::1", false},
		{"IPv6 with brackets and port", proxy, "", lines("X-Forwarded-For", "[2001:db8::1]:443"), "2001:db8::1", false},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:80", "", lines("X-Forwarded-For", "::ffff:192.0.2.1"), "192.0.2.1", false},
		{"a zone", proxy, "", lines("X-Forwarded-For", "fe80::1%eth0"), "fe80::1", false},
		{"thousands", proxy, "", lines("X-Forwarded-For", strings.Repeat("10.0.0.2,", 5000)+"10.0.0.3"), "10.0.0.2", false},
		{"RFC 7239", proxy, Forwarded, lines("Forwarded", `for="[2001:db8::1]:4711";proto=https;by=10.0.0.1`), "2001:db8::1", true},
		{"RFC 7239, two hops", proxy, Forwarded, lines("Forwarded", `For=192.0.2.1;Proto=HTTPS, for=10.0.0.2;proto=http`), "192.0.2.1", true},
		{"RFC 7239, hidden", proxy, Forwarded, lines("Forwarded", `for=192.0.2.1, for=_hidden;proto=https`), "10.0.0.1", true},
		{"the other header, handed on by a proxy that does not know it", proxy, "", lines("Forwarded", "for=192.0.2.1;proto=https"), "10.0.0.1", false},
		{"the other way round", proxy, Forwarded, lines("X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https"), "10.0.0.1", false},
		{"X-Real-IP", proxy, "", lines("X-Real-IP", "192.0.2.1"), "10.0.0.1", false},
	} {
		s := &server{Config: Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, ProxyHeader: c.kind}}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header = c.peer, c.headers
		if address, https := s.origin(r); address != c.address || https != c.https {
			t.Errorf("%s: %s, %v; want %s, %v", c.name, address, https, c.address, c.https)
		}
	}
}

// A trusted proxy may speak TLS to us for a browser that does not.
func TestProxyTellsTheBrowsersProtocolNotItsOwn(t *testing.T) {
	s := &server{Config: Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr, r.TLS = "10.0.0.1:1", &tls.ConnectionState{}
	if _, https := s.origin(r); !https {
		t.Error("a proxy that says nothing takes TLS away")
	}
	r.Header.Set("X-Forwarded-Proto", "http")
	if _, https := s.origin(r); https {
		t.Error("the browser speaks no TLS")
	}
}
