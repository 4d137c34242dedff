package app

import (
	"context"
	"crypto/rand"
	"os"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// heartbeatTimeout bounds one beat, so that a database that hangs holds up neither the next one nor the end.
const heartbeatTimeout = 3 * time.Second

// openHeartbeat makes what this server tells of itself: in the database, so that a dead Redis hides no server.
func (a *App) openHeartbeat() {
	host, _ := os.Hostname() // a server without a name is told by its id
	a.self = model.Server{ID: rand.Text(), Host: host, Version: a.cfg.Version, StartedAt: time.Now().UTC()}
}

// beat tells that this server runs until ctx ends, and takes it out then. It tells at once when the server drains.
func (a *App) beat(ctx context.Context) {
	tick := time.NewTicker(model.ServerBeatEvery)
	defer tick.Stop()
	draining := a.draining
	told := true
	for beats := 0; ; beats++ {
		told = a.beatOnce(ctx, draining == nil, told)
		if beats%720 == 0 { // once an hour, and at the start
			bounded, cancel := context.WithTimeout(ctx, heartbeatTimeout)
			_ = a.store.ForgetServers(bounded, time.Now().Add(-model.ServerForgotten)) // what stays is not listed
			cancel()
		}
		select {
		case <-ctx.Done():
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatTimeout)
			defer cancel()
			if err := a.store.LeaveServer(bounded, a.self.ID); err != nil {
				a.log.Warn("this server stays listed for a while after its end", "error", err)
			}
			return
		case <-draining:
			draining = nil
		case <-tick.C:
		}
	}
}

// beatOnce beats and tells whether that went well; only the first of several failures is logged.
func (a *App) beatOnce(ctx context.Context, draining, before bool) bool {
	bounded, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	one := a.self
	one.SyncState, one.Draining = string(a.reconciler.Status().State), draining
	err := a.store.BeatServer(bounded, one)
	if err != nil && before && ctx.Err() == nil {
		a.log.Warn("this server can't tell that it runs", "error", err)
	}
	return err == nil
}
