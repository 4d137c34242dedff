// Package api is the HTTP API under /api/v1. routes.go is the one page with every route and the permission it needs,
// errors.go the one table from error codes to statuses; each noun has a file of its own.
//
// A handler reads: bind, the route's permission was demanded already, check the scope, save in one transaction, push to
// Redis after the commit, answer with the sync state.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Config is what New needs. Fields are required unless they say otherwise.
type Config struct {
	Store    Store
	Auth     *auth.Service
	Pusher   Pusher
	Overlay  OverlayPusher
	Live     Live
	Figures  Figures
	Health   Health
	Sync     Syncer           // tells how far Redis has followed; nil: nothing is told
	Webhooks Webhooks         // calls webhooks; nil: none can be added
	Console  http.Handler     // gets every request outside /api, /healthz and /readyz; nil: 404
	Recorder Recorder         // keeps refused attempts; nil: each is written to Store at once
	Log      *slog.Logger     // nil: slog.Default()
	Now      func() time.Time // nil: time.Now
	// SignOn is the single sign-on; nil: none. LocalLoginOff refuses passwords, so that only it counts.
	SignOn        *auth.OIDC
	LocalLoginOff bool
	Embedded      bool // told to the console, which says that the installation is for evaluation
	// SecureCookies keeps cookies on HTTPS even where a request does not show that the browser speaks it.
	SecureCookies bool
	// TrustedProxies may tell the client's address and protocol in the headers of ProxyHeader. Empty: they are the
	// connection's.
	TrustedProxies []netip.Prefix
	ProxyHeader    ProxyHeader // "": XForwarded
	// MaxRequests bounds the requests in work; further ones are answered 503 at once. 0: DefaultMaxRequests.
	MaxRequests int
	// Observe is told of every answered request, with the template of its route, "" for none; nil: nobody is.
	Observe func(method, route string, status int, took time.Duration)
	// Trace begins the trace of a request that matched a route, and gives its id; end is told the status. nil: none.
	Trace func(r *http.Request, route, requestID string) (_ context.Context, traceID string, end func(status int))
	// Leaving, when closed, has /readyz say no, and each connection end behind its answer; nil: never.
	Leaving <-chan struct{}
	// Draining, when closed, ends the streams, which would else keep the server from stopping; nil: never.
	Draining <-chan struct{}
}

// server has the parts that the handlers use.
type server struct {
	Config
	log       *slog.Logger
	document  []byte // the OpenAPI document
	work      *gate
	exports   exportCount
	verifying atomic.Bool // the history
	watches   *watchHub
	streams   map[string]bool // gin paths of answers that take as long as they take
}

// New makes the handler of the whole server: API, health checks, and the console for everything else.
func New(c Config) http.Handler {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Webhooks == nil {
		c.Webhooks = noWebhooks{}
	}
	if c.Sync == nil {
		c.Sync = noSyncer{}
	}
	if c.Recorder == nil {
		c.Recorder = plainRecorder{c.Store}
	}
	if c.MaxRequests == 0 {
		c.MaxRequests = DefaultMaxRequests
	}
	s := &server{Config: c, log: c.Log, document: OpenAPI(), work: newGate(c.MaxRequests)}
	s.watches = newWatchHub(c.Figures, c.Store, c.Log)
	engine, _ := s.build()
	return engine
}

// build makes the router with every route.
func (s *server) build() (*gin.Engine, *routes) {
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.ForwardedByClientIP = false // origin reads these headers
	s.streams = map[string]bool{}
	engine.Use(s.identify, s.trace, s.logAccess, s.recoverPanic, s.secureAnswers, s.partWhileLeaving, s.limitWork, endAfterChunks, refuseCrossOrigin(), refuseBadText, s.limitTime)
	engine.NoMethod(func(c *gin.Context) { refuse(c, codeNoMethod, "this path does not know the method") })
	engine.NoRoute(s.elsewhere)
	r := newRoutes(s, engine)
	s.routes(r)
	return engine, r
}

// elsewhere hands everything that is not ours to the console.
func (s *server) elsewhere(c *gin.Context) {
	if isAPI(c.Request.URL.Path) || s.Console == nil {
		refuse(c, model.CodeNotFound, "there is nothing under this path")
		return
	}
	c.Status(http.StatusOK) // gin presumes a 404
	s.Console.ServeHTTP(c.Writer, c.Request)
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
