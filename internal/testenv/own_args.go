package testenv

import "testing"

// RedisArgs adds arguments to the command line of the server, as redis.conf would have them.
func RedisArgs(args ...string) RedisOption {
	return func(s *RedisServer) { s.args = append(s.args, args...) }
}

// OwnMySQLWith is OwnMySQL with further arguments on the command line of the server.
func OwnMySQLWith(t testing.TB, args ...string) *MySQLServer {
	t.Helper()
	s, err := newMySQL(append([]string{"--innodb-flush-log-at-trx-commit=0"}, args...)...)
	if s != nil {
		t.Cleanup(s.remove)
	}
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return s
}
