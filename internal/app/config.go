package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// Config is everything that the admin server can be told. docs/operations.md has the table of the variables.
type Config struct {
	Listen      string // host:port of the console and the API
	MySQLDSN    string // empty with Embedded
	RedisURL    string // empty with Embedded
	RedisPrefix string // first part of every Redis key
	MySQLTLS    PeerTLS
	RedisTLS    PeerTLS

	Embedded            bool   // SQLite and Redis inside this process, for evaluation
	DataDir             string // the embedded database's folder
	EmbeddedRedisListen string // host:port of the embedded Redis
	Demo                bool   // sample data and demo traffic; only with Embedded

	AdminPassword string // of the first admin; generated when empty
	SecureCookies bool   // cookies over TLS only, also where a request does not show that the browser speaks it

	TLSCertFile string // PEM files of the certificate, with its chain, and of its key; empty: plain HTTP
	TLSKeyFile  string

	TrustedProxies []netip.Prefix  // may tell the client's address and protocol
	ProxyHeader    api.ProxyHeader // in which headers they do
	MaxRequests    int             // requests in work at the same time

	PublicURL  string // the console as browsers know it: scheme and host; needed with OIDC
	LocalLogin bool   // names and passwords count; else only single sign-on
	OIDC       OIDC

	AuditKey string // private key (PEM) that signs the history's checkpoints; empty: one that the database keeps

	WebhookAllowPrivate bool // webhooks may point to private addresses, and use plain HTTP

	DebugListen string // host:port of figures and profiles; empty: not served
	DebugToken  string // what they are asked for with; needed beyond the loopback

	OTLPEndpoint string // URL of a collector that gets traces over OTLP/HTTP; empty: OpenTelemetry's own variables say

	RepairInterval time.Duration // how often all of Redis is compared with the database
	DrainDelay     time.Duration // how long the server says that it leaves before it does, when it is terminated
	LogLevel       slog.Level
	LogJSON        bool

	Version string // of the program; not a setting
}

// Defaults is the one place where a setting gets its value when nobody sets it.
func Defaults() Config {
	return Config{
		Listen:              "127.0.0.1:8080",
		RedisPrefix:         "headgate",
		DataDir:             "data",
		EmbeddedRedisListen: "127.0.0.1:6390",
		Demo:                true,
		ProxyHeader:         api.XForwarded,
		MaxRequests:         api.DefaultMaxRequests,
		LocalLogin:          true,
		OIDC: OIDC{
			Scopes: defaultScopes, UsernameClaim: auth.DefaultUsernameClaim, GroupsClaim: auth.DefaultGroupsClaim, Create: auth.AdmitMapped,
		},
		RepairInterval: 15 * time.Second,
		DrainDelay:     5 * time.Second,
		LogLevel:       slog.LevelInfo,
		Version:        "development",
	}
}

// setting binds an environment variable to a field.
type setting struct {
	name string
	set  func(c *Config, value string) error
}

// settings are all of them.
var settings = slices.Concat(baseSettings, peerSettings, auditSettings, oidcSettings, debugSettings, tracingSettings)

var baseSettings = []setting{
	{"HEADGATE_LISTEN", text(func(c *Config) *string { return &c.Listen })},
	{"HEADGATE_MYSQL_DSN", text(func(c *Config) *string { return &c.MySQLDSN })},
	{"HEADGATE_REDIS_URL", text(func(c *Config) *string { return &c.RedisURL })},
	{"HEADGATE_REDIS_PREFIX", text(func(c *Config) *string { return &c.RedisPrefix })},
	{"HEADGATE_DATA_DIR", text(func(c *Config) *string { return &c.DataDir })},
	{"HEADGATE_EMBEDDED_REDIS_LISTEN", text(func(c *Config) *string { return &c.EmbeddedRedisListen })},
	{"HEADGATE_DEMO", toggle(func(c *Config) *bool { return &c.Demo })},
	{"HEADGATE_ADMIN_PASSWORD", text(func(c *Config) *string { return &c.AdminPassword })},
	{"HEADGATE_SECURE_COOKIES", toggle(func(c *Config) *bool { return &c.SecureCookies })},
	{"HEADGATE_TLS_CERT_FILE", text(func(c *Config) *string { return &c.TLSCertFile })},
	{"HEADGATE_TLS_KEY_FILE", text(func(c *Config) *string { return &c.TLSKeyFile })},
	{"HEADGATE_PROXY_HEADER", proxyHeader},
	{"HEADGATE_MAX_REQUESTS", func(c *Config, v string) (err error) {
		c.MaxRequests, err = strconv.Atoi(v)
		if err != nil || c.MaxRequests < 8 || c.MaxRequests > 100_000 {
			return errors.New("must be 8..100000")
		}
		return nil
	}},
	{"HEADGATE_WEBHOOK_ALLOW_PRIVATE", toggle(func(c *Config) *bool { return &c.WebhookAllowPrivate })},
	{"HEADGATE_TRUSTED_PROXIES", func(c *Config, v string) error {
		for part := range strings.SplitSeq(v, ",") {
			prefix, err := netip.ParsePrefix(strings.TrimSpace(part))
			if err != nil {
				return errors.New("must be networks separated by commas, such as 10.0.0.0/8,127.0.0.1/32")
			}
			c.TrustedProxies = append(c.TrustedProxies, prefix)
		}
		return nil
	}},
	{"HEADGATE_REPAIR_INTERVAL", func(c *Config, v string) (err error) {
		c.RepairInterval, err = time.ParseDuration(v)
		if err != nil || c.RepairInterval < time.Second || c.RepairInterval > time.Hour {
			return errors.New("must be a duration of 1s..1h, such as 15s")
		}
		return nil
	}},
	{"HEADGATE_DRAIN_DELAY", func(c *Config, v string) (err error) {
		c.DrainDelay, err = time.ParseDuration(v)
		if err != nil || c.DrainDelay < 0 || c.DrainDelay > 5*time.Minute {
			return errors.New("must be a duration of 0s..5m, such as 5s")
		}
		return nil
	}},
	{"HEADGATE_LOG_LEVEL", func(c *Config, v string) error {
		if c.LogLevel.UnmarshalText([]byte(v)) != nil {
			return errors.New("must be debug, info, warn or error")
		}
		return nil
	}},
	{"HEADGATE_LOG_FORMAT", func(c *Config, v string) error {
		if v != "text" && v != "json" {
			return errors.New("must be text or json")
		}
		c.LogJSON = v == "json"
		return nil
	}},
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = v
		return nil
	}
}

