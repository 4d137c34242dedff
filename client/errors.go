package client

import (
	"errors"
	"fmt"

	"github.com/headgate/headgate/internal/bucket"
)

// MisuseError is a mistake in the calling program: Argument names what is wrong and Advice says what to do. It is
// returned for nothing else, so it may be treated as a bug. Compare with errors.Is against the variables below.
type MisuseError struct {
	Argument string // such as "permits"
	Advice   string // such as "ask for at least one permit"
}

// Error says which argument is wrong and what to do.
func (e *MisuseError) Error() string { return "headgate: " + e.Argument + ": " + e.Advice }

// The kinds of misuse.
var (
	ErrRedis       = &MisuseError{"redis", "hand New a client made by redis.NewClient, NewFailoverClient, NewClusterClient or NewUniversalClient"}
	ErrURL         = &MisuseError{"url", "give a URL such as redis://user:password@host:6379/0, rediss://… for TLS, with &addr=host:port for a Cluster, and with &master_name=NAME for Sentinels"}
	ErrApp         = &MisuseError{"app", "hand New the app's name as registered in Headgate: 1..128 of A-Z a-z 0-9 . _ - starting with a letter or digit"}
	ErrPrefix      = &MisuseError{"prefix", "use the value of HEADGATE_REDIS_PREFIX at the admin server: 1..128 bytes without { or }"}
	ErrOption      = &MisuseError{"option", "use a value within the bounds that the option documents"}
	ErrBucket      = &MisuseError{"bucket", "name a bucket: 1..128 of A-Z a-z 0-9 . _ - starting with a letter or digit"}
	ErrPermits     = &MisuseError{"permits", "ask for at least one permit"}
	ErrMaxWait     = &MisuseError{"MaxWait", "wait for 0 or longer"}
	ErrRequests    = &MisuseError{"requests", "ask at most 100 buckets at once"}
	ErrNoKey       = &MisuseError{"key", "this bucket counts by key; say whose permits to take, as in client.Key(userID)"}
	ErrKey         = &MisuseError{"key", "keep keys within 512 bytes; hash what is longer"}
	ErrOneSlot     = &MisuseError{"permits", "a lease takes one slot; enter as often as slots are needed"}
	ErrNoLeases    = &MisuseError{"bucket", "this bucket counts permits and has no leases; use Acquire or Wait"}
	ErrStrategy    = &MisuseError{"strategy", "use Reject, WaitUpTo, Fallback or Custom, with a function where one is needed"}
	ErrConcurrency = &MisuseError{"bucket", "this bucket limits concurrent work; use Enter and release the lease"}
	ErrIsClosed    = &MisuseError{"client", "this client was closed; keep it open as long as the program acquires permits"}
)

// misused adds what was found to one of the kinds of misuse.
func misused(kind *MisuseError, found string, args ...any) error {
	return fmt.Errorf("%w ("+found+")", append([]any{kind}, args...)...)
}

// LimitedError says that Do did not do the work, and why.
type LimitedError struct{ Decision Decision }

// Error names the bucket, the outcome and when to try again.
func (e *LimitedError) Error() string {
	if e.Decision.RetryAfter > 0 {
		return fmt.Sprintf("headgate: bucket %q: %s, try again in %v", e.Decision.Bucket, e.Decision.Outcome, e.Decision.RetryAfter)
	}
	return fmt.Sprintf("headgate: bucket %q: %s", e.Decision.Bucket, e.Decision.Outcome)
}

// Unwrap returns why Redis gave no verdict, nil when it did.
func (e *LimitedError) Unwrap() error { return e.Decision.Err }

// misusedCall explains what the engine could not ask.
func misusedCall(r *call, f *bucket.Facts, refused *bucket.InvalidError) error {
	if f != nil && f.Algorithm == bucket.Concurrency {
		return misused(ErrConcurrency, "bucket %q", r.bucket)
	}
	return misused(ErrBucket, "%s: %s", r.bucket, refused.Message)
}

// Reasons why Redis gave no verdict, in Decision.Err.
var (
	ErrDeadline      = errors.New("headgate: Redis did not answer within the deadline")
	ErrBreakerOpen   = errors.New("headgate: Redis did not answer lately; not asked again until a probe succeeds")
	ErrBusy          = errors.New("headgate: too many calls wait for Redis")
	ErrStale         = errors.New("headgate: the definition changed twice during one call")
	ErrUnknownFormat = errors.New("headgate: the definition has a format that this version of the SDK does not know; update the SDK")
	ErrLost          = errors.New("headgate: Redis has lost the definition; the admin server will install it again")
)

// ErrLeaseLost is the cause of a lease's context that ended because the lease did: Redis could not be asked to prolong
// it in time, or others took the slot after a loss of data.
var ErrLeaseLost = errors.New("headgate: the lease was lost")

// ErrReleased is the cause of a lease's context that ended because the lease was released.
var ErrReleased = errors.New("headgate: the lease was released")

// ErrNotConfigured is what Preload says of a bucket that does not exist or does not list this app. A call on such a
// bucket returns no error but the outcome NotConfigured.
var ErrNotConfigured = errors.New("headgate: the bucket does not exist, was deleted or does not list the app")
