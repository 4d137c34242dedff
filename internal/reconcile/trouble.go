package reconcile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// What people read beside a pending bucket. The causes go to the log only.
var (
	messageSilent  = model.SyncSilent.Message()
	messageRefused = model.SyncRefused.Message()
	messageForeign = model.SyncForeign.Message()
	messageFormat  = model.SyncFormat.Message()
	messageInvalid = model.SyncInvalid.Message()
	messageAlien   = model.SyncAlien.Message()
	messageBusy    = model.SyncBusy.Message()
	messageOther   = model.SyncOther.Message()
)

// errRedis is in the chain of every error that Redis caused, to tell its trouble from the database's.
var errRedis = errors.New("redis")

// redisTrouble wraps an error of the engine.
func redisTrouble(err error) error {
	var invalid *bucket.InvalidError
	if errors.As(err, &invalid) { // Redis was not asked
		return unavailable(messageInvalid + invalid.Field + " " + invalid.Message)
	}
	message := messageSilent
	if isReply(err) {
		message = messageRefused
	}
	return &model.Error{Code: model.CodeUnavailable, Message: message, Cause: fmt.Errorf("%w: %w", errRedis, err)}
}

// foreign says that a Redis, or a definition in it, is another deployment's.
func foreign(owner string) error {
	return &model.Error{Code: model.CodeForeignRedis, Message: messageForeign, Cause: fmt.Errorf("owned by %q", owner)}
}

func unavailable(message string) error {
	return &model.Error{Code: model.CodeUnavailable, Message: message}
}

// messageOf is the part of an error that people may read.
func messageOf(err error) string {
	var e *model.Error
	if errors.As(err, &e) && e.Code != model.CodeInternal {
		return e.Message
	}
	return messageOther
}

// Bounds of the wait before a failed push is tried again.
const (
	backoffLeast = 500 * time.Millisecond
	backoffMost  = 30 * time.Second
)

// backoff is the wait after so many failed tries: at random between half and the whole of 1 s, 2 s, 4 s … 30 s, so
// that several servers and buckets spread out.
func backoff(attempts int) time.Duration {
	whole := backoffMost
	if attempts < 5 {
		whole = min(backoffMost, 2*backoffLeast<<max(attempts, 0))
	}
	return whole/2 + rand.N(whole/2+1)
}
