package httplimit_test

import (
	"errors"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func networks(t testing.TB, cidrs ...string) []netip.Prefix {
	t.Helper()
	list, err := httplimit.Networks(cidrs...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheClientIsTheFirstAddressFromTheRightThatIsNotTrusted(t *testing.T) {
	const peer = "10.0.0.1:4711"
	trusted := networks(t, "10.0.0.0/8", "2001:db8:1::/48", "::ffff:172.16.0.0/108", "192.0.2.200", "fe80::/16")
	hops := strings.Repeat("10.1.1.1, ", 40)
	for _, c := range []struct {
		name, peer string
		lines      []string
		want       string
	}{
		{"no header", peer, nil, "10.0.0.1"},
		{"one proxy", peer, []string{"203.0.113.9"}, "203.0.113.9"},
		{"forged entries stand left", peer, []string{"1.1.1.1, 2.2.2.2, 203.0.113.9"}, "203.0.113.9"},
		{"forged trusted entries stand left", peer, []string{"10.9.9.9, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies", peer, []string{"1.1.1.1, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		{"several lines are one list", peer, []string{"1.1.1.1", "203.0.113.9", "10.0.0.2,10.0.0.3"}, "203.0.113.9"},
		{"a peer that is not trusted", "198.51.100.7:1", []string{"203.0.113.9"}, "198.51.100.7"},
		{"a trusted single address", "192.0.2.200:1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a neighbour of a trusted single address", "192.0.2.201:1", []string{"203.0.113.9"}, "192.0.2.201"},
		{"a network written as mapped IPv6", "172.17.0.1:1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a peer written as mapped IPv6", "[::ffff:10.0.0.1]:4711", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a client written as mapped IPv6", peer, []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"all are trusted", peer, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"spaces and tabs", peer, []string{" 1.1.1.1 ,\t203.0.113.9 "}, "203.0.113.9"},
		{"with a port", peer, []string{"203.0.113.9:80"}, "203.0.113.9"},
		{"IPv6", peer, []string{"2001:db8:2:3:4:5:6:7"}, "2001:db8:2:3::/64"},
		{"IPv6 in brackets", peer, []string{"[2001:db8:2:3:4:5:6:7]"}, "2001:db8:2:3::/64"},
		{"IPv6 with a port", peer, []string{"[2001:db8:2:3:4:5:6:7]:80"}, "2001:db8:2:3::/64"},
		{"IPv6 with a zone", peer, []string{"fe81::1%eth0"}, "fe81::/64"},
		{"an IPv6 proxy", "[2001:db8:1::5]:1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a proxy with a zone", "[fe80::1%eth0]:1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"garbage ends the walk", peer, []string{"203.0.113.9, garbage, 10.0.0.2"}, "10.0.0.2"},
		{"garbage right of all", peer, []string{"203.0.113.9, garbage"}, "10.0.0.1"},
		{"an empty entry ends the walk", peer, []string{"203.0.113.9,"}, "10.0.0.1"},
		{"an empty line ends the walk", peer, []string{"203.0.113.9", ""}, "10.0.0.1"},
		{"IPv4 in brackets is garbage", peer, []string{"[203.0.113.9]"}, "10.0.0.1"},
		{"31 more proxies", peer, []string{"203.0.113.9, " + strings.Repeat("10.1.1.1, ", 30) + "10.2.2.2"}, "203.0.113.9"},
		{"too many proxies", peer, []string{"203.0.113.9, " + hops + "10.2.2.2"}, "10.1.1.1"},
		{"too many proxies over lines", peer, []string{"203.0.113.9", hops + "10.2.2.2"}, "10.1.1.1"},
		{"a peer without a port", "10.0.0.1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"a peer without an address", "@", []string{"203.0.113.9"}, ""},
		{"no peer", "", []string{"203.0.113.9"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (httplimit.Address{Trusted: trusted}).Key(c.peer, c.lines); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestForwardedIsReadAsRFC7239Says(t *testing.T) {
	address := httplimit.Address{Trusted: networks(t, "10.0.0.0/8"), Forwarded: true}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a token", []string{"for=203.0.113.9"}, "203.0.113.9"},
		{"names in any case", []string{"FoR=203.0.113.9"}, "203.0.113.9"},
		{"among other parameters", []string{`proto=https;for=203.0.113.9;by=10.0.0.1;host="a,b;c"`}, "203.0.113.9"},
		{"quoted, with a port", []string{`for="203.0.113.9:80"`}, "203.0.113.9"},
		{"unquoted, with a port", []string{`for=203.0.113.9:80`}, "203.0.113.9"},
		{"IPv6", []string{`for="[2001:db8:2:3::7]:4711"`}, "2001:db8:2:3::/64"},
		{"an escaped character", []string{`for="203.0.113\.9"`}, "203.0.113.9"},
		{"forged elements stand left", []string{"for=1.1.1.1, for=203.0.113.9"}, "203.0.113.9"},
		{"two proxies over lines", []string{"for=1.1.1.1, for=203.0.113.9", "for=10.0.0.2"}, "203.0.113.9"},
		{"spaces", []string{" for=1.1.1.1 ; proto=http ,\tfor=203.0.113.9 "}, "203.0.113.9"},
		{"unknown ends the walk", []string{"for=203.0.113.9, for=unknown"}, "10.0.0.1"},
		{"an obfuscated name ends the walk", []string{`for=203.0.113.9, for="_gazonk"`}, "10.0.0.1"},
		{"an element without for ends the walk", []string{"for=203.0.113.9, proto=http"}, "10.0.0.1"},
		{"an empty element ends the walk", []string{"for=203.0.113.9,"}, "10.0.0.1"},
		{"an open quote is not believed", []string{`for="x, for=203.0.113.9`}, "10.0.0.1"},
		{"an open quote that swallows a quote is not believed", []string{`for="x, for="[2001:db8::1]"`}, "10.0.0.1"},
		{"an open quote with an escape is not believed", []string{`for="x\`, `for="y\"`}, "10.0.0.1"},
		{"a malformed line that is not reached", []string{`for="x`, `for=203.0.113.9`}, "203.0.113.9"},
		{"the same parameter twice", []string{"for=203.0.113.9;for=1.1.1.1"}, "10.0.0.1"},
		{"no equals sign", []string{"203.0.113.9"}, "10.0.0.1"},
		{"no value", []string{"for="}, "10.0.0.1"},
		{"no value of another parameter", []string{"proto=;for=203.0.113.9"}, "10.0.0.1"},
		{"a quote in another token", []string{`proto=a"b;for=203.0.113.9`}, "10.0.0.1"},
		{"no name", []string{"=203.0.113.9"}, "10.0.0.1"},
		{"text behind a value", []string{"for=203.0.113.9 x"}, "10.0.0.1"},
		{"text behind a quote", []string{`for="203.0.113.9"x`}, "10.0.0.1"},
		{"a quote in a token", []string{`for=203"`}, "10.0.0.1"},
		{"a long list", []string{strings.Repeat("for=1.1.1.1,", 500) + "for=203.0.113.9"}, "203.0.113.9"},
		{"a long list of proxies", []string{"for=203.0.113.9," + strings.Repeat("for=10.1.1.1,", 500) + "for=10.0.0.2"}, "10.1.1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := address.Key("10.0.0.1:4711", c.lines); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAForgedListOfAnyLengthHidesNoProxy(t *testing.T) {
	for forged := range 140 {
		line := strings.Repeat("1.1.1.1, ", forged) + "203.0.113.9" + strings.Repeat(", 10.1.1.1", 30)
		if got := (httplimit.Address{Trusted: networks(t, "10.0.0.0/8")}).Key("10.0.0.1", []string{line}); got != "203.0.113.9" {
			t.Errorf("X-Forwarded-For with %d forged entries: %q", forged, got)
		}
		line = "for=" + strings.ReplaceAll(line, ", ", ", for=")
		if got := (httplimit.Address{Trusted: networks(t, "10.0.0.0/8"), Forwarded: true}).Key("10.0.0.1", []string{line}); got != "203.0.113.9" {
			t.Errorf("Forwarded with %d forged elements: %q", forged, got)
		}
	}
}

func TestIPv6IsCountedByTheNetworkAsked(t *testing.T) {
	for bits, want := range map[int]string{0: "2001:db8:1:2::/64", 48: "2001:db8:1::/48", 128: "2001:db8:1:2:3:4:5:6/128", 129: "2001:db8:1:2::/64", -1: "2001:db8:1:2::/64"} {
		if got := (httplimit.Address{IPv6Bits: bits}).Key("[2001:db8:1:2:3:4:5:6]:443", nil); got != want {
			t.Errorf("%d bits: got %q, want %q", bits, got, want)
		}
		if got := (httplimit.Address{IPv6Bits: bits}).Key("192.0.2.1:443", nil); got != "192.0.2.1" {
			t.Errorf("%d bits: got %q", bits, got)
		}
	}
}

func TestAPeerOnASocketIsBelievedOnlyIfAsked(t *testing.T) {
	address := httplimit.Address{TrustSocket: true}
	if got := address.Key("@", []string{"1.1.1.1, 203.0.113.9"}); got != "203.0.113.9" {
		t.Errorf("got %q", got)
	}
	if got := address.Key("@", nil); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestNetworksThatAreNoneAreRefused(t *testing.T) {
	for _, text := range []string{"", "10.0.0.0/33", "10.0.0", "proxy", "10.0.0.1:80"} {
		var misuse *client.MisuseError
		if _, err := httplimit.Networks("10.0.0.0/8", text); !errors.As(err, &misuse) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestASpoofedHeaderFromAnUntrustedPeerIsIgnored(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("addresses", 1))
	for name, address := range map[string]httplimit.Address{
		"none trusted": {}, "others trusted": {Trusted: networks(t, "10.0.0.0/8")}, "Forwarded": {Forwarded: true},
	} {
		server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "addresses", Key: httplimit.IP(address), Name: name}}))
		sdkenv.Get(t, server, "X-Forwarded-For", "203.0.113.1", "Forwarded", "for=203.0.113.1")
		sdkenv.Get(t, server, "X-Forwarded-For", "203.0.113.2", "Forwarded", "for=203.0.113.2").WantStatus(t, 429)
	}
	behind := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "addresses", Key: httplimit.IP(httplimit.Address{Trusted: networks(t, "127.0.0.0/8")})}}))
	sdkenv.Get(t, behind, "X-Forwarded-For", "203.0.113.1").WantStatus(t, 200)
	sdkenv.Get(t, behind, "X-Forwarded-For", "1.1.1.1, 203.0.113.1").WantStatus(t, 429)
	sdkenv.Get(t, behind, "X-Forwarded-For", "203.0.113.2").WantStatus(t, 200)
}

func TestARequestWithoutAnAddressHasNoKey(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	r.RemoteAddr = ""
	if got := httplimit.IP(httplimit.Address{})(r); got != "" {
		t.Errorf("got %q", got)
	}
}

// Whatever a client sends, what the trusted proxy appends decides: the key is the address that it appended or, for a line
// that the client broke, the proxy's own. It is never an address of the client's choice.
func FuzzClientsCantChooseTheirKey(f *testing.F) {
	for _, seed := range []string{
		"", "1.1.1.1", "10.0.0.9", "1.1.1.1, 10.0.0.2", ",", "for=1.1.1.1", `for="x`, `for="x\`, `for="[::1]:80";by=_a`,
		`a="b,c";for=10.0.0.2`, "unknown", "[", "[]", "[::1", "::ffff:10.0.0.1", "fe80::1%eth0", `x=";for=`, `for=10.0.0.9;x="`,
		strings.Repeat("10.0.0.1,", 80), strings.Repeat("for=10.0.0.1,", 80), "\x00", "for=1.1.1.1;;", "\t",
	} {
		f.Add(seed)
	}
	trusted := networks(f, "10.0.0.0/8")
	f.Fuzz(func(t *testing.T, sent string) {
		const proxy, appended = "10.0.0.1", "203.0.113.9"
		list := httplimit.Address{Trusted: trusted}
		for _, lines := range [][]string{{sent + ", " + appended}, {sent, appended}, {sent + "," + appended, "10.3.3.3"}} {
			if got := list.Key(proxy+":1", lines); got != appended {
				t.Errorf("X-Forwarded-For %q: %q", lines, got)
			}
		}
		forwarded := httplimit.Address{Trusted: trusted, Forwarded: true}
		for _, element := range []string{"for=" + appended, `for="` + appended + `:80"`, "proto=https;for=" + appended, `by="[2001:db8::1]";for=` + appended} {
			if got := forwarded.Key(proxy+":1", []string{sent + ", " + element}); got != appended && got != proxy {
				t.Errorf("Forwarded %q, %s: %q", sent, element, got)
			}
			if got := forwarded.Key(proxy+":1", []string{sent, element}); got != appended {
				t.Errorf("Forwarded %q and %s: %q", sent, element, got)
			}
		}
		for _, address := range []httplimit.Address{list, forwarded, {}, {TrustSocket: true}} {
			for _, peer := range []string{sent, "198.51.100.7:1", "@"} {
				key := address.Key(peer, []string{sent})
				if peer == "198.51.100.7:1" && key != "198.51.100.7" {
					t.Errorf("an untrusted peer: %q", key)
				}
				if _, err := netip.ParseAddr(key); err != nil && key != "" && parsePrefix(key) != nil {
					t.Errorf("%q is no address", key)
				}
			}
		}
	})
}

func parsePrefix(s string) error {
	_, err := netip.ParsePrefix(s)
	return err
}
