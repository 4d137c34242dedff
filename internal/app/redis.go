package app

import (
	"errors"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
)

const redisClientName = "headgate-admin"

// errRedisURL quotes nothing of the URL, which may hold a password.
var errRedisURL = errors.New("HEADGATE_REDIS_URL must look like redis://[user:password@]host:port[/db] or rediss://…; " +
	"for Sentinel redis://[user:password@]host:port?master_name=NAME&addr=host:port…, for a Cluster redis://[user:password@]host:port?addr=host:port…")

// connectRedis makes the client that the server pushes and reads through: of one server, or of the master that Sentinels
// know where the URL names a master, or of a Cluster where it names further nodes. The forms are go-redis's. Nothing is
// sent twice, so a retry can only come from reconcile, which looks first.
func connectRedis(raw string) (redis.UniversalClient, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errRedisURL
	}
	switch query := u.Query(); {
	case query.Has("master_name"):
		return connectSentinel(raw)
	case query.Has("addr"):
		return connectCluster(raw)
	}
	options, err := redis.ParseURL(raw)
	if err != nil {
		return nil, errRedisURL
	}
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.DialTimeout, options.ClientName = redisDialTimeout, redisClientName
	return redis.NewClient(options), nil
}

const redisDialTimeout = 2 * time.Second

// clusterLook is how often go-redis looks which master has which slots, while it is used. A master that died sends nobody
// anywhere, so with go-redis's own minute its buckets would wait that long after another took them over.
const clusterLook = time.Second

func connectSentinel(raw string) (redis.UniversalClient, error) {
	options, err := redis.ParseFailoverURL(raw)
	if err != nil || options.MasterName == "" {
		return nil, errRedisURL
	}
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.DialTimeout, options.ClientName = redisDialTimeout, redisClientName
	return redis.NewFailoverClient(options), nil
}

func connectCluster(raw string) (redis.UniversalClient, error) {
	options, err := redis.ParseClusterURL(raw)
	if err != nil {
		return nil, errRedisURL
	}
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	options.DialTimeout, options.ClientName = redisDialTimeout, redisClientName
	options.ClusterStateReloadInterval = clusterLook
	return redis.NewClusterClient(options), nil
}
