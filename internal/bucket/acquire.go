package bucket

import (
	"context"
	"time"
)

// Call asks one bucket for permits, on behalf of one app.
type Call struct {
	Bucket, App string
	// Partition is what the caller believes the bucket's partition to be, from an earlier Reply. With "" nothing is
	// taken: the Reply is VerdictStale and carries the truth.
	Partition string
	Entries   []Entry // decided in this order
}

// Entry is a row of Count equal calls for Permits each, answered as if they had come one by one.
type Entry struct {
	Permits int64  // 1 or more
	Count   int64  // 1 or more for Acquire; without meaning for Peek
	Key     string // 1..512 bytes of any value for the key partitions, else ignored
}

// Verdict says whether a Call was decided.
type Verdict int

// The verdicts. Only VerdictDecided brings Results; all others took nothing.
const (
	VerdictDecided       Verdict = 1
	VerdictAbsent        Verdict = 10 // there is neither a definition nor a tombstone: never installed, or lost
	VerdictRemoved       Verdict = 11 // a tombstone: the bucket was removed
	VerdictNotListed     Verdict = 12 // the bucket does not list the app
	VerdictStale         Verdict = -3 // Call.Partition is not the present one; Reply.Partition is
	VerdictUnknownFormat Verdict = -4 // definition or state of a format that this version does not know
)

// Code says how one entry was decided.
type Code int

// The codes, as in Redis.
const (
	CodeGranted Code = 1  // all Count calls
	CodeLimited Code = -1 // the first Granted calls only, which may be none
	CodeTooMany Code = -2 // Permits is more than max_permits, so it can never be granted; nothing was taken
)

// Reply is the answer to a Call.
type Reply struct {
	Verdict    Verdict
	Now        time.Time // the time of Redis at the decision, to the microsecond
	Revision   int64     // the definition's or the tombstone's; 0 when neither is there
	Generation int64     // changes when the state started anew

	// The following describe the bucket; they are set for VerdictDecided and VerdictStale.
	Partition  string
	Mode       string
	OnFailure  string
	MaxPermits int64
	Rate       int64         // Rate permits arrive per Period, in lowest terms, so not always the definition's own figures
	Period     time.Duration // whole µs
	MaxWait    time.Duration

	Results []Result // one for each entry, in order
}

// Result is the answer to an Entry. Durations count from Reply.Now, are whole µs, rounded up, and never negative.
type Result struct {
	Code       Code
	Granted    int64         // how many of the Count calls were granted, the first ones of the row
	Remaining  int64         // permits left after the whole entry
	RetryAfter time.Duration // until one more call for Permits would be granted if nobody else took any; 0 = at once, and for CodeTooMany
	ResetAfter time.Duration // until the bucket is full if nobody takes any
}

// Acquire decides a call and takes what it grants. In mode off everything is granted and nothing is counted. Errors are
// *InvalidError for a call that can't be asked and Redis errors otherwise; after the latter permits may have been taken.
// It is sent once: neither this package nor go-redis repeats it, except after NOSCRIPT, which ran nothing.
func (e *Engine) Acquire(ctx context.Context, c Call) (Reply, error) {
	return Reply{}, nil
}

// Peek answers as Acquire would for one call of each entry's Permits, and takes nothing: Granted is always 0 and
// CodeGranted means "would be granted".
func (e *Engine) Peek(ctx context.Context, c Call) (Reply, error) {
	return Reply{}, nil
}
