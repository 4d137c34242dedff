package testenv

import (
	"crypto/tls"
	"testing"

	"github.com/redis/go-redis/v9"
)

// redisTLS is how servers of Redis speak TLS alone, and to none without a certificate of the authority.
type redisTLS struct {
	ca     *CA
	files  CertFiles // of every server, valid for the loopback
	client *tls.Config
}

func newRedisTLS(t testing.TB, ca *CA) *redisTLS {
	t.Helper()
	s := &redisTLS{ca: ca, files: ca.Issue(t, "127.0.0.1")}
	s.client = ca.ClientConfig(t)
	return s
}

// ClientConfig trusts this authority alone, and shows a certificate of it.
func (ca *CA) ClientConfig(t testing.TB) *tls.Config {
	t.Helper()
	own := ca.Issue(t)
	pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{RootCAs: ca.Roots(), Certificates: []tls.Certificate{pair}}
}

// settings are those of a server or a Sentinel, name and value each. Without TLS it is the port alone.
func (s *redisTLS) settings(port string) [][2]string {
	if s == nil {
		return [][2]string{{"port", port}}
	}
	return [][2]string{
		{"port", "0"}, {"tls-port", port}, {"tls-cert-file", s.files.Cert}, {"tls-key-file", s.files.Key}, {"tls-ca-cert-file", s.ca.File},
		{"tls-auth-clients", "yes"}, {"tls-replication", "yes"},
	}
}

// options connect to a server at an address.
func (s *redisTLS) options(addr string) *redis.Options {
	o := &redis.Options{Addr: addr, MaxRetries: -1}
	if s != nil {
		o.TLSConfig = s.client
	}
	return o
}

// RedisTLS has the server speak TLS alone, and to none without a certificate of the authority. Its own is valid for
// 127.0.0.1.
func RedisTLS(t testing.TB, ca *CA) RedisOption {
	t.Helper()
	secured := newRedisTLS(t, ca)
	return func(s *RedisServer) { s.secured = secured }
}

// ClusterTLS is RedisTLS for all nodes of a cluster, among each other too.
func ClusterTLS(t testing.TB, ca *CA) ClusterOption {
	t.Helper()
	secured := newRedisTLS(t, ca)
	return func(o *clusterOptions) { o.secured, o.args = secured, append(o.args, "--tls-cluster", "yes") }
}
