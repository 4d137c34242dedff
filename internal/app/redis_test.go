package app

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

// The server reaches a Cluster and the master behind Sentinels by its setting alone: people log in, definitions arrive,
// and what SDKs report is shown.
func TestServerWorksOnClusterAndSentinel(t *testing.T) {
	cluster, sentinel := testenv.Cluster(t), testenv.Sentinel(t)
	urlOf := func(addrs []string, query string) string {
		return "redis://" + addrs[0] + "?" + query + "addr=" + strings.Join(addrs[1:], "&addr=")
	}
	for name, c := range map[string]struct {
		url string
		rdb redis.UniversalClient
	}{
		"cluster":  {urlOf(cluster.Addrs(), ""), cluster.Client(t)},
		"sentinel": {urlOf(sentinel.SentinelAddrs(), "master_name="+testenv.SentinelMaster+"&"), sentinel.Client(t)},
	} {
		t.Run(name, func(t *testing.T) {
			dsn, s := history(t, nil)
			cfg := Defaults()
			cfg.Listen, cfg.MySQLDSN, cfg.RedisURL, cfg.AdminPassword = "127.0.0.1:0", dsn, c.url, rollupPassword
			url, _ := runServer(t, cfg)
			makeCharted(t, s)
			sdk, err := client.New(c.rdb, "checkout", client.WithLogger(quiet()), client.WithDeadline(5*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			testenv.Eventually(t, 30*time.Second, "the bucket in Redis", func() bool {
				d, err := sdk.Acquire(t.Context(), "charted")
				return err == nil && d.Outcome == client.Granted
			})
			if err := sdk.Close(); err != nil {
				t.Fatal(err)
			}
			if got := charted(t, browser(t, url), url); got.Granted != sdk.Stats().Buckets["charted"].Granted || got.Granted == 0 {
				t.Errorf("usage %+v, the SDK counted %+v", got, sdk.Stats().Buckets["charted"])
			}
		})
	}
}

// A master of a Cluster dies: as soon as another has its slots, the server finds it there.
func TestServerFindsTheHeirOfAMasterThatDied(t *testing.T) {
	cluster := testenv.Cluster(t)
	rdb, err := connectRedis(&Config{RedisURL: "redis://" + cluster.Addrs()[0] + "?addr=" + strings.Join(cluster.Addrs()[1:], "&addr=")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.Set(t.Context(), "{a}", "here", 0).Err(); err != nil {
		t.Fatal(err)
	}
	slot := cluster.Slot(t, "{a}")
	dead := cluster.MasterOf(t, slot)
	dead.Stop()
	testenv.Eventually(t, 100*time.Second, "another master has the slot", func() bool { return cluster.MasterOf(t, slot) != dead })
	testenv.Eventually(t, 20*time.Second, "the server asks it", func() bool { return rdb.Set(t.Context(), "{a}", "there", 0).Err() == nil })
}

func TestRedisURLsOfNoFormAreRefusedWithoutQuotingThem(t *testing.T) {
	for _, bad := range []string{"", "localhost:6379", "http://h:1", "redis://u:secret@h:port", "redis://h:1?master_name=", "redis://u:secret@h:1?addr=h:2&what=1", "redis://h:1/x"} {
		rdb, err := connectRedis(&Config{RedisURL: bad})
		if err == nil {
			_ = rdb.Close()
			t.Errorf("%q was taken", bad)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
