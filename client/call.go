package client

import (
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// MaxKey is the length in bytes of the longest key.
const MaxKey = 512

const (
	maxName     = 128
	mostPermits = bucket.PermitsBound + 1
)

// CallOption says more about one call. It is a plain value, so that handing it over allocates nothing.
type CallOption struct {
	kind  callOptionKind
	count int64
	text  string
}

type callOptionKind uint8

const (
	optionPermits callOptionKind = iota + 1
	optionKey
	optionMaxWait
)

// Permits is how many permits to take at once, all or none. Default 1; at least 1.
func Permits(n int64) CallOption { return CallOption{kind: optionPermits, count: n} }

// Key is what the caller counts by, such as a user id, an IP address or an endpoint: 1..512 bytes. Buckets whose
// partition is key or app_key need it; the others ignore it.
func Key(key string) CallOption { return CallOption{kind: optionKey, text: key} }

// MaxWait is the longest that Wait waits for its permits. Default: as long as the bucket's max_wait allows; at least 0.
func MaxWait(d time.Duration) CallOption { return CallOption{kind: optionMaxWait, count: int64(d)} }

// call is one call of the caller, its options resolved.
type call struct {
	bucket  string
	key     string
	permits int64
	peek    bool
	lease   bool          // of Enter
	wait    time.Duration // the longest that Wait may wait; else 0

	hasMaxWait bool
}

// joins tells whether a call may travel in one group with equal ones.
func (r *call) joins() bool { return !r.peek && r.wait == 0 }

// newCall resolves the options of a call and finds misuse that shows without asking Redis.
func newCall(name string, opts []CallOption) (call, error) {
	r := call{bucket: name, permits: 1}
	for i := range opts {
		switch opts[i].kind {
		case optionPermits:
			r.permits = opts[i].count
		case optionKey:
			r.key = opts[i].text
		case optionMaxWait:
			r.wait, r.hasMaxWait = time.Duration(opts[i].count), true
		}
	}
	return r, r.check()
}

func (r *call) check() error {
	switch {
	case !validName(r.bucket):
		return misused(ErrBucket, "got %q", clip(r.bucket))
	case r.permits < 1:
		return misused(ErrPermits, "got %d", r.permits)
	case len(r.key) > MaxKey:
		return misused(ErrKey, "got %d bytes", len(r.key))
	case r.wait < 0:
		return misused(ErrMaxWait, "got %v", r.wait)
	}
	// No bucket holds more than the bound, so one more is as much too many as any number.
	r.permits = min(r.permits, mostPermits)
	return nil
}

// fits finds the misuse that shows only when the bucket is known.
func fits(r *call, f *bucket.Facts) error {
	switch leases := f.Algorithm == bucket.Concurrency; {
	case leases && !r.lease:
		return misused(ErrConcurrency, "bucket %q", r.bucket)
	case r.lease && !leases:
		return misused(ErrNoLeases, "bucket %q, algorithm %s", r.bucket, f.Algorithm)
	case bucket.Keyed(f.Partition) && r.key == "":
		return misused(ErrNoKey, "bucket %q, partition %s", r.bucket, f.Partition)
	}
	return nil
}

// validName tells whether s may name a bucket or an app: 1..128 of A-Za-z0-9._-, starting alphanumeric.
func validName(s string) bool {
	if s == "" || len(s) > maxName || !alphanumeric(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !alphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
