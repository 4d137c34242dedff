-- The beginning of acquire for the window algorithms: calls of one entry in whose way no recent edit, birth or clock set
-- back stands are decided by what follows, before the rest of the script makes its functions. What can't be decided so
-- falls through to the rest, which decides everything; until then nothing is written.
--
-- It reads the definition's field "fast", see token_fast.lua. `fast` is then whether to go on, with permits and count of
-- the entry, the limit max per period, the reply to be filled, and absent: the instant from which absence means that
-- nothing was granted is a period after it.

local floor, ceil, match, call = math.floor, math.ceil, string.match, redis.call
local t = call('TIME')
local now = t[1] * 1000000 + t[2]
local d = #KEYS == 2 and #ARGV == 5 and call('HMGET', KEYS[1], 'fast', 'app:' .. ARGV[1])
local fast = d and d[1]
local permits, count, max, period, absent, id, reply
if fast then
  local rev, rid, start, edge, _, den, most, _, _, all, own, shape = struct.unpack('<ddddddddddss', fast)
  max, period, absent, id = most, den, edge, own
  permits, count = tonumber(ARGV[4]), tonumber(ARGV[5])
  fast = shape == ARGV[2] and (d[2] or all == 1) and ARGV[1] ~= '*' and start <= now
    and permits and permits >= 1 and permits <= max and permits % 1 == 0
    and count and count >= 0 and count <= 1000000000 and count % 1 == 0
  if fast then
    reply = {1, now, rev, rid, '', 0, 0, 0, 0}
    if tonumber(ARGV[3]) ~= rev then
      reply[5] = call('HGET', KEYS[1], 'head')
    end
  end
end
