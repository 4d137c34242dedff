// Package app is the composition root of the admin server: it reads the settings, opens the database and Redis, wires
// the packages together and runs them until it is told to stop. It is the only package that may import all others.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/alert"
	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/telemetry"
	"github.com/headgate/headgate/internal/webhook"
	"github.com/headgate/headgate/web"
)

// stopTimeout bounds how long requests in hand may take to finish at the end: a little more than the database has to
// answer one, so that they hear of it.
const stopTimeout = 11 * time.Second

// App is one admin server.
type App struct {
	cfg       Config
	log       *slog.Logger
	generated string // the first admin's password, when this start made one

	unlock     func()               // lets go of the data folder; nil unless embedded
	mini       *miniredis.Miniredis // nil unless embedded
	store      *store.Store
	rdb        redis.UniversalClient
	engine     *bucket.Engine
	reconciler *reconcile.Reconciler
	recorder   *audit.Recorder
	people     *auth.Service
	limits     *loginLimits
	chain      *chainKeeper
	listener   net.Listener
	server     *http.Server

	certificates *certificates // nil: plain HTTP
	webhooks     *webhook.Deliverer
	metrics      *telemetry.Metrics
	tracing      *telemetry.Tracing // nil: nothing is traced
	debug        *debugServer       // nil: figures and profiles are not served
	roller       *figures.Roller
	alerts       *alert.Watcher
	self         model.Server  // what this server tells of itself
	leaving      chan struct{} // closed when the server says that it will stop
	draining     chan struct{} // closed when the server begins to stop
}

// New opens everything that the server needs: the address, Redis, the database. It fails with one clear line; what had
// been opened is closed again. A Redis that does not answer is no failure: the console works without it, and the
// definitions arrive when it is back.
func New(ctx context.Context, cfg Config, log *slog.Logger) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	redis.SetLogger(poolLog{log})
	a := &App{cfg: cfg, log: log}
	if err := a.open(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) open(ctx context.Context) error {
	var err error
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.Listen); err != nil {
		return fmt.Errorf("can't listen on %s (%w); free the port, or set HEADGATE_LISTEN", a.cfg.Listen, err)
	}
	if err = a.openCertificates(); err != nil {
		return err
	}
	a.openMetrics()
	if err = a.openTracing(ctx); err != nil {
		return err
	}
	if err = a.openDebug(ctx); err != nil {
		return err
	}
	if a.cfg.Embedded {
		if a.unlock, err = lockDataDir(a.cfg.DataDir); err != nil {
			return err
		}
	}
	if err := a.openRedis(); err != nil {
		return err
	}
	if a.store, err = openStore(ctx, a.cfg, a.log, a.traceStore()); err != nil {
		return err
	}
	if found, err := a.engine.Health(ctx); err != nil {
		a.log.Warn("Redis does not answer; changes are saved and reach it when it is back", "error", err)
	} else if warning := policyWarning(found); warning != "" {
		a.log.Warn(warning)
	}
	hasher := auth.NewHasher(auth.DefaultHashing)
	if a.demo() {
		err = seedDemo(ctx, a.store, hasher)
	} else {
		a.generated, err = makeFirstAdmin(ctx, a.store, hasher, a.cfg.AdminPassword)
	}
	if err != nil {
		return err
	}
	return a.wire(ctx)
}

