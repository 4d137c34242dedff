package client

import (
	"net/url"
	"reflect"

	"github.com/redis/go-redis/v9"
)

// ParseURL reads from a URL where Redis is, in the forms that the admin server's HEADGATE_REDIS_URL has:
//
//	redis://[user:password@]host:port[/db]                          one server
//	redis://[user:password@]host:port?master_name=NAME&addr=…       the master that Sentinels know; the addresses are theirs
//	redis://[user:password@]host:port?addr=host:port…               a Cluster, by two of its nodes or more
//
// and rediss:// for TLS. The forms and their further parameters, such as pool_size, are go-redis's. Hand the options to
// redis.NewUniversalClient, changed as needed: TLSConfig.RootCAs for a private CA. The error, ErrURL, quotes nothing of the
// URL, which may hold a password.
func ParseURL(raw string) (*redis.UniversalOptions, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, ErrURL
	}
	o := &redis.UniversalOptions{}
	switch query := u.Query(); {
	case query.Has("master_name"):
		from, err := redis.ParseFailoverURL(raw)
		if err != nil || from.MasterName == "" {
			return nil, ErrURL
		}
		copyOptions(o, from)
		o.Addrs = from.SentinelAddrs
	case query.Has("addr"):
		from, err := redis.ParseClusterURL(raw)
		if err != nil {
			return nil, ErrURL
		}
		copyOptions(o, from)
		o.IsClusterMode = true
	default:
		from, err := redis.ParseURL(raw)
		if err != nil {
			return nil, ErrURL
		}
		copyOptions(o, from)
		o.Addrs = []string{from.Addr}
	}
	return o, nil
}

// copyOptions takes over the fields of the same name and type: go-redis has its options in four structs, and no way from
// the three that it reads from URLs to the one that stands for all.
func copyOptions(to *redis.UniversalOptions, from any) {
	target, source := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if value := source.FieldByName(field.Name); value.IsValid() && value.Type() == field.Type {
			target.Field(i).Set(value)
		}
	}
}
