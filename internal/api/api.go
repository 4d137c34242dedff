// Package api is the HTTP API under /api/v1. routes.go is the one page with every route and the permission it needs,
// errors.go the one table from error codes to statuses; each noun has a file of its own.
//
// A handler reads: bind, the route's permission was demanded already, check the scope, save in one transaction, push to
// Redis after the commit, answer with the sync state.
package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/headgate/headgate/internal/auth"
)

// Config is what New needs. Fields are required unless they say otherwise.
type Config struct {
	Store    Store
	Auth     *auth.Service
	Pusher   Pusher
	Live     Live
	Health   Health
	Console  http.Handler     // gets every request outside /api, /healthz and /readyz; nil: 404
	Log      *slog.Logger     // nil: slog.Default()
	Now      func() time.Time // nil: time.Now
	Embedded bool             // told to the console, which says that the installation is for evaluation
	// TrustedProxies may name the client's address in X-Forwarded-For. Empty: the address is the connection's.
	TrustedProxies []netip.Prefix
}

// New makes the handler of the whole server: API, health checks, and the console for everything else.
func New(c Config) http.Handler {
	panic("not built yet")
}

// OpenAPI returns the description of the API as an OpenAPI 3.1 document: what the server serves, docs/openapi.json
// holds, and the console's types are generated from.
func OpenAPI() []byte {
	panic("not built yet")
}

// NewServer makes an http.Server with limits on headers, bodies and time. The caller listens and serves.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
