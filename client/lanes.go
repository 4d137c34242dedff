package client

import (
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// lanes are the client's ways to Redis: one, or on Cluster one for each of clusterLanes parts of the slots.
type lanes []*lane

const clusterLanes = 16

func newLanes(c *Client, rdb redis.UniversalClient) lanes {
	n := 1
	if _, ok := rdb.(*redis.ClusterClient); ok {
		n = clusterLanes
	}
	reload := reloadOf(rdb)
	var quick *bucket.Engine
	if single, ok := rdb.(*redis.Client); ok && !c.options.hooked {
		quick = bucket.New(single.WithTimeout(c.options.deadline), c.options.prefix)
	}
	all := make(lanes, n)
	for i := range all {
		all[i] = newLane(c, quick, reload)
	}
	return all
}

// of is the lane of one shard of a bucket.
func (l lanes) of(target *bucket.Target, shard int) *lane {
	if len(l) == 1 {
		return l[0]
	}
	return l[target.Slot(shard)*len(l)/bucket.Slots]
}

// allow tells whether any part of Redis may be asked.
func (l lanes) allow() bool {
	for _, one := range l {
		if one.breaker.allows() {
			return true
		}
	}
	return false
}
