package app

import (
	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/reconcile"
)

var _ api.OverlayPusher = (*reconcile.Reconciler)(nil)
