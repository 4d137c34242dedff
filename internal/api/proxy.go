package api

import (
	"net/http"
	"net/netip"
	"strings"
)

// ProxyHeader names the headers in which trusted proxies tell where a request came from. It is one way and not both: a
// proxy that sets one kind hands on what a client wrote into the other.
type ProxyHeader string

// The kinds of headers of proxies.
const (
	XForwarded ProxyHeader = "x-forwarded" // X-Forwarded-For and X-Forwarded-Proto; the zero ProxyHeader means the same
	Forwarded  ProxyHeader = "forwarded"   // RFC 7239
)

// hopsMost bounds how many addresses of a request's headers are looked at.
const hopsMost = 32

// hop is what one proxy tells: who asked it, and over which protocol. An empty protocol is not known.
type hop struct {
	address netip.Addr
	proto   string
}

// origin tells where a request came from and whether the browser spoke HTTPS. Only a peer that is a trusted proxy may
// say otherwise than the connection does. Of the addresses that proxies added one behind the other, the last one that
// is no trusted proxy's counts: what stands before it, anybody may have written.
func (s *server) origin(r *http.Request) (address string, https bool) {
	https = r.TLS != nil
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "", https // a test's request without a network
	}
	client := peer.Addr().Unmap()
	hops := xForwarded(r.Header)
	if s.ProxyHeader == Forwarded {
		hops = forwarded(r.Header)
	}
	for i := len(hops) - 1; i >= 0 && s.trusts(client); i-- {
		if hops[i].proto != "" {
			https = hops[i].proto == "https"
		}
		if !hops[i].address.IsValid() {
			break // "unknown", or nonsense: the proxy that says so is the last thing known
		}
		client = hops[i].address
	}
	return client.WithZone("").String(), https
}

func (s *server) trusts(address netip.Addr) bool {
	for _, p := range s.TrustedProxies {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

// xForwarded reads X-Forwarded-For and X-Forwarded-Proto. Most proxies set a single protocol, which is then the one of
// every hop; of a list, the last ones belong to the last addresses.
func xForwarded(h http.Header) []hop {
	addresses, protos := entries(h, "X-Forwarded-For"), entries(h, "X-Forwarded-Proto")
	if len(addresses) == 0 && len(protos) > 0 {
		return []hop{{proto: strings.ToLower(protos[len(protos)-1])}}
	}
	hops := make([]hop, len(addresses))
	for i, text := range addresses {
		hops[i].address = hostOf(text)
		switch at := i - len(addresses) + len(protos); {
		case len(protos) == 1:
			hops[i].proto = strings.ToLower(protos[0])
		case at >= 0 && at < len(protos):
			hops[i].proto = strings.ToLower(protos[at])
		}
	}
	return hops
}

// forwarded reads Forwarded as RFC 7239 has it. Its quoted values hold neither commas nor semicolons in what is read
// here, so an element that has them is nonsense and ends the reading of hops.
func forwarded(h http.Header) []hop {
	elements := entries(h, "Forwarded")
	hops := make([]hop, len(elements))
	for i, element := range elements {
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			value = strings.Trim(value, `"`)
			switch strings.ToLower(name) {
			case "for":
				hops[i].address = hostOf(value)
			case "proto":
				hops[i].proto = strings.ToLower(value)
			}
		}
	}
	return hops
}

// entries splits a header that may be given as a list, as several lines, or both. The last entries are kept.
func entries(h http.Header, name string) []string {
	joined := strings.Join(h.Values(name), ",")
	if joined == "" {
		return nil
	}
	parts := strings.Split(joined, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts[max(0, len(parts)-hopsMost):]
}

// hostOf reads an address, with or without brackets and port; the zero one when it is none.
func hostOf(text string) netip.Addr {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone("")
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	address, err := netip.ParseAddr(bare)
	if err != nil {
		return netip.Addr{}
	}
	return address.Unmap().WithZone("")
}
