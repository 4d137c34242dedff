package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/headgate/headgate/internal/store"
)

// PeerTLS says how the connection to a server of ours is secured, beside what its DSN or URL says. All are PEM texts.
type PeerTLS struct {
	CA   string // who may have signed the server's certificate; empty: whom the system trusts
	Cert string // ours, for a server that asks for one
	Key  string // of Cert
}

var peerSettings = slices.Concat(
	peerSettingsOf("HEADGATE_MYSQL", func(c *Config) *PeerTLS { return &c.MySQLTLS }),
	peerSettingsOf("HEADGATE_REDIS", func(c *Config) *PeerTLS { return &c.RedisTLS }),
)

func peerSettingsOf(prefix string, peer func(*Config) *PeerTLS) []setting {
	return []setting{
		{prefix + "_CA", text(func(c *Config) *string { return &peer(c).CA })},
		{prefix + "_CERT", text(func(c *Config) *string { return &peer(c).Cert })},
		{prefix + "_KEY", text(func(c *Config) *string { return &peer(c).Key })},
	}
}

// config is what the settings under a prefix come to, nil when there are none. The server's name is for the caller to set.
func (p PeerTLS) config(prefix string) (*tls.Config, error) {
	if p == (PeerTLS{}) {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.CA != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(p.CA)) {
			return nil, fmt.Errorf("%s_CA must be certificates in PEM", prefix)
		}
	}
	if (p.Cert == "") != (p.Key == "") {
		return nil, fmt.Errorf("%[1]s_CERT and %[1]s_KEY belong together; set both or neither", prefix)
	}
	if p.Cert != "" {
		pair, err := tls.X509KeyPair([]byte(p.Cert), []byte(p.Key))
		if err != nil {
			return nil, fmt.Errorf("%[1]s_CERT and %[1]s_KEY can't be used: %[2]w", prefix, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// over adds the settings of Redis to what its URL asks for, which must be TLS then.
func (p PeerTLS) over(asked *tls.Config) (*tls.Config, error) {
	config, err := p.config("HEADGATE_REDIS")
	switch {
	case err != nil || config == nil:
		return asked, err
	case asked == nil:
		return nil, errors.New("HEADGATE_REDIS_CA, _CERT and _KEY are for TLS: HEADGATE_REDIS_URL must begin with rediss://")
	case asked.InsecureSkipVerify && p.CA != "":
		return nil, errors.New("HEADGATE_REDIS_CA is there to verify the server: leave skip_verify out of HEADGATE_REDIS_URL")
	}
	asked = asked.Clone()
	asked.RootCAs, asked.Certificates = config.RootCAs, config.Certificates
	return asked, nil
}

// shown is the settings under a prefix as a person may see them.
func (p PeerTLS) shown(prefix string) map[string]string {
	return map[string]string{prefix + "_CA": hidden(p.CA), prefix + "_CERT": hidden(p.Cert), prefix + "_KEY": hidden(p.Key)}
}

// storeConfig is how the database server of the settings is reached.
func storeConfig(cfg Config, log *slog.Logger) (store.Config, error) {
	secured, err := cfg.MySQLTLS.config("HEADGATE_MYSQL")
	return store.Config{MySQLDSN: cfg.MySQLDSN, MySQLTLS: secured, Log: log}, err
}
