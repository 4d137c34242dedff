package model

import (
	"encoding/json"
	"time"
)

// Action is what a change row tells of.
type Action string

// The actions.
const (
	ActionBucketCreate  Action = "bucket.create"
	ActionBucketUpdate  Action = "bucket.update"
	ActionBucketDelete  Action = "bucket.delete"
	ActionBucketRaise   Action = "bucket.raise" // by SystemActor: Redis was ahead of the database
	ActionAppCreate     Action = "app.create"
	ActionAppUpdate     Action = "app.update"
	ActionAppDelete     Action = "app.delete"
	ActionMemberSet     Action = "member.set"
	ActionMemberRemove  Action = "member.remove"
	ActionUserCreate    Action = "user.create"
	ActionUserUpdate    Action = "user.update"
	ActionUserPassword  Action = "user.password"
	ActionLogin         Action = "login"
	ActionLoginRefused  Action = "login.refused"
	ActionLogout        Action = "logout"
	ActionTokenReused   Action = "session.reuse" // an old refresh token came back; its session was ended
	ActionRefused       Action = "refused"       // an attempt at something the principal may see but not do
	ActionRedisAdopt    Action = "redis.adopt"
	ActionIdentityReset Action = "identity.new"
)

// SystemActor is the actor of changes that no person made.
const SystemActor = "system"

// TargetKind is the kind of thing that a change is about.
type TargetKind string

// The kinds of target.
const (
	TargetBucket TargetKind = "bucket"
	TargetApp    TargetKind = "app"
	TargetUser   TargetKind = "user"
	TargetSystem TargetKind = "system"
)

// Change is one append-only history row: who, when, what before, what after, why.
type Change struct {
	ID         int64
	At         time.Time // µs, UTC
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
}

// Origin says on whose behalf a write is made; the store puts it into the change row.
type Origin struct {
	Actor     string
	Reason    string
	Address   string
	RequestID string
}
