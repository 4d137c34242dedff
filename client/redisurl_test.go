package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

// What a URL says arrives in the options, in each of its forms, and the options make the client of that form.
func TestURLSaysWhatKindOfRedisItIs(t *testing.T) {
	const more = "read_timeout=2s&pool_size=7&max_retries=-1&client_name=me"
	for name, c := range map[string]struct {
		url   string
		addrs []string
		want  func(o *redis.UniversalOptions, made redis.UniversalClient) bool
	}{
		"one server": {"redis://u:p@h:1/3?" + more, []string{"h:1"}, func(o *redis.UniversalOptions, made redis.UniversalClient) bool {
			single, ok := made.(*redis.Client)
			return ok && o.DB == 3 && o.TLSConfig == nil && single.Options().PoolSize == 7 && single.Options().Addr == "h:1" && single.Options().ReadTimeout == 2*time.Second
		}},
		"a socket": {"unix://u:p@/run/redis.sock?" + more, []string{"/run/redis.sock"}, func(_ *redis.UniversalOptions, made redis.UniversalClient) bool {
			single, ok := made.(*redis.Client)
			return ok && single.Options().Network == "unix"
		}},
		"Sentinels": {"rediss://s:q@h:1?master_name=m&addr=h:2&addr=h:3&username=u&password=p&" + more, []string{"h:2", "h:3", "h:1"}, func(o *redis.UniversalOptions, made redis.UniversalClient) bool {
			_, ok := made.(*redis.Client)
			return ok && o.MasterName == "m" && o.SentinelUsername == "s" && o.SentinelPassword == "q" && o.TLSConfig.ServerName == "h"
		}},
		"a Cluster": {"rediss://u:p@h:1?addr=h:2&" + more, []string{"h:2", "h:1"}, func(o *redis.UniversalOptions, made redis.UniversalClient) bool {
			cluster, ok := made.(*redis.ClusterClient)
			return ok && o.TLSConfig.ServerName == "h" && cluster.Options().PoolSize == 7 && cluster.Options().Password == "p"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := client.ParseURL(c.url)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(o.Addrs)
			slices.Sort(c.addrs)
			if !slices.Equal(o.Addrs, c.addrs) || o.Username != "u" || o.Password != "p" || o.ReadTimeout != 2*time.Second || o.PoolSize != 7 || o.MaxRetries != -1 || o.ClientName != "me" {
				t.Errorf("options %+v", o)
			}
			made := redis.NewUniversalClient(o)
			defer func() { _ = made.Close() }()
			if !c.want(o, made) {
				t.Errorf("options %+v make %T", o, made)
			}
		})
	}
}

func TestURLOfNoFormIsRefusedWithoutQuotingIt(t *testing.T) {
	for _, bad := range []string{"", "localhost:6379", "http://h:1", "redis://u:secret@h:port", "redis://u:secret@h:1?master_name=", "redis://u:secret@h:1?addr=h:2&what=1", "redis://u:secret@h:1/x"} {
		o, err := client.ParseURL(bad)
		var misuse *client.MisuseError
		if o != nil || !errors.Is(err, client.ErrURL) || !errors.As(err, &misuse) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v", bad, o, err)
		}
	}
}
