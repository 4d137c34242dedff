package testenv

import (
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// NetProxy stands between a client and a server, and does to their traffic what a bad network does.
type NetProxy struct {
	Addr string // to connect to in place of the server's

	proxy  *toxiproxy.Proxy
	toxics int
}

// Proxy starts a proxy before a server's address. It ends with the test.
func Proxy(t testing.TB, upstream string) *NetProxy {
	t.Helper()
	owner := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &NetProxy{proxy: toxiproxy.NewProxy(owner, t.Name(), "127.0.0.1:0", upstream)}
	if err := p.proxy.Start(); err != nil {
		t.Fatalf("testenv: start a proxy: %v", err)
	}
	p.Addr = p.proxy.Listen
	t.Cleanup(p.proxy.Stop)
	return p
}

// Delay holds every reply back for so long.
func (p *NetProxy) Delay(t testing.TB, d time.Duration) {
	t.Helper()
	p.add(t, "latency", "downstream", fmt.Sprintf(`{"latency": %d}`, d.Milliseconds()))
}

// LoseReplies lets requests through, which the server carries out, and no reply back.
func (p *NetProxy) LoseReplies(t testing.TB) {
	t.Helper()
	p.add(t, "timeout", "downstream", `{"timeout": 0}`)
}

// LoseRequests lets nothing through to the server; connections stand.
func (p *NetProxy) LoseRequests(t testing.TB) {
	t.Helper()
	p.add(t, "timeout", "upstream", `{"timeout": 0}`)
}

// CutReplies ends each connection after so many more bytes of replies, so in the middle of one.
func (p *NetProxy) CutReplies(t testing.TB, bytes int) {
	t.Helper()
	p.add(t, "limit_data", "downstream", fmt.Sprintf(`{"bytes": %d}`, bytes))
}

// Narrow lets replies through at so many kilobytes a second.
func (p *NetProxy) Narrow(t testing.TB, rate int) {
	t.Helper()
	p.add(t, "bandwidth", "downstream", fmt.Sprintf(`{"rate": %d}`, rate))
}

// Reset ends each connection with a RST so long after it began, in whatever it is then.
func (p *NetProxy) Reset(t testing.TB, after time.Duration) {
	t.Helper()
	p.add(t, "reset_peer", "downstream", fmt.Sprintf(`{"timeout": %d}`, after.Milliseconds()))
}

func (p *NetProxy) add(t testing.TB, kind, direction, attributes string) {
	t.Helper()
	p.toxics++
	body := fmt.Sprintf(`{"name": "%d", "type": %q, "stream": %q, "attributes": %s}`, p.toxics, kind, direction, attributes)
	if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(body)); err != nil {
		t.Fatalf("testenv: %s at a proxy: %v", kind, err)
	}
}

// Heal ends all of the above, for new connections: what went through a fault before may be closed.
func (p *NetProxy) Heal(t testing.TB) {
	t.Helper()
	p.proxy.Toxics.ResetToxics(t.Context())
}

// Close ends all connections and refuses new ones.
func (p *NetProxy) Close() { p.proxy.Stop() }

// Reopen accepts connections again, on the same address.
func (p *NetProxy) Reopen(t testing.TB) {
	t.Helper()
	if err := p.proxy.Start(); err != nil {
		t.Fatalf("testenv: start a proxy again: %v", err)
	}
}
