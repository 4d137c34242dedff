package model

import (
	"encoding/json"
	"time"
)

// Action is what a change row tells of.
type Action string

// The actions.
const (
	ActionBucketCreate     Action = "bucket.create"
	ActionBucketUpdate     Action = "bucket.update"
	ActionBucketDelete     Action = "bucket.delete"
	ActionBucketRaise      Action = "bucket.raise"    // by SystemActor: Redis was ahead of the database
	ActionBucketRepair     Action = "bucket.repair"   // by SystemActor: Redis had lost or kept what it should not; its after counts, where one row tells of many
	ActionReconcile        Action = "redis.reconcile" // a full comparison was asked for
	ActionBucketRollback   Action = "bucket.rollback" // its after names the revision that was taken over
	ActionBucketRestore    Action = "bucket.restore"  // of a deleted one; its after names the revision that was taken over
	ActionBucketTry        Action = "bucket.try"      // one acquire, taken from the console or the API; changes no definition
	ActionAppCreate        Action = "app.create"
	ActionAppUpdate        Action = "app.update"
	ActionAppDelete        Action = "app.delete"
	ActionMemberSet        Action = "member.set"
	ActionMemberRemove     Action = "member.remove"
	ActionUserCreate       Action = "user.create"
	ActionUserUpdate       Action = "user.update"
	ActionUserRename       Action = "user.rename" // two rows, one under each name
	ActionUserPassword     Action = "user.password"
	ActionUserRehash       Action = "user.rehash" // by SystemActor: at a login the password was hashed anew, at the present cost
	ActionUserLink         Action = "user.link"   // to an identity of the single sign-on
	ActionUserUnlink       Action = "user.unlink"
	ActionLogin            Action = "login"
	ActionLoginRefused     Action = "login.refused"
	ActionLogout           Action = "logout"
	ActionTokenReused      Action = "session.reuse" // an old refresh token came back; its session was ended
	ActionSessionEnd       Action = "session.end"   // by its user or an admin; its after names the session, or says that all were ended
	ActionRefused          Action = "refused"       // an attempt at something the principal may see but not do
	ActionTokenCreate      Action = "token.create"  // an API token
	ActionTokenRevoke      Action = "token.revoke"
	ActionTokenRefused     Action = "token.refused" // an API token was used that had ended
	ActionRedisAdopt       Action = "redis.adopt"
	ActionIdentityReset    Action = "identity.new"
	ActionKeysRotate       Action = "keys.rotate" // a new key signs the tokens of sessions
	ActionKeysDrop         Action = "keys.drop"   // older ones prove no more
	ActionAuditPrune       Action = "audit.prune" // the oldest rows of the history itself were removed
	ActionExport           Action = "export"      // its after says what of, and through which filters
	ActionWebhookCreate    Action = "webhook.create"
	ActionWebhookUpdate    Action = "webhook.update"
	ActionWebhookDelete    Action = "webhook.delete"
	ActionWebhookSecret    Action = "webhook.secret" // a new secret
	ActionWebhookTest      Action = "webhook.test"
	ActionWebhookRedeliver Action = "webhook.redeliver"
	ActionBreakGlassStart  Action = "break_glass.start" // mode enforce acts as shadow, for what its target names
	ActionBreakGlassEnd    Action = "break_glass.end"
	ActionAlertRules       Action = "alert.rules"     // of a bucket: when its owners are told
	ActionAlertStarted     Action = "alert.started"   // by SystemActor: a rule's share was reached for its time
	ActionAlertEnded       Action = "alert.ended"     // by SystemActor; its after has the cause
	ActionWebhookFailing   Action = "webhook.failing" // by SystemActor: given up after three days of failed attempts
)

// SystemActor is the actor of changes that no person made.
const SystemActor = "system"

// SyncTarget is the target of changes about all of Redis.
const SyncTarget = "redis"

// TargetKind is the kind of thing that a change is about.
type TargetKind string

// The kinds of target.
const (
	TargetBucket  TargetKind = "bucket"
	TargetApp     TargetKind = "app"
	TargetUser    TargetKind = "user"
	TargetSystem  TargetKind = "system"
	TargetWebhook TargetKind = "webhook"
)

// Change is one append-only history row: who, when, what before, what after, why.
type Change struct {
	ID         int64     // the place in the chain: the next whole number, without gaps
	At         time.Time // µs, UTC; by the clock of the server that wrote it, so it may go back from one row to the next
	Actor      string    // user name, or SystemActor
	Action     Action
	TargetKind TargetKind
	Target     string
	Revision   int64           // of the target after the change; 0 where it has none
	Before     json.RawMessage // null where there was nothing
	After      json.RawMessage // null where nothing is left
	Reason     string
	Address    string
	RequestID  string
	Token      string // name of the API token that was used; "" = none

	// Count is how many equal events the row stands for, 1 unless repetitions were folded. The store makes a 0 a 1.
	Count int64
	// Until is when the last of several folded events happened; zero unless Count > 1.
	Until time.Time
}

// Origin says on whose behalf a write is made; the store puts it into the change row.
type Origin struct {
	Actor     string
	Reason    string
	Address   string
	RequestID string
	Token     string // name of the API token that was used; "" = none
}
