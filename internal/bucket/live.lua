-- live: a client says that it uses a bucket, and learns how many do.
--
-- KEYS[1]  the bucket's live clients: a sorted set of ids, each with the instant (µs) of its last beat
-- ARGV     the client's id, for how long a beat counts (ms)
--
-- Reply: how many clients beat within that time, this one included
-- O(log(clients)); after a clock set back once O(clients)

local key, now, window = KEYS[1], redis_now(), tonumber(ARGV[2]) * 1000
-- Whoever lies ahead of the clock was seen before it was set back. As if seen now it counts no longer than it should.
for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. dec(now + TOLERANCE), '+inf')) do
  redis.call('ZADD', key, dec(now), id)
end
redis.call('ZADD', key, dec(now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', key, '-inf', dec(now - window))
redis.call('PEXPIRE', key, ARGV[2])
return redis.call('ZCARD', key)
