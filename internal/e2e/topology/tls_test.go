package topology_test

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
	"github.com/headgate/headgate/internal/testenv/demand"
)

const (
	adminPassword = "seven maps under a tin lantern"
	securedBucket = "secured"
)

// With every connection to Sentinels and to a Cluster over TLS, by an authority of the test's own that asks for
// certificates too, a server and an application find the master, go on after it has died, and the edit of that time
// arrives. Whoever shows no certificate is not spoken to, and a server of another authority is not either.
func TestSentinelAndClusterOverTLSSurviveTheirMaster(t *testing.T) {
	t.Run("sentinel", func(t *testing.T) {
		ca := testenv.NewCA(t)
		s := testenv.Sentinel(t, testenv.RedisTLS(t, ca))
		survivesOverTLS(t, ca, s.SentinelAddrs(), "&master_name="+testenv.SentinelMaster, func() *testenv.RedisServer { return s.Master(t) })
	})
	t.Run("cluster", func(t *testing.T) {
		ca := testenv.NewCA(t)
		c := testenv.Cluster(t, testenv.ClusterTLS(t, ca))
		survivesOverTLS(t, ca, c.Addrs(), "", func() *testenv.RedisServer { return c.MasterOf(t, c.Slot(t, "{"+securedBucket+"}")) })
	})
}

func survivesOverTLS(t *testing.T, ca *testenv.CA, addrs []string, option string, master func() *testenv.RedisServer) {
	t.Helper()
	url := "rediss://" + addrs[0] + "?addr=" + strings.Join(addrs[1:], "&addr=") + option
	admin := serveOverTLS(t, ca, url)
	admin.Must(t, http.StatusCreated, http.MethodPost, "/apps", nil, map[string]any{"name": app, "description": ""})
	definition := map[string]any{
		"name": securedBucket, "apps": []string{app}, "owners": []string{"admin"}, "max_permits": 1000, "rate": 1000, "period_ms": 1000,
		"partition": "shared", "on_redis_failure": "closed", "after_loss": "full", "reason": "over TLS",
	}
	made := admin.Must(t, http.StatusCreated, http.MethodPost, "/buckets", nil, definition)
	if !strings.Contains(made.Raw, `"synced"`) {
		t.Errorf("the save says %s", made.Raw)
	}
	strangersAreTurnedAway(t, master().Addr, url)

	w := at(t, overTLS(t, url, ca.ClientConfig(t)), hasty)
	load := demand.Start(t, 4, 10*time.Millisecond, func(int) (client.Decision, error) { return w.c.Acquire(t.Context(), securedBucket) })
	load.IsGranted(t, 100)
	master().Stop()
	load.Notices(t)
	delete(definition, "name")
	definition["max_permits"] = 900
	admin.Must(t, http.StatusOK, http.MethodPut, "/buckets/"+securedBucket, adminenv.Based(1), definition)
	t.Logf("Redis decided again %v after policy had begun to answer", load.ComesBack(t))
	load.IsGranted(t, 100)
	testenv.Eventually(t, comeback, "the edit has arrived", func() bool {
		found, err := w.engine.Read(t.Context(), securedBucket)
		return err == nil && found[0].Revision == 2 && found[0].MaxPermits == 900
	})
	load.Quick(t, securedBucket, hasty)
}

// serveOverTLS starts an admin server as it is shipped, and logs its admin in.
func serveOverTLS(t *testing.T, ca *testenv.CA, url string) *adminenv.Person {
	t.Helper()
	dir, mine := t.TempDir(), ca.Issue(t)
	if err := adminenv.Build(dir, nil, "admin"); err != nil {
		t.Fatal(err)
	}
	server := adminenv.Serve(t, filepath.Join(dir, "admin"), []string{
		"HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_REPAIR_INTERVAL=1s",
		"HEADGATE_REDIS_URL=" + url, "HEADGATE_REDIS_CA_FILE=" + ca.File, "HEADGATE_REDIS_CERT_FILE=" + mine.Cert, "HEADGATE_REDIS_KEY_FILE=" + mine.Key,
	}, "serve")
	return adminenv.Login(t, server.URL, nil, "admin", adminPassword)
}

// overTLS connects as an application does: by the server's URL, with a TLS configuration of its own.
func overTLS(t *testing.T, url string, config *tls.Config) redis.UniversalClient {
	t.Helper()
	options, err := client.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.TLSConfig.RootCAs, options.TLSConfig.Certificates = config.RootCAs, config.Certificates
	rdb := redis.NewUniversalClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// strangersAreTurnedAway tries without a certificate, with trust in another authority only, and without TLS.
func strangersAreTurnedAway(t *testing.T, master, url string) {
	t.Helper()
	another := testenv.NewCA(t).ClientConfig(t)
	if err := overTLS(t, url, another).Ping(t.Context()).Err(); err == nil {
		t.Error("a server of another authority is spoken to")
	}
	unknown := redis.NewClient(&redis.Options{Addr: master, MaxRetries: -1, TLSConfig: &tls.Config{InsecureSkipVerify: true}}) // whoever the server is, it is to refuse
	defer func() { _ = unknown.Close() }()
	if err := unknown.Ping(t.Context()).Err(); err == nil {
		t.Error("Redis speaks to somebody without a certificate")
	}
	if err := standalone(t, master).Ping(t.Context()).Err(); err == nil {
		t.Error("Redis speaks without TLS")
	}
}
