package app

import (
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

const (
	redisClientName  = "headgate-admin"
	redisDialTimeout = 2 * time.Second
	// clusterLook is how often go-redis looks which master has which slots, while it is used. A master that died sends
	// nobody anywhere, so with go-redis's own minute its buckets would wait that long after another took them over.
	clusterLook = time.Second
)

// errRedisURL quotes nothing of the URL, which may hold a password.
var errRedisURL = errors.New("HEADGATE_REDIS_URL must look like redis://[user:password@]host:port[/db] or rediss://…; " +
	"for Sentinel redis://[user:password@]host:port?master_name=NAME&addr=host:port…, for a Cluster redis://[user:password@]host:port?addr=host:port…")

// connectRedis makes the client that the server pushes and reads through, of one server, the master behind Sentinels or a
// Cluster. It connects at the first command only. Nothing is sent twice, so a retry can only come from reconcile, which
// looks first.
func connectRedis(cfg *Config) (redis.UniversalClient, error) {
	options, err := client.ParseURL(cfg.RedisURL)
	if err != nil {
		return nil, errRedisURL
	}
	if options.TLSConfig, err = cfg.RedisTLS.over(options.TLSConfig); err != nil {
		return nil, err
	}
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.DialTimeout, options.ClientName = redisDialTimeout, redisClientName
	if options.IsClusterMode {
		cluster := options.Cluster()
		cluster.ClusterStateReloadInterval = clusterLook
		return redis.NewClusterClient(cluster), nil
	}
	return redis.NewUniversalClient(options), nil
}
