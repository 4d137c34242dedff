package model

import (
	"strings"
	"time"
)

// SyncHead is what reconcile needs to know of a bucket that it need not compare.
type SyncHead struct {
	Name              string
	Revision          int64
	Deleted           bool
	Shards            int
	InstalledRevision int64 // the newest revision that Redis is known to have had; 0 = none
	Mark              int64 // of the outbox row; 0 = nothing is waiting
}

// Settled tells whether Redis is known to have had the present revision, and nothing is waiting.
func (h *SyncHead) Settled() bool { return h.Mark == 0 && h.InstalledRevision == h.Revision }

// Installed says that Redis has a revision of a bucket, and which marking of the outbox that settles.
type Installed struct {
	Name     string
	Revision int64
	Mark     int64
}

// PendingBucket is a bucket that waits to be brought to Redis.
type PendingBucket struct {
	Name              string
	Deleted           bool
	Revision          int64
	InstalledRevision int64 // 0 = none
	ChangedAt         time.Time
	Attempts          int       // pushes that failed
	NextAt            time.Time // of the next try
	LastError         string    // why the last one failed, fit for people; "" when none has
}

// SyncReason says why Redis does not have a bucket's present revision.
type SyncReason string

// The reasons.
const (
	SyncOnItsWay SyncReason = ""               // nothing is known to hold it up
	SyncSilent   SyncReason = "redis_down"     // Redis does not answer
	SyncRefused  SyncReason = "refused"        // Redis refused the write
	SyncForeign  SyncReason = "foreign"        // Redis, or what stands there of the bucket, is another deployment's
	SyncFormat   SyncReason = "unknown_format" // a newer version wrote what stands there
	SyncInvalid  SyncReason = "invalid"        // Redis can't enforce the definition
	SyncAlien    SyncReason = "alien"          // something that is no definition stands under the bucket's key
	SyncBusy     SyncReason = "busy"           // the bucket kept changing
	SyncOther    SyncReason = "other"          // the log has the cause
)

// syncMessages are the reasons in words, as the outbox keeps them.
var syncMessages = map[SyncReason]string{
	SyncSilent:  "Redis does not answer",
	SyncRefused: "Redis refused the write",
	SyncForeign: "this Redis belongs to another deployment",
	SyncFormat:  "Redis holds this bucket in the format of a newer version",
	SyncInvalid: "Redis cannot enforce this bucket: ", // and what is wrong
	SyncAlien:   "something else stands in Redis under this bucket's key",
	SyncBusy:    "the bucket kept changing while it was pushed",
	SyncOther:   "the push failed; the log of the admin server has the cause",
}

// Message is the reason in words, fit for people; that of SyncInvalid is to be completed.
func (r SyncReason) Message() string { return syncMessages[r] }

// SyncReasonOf finds the reason that a message of the outbox tells of; SyncOther when it is in other words.
func SyncReasonOf(message string) SyncReason {
	if message == "" {
		return SyncOnItsWay
	}
	for reason, words := range syncMessages {
		if message == words || reason == SyncInvalid && strings.HasPrefix(message, words) {
			return reason
		}
	}
	return SyncOther
}
