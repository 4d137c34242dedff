package client

import "time"

// Outcome says what an acquire came to.
type Outcome string

// The outcomes.
const (
	// Granted: the permits were taken (or, in mode off and from Peek, would be without being taken).
	Granted Outcome = "granted"
	// Limited: not enough permits now. RetryAfter says when the same call can succeed.
	Limited Outcome = "limited"
	// NotConfigured: there is no such bucket, it was deleted, or it does not list this app.
	NotConfigured Outcome = "not_configured"
	// TooMany: the call asked for more permits than the bucket can ever hold. Waiting does not help.
	TooMany Outcome = "too_many"
	// Unavailable: Redis gave no verdict; Allowed follows the bucket's failure policy and Err says what happened.
	Unavailable Outcome = "unavailable"
)

// Source says who decided.
type Source string

// The sources.
const (
	// SourceRedis: the bucket in Redis decided.
	SourceRedis Source = "redis"
	// SourceDenial: this process refused, because Redis had just refused as much and said when permits come.
	SourceDenial Source = "denial"
	// SourceLocal: Redis gave no verdict and this process enforced its share of the limit by itself (policy local).
	SourceLocal Source = "local"
	// SourcePolicy: nobody counted; the failure policy open or closed answered.
	SourcePolicy Source = "policy"
)

// Policy says what to answer when a bucket gives no verdict.
type Policy string

// The policies.
const (
	// Open lets the call through.
	Open Policy = "open"
	// Closed refuses the call.
	Closed Policy = "closed"
	// Local enforces this process's share of the limit in memory. Only a bucket's definition can ask for it.
	Local Policy = "local"
)

// Decision is the answer to one acquire. Ask Allowed whether to go on; the other fields say why and what then.
type Decision struct {
	// Outcome is what the bucket decided, also in shadow mode.
	Outcome Outcome
	// Allowed tells whether the caller may go on: true for Granted, for anything in shadow or off mode, and where a
	// policy or an option says so.
	Allowed bool
	// Bucket is the name asked for.
	Bucket string
	// Limit is the bucket's max_permits; 0 when it is not known.
	Limit int64
	// Remaining is how many permits were left right after this decision, 0..Limit.
	Remaining int64
	// RetryAfter is how long to wait until the same call can succeed, if nobody else takes the permits meanwhile.
	// 0 when granted, and when no such time is known (NotConfigured, TooMany, Unavailable). Never negative.
	RetryAfter time.Duration
	// ResetAfter is how long until the bucket is full again if nobody takes from it. Never negative.
	ResetAfter time.Duration
	// Revision is the revision of the definition that decided; 0 when none did.
	Revision int64
	// At is the time of Redis at the decision, to the microsecond; zero when Redis was not asked just now.
	At time.Time
	// Source says who decided.
	Source Source
	// Shadow is true when the bucket is in shadow mode, or acts so under break-glass: decided and counted, but always allowed.
	Shadow bool
	// Err says why Redis gave no verdict: ErrDeadline, ErrBreakerOpen, ErrBusy, ErrStale, ErrUnknownFormat, ErrLost or
	// what Redis or the network answered. Set exactly when the source is SourceLocal or SourcePolicy.
	Err error
}
