package client

import "sync/atomic"

// Stats counts what this client did since New, and tells how it is now.
type Stats struct {
	App         string
	Unavailable int64 // calls answered without any count: by policy open or closed
	Unlearned   int64 // of those: bucket unknown to this client, so WithUnknownPolicy answered
	Local       int64 // calls decided by this process's share under policy local
	RoundTrips  int64 // to Redis, each with the calls of many callers; answered, or failed within the deadline
	GivenUp     int64 // round trips that were not over by the deadline
	// RoundTripTimes are those of RoundTrips.
	RoundTripTimes Histogram
	Waiting        int64 // calls that wait for a round trip to take them along, now
	// Breakers is on how many ways calls go to Redis: one, on Cluster one for each part of the slots. On those in
	// BreakersOpen Redis does not answer now, and buckets follow their failure policy.
	Breakers, BreakersOpen int
	// Buckets are those of which something was learned, by name.
	Buckets map[string]BucketStats
}

// BucketStats counts what this client asked of one bucket.
type BucketStats struct {
	Granted       int64 // permits granted, less those given back: it may fall
	Limited       int64 // permits refused
	ShadowLimited int64 // permits that mode shadow let pass although they were limited
	Denied        int64 // calls refused in this process, because Redis had just refused as much
	Unavailable   int64 // calls answered without any count
	Local         int64 // calls decided by this process's share under policy local
	Revision      int64 // of the definition learned last; 0 when it was deleted
	Live          int64 // processes that use the bucket, of policy local only; 0 = not known
}

type stats struct {
	unavailable, unlearned, local, givenUp atomic.Int64
	trips                                  tripTimes
}

type bucketCounts struct{ unavailable, local atomic.Int64 }

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	s := Stats{
		App: c.app, Unavailable: c.stats.unavailable.Load(), Unlearned: c.stats.unlearned.Load(), Local: c.stats.local.Load(),
		GivenUp: c.stats.givenUp.Load(), RoundTripTimes: c.stats.trips.histogram(),
		Breakers: len(c.lanes), Buckets: map[string]BucketStats{},
	}
	s.RoundTrips = s.RoundTripTimes.Count()
	for _, l := range c.lanes {
		s.Waiting += l.queued()
		if !l.breaker.allows() {
			s.BreakersOpen++
		}
	}
	c.book.each(func(k *known) {
		used := k.usage.total()
		b := BucketStats{
			Granted: used.granted, Limited: used.limited, ShadowLimited: used.shadowLimited,
			Denied: k.usage.denials(), Unavailable: k.counts.unavailable.Load(), Local: k.counts.local.Load(),
			Live: k.live.Load(),
		}
		if f := k.facts(); f != nil {
			b.Revision = f.Revision
		}
		s.Buckets[k.name] = b
	})
	return s
}
