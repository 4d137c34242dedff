package app

import (
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
)

// openPeople makes the service that logs people in: on the database, with keys that it keeps, held off by Headgate's own
// buckets in Redis.
func (a *App) openPeople() error {
	limits, err := newLoginLimits(bucket.New(a.rdb, a.cfg.RedisPrefix+selfPrefix), a.log)
	if err != nil {
		return err
	}
	a.limits = limits
	a.people, err = auth.New(auth.Config{Store: a.store, KeyStore: a.store, Limits: limits, Recorder: a.recorder, Log: a.log})
	return err
}
