-- beat: a client says that it is alive. Each beat also looks at a few clients at random and takes out those that have
-- long been silent, more than one beat adds, so that the hash stays bounded without anybody reading all of it.
--
-- KEYS[1]  the clients: a hash, an id's value is "FORMAT SEEN TEXT", SEEN the instant (µs) of its last beat. The first two
--          words are the same in every format.
-- ARGV     the client's id, TEXT: what it tells of itself
--
-- Reply: 1
-- O(1)

local LOOKED_AT = 2
local SILENT = 600000000 -- µs
local KEPT_MS = '1200000' -- when nobody beats any more

local key, now = KEYS[1], redis_now()
redis.call('HSET', key, ARGV[1], FORMAT .. ' ' .. dec(now) .. ' ' .. ARGV[2])
for _, id in ipairs(redis.call('HRANDFIELD', key, LOOKED_AT)) do
  local seen = tonumber(string.match(redis.call('HGET', key, id), '^%w+ (%d+) ') or '') or now
  -- What lies ahead of the clock comes again at its next beat, or is of before the clock was set back.
  if seen < now - SILENT or seen > now + TOLERANCE then
    redis.call('HDEL', key, id)
  end
end
redis.call('PEXPIRE', key, KEPT_MS)
return 1
