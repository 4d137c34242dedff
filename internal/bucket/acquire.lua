-- acquire: decides rows of calls against one bucket and takes what it grants.
--
-- KEYS[1]    the definition
-- KEYS[2..]  the state key of each entry, for the shape that the caller believes in; the same key may come twice
-- ARGV[1]    the app
-- ARGV[2]    the shape that the caller believes in; '' = none learned, then without entries
-- ARGV[3]    the revision whose head the caller knows; 0 = none
-- ARGV[4..]  permits and count: one pair for all entries, or one for each
--   count  1 or more: as many calls in a row; 0: a peek, which takes nothing;
--          -w: one call that waits its turn up to w µs (windows: as one call that doesn't wait)
--
-- Reply (whole numbers, and strings where said):
--   {1, now, revision, rule id (mode off: 0), head (string; '' when the caller knows it), then for each entry four numbers:
--    granted, remaining, retry_after µs, reset_after µs; then, if permits were given back to a state lately, for each
--    entry its mark, for give_back}                                   decided
--   {-3, now, revision, 0, head}                                     stale: the shape is another one
--   {0, now, 0, 0}                                                   no definition and no tombstone
--   {0, now, revision, 1}                                            removed: a tombstone
--   {0, now, revision, 2}                                            the app is not listed
--   {-4, now}                                                        unknown format of definition or state
--   granted: how many of the calls, the first ones; -2 = permits > max. For a call that waits, retry_after is its wait
--   if granted. Else it is the time until one more call for these permits would be granted.
-- Error reply "HEADGATE ...": permits < 1, or keys and entries that don't match. Nothing but a decision writes, and a
-- decision writes only what it granted (or a state that lay ahead of the clock).
--
-- O(entries), plus O(rules kept, at most 9) for a state older than the last change of the limit.

local floor = math.floor

-- decide(def, s, permits, count, now, reply, n): takes from s what one entry is granted; reply is filled from n on.
local function decide(def, s, permits, count, now, reply, n)
  local granted, retry, have = -2, 0, algorithm.have(def, s)
  if permits <= def.rule.max then
    if count < 0 then
      retry = algorithm.reserve(def, s, permits, math.min(-count, def.wait * 1000), now)
      granted = 1
      if retry then
        have = algorithm.have(def, s)
      else
        granted, retry = 0, algorithm.retry(def, s, permits, now)
      end
    else
      granted = floor(have / permits)
      if granted > count then
        granted = count
      end
      if granted > 0 then
        algorithm.take(def, s, granted * permits)
        have = have - granted * permits
      end
      if have < permits then
        retry = algorithm.retry(def, s, permits, now)
      end
    end
  end
  reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = granted, have, retry, algorithm.reset(def, s, now)
end

-- pair(i): permits and count of entry i; nil and the misuse when they are none.
local function pair(i)
  local permits, count = tonumber(ARGV[2 + 2 * i]), tonumber(ARGV[3 + 2 * i])
  if not permits or not (permits >= 1) or permits ~= floor(permits) then
    return nil, redis.error_reply('HEADGATE permits must be a whole number of at least 1')
  end
  if not count or not (count < EXACT and count > -EXACT) or count ~= floor(count) then
    return nil, redis.error_reply('HEADGATE count must be a whole number')
  end
  return permits, count
end

local entries, uniform = #KEYS - 1, #ARGV == 5
if #ARGV ~= 3 + 2 * entries and not (uniform and entries > 0) then
  return redis.error_reply('HEADGATE keys must be the definition and one for each entry')
end
local permits, count
if entries > 0 then
  permits, count = pair(1)
  if not permits then
    return count
  end
end

local now = redis_now()
local app, shape = ARGV[1], ARGV[2]
local d = redis.call('HMGET', KEYS[1], 'head', 'app:' .. app, 'app:*')
local def = d[1] and parse_head(KEYS[1], d[1])
if not def then
  return not_decided(KEYS[1], d[1], now)
end
local revision = tonumber(def.rev)
if app == '*' or not (d[2] or d[3]) then
  return {0, now, revision, 2}
end
if def.shape ~= shape then
  return {-3, now, revision, 0, d[1]}
end
local reply = {1, now, revision, def.rule.rid, '', 0, 0, 0, 0}
if ARGV[3] ~= def.rev then
  reply[5] = d[1]
end
if entries == 0 then
  return {-3, now, revision, 0, d[1]}
end
if def.mode == 'off' then
  reply[4] = 0 -- nothing is taken that could be given back
  for i = 1, entries do
    if not uniform then
      permits, count = pair(i)
      if not permits then
        return count
      end
    end
    local n = 2 + 4 * i
    if count < 0 then
      count = 1
    end
    reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = count, def.rule.max, 0, 0
  end
  return reply
end

local effective = present(def, now)
if entries == 1 then
  local s = algorithm.open(def, KEYS[2], algorithm.read(KEYS[2]), effective)
  if not s then
    return {-4, now}
  end
  decide(def, s, permits, count, now, reply, 6)
  reply[10] = s.mark
  if s.dirty and (count ~= 0) then
    algorithm.save(def, s, now)
  end
  return reply
end

local states, marked = {}, false
for i = 1, entries do
  local key = KEYS[i + 1]
  if not states[key] then
    local s = algorithm.open(def, key, algorithm.read(key), effective)
    if not s then
      return {-4, now}
    end
    states[key], marked = s, marked or s.mark
  end
end
for i = 1, entries do
  if not uniform then
    permits, count = pair(i)
    if not permits then
      return count
    end
  end
  local s = states[KEYS[i + 1]]
  decide(def, s, permits, count, now, reply, 2 + 4 * i)
  s.write = s.write or count ~= 0
  if marked then
    reply[5 + 4 * entries + i] = s.mark or 0
  end
end
for _, s in pairs(states) do
  if s.dirty and s.write then
    algorithm.save(def, s, now)
  end
end
return reply
