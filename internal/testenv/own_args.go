package testenv

import "testing"

// RedisArgs adds arguments to the command line of the server, as redis.conf would have them.
func RedisArgs(args ...string) RedisOption {
	return func(s *RedisServer) { s.args = append(s.args, args...) }
}

// OwnMySQLWith is OwnMySQL with further arguments on the command line of the server.
func OwnMySQLWith(t testing.TB, args ...string) *MySQLServer {
	t.Helper()
	return OwnMySQLIn(t, "", append([]string{"--innodb-flush-log-at-trx-commit=0"}, args...)...)
}
