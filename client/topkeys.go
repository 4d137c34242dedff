package client

import (
	"cmp"
	"slices"
	"sync"

	"github.com/headgate/headgate/internal/bucket"
)

// KeyCount says how much one key was limited.
type KeyCount struct {
	Key string
	// Limited is how many permits were refused, or would have been but for mode shadow. It is never too low, and too high
	// by Excess at most.
	Limited int64
	Excess  int64
}

// TopLimited returns the keys of a bucket that this client was limited by most in the present and the last minute of
// Redis time, the most limited first: at most n of them, and no more than 200. A key that was refused more than a
// hundredth of all permits refused in one of these minutes is always known. Memory is bounded, however many keys there
// are. It is empty for buckets without keys, and where nothing was limited.
func (c *Client) TopLimited(bucket string, n int) []KeyCount {
	k := c.book.find(bucket)
	if k == nil || n < 1 {
		return nil
	}
	all := k.top.counts(minuteOf(c.clock.now()))
	return slices.Clip(all[:min(n, len(all))])
}

func minuteOf(now int64) int64 { return now / (secondsPerMinute * microsPerSecond) }

// limitedKeys are the keys of one bucket that were limited most, in this minute and the one before.
type limitedKeys struct {
	mu      sync.Mutex
	minute  int64   // of present
	present *sketch // nil until something was limited
	last    *sketch
}

// add notes permits that were refused to a key at a Redis time (µs).
func (t *limitedKeys) add(key string, permits, now int64) {
	if key == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(minuteOf(now))
	if t.present == nil {
		t.present = newSketch()
	}
	t.present.add(key, permits)
}

// turn begins a new minute; what comes late counts in the present one.
func (t *limitedKeys) turn(minute int64) {
	switch {
	case minute <= t.minute:
	case minute == t.minute+1:
		t.minute, t.present, t.last = minute, t.last, t.present
		t.present.clear()
	default:
		t.minute = minute
		t.present.clear()
		t.last.clear()
	}
}

// news are the minutes of which Redis was not told everything, and takes them for told.
func (t *limitedKeys) news(name string) []bucket.LimitedKeys {
	t.mu.Lock()
	defer t.mu.Unlock()
	var reports []bucket.LimitedKeys
	for ago, s := range []*sketch{t.present, t.last} {
		if s != nil && s.news {
			reports = append(reports, bucket.LimitedKeys{Bucket: name, Minute: t.minute - int64(ago), Keys: s.most(bucket.LimitedKeysBound)})
			s.news = false
		}
	}
	return reports
}

// untold takes back that Redis was told.
func (t *limitedKeys) untold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range []*sketch{t.present, t.last} {
		if s != nil && len(s.heap) > 0 {
			s.news = true
		}
	}
}

// counts are the sums of both minutes, the highest first.
func (t *limitedKeys) counts(minute int64) []KeyCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(minute)
	sums := map[string]KeyCount{}
	for _, s := range []*sketch{t.present, t.last} {
		if s == nil {
			continue
		}
		for i := range s.heap {
			sum := sums[s.heap[i].Key]
			sums[s.heap[i].Key] = KeyCount{s.heap[i].Key, sum.Limited + s.heap[i].Limited, sum.Excess + s.heap[i].Excess}
		}
	}
	all := make([]KeyCount, 0, len(sums))
	for _, one := range sums {
		all = append(all, one)
	}
	slices.SortFunc(all, byLimited)
	return all
}

// byLimited puts the most limited key first, and of equal ones the first by name.
func byLimited(a, b KeyCount) int {
	return cmp.Or(cmp.Compare(b.Limited, a.Limited), cmp.Compare(a.Key, b.Key))
}
