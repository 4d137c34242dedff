package app

import (
	"fmt"
	"net"

	"github.com/headgate/headgate/internal/api"
)

// openCertificates reads the TLS certificate, when there is to be one.
func (a *App) openCertificates() (err error) {
	if a.cfg.TLSCertFile != "" {
		a.certificates, err = loadCertificates(a.cfg.TLSCertFile, a.cfg.TLSKeyFile, a.log)
	}
	return err
}

// serve answers requests until the server is shut down, over TLS when there is a certificate.
func (a *App) serve(listener net.Listener) error {
	if a.certificates == nil {
		return a.server.Serve(listener)
	}
	a.server.TLSConfig = a.certificates.config()
	return a.server.ServeTLS(listener, "", "")
}

// URL is where the console is served.
func (a *App) URL() string {
	scheme := "http"
	if a.certificates != nil {
		scheme = "https"
	}
	return scheme + "://" + a.listener.Addr().String()
}

// proxyHeader reads the setting of the same name.
func proxyHeader(c *Config, value string) error {
	switch kind := api.ProxyHeader(value); kind {
	case api.XForwarded, api.Forwarded:
		c.ProxyHeader = kind
		return nil
	}
	return fmt.Errorf("must be %s or %s", api.XForwarded, api.Forwarded)
}