// openStore opens the database, embedded or real, and brings its schema up to date.
func openStore(ctx context.Context, cfg Config, log *slog.Logger, trace store.Trace) (*store.Store, error) {
	opened, err := storeConfig(cfg, log)
	if err != nil {
		return nil, err
	}
	opened.Trace = trace
	if cfg.Embedded {
		opened.SQLitePath = filepath.Join(cfg.DataDir, "headgate.db") // Validate saw that there is no DSN
	}
	s, err := store.Open(ctx, opened)
	if err != nil {
		return nil, ofDSN(err)
	}
	if err := s.Migrate(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// ofDSN names the setting where that is what is wrong.
func ofDSN(err error) error {
	var e *model.Error
	if errors.As(err, &e) && e.Code == model.CodeInvalid {
		return fmt.Errorf("HEADGATE_MYSQL_DSN: %s", e.Message)
	}
	return err
}

func (a *App) openRedis() error {
	cfg := a.cfg
	if a.cfg.Embedded {
		var err error
		if a.mini, err = startEmbeddedRedis(a.cfg.EmbeddedRedisListen); err != nil {
			return err
		}
		cfg.RedisURL, cfg.RedisTLS = a.RedisURL(), PeerTLS{}
	}
	rdb, err := connectRedis(&cfg)
	if err != nil {
		return err
	}
	if a.tracing != nil {
		rdb.AddHook(redisSteps{a.tracing})
	}
	a.rdb = rdb
	a.engine = bucket.New(rdb, a.cfg.RedisPrefix)
	return nil
}

// poolLog takes what go-redis says of its connections into our log; reconcile reports an outage once, in its own words.
type poolLog struct{ log *slog.Logger }

func (p poolLog) Printf(ctx context.Context, format string, v ...any) {
	p.log.DebugContext(ctx, fmt.Sprintf(format, v...))
}

func (a *App) wire(ctx context.Context) error {
	if err := a.openChain(ctx); err != nil {
		return err
	}
	if err := a.openPeople(); err != nil {
		return err
	}
	a.reconciler = reconcile.New(reconcile.Config{Store: a.store, Engine: a.engine, Log: a.log, RepairEvery: a.cfg.RepairInterval, Observe: a.metrics.Pass})
	signOn, err := a.openSignOn(ctx)
	if err != nil {
		return err
	}
	a.openWebhooks()
	a.roller = figures.New(figures.Config{Store: a.store, Engine: a.engine, Log: a.log})
	a.openAlerts()
	a.leaving, a.draining = make(chan struct{}), make(chan struct{})
	a.openHeartbeat()
	handler := api.New(api.Config{
		Webhooks: webhookCalls{a.webhookGuard(), webhook.NewSender(a.webhookGuard(), time.Now)},
		Store:    a.store, Auth: a.people, Recorder: a.recorder, Pusher: pusher{a.reconciler, a.metrics.Push, a.tracing}, Overlay: a.reconciler, Live: live{a.engine}, Health: health{a}, Sync: syncer{a.reconciler, a.engine, a.store},
		Figures: figures.Reader{Engine: a.engine, Roller: a.roller}, Leaving: a.leaving, Draining: a.draining,
		Console: web.Handler(), Log: a.log, Embedded: a.cfg.Embedded, TrustedProxies: a.cfg.TrustedProxies,
		ProxyHeader: a.cfg.ProxyHeader, MaxRequests: a.cfg.MaxRequests, Observe: a.metrics.Request, Trace: a.traceRequest(),
		SecureCookies: a.cfg.SecureCookies, SignOn: signOn, LocalLoginOff: !a.cfg.LocalLogin,
	})
	a.server = api.NewServer(a.metrics.Watch(handler), a.log)
	return nil
}

// demo tells whether sample data and traffic belong to this server: only ever on embedded parts.
func (a *App) demo() bool { return a.cfg.Embedded && a.cfg.Demo }

// RedisURL is where SDKs connect to: the embedded Redis, or what the setting says, a password with it.
func (a *App) RedisURL() string {
	if a.mini != nil {
		return "redis://" + a.mini.Addr() + "/0"
	}
	return a.cfg.RedisURL
}

// Run serves until ctx ends; then it lets the requests in hand finish, stops reconcile, and returns. The caller closes.
// Where the cause is ErrTerminated, it tells for the time of Config.DrainDelay that it leaves, and serves meanwhile.
func (a *App) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	parts.Go(func() { a.reconciler.Run(background) })
	parts.Go(func() { a.warm(background) })
	parts.Go(func() { a.checkRights(background) })
	parts.Go(func() { a.sweepSessions(background) })
	parts.Go(func() { a.people.KeepKeys(background) })
	parts.Go(func() { a.webhooks.Run(background) })
	parts.Go(func() { a.roller.Run(background) })
	parts.Go(func() { a.alerts.Run(background) })
	parts.Go(func() { a.recorder.Run(background) })
	parts.Go(func() { a.chain.run(background) })
	parts.Go(func() { a.beat(background) })
	if a.certificates != nil {
		parts.Go(func() { a.certificates.follow(background) })
	}
	if a.debug != nil {
		parts.Go(func() { a.debug.run(background, a.log) })
	}
	if a.demo() {
		parts.Go(func() { runDemoTraffic(background, a.rdb, a.cfg.RedisPrefix, a.log) })
	}
	served := make(chan error, 1)
	go func() { served <- a.serve(a.listener) }()

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		err = a.leave(ctx, served)
	}
	stop()
	parts.Wait()
	a.closeChain()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// warm reads ahead what lists of buckets need. Requests that come meanwhile wait for it.
func (a *App) warm(ctx context.Context) {
	if err := a.store.Warm(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("the buckets could not be read ahead; the first list of them will", "error", err)
	}
}

// checkRights tells once what the database user may not do, as after an update that brought a table: what needs it is
// answered 503 until it is granted.
func (a *App) checkRights(ctx context.Context) {
	missing, err := a.store.MissingRights(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.log.Warn("the rights of the database user could not be looked at", "error", err)
	case len(missing) > 0:
		a.log.Error("the database user lacks rights; grant what docs/security.md lists", "missing", missing)
	}
}

// sweepSessions removes ended sessions and API tokens once an hour; they are refused by their time anyway. It goes by the
// time that has passed since the start, so that a clock that jumps ahead for a while removes nothing that is still good.
func (a *App) sweepSessions(ctx context.Context) {
	began := time.Now()
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := began.Add(time.Since(began))
			if _, err := a.store.DeleteExpiredSessions(ctx, now); err != nil {
				a.log.Warn("ended sessions could not be removed", "error", err)
			}
			if _, err := a.store.DeleteEndedTokens(ctx, now.Add(-model.TokenKeptAfterEnd)); err != nil {
				a.log.Warn("ended API tokens could not be removed", "error", err)
			}
		}
	}
}

// Close releases what New opened. It may be called at any time, also after a failed New.
func (a *App) Close() {
	if a.listener != nil {
		_ = a.listener.Close()
	}
	if a.certificates != nil {
		a.certificates.close()
	}
	if a.debug != nil {
		a.debug.close()
	}
	if a.limits != nil {
		a.limits.Close()
	}
	if a.rdb != nil {
		_ = a.rdb.Close()
	}
	if a.mini != nil {
		a.mini.Close()
	}
	if a.store != nil {
		_ = a.store.Close()
	}
	if a.tracing != nil {
		a.tracing.Close()
	}
	if a.unlock != nil {
		a.unlock()
	}
}
