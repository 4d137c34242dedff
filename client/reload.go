package client

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// reloadOf returns what makes a connection to a Redis Cluster look again which master has which slot, and nothing to do
// on the others. By itself go-redis looks when a node sends it elsewhere; a master that died sends nobody anywhere, and
// its slots would be asked of it for up to a minute (ClusterStateReloadInterval) after another one took them over.
// go-redis looks in the background, one look at a time, so this may be called at every failure.
func reloadOf(rdb redis.UniversalClient) func() {
	cluster, ok := rdb.(interface{ ReloadState(context.Context) })
	if !ok {
		return func() {}
	}
	return func() { cluster.ReloadState(context.Background()) }
}
