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

// EntriesBound is the most entries of one Call.
const EntriesBound = 1000

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
	for _, entry := range c.Entries {
		if entry.Count < 1 {
			return Reply{}, invalid("count", "must be at least 1, not %d", entry.Count)
		}
	}
	return e.ask(ctx, c, func(entry Entry) int64 { return entry.Count })
}

// Peek answers as Acquire would for one call of each entry's Permits, and takes nothing: Granted is always 0 and
// CodeGranted means "would be granted".
func (e *Engine) Peek(ctx context.Context, c Call) (Reply, error) {
	return e.ask(ctx, c, func(Entry) int64 { return 0 })
}

func (e *Engine) ask(ctx context.Context, c Call, count func(Entry) int64) (Reply, error) {
	if e.broken != nil {
		return Reply{}, e.broken
	}
	if err := c.check(); err != nil {
		return Reply{}, err
	}
	if c.Partition == "" {
		c.Entries = nil
	}
	keys := make([]string, 1, 1+len(c.Entries))
	keys[0] = e.keys.definition(c.Bucket)
	args := make([]any, 3, 3+2*len(c.Entries))
	args[0], args[1], args[2] = format, c.App, c.Partition
	for _, entry := range c.Entries {
		keys = append(keys, e.keys.state(c.Bucket, c.Partition, c.App, entry.Key))
		args = append(args, entry.Permits, count(entry))
	}
	raw, err := e.run(ctx, acquireScript, keys, args...)
	if err != nil {
		return Reply{}, wrap(err, "acquire from", c.Bucket)
	}
	reply, err := decodeReply(raw, len(c.Entries))
	return reply, wrap(err, "acquire from", c.Bucket)
}

// check refuses what the script would refuse, and what would not make a key.
func (c *Call) check() error {
	if !validName(c.Bucket) {
		return invalid("bucket", nameRule)
	}
	if !validName(c.App) {
		return invalid("app", nameRule)
	}
	switch c.Partition {
	case "", PartitionShared, PartitionApp, PartitionKey, PartitionAppKey:
	default:
		return invalid("partition", "must be one of the four, or empty, not %q", c.Partition)
	}
	if len(c.Entries) == 0 || len(c.Entries) > EntriesBound {
		return invalid("entries", "must be 1..%d, not %d", EntriesBound, len(c.Entries))
	}
	for _, entry := range c.Entries {
		if entry.Permits < 1 {
			return invalid("permits", "must be at least 1, not %d", entry.Permits)
		}
		if entry.Count < 0 || entry.Count > PermitsBound {
			return invalid("count", "must be at most %d, not %d", PermitsBound, entry.Count)
		}
		if Keyed(c.Partition) && (entry.Key == "" || len(entry.Key) > KeyBound) {
			return invalid("key", "must be 1..%d bytes, not %d", KeyBound, len(entry.Key))
		}
	}
	return nil
}
