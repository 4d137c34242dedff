package model

import (
	"encoding/binary"
	"errors"
	"time"
)

// How long usage is kept.
const (
	UsageMinutesKept = 47 * time.Hour // in Redis, from where it is rolled up; Redis itself keeps an hour more
	UsageHoursKept   = 90 * 24 * time.Hour
)

// HourMinutes is how many minutes an hour has.
const HourMinutes = 60

// Used counts permits.
type Used struct {
	Granted       int64
	Limited       int64 // refused
	ShadowLimited int64 // let pass by mode shadow although limited
}

// Plus is the sum of two counts.
func (u Used) Plus(o Used) Used {
	return Used{u.Granted + o.Granted, u.Limited + o.Limited, u.ShadowLimited + o.ShadowLimited}
}

// Asked is how many permits were asked for, whatever came of it.
func (u Used) Asked() int64 { return u.Granted + u.Limited + u.ShadowLimited }

// Or is the greater of two readings of the same count. Counts only grow, so it is the later reading, unless Redis lost
// what it had; in which order readings arrive, and how often, makes no difference.
func (u Used) Or(o Used) Used {
	return Used{max(u.Granted, o.Granted), max(u.Limited, o.Limited), max(u.ShadowLimited, o.ShadowLimited)}
}

// UsageRow is what one app used of one bucket from a minute on: in that minute, or in an hour that begins with it.
type UsageRow struct {
	Bucket string // empty where the row is a sum over buckets
	App    string
	Minute int64 // of Redis's clock since 1970
	Used
}

// AppUsage is what one app used over a range.
type AppUsage struct {
	Rows         []UsageRow   // summed over the buckets, by time
	Top          []BucketUsed // the same summed over time: the buckets that were asked for most
	Others       Used         // of all further buckets together
	OtherBuckets int          // how many those are
}

// BucketUsed is what one app used of one bucket over a range.
type BucketUsed struct {
	Bucket  string
	Deleted bool
	Used
}

// HourUsage are the minutes of one hour.
type HourUsage [HourMinutes]Used

// Sum adds the minutes up.
func (h *HourUsage) Sum() Used {
	var sum Used
	for _, u := range h {
		sum = sum.Plus(u)
	}
	return sum
}

// Encode writes the minutes that are not 0: for each its number in one byte, then the three counts as varints.
func (h *HourUsage) Encode() []byte {
	text := []byte{}
	for i, u := range h {
		if u == (Used{}) {
			continue
		}
		text = append(text, byte(i))
		for _, n := range []int64{u.Granted, u.Limited, u.ShadowLimited} {
			text = binary.AppendUvarint(text, uint64(n)) //nolint:gosec // counts are not negative
		}
	}
	return text
}

var errHourUsage = errors.New("the minutes of an hour have an unknown form")

// DecodeHourUsage reads what Encode wrote.
func DecodeHourUsage(text []byte) (HourUsage, error) {
	var h HourUsage
	for len(text) > 0 {
		minute := text[0]
		text = text[1:]
		var counts [3]int64
		for i := range counts {
			n, size := binary.Uvarint(text)
			if size <= 0 || n > 1<<62 {
				return h, errHourUsage
			}
			counts[i], text = int64(n), text[size:]
		}
		if minute >= HourMinutes {
			return h, errHourUsage
		}
		h[minute] = Used{counts[0], counts[1], counts[2]}
	}
	return h, nil
}

// BucketHead is what watching a bucket needs of the database.
type BucketHead struct {
	Name              string
	Revision          int64
	InstalledRevision int64
	Deleted           bool
}

// Capacity is what a bucket lets through in a minute in the long run, in permits; 0 where that is no one figure: each key
// has its own, or it counts leases, or its period is longer than five minutes.
func (d *Definition) Capacity() float64 {
	if d.Partition == PartitionKey || d.Partition == PartitionAppKey || d.Algorithm == Concurrency || d.Period <= 0 {
		return 0
	}
	if d.Algorithm == TokenBucket {
		return float64(d.Rate) * float64(time.Minute) / float64(d.Period)
	}
	if d.Period > 5*time.Minute {
		return 0
	}
	return float64(d.MaxPermits) * float64(time.Minute) / float64(d.Period)
}

// RecentUsage is what was used of a bucket in the last five minutes.
type RecentUsage struct {
	Bucket string
	Used
	// Load is the part of the bucket's capacity that was granted in the last five whole minutes, 1 = all of it; of partition
	// app that of the app that used most. 0 where Definition.Capacity knows none.
	Load float64
}

// LimitedShare is the part of the permits asked for that was limited, 0..1.
func (r *RecentUsage) LimitedShare() float64 {
	limited := r.Limited + r.ShadowLimited
	asked := r.Granted + limited
	if asked == 0 {
		return 0
	}
	return float64(limited) / float64(asked)
}

// Sample is what Redis has of a bucket at one instant.
type Sample struct {
	Name       string
	Present    bool
	Revision   int64 // of the definition in Redis; 0 when absent
	MaxPermits int64
	Permits    *int64     // permits that could be acquired now, or free slots; nil where there are several states
	Held       *int64     // slots held; nil as Permits, and for all algorithms but concurrency
	Usage      []UsageRow // of the running minute and the one before
}

// AppSample is what Redis counts of one app at one instant.
type AppSample struct {
	At    time.Time  // of Redis
	From  int64      // the first minute that was read; the running one is the last
	Usage []UsageRow // by bucket and minute
}

// LimitedKey says how much a caller's key was limited.
type LimitedKey struct {
	Key           string // any bytes
	Limited       int64  // permits
	AtMostTooHigh int64  // by how much Limited may be too high; it is never too low
}

// Trial is one acquire that a person asked for.
type Trial struct {
	App     string
	Key     string
	Permits int64
}

// TrialResult is what came of a Trial.
type TrialResult struct {
	Outcome    string // granted, limited, not_configured or too_many, as the SDK calls them
	Limit      int64
	Remaining  int64
	RetryAfter time.Duration
	ResetAfter time.Duration
	Revision   int64
	Mode       Mode
	At         time.Time // of Redis
}

// Instance is a live client of the SDK as one bucket sees it.
type Instance struct {
	ID       string
	App      string
	Host     string
	Version  string // of the SDK
	Revision int64  // of the bucket, by which the client decides
	Started  time.Time
	Seen     time.Time // the last heartbeat
}
