// Package model holds the nouns of Headgate (Bucket, App, User, Session, Change), their rules and the one error type. It
// imports nothing of ours; every other package may lean on it.
package model

import "time"

// Partition says whose usage is counted together.
type Partition string

// The partitions.
const (
	PartitionShared Partition = "shared"
	PartitionApp    Partition = "app"
	PartitionKey    Partition = "key"
	PartitionAppKey Partition = "app_key"
)

// Mode says what a decision does.
type Mode string

// The modes.
const (
	ModeEnforce Mode = "enforce" // limited calls are refused
	ModeShadow  Mode = "shadow"  // decided and counted, always allowed
	ModeOff     Mode = "off"     // allowed, not counted
)

// FailurePolicy says what the SDK answers when Redis gives no verdict.
type FailurePolicy string

// The failure policies.
const (
	FailOpen   FailurePolicy = "open"
	FailClosed FailurePolicy = "closed"
	FailLocal  FailurePolicy = "local"
)

// LossPolicy says how state restarts when Redis lost it.
type LossPolicy string

// The loss policies.
const (
	LossRefill LossPolicy = "refill" // from empty
	LossFull   LossPolicy = "full"
)

// Definition is what an owner edits: the rules of one bucket.
type Definition struct {
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
	Apps        []string          `json:"apps"`   // registered app names, or AllApps; sorted
	Owners      []string          `json:"owners"` // user names; sorted

	Algorithm  Algorithm     `json:"algorithm"`
	MaxPermits int64         `json:"max_permits"` // permits, 1..1,000,000,000; sliding_log and concurrency ..100,000
	Rate       int64         `json:"rate"`        // token_bucket: permits per Period, 1..1,000,000,000; the others: 0
	Period     time.Duration `json:"-"`           // whole ms, 1 ms..31 d, a lease 1 s..31 d; the API carries period_ms
	Partition  Partition     `json:"partition"`
	Shards     int           `json:"shards"` // 1..64 slots over which keys are spread; 1 without keys
	Mode       Mode          `json:"mode"`
	MaxWait    time.Duration `json:"-"` // whole ms, 0..1 h; 0 = no waiting; the API carries max_wait_ms

	OnRedisFailure FailurePolicy `json:"on_redis_failure"`
	AfterLoss      LossPolicy    `json:"after_loss"`
}

// Bucket is a named limit with what the system keeps about it.
type Bucket struct {
	Name string
	Definition

	Revision        int64 // +1 at every change of this name, never restarting
	CreatedRevision int64 // at which this bucket began; earlier revisions belong to a deleted one of the same name
	CreatedBy       string
	CreatedAt       time.Time
	UpdatedBy       string
	UpdatedAt       time.Time

	Sync SyncState
}

// OwnFrom is the first minute, since 1970, whose usage is this bucket's alone; 0 where its name was no other's before. Redis
// counts by name, so the minute in which the name went over holds what was used of both.
func (b *Bucket) OwnFrom() int64 {
	if b.CreatedRevision <= 1 {
		return 0
	}
	return b.CreatedAt.Add(time.Minute-time.Nanosecond).Unix() / 60
}

// SyncState tells how far Redis has followed MySQL for one bucket.
type SyncState struct {
	InstalledRevision int64  // the newest revision that Redis is known to have; 0 = none yet
	Pending           bool   // Redis is not known to have the present revision
	LastError         string // for operators: why the last push failed; "" when it did not
}
