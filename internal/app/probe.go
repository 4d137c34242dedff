package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// probeTimeout is below what container engines give a health check.
const probeTimeout = 4 * time.Second

// Probe asks the server that the settings describe, on this machine, whether it can serve: for images without a shell.
func Probe(ctx context.Context, cfg Config) error {
	if err := address("HEADGATE_LISTEN", cfg.Listen); err != nil {
		return err
	}
	scheme := "http"
	if cfg.TLSCertFile != "" {
		scheme = "https"
	}
	// The certificate is for the name that browsers use. What asks is on the same machine and sends nothing secret.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+reachable(cfg.Listen)+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not ready: %s", res.Status)
	}
	return nil
}

// reachable turns "every address" into one that can be dialled.
func reachable(listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && addr.IsUnspecified() && addr.Is4():
		host = "127.0.0.1"
	case err == nil && addr.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
