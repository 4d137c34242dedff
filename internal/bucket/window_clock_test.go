package bucket_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name by which Redis knows a script
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// setRedis is a real Redis on which scripts see a clock that stands still and moves when told, so that what only a real
// Redis runs can be tried at any instant. Scripts get a table redis of which TIME is the test's, and which notes times to
// live for pass to end.
type setRedis struct {
	prefix string
	texts  map[string]string // of every script, by its hash
	now    *time.Time
}

// Its TIME is in the key %[1]s:clock, its times to live are µs since 1970 in the hash %[1]s:ttl.
const setRedisLua = `
local real = redis
local redis = {error_reply = real.error_reply, pcall = real.pcall}
local function ends(key, ms)
  local t = real.call('MGET', '%[1]s:clock:s', '%[1]s:clock:us')
  real.call('HSET', '%[1]s:ttl', key, string.format('%%.0f', t[1] * 1000000 + t[2] + ms * 1000))
end
function redis.call(name, ...)
  local key, a, b, ms = ...
  if name == 'TIME' then
    return real.call('MGET', '%[1]s:clock:s', '%[1]s:clock:us')
  elseif name == 'PSETEX' then
    ends(key, a)
    return real.call('SET', key, b)
  elseif name == 'SET' and ms then
    ends(key, ms)
    return real.call('SET', key, a)
  elseif name == 'PEXPIRE' then
    return ends(key, a)
  elseif name == 'PERSIST' or name == 'DEL' then
    real.call('HDEL', '%[1]s:ttl', key)
  end
  return real.call(name, ...)
end
`

// setEnv is such a Redis, with the clock of miniEnv.
func setEnv(t testing.TB) *env {
	t.Helper()
	e := realEnv(t)
	e.now = miniStart
	prefix, _, _ := strings.Cut(e.DefinitionKey("x"), ":{")
	s := &setRedis{prefix: prefix, texts: map[string]string{}, now: &e.now}
	for _, text := range bucket.Scripts() {
		sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
		s.texts[hex.EncodeToString(sum[:])] = fmt.Sprintf(setRedisLua, prefix) + text
	}
	e.rdb.AddHook(s)
	e.set = s
	s.pass(t, e, 0)
	return e
}

// pass moves the clock, and ends the keys whose time it is.
func (s *setRedis) pass(t testing.TB, e *env, d time.Duration) {
	t.Helper()
	ctx := t.Context()
	e.now = e.now.Add(d)
	us := e.now.UnixMicro()
	check(t, e.rdb.MSet(ctx, s.prefix+":clock:s", us/1_000_000, s.prefix+":clock:us", us%1_000_000).Err())
	for key, ends := range e.rdb.HGetAll(ctx, s.prefix+":ttl").Val() {
		if atoi(t, ends) <= us {
			check(t, e.rdb.Del(ctx, key).Err())
			check(t, e.rdb.HDel(ctx, s.prefix+":ttl", key).Err())
		}
	}
}

// ends is when pass ends a key.
func (s *setRedis) ends(t testing.TB, e *env, key string) time.Time {
	t.Helper()
	us, err := e.rdb.HGet(t.Context(), s.prefix+":ttl", key).Int64()
	check(t, err)
	return time.UnixMicro(us)
}

// persist takes a key's time to live away.
func (s *setRedis) persist(t testing.TB, e *env, key string) {
	t.Helper()
	check(t, e.rdb.HDel(t.Context(), s.prefix+":ttl", key).Err())
}

// DialHook is of redis.Hook, as are the next two.
func (s *setRedis) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook sends scripts with that table, and tells the time.
func (s *setRedis) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		switch name, _ := args[0].(string); name {
		case "evalsha":
			args[0], args[1] = "eval", s.texts[args[1].(string)]
		case "time":
			cmd.(*redis.TimeCmd).SetVal(*s.now)
			return nil
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook changes nothing: no test here pipelines scripts.
func (s *setRedis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// onClocks runs a test that moves the clock on miniredis and on a real Redis with a clock that can be set.
func onClocks(t *testing.T, test func(t *testing.T, e *env)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) { test(t, miniEnv(t)) })
	t.Run("set", func(t *testing.T) { test(t, setEnv(t)) })
}

// movable tells whether the clock stands still and moves when told.
func (e *env) movable() bool { return e.mini != nil || e.set != nil }
