package app

import (
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/telemetry"
)

// The consumers' interfaces are satisfied here or by the packages themselves.
var (
	_ api.Store         = (*store.Store)(nil)
	_ auth.Store        = (*store.Store)(nil)
	_ auth.KeyStore     = (*store.Store)(nil)
	_ auth.SignOnStore  = (*store.Store)(nil)
	_ auth.FlowKeyStore = (*store.Store)(nil)
	_ reconcile.Store   = (*store.Store)(nil)
	_ api.Pusher        = pusher{}
	_ api.Live          = live{}
	_ api.Health        = health{}
)

// pusher lets the API push without knowing reconcile.
type pusher struct {
	reconciler *reconcile.Reconciler
	observe    func(took time.Duration, err error) // is told of every push; nil: nobody is
	tracing    *telemetry.Tracing                  // nil: nothing is traced
}

// healthTimeout bounds each question to a part, so that the System page comes even when a part hangs.
const healthTimeout = 2 * time.Second