func toggle(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch strings.ToLower(v) {
		case "on", "true", "1", "yes":
			*field(c) = true
		case "off", "false", "0", "no":
			*field(c) = false
		default:
			return errors.New("must be on or off")
		}
		return nil
	}
}

const bothWays = `neither a database nor --embedded was given. Set HEADGATE_MYSQL_DSN and HEADGATE_REDIS_URL to run on real servers, or try Headgate out with "admin serve --embedded"`

// Validate checks the settings together and reports every fault, a line each.
func (c *Config) Validate() error {
	var faults []error
	if c.Embedded {
		if c.MySQLDSN != "" || c.RedisURL != "" {
			faults = append(faults, errors.New("--embedded can't stand beside HEADGATE_MYSQL_DSN or HEADGATE_REDIS_URL: it brings its own database and Redis. Unset them, or leave --embedded out"))
		}
		faults = append(faults, address("HEADGATE_EMBEDDED_REDIS_LISTEN", c.EmbeddedRedisListen))
	} else {
		faults = append(faults, c.validateServers())
	}
	faults = append(faults, address("HEADGATE_LISTEN", c.Listen), c.validateLogin(), c.checkDebug())
	if (c.TLSCertFile == "") != (c.TLSKeyFile == "") {
		faults = append(faults, errors.New("HEADGATE_TLS_CERT_FILE and HEADGATE_TLS_KEY_FILE belong together; set both or neither"))
	}
	faults = append(faults, c.checkAdminPassword())
	if c.RedisPrefix == "" || strings.ContainsAny(c.RedisPrefix, "{} \t\r\n") || len(c.RedisPrefix) > 64 {
		faults = append(faults, errors.New("HEADGATE_REDIS_PREFIX must be 1..64 characters without braces and spaces"))
	}
	return errors.Join(faults...)
}

func (c *Config) validateServers() error {
	switch {
	case c.MySQLDSN == "" && c.RedisURL == "":
		return errors.New(bothWays)
	case c.MySQLDSN == "":
		return errors.New("HEADGATE_REDIS_URL is set but HEADGATE_MYSQL_DSN is not, e.g. user:password@tcp(127.0.0.1:3306)/headgate")
	case c.RedisURL == "":
		return errors.New("HEADGATE_MYSQL_DSN is set but HEADGATE_REDIS_URL is not, e.g. redis://127.0.0.1:6379/0")
	}
	secured, broken := c.MySQLTLS.config("HEADGATE_MYSQL")
	if broken == nil {
		broken = ofDSN(store.CheckDSN(c.MySQLDSN, secured))
	}
	rdb, err := connectRedis(c)
	if err != nil {
		return errors.Join(broken, err)
	}
	return errors.Join(broken, rdb.Close())
}

// address checks that something could listen there: a port may also have the name of a service.
func address(name, value string) error {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%s must be host:port, such as 127.0.0.1:8080, not %q", name, value)
	}
	return nil
}

// Explain is an error as a person at the command line reads it: what is wrong, without the codes that programs read.
func Explain(err error) string {
	text := err.Error()
	var e *model.Error
	if errors.As(err, &e) {
		text = strings.Replace(text, string(e.Code)+": ", "", 1)
	}
	return text
}
