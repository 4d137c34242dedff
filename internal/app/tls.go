package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// certificateEvery is how often the certificate's files are looked at. Signals alone would not do: what renews
// certificates often can't send any.
const certificateEvery = 10 * time.Second

// certificates holds the server's TLS certificate and follows its two files, so that a renewed one serves new
// connections without a restart. A pair that is broken or does not fit, as in the middle of a renewal, changes nothing.
type certificates struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	seen              [2][]byte // what the files held when they were last read; only for follow
	every             time.Duration
	hangup            chan os.Signal
}

// loadCertificates reads the pair for the first time; here a broken one is an error. From then on a SIGHUP ends no
// program any more, until close.
func loadCertificates(certFile, keyFile string, log *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, log: log, every: certificateEvery, hangup: make(chan os.Signal, 1)}
	if err := c.reload(); err != nil {
		return nil, fmt.Errorf("the certificate of HEADGATE_TLS_CERT_FILE and HEADGATE_TLS_KEY_FILE can't be used: %w", err)
	}
	signal.Notify(c.hangup, syscall.SIGHUP)
	return c, nil
}

func (c *certificates) close() { signal.Stop(c.hangup) }

// config serves the present certificate over TLS 1.2 or newer.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// errUnchanged says that the files hold what they held before, good or broken.
var errUnchanged = errors.New("unchanged")

func (c *certificates) reload() error {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return err
	}
	if bytes.Equal(cert, c.seen[0]) && bytes.Equal(key, c.seen[1]) {
		return errUnchanged
	}
	c.seen = [2][]byte{cert, key}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	return nil
}

// follow reloads the pair when the files have changed, and at once at a SIGHUP, until ctx ends.
func (c *certificates) follow(ctx context.Context) {
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	broken := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.hangup:
		case <-tick.C:
		}
		switch err := c.reload(); {
		case errors.Is(err, errUnchanged):
		case err == nil:
			broken = ""
			c.log.Info("TLS certificate reloaded", "until", c.current.Load().Leaf.NotAfter)
		case err.Error() != broken: // once for each trouble, not every ten seconds
			broken = err.Error()
			c.log.Error("the new TLS certificate can't be used; the one before stays", "error", err)
		}
	}
}
