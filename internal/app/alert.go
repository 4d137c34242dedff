package app

import (
	"github.com/headgate/headgate/internal/alert"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/store"
)

var (
	_ alert.Store  = (*store.Store)(nil)
	_ alert.Source = figures.Reader{}
)

// openAlerts makes what judges the rules of buckets, by what the roller reads.
func (a *App) openAlerts() {
	a.alerts = alert.New(alert.Config{Store: a.store, Source: figures.Reader{Engine: a.engine, Roller: a.roller}, Log: a.log})
}
