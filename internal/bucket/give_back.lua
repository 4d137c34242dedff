-- give_back: gives permits back that a decision took and nobody used. It is sent once: a second time would give back once
-- more.
--
-- KEYS[1]  the definition
-- KEYS[2]  the state key that the decision was for
-- ARGV     the shape that the decision was for, permits, the decision's time (µs), its rule id, its reset_after µs with its
--          mark, if it had one, added
--
-- Reply: {1, now}   given back, or as much of it as nobody relies on
--        {0, now}   stale: the state is of another generation, window or rule, or the permits no longer count. Unchanged
--        {-4, now}  unknown format of definition or state. Unchanged
-- Error reply "HEADGATE ...": anything else in ARGV.
--
-- O(what the algorithm needs to find the permits): 1, or sub-buckets kept, or at most 1000 later records of a log.

local permits, at, rid, reset = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
for i, least in ipairs({1, 0, 0, 0}) do
  local n = tonumber(ARGV[1 + i])
  if not n or not (n >= least and n < EXACT) or n % 1 ~= 0 then
    return redis.error_reply('HEADGATE permits, time, rule id and reset must be whole numbers')
  end
end
local now = redis_now()
local head = redis.call('HGET', KEYS[1], 'head')
local def = head and parse_head(KEYS[1], head)
if not def then
  return {not_decided(KEYS[1], head, now)[1], now}
end
if def.shape ~= ARGV[1] then
  return {0, now}
end
local s = algorithm.open(def, KEYS[2], algorithm.read(KEYS[2]), present(def, now))
if not s then
  return {-4, now}
end
if not algorithm.give(def, s, permits, at, rid, reset) then
  return {0, now}
end
algorithm.save(def, s, now)
return {1, now}
