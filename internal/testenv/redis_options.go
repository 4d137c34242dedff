package testenv

// RedisOption sets something for OwnRedis.
type RedisOption func(*RedisServer)

// RedisDurable has every write on disk before its answer goes out, so that Stop and Start lose nothing.
func RedisDurable() RedisOption {
	return func(s *RedisServer) { s.args = append(s.args, "--appendonly", "yes", "--appendfsync", "always") }
}

// RedisEnv adds variables, each NAME=VALUE, to the environment of the server's process.
func RedisEnv(vars ...string) RedisOption {
	return func(s *RedisServer) { s.env = append(s.env, vars...) }
}
