package app

import (
	"errors"
	"fmt"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
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

// checkAdminPassword refuses a first password as a new one is refused anywhere, without showing it.
func (c *Config) checkAdminPassword() error {
	if c.AdminPassword == "" {
		return nil
	}
	if model.ValidatePassword(c.AdminPassword) != nil {
		return fmt.Errorf("HEADGATE_ADMIN_PASSWORD must have %d..%d characters, none of them a control character", model.PasswordMin, model.PasswordMax)
	}
	var refused *model.Error
	if errors.As(auth.CheckPassword(c.AdminPassword, firstAdminName), &refused) && len(refused.Fields) > 0 {
		return fmt.Errorf("HEADGATE_ADMIN_PASSWORD %s", refused.Fields[0].Message)
	}
	return nil
}
