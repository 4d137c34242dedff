package bucket

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// AllApps is the entry of Definition.Apps that stands for every app.
const AllApps = "*"

// Algorithms: how a bucket counts.
const (
	TokenBucket   = "token_bucket"   // permits arrive at a rate, up to max_permits
	FixedWindow   = "fixed_window"   // max_permits in each period, aligned to the UTC epoch
	SlidingWindow = "sliding_window" // max_permits in any period, counted in sub-buckets of a sixtieth
	SlidingLog    = "sliding_log"    // max_permits in any period, exactly
	Concurrency   = "concurrency"    // max_permits leases at a time, each of a period unless renewed
)

// algorithms are all that this version knows.
var algorithms = []string{TokenBucket, FixedWindow, SlidingWindow, SlidingLog, Concurrency}

// Partitions: whose usage is counted together.
const (
	PartitionShared = "shared"
	PartitionApp    = "app"
	PartitionKey    = "key"
	PartitionAppKey = "app_key"
)

// Modes: what a decision does.
const (
	ModeEnforce = "enforce" // limited calls are refused
	ModeShadow  = "shadow"  // decided and counted; the caller lets everything pass
	ModeOff     = "off"     // granted without touching state
)

// Policies for an unreachable Redis and for lost state.
const (
	FailOpen   = "open"
	FailClosed = "closed"
	FailLocal  = "local"
	LossRefill = "refill" // state restarts empty
	LossFull   = "full"   // state restarts full
)

// Bounds that the scripts' exact arithmetic relies on.
const (
	PermitsBound = 1_000_000_000         // max_permits and rate
	PeriodMin    = time.Millisecond      // least period
	PeriodMax    = 31 * 24 * time.Hour   // longest period
	FillTimeMax  = 3660 * 24 * time.Hour // longest max_permits·period/rate: ten years
	MaxWaitBound = time.Hour             // longest max_wait
	EntriesMax   = 100_000               // max_permits of sliding_log and concurrency
	LeaseMin     = time.Second           // least period of concurrency
	ShardsBound  = 64
	AppsBound    = 1000             // apps of one definition
	revisionMax  = int64(1)<<53 - 1 // Lua's numbers are exact up to here
)

// Definition is one bucket as Redis enforces it.
type Definition struct {
	Name       string
	Revision   int64    // 1..2^53-1, +1 at every change of this name
	Apps       []string // names, or AllApps alone
	Algorithm  string
	MaxPermits int64         // 1..1,000,000,000; sliding_log and concurrency ..100,000
	Rate       int64         // of token_bucket: permits per Period, 1..1,000,000,000; else ignored
	Period     time.Duration // whole ms, 1 ms..31 d; of concurrency the lease time, at least 1 s
	Partition  string
	Shards     int // 1..64; more than 1 for the key partitions only
	Mode       string
	MaxWait    time.Duration // whole ms, 0..1 h
	OnFailure  string
	AfterLoss  string
}

// InvalidError says which field of a definition, call or option the engine can't take, and why.
type InvalidError struct {
	Field   string // e.g. "algorithm"
	Message string // the rule, e.g. "must be token_bucket: ..."
}

func (e *InvalidError) Error() string { return "bucket: " + e.Field + " " + e.Message }

func invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// Validate returns an *InvalidError for the first field that the engine can't install. Which apps exist is not its
// business.
func (d *Definition) Validate() error {
	switch {
	case !validName(d.Name):
		return invalid("name", nameRule)
	case d.Revision < 1 || d.Revision > revisionMax:
		return invalid("revision", "must be 1..%d, not %d", revisionMax, d.Revision)
	case d.Shards < 1 || d.Shards > ShardsBound:
		return invalid("shards", "must be 1..%d, not %d", ShardsBound, d.Shards)
	case d.Shards > 1 && !Keyed(d.Partition):
		return invalid("shards", "must be 1 unless the partition is key or app_key, not %d", d.Shards)
	case d.MaxWait < 0 || d.MaxWait > MaxWaitBound || d.MaxWait%time.Millisecond != 0:
		return invalid("max_wait", "must be whole milliseconds, 0..%s", MaxWaitBound)
	}
	if err := d.validateChoices(); err != nil {
		return err
	}
	if err := d.validateRule(); err != nil {
		return err
	}
	return d.validateApps()
}

func (d *Definition) validateChoices() error {
	choices := []struct {
		field, value string
		allowed      []string
	}{
		{"algorithm", d.Algorithm, algorithms},
		{"partition", d.Partition, []string{PartitionShared, PartitionApp, PartitionKey, PartitionAppKey}},
		{"mode", d.Mode, []string{ModeEnforce, ModeShadow, ModeOff}},
		{"on_redis_failure", d.OnFailure, []string{FailOpen, FailClosed, FailLocal}},
		{"after_loss", d.AfterLoss, []string{LossRefill, LossFull}},
	}
	for _, c := range choices {
		if !slices.Contains(c.allowed, c.value) {
			return invalid(c.field, "must be one of %s, not %q", strings.Join(c.allowed, ", "), c.value)
		}
	}
	return nil
}

func (d *Definition) validateRule() error {
	switch {
	case d.MaxPermits < 1 || d.MaxPermits > d.permitsBound():
		return invalid("max_permits", "must be 1..%d, not %d", d.permitsBound(), d.MaxPermits)
	case d.Algorithm == TokenBucket && (d.Rate < 1 || d.Rate > PermitsBound):
		return invalid("rate", "must be 1..%d, not %d", PermitsBound, d.Rate)
	case d.Algorithm == Concurrency && d.Period < LeaseMin:
		return invalid("period", "must be at least %s, the shortest lease, not %s", LeaseMin, d.Period)
	case d.Period < PeriodMin || d.Period > PeriodMax || d.Period%time.Millisecond != 0:
		return invalid("period", "must be whole milliseconds, %s..%s, not %s", PeriodMin, PeriodMax, d.Period)
	}
	if d.Algorithm != TokenBucket {
		return nil
	}
	// max·period reaches 2^71 µs, so it is compared in 128 bits.
	hi, lo := bits.Mul64(uint64(d.MaxPermits), uint64(d.Period.Microseconds()))
	boundHi, boundLo := bits.Mul64(uint64(FillTimeMax.Microseconds()), uint64(d.Rate))
	if hi > boundHi || hi == boundHi && lo > boundLo {
		return invalid("rate", "fills the bucket in more than ten years")
	}
	return nil
}

func (d *Definition) validateApps() error {
	if len(d.Apps) > AppsBound {
		return invalid("apps", "must be at most %d, not %d", AppsBound, len(d.Apps))
	}
	for i, app := range d.Apps {
		if app == AllApps && len(d.Apps) == 1 {
			return nil
		}
		if !validName(app) {
			return invalid(fmt.Sprintf("apps[%d]", i), nameRule+`, or be "*" alone`)
		}
	}
	return nil
}

// permitsBound is the largest max_permits of the algorithm.
func (d *Definition) permitsBound() int64 {
	if d.Algorithm == SlidingLog || d.Algorithm == Concurrency {
		return EntriesMax
	}
	return PermitsBound
}

// limit returns num and den, with num permits per den µs: of token_bucket rate/period in lowest terms.
func (d *Definition) limit() (num, den int64) {
	if d.Algorithm != TokenBucket {
		return d.MaxPermits, d.Period.Microseconds()
	}
	num, den = d.Rate, d.Period.Microseconds()
	g, r := num, den
	for r != 0 {
		g, r = r, g%r
	}
	return num / g, den / g
}
