package app

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"time"
)

// debugSettings are those of the second listener.
var debugSettings = []setting{
	{"HEADGATE_DEBUG_LISTEN", text(func(c *Config) *string { return &c.DebugListen })},
	{"HEADGATE_DEBUG_TOKEN", func(c *Config, v string) error {
		c.DebugToken = v
		if len(v) < debugTokenMin {
			return fmt.Errorf("must have at least %d characters", debugTokenMin)
		}
		return nil
	}},
}

const debugTokenMin = 16

// checkDebug keeps figures and profiles from standing open to a network.
func (c *Config) checkDebug() error {
	if c.DebugListen == "" {
		return nil
	}
	if err := address("HEADGATE_DEBUG_LISTEN", c.DebugListen); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(c.DebugListen)
	if !loopback(host) && c.DebugToken == "" {
		return errors.New("HEADGATE_DEBUG_LISTEN beyond the loopback needs a HEADGATE_DEBUG_TOKEN: profiles show what is in memory")
	}
	return nil
}

// loopback tells whether a host is this machine itself, by its name or address.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

// debugServer serves /metrics and /debug/pprof, apart from what browsers reach.
type debugServer struct {
	listener net.Listener
	server   *http.Server
}

// openDebug listens where the settings say; nowhere without them.
func (a *App) openDebug(ctx context.Context) error {
	if a.cfg.DebugListen == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.DebugListen)
	if err != nil {
		return fmt.Errorf("can't listen on %s (%w); free the port, or set HEADGATE_DEBUG_LISTEN", a.cfg.DebugListen, err)
	}
	a.debug = &debugServer{listener: listener, server: &http.Server{
		Handler:           guardDebug(a.cfg.DebugToken, debugRoutes(a.metrics.Handler())),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      2 * time.Minute, // bounds the length of a profile
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}}
	return nil
}

// DebugAddr is where figures and profiles are served, "" for nowhere.
func (a *App) DebugAddr() string {
	if a.debug == nil {
		return ""
	}
	return a.debug.listener.Addr().String()
}

// run serves until ctx ends. Profiles that are being made are broken off.
func (d *debugServer) run(ctx context.Context, log *slog.Logger) {
	stop := context.AfterFunc(ctx, func() { _ = d.server.Close() })
	defer stop()
	if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error("figures and profiles are not served any more", "error", err)
	}
}

func (d *debugServer) close() { _ = d.listener.Close() }

func debugRoutes(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// guardDebug lets those through who show the token. Without one it is the loopback that guards, and then a request must
// name it: else a page in a browser on this machine could ask under a name of its own that leads here.
func guardDebug(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token == "" {
			host, _, err := net.SplitHostPort(r.Host)
			if err != nil {
				host = r.Host
			}
			if !loopback(host) {
				http.Error(w, "ask for this by a loopback address", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "HEADGATE_DEBUG_TOKEN is wanted as a bearer token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
