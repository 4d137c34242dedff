package client

import "sync/atomic"

// Stats counts what this client did since New.
type Stats struct {
	Unavailable int64 // calls answered without any count: by policy open or closed
	Unlearned   int64 // of those: bucket unknown to this client, so WithUnknownPolicy answered
	Local       int64 // calls decided by this process's share under policy local
	RoundTrips  int64 // to Redis, each with the calls of many callers
	// Buckets are those of which something was learned, by name.
	Buckets map[string]BucketStats
}

// BucketStats counts what this client asked of one bucket.
type BucketStats struct {
	Granted       int64 // permits granted
	Limited       int64 // permits refused
	ShadowLimited int64 // permits that mode shadow let pass although they were limited
	Denied        int64 // calls refused in this process, because Redis had just refused as much
	Unavailable   int64 // calls answered without any count
	Local         int64 // calls decided by this process's share under policy local
	Revision      int64 // of the definition learned last; 0 when it was deleted
}

type stats struct{ unavailable, unlearned, local, roundTrips atomic.Int64 }

type bucketCounts struct{ unavailable, local atomic.Int64 }

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	s := Stats{
		Unavailable: c.stats.unavailable.Load(), Unlearned: c.stats.unlearned.Load(), Local: c.stats.local.Load(),
		RoundTrips: c.stats.roundTrips.Load(), Buckets: map[string]BucketStats{},
	}
	c.book.each(func(k *known) {
		used := k.usage.total()
		b := BucketStats{
			Granted: used.granted, Limited: used.limited, ShadowLimited: used.shadowLimited,
			Denied: k.usage.denials(), Unavailable: k.counts.unavailable.Load(), Local: k.counts.local.Load(),
		}
		if f := k.facts(); f != nil {
			b.Revision = f.Revision
		}
		s.Buckets[k.name] = b
	})
	return s
}
