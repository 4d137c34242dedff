-- Algorithm sliding_log: at most max permits in any period, exactly. A permit granted at the instant g counts in
-- [g, g + period), so it is back at g + period.
--
-- State: a list of whole numbers, in pairs. The head is FORMAT followed by the generation, and BASE; each further pair is a
-- record, oldest first: an instant in µs since EPOCH, and the running total of permits granted up to and with it. The
-- permits of some records in a row are a difference of totals; BASE is the total before the first record. All that is
-- granted at one instant shares a record. A grant drops the records that no longer count: the last one of them becomes
-- the head, since its total is the new BASE. The list expires when what is granted now would be back.
--
-- A bucket that is born empty has during the first period the limit max*(now - born)/period, rounded down.

local log = {}

local AT_ONCE = 3              -- records read with the head
local HEAD_ITEMS = 2 + 2 * AT_ONCE
local GIVE_BEHIND = 1000       -- a give-back changes the totals of at most so many later records

-- read(key): the stored state {head, BASE, the first records...; last, total = the last record, before = the total before
-- it}; false when there is none. A value of another type is another algorithm's.
function log.read(key)
  local value = redis.pcall('LRANGE', key, 0, HEAD_ITEMS - 1)
  if value.err then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then
      error(value.err, 0)
    end
    return {foreign = true}
  end
  local n = #value
  if n == 0 then
    return false
  end
  local tail = value
  if n == HEAD_ITEMS then
    tail, n = redis.call('LRANGE', key, -3, -1), 3
  end
  value.before, value.last, value.total = tail[n - 2], tail[n - 1], tail[n]
  return value
end

-- record(s, i): instant and total of the stored record i, 1 the first; nil when there are not as many.
local function record(s, i)
  local at, total
  if i <= AT_ONCE then
    at, total = s.value[2 * i + 1], s.value[2 * i + 2]
  else
    local pair = redis.call('LRANGE', s.key, 2 * i, 2 * i + 1)
    at, total = pair[1], pair[2]
  end
  if at then
    return EPOCH + at, total + 0
  end
end

-- first(s, i, wanted): the first stored record from i on for which wanted(instant, total), and its instant and total; nil
-- when there is none. From one record on it holds for all later ones. O(log of the records passed).
local function first(s, i, wanted)
  local step, below = 1, i - 1
  local at, total = record(s, i)
  while at and not wanted(at, total) do
    below = i
    i = i + step
    step = step * 2
    at, total = record(s, i)
  end
  while i - below > 1 do
    local middle = floor((below + i) / 2)
    local a, n = record(s, middle)
    if not a or wanted(a, n) then
      i, at, total = middle, a, n
    else
      below = middle
    end
  end
  if at then
    return i, at, total
  end
end

-- drop(s, t): sets s.base and s.dropped, the total and the number of the records that no longer count at t.
local function drop(s, t, period)
  local i = first(s, 1, function(at)
    return at + period > t
  end)
  s.dropped = i - 1
  if i > 1 then
    local _, total = record(s, i - 1)
    s.base = total
  end
end

-- anew(s, records): makes s a list to be written anew, of records {instant, permits}.
local function anew(s, records)
  s.records, s.base, s.total = records, 0, 0
  for _, r in ipairs(records) do
    s.total = s.total + r[2]
  end
end

-- enter_log(def, s, t): makes t the instant that counts as now for s.
local function enter_log(def, s, t)
  local rule = def.rule
  s.t, s.limit = t, rule.max
  if def.born > 0 and def.born <= t and t < def.born + rule.den then
    s.limit = grown(def, t)
  end
end

-- absent_log(def, key, now): a partition that has no state: nothing was granted, unless a recent edit made the period
-- longer. stale: something that is of no use stands in its place.
local function absent_log(def, key, now, stale)
  local s, records = {key = key, absent = true, stale = stale}, {}
  enter_log(def, s, now)
  if def.older ~= '0' and not def.settling then
    records = forgotten(def, now, now - def.rule.den + 1, lengthened(def, now))
  end
  anew(s, records)
  return s
end

-- open(def, key, value, now): the state under the present rule; nil when its format is unknown. s.total - s.base permits
-- count at s.t. Either s.records are what to write anew, or the stored records but the first s.dropped count.
function log.open(def, key, value, now)
  if not value or value.foreign then
    return absent_log(def, key, now, value and true)
  end
  local gen = string.match(value[1], '^' .. FORMAT .. '(%d+)$')
  if not gen or #value < 4 or #value % 2 == 1 then
    return nil
  end
  if gen + 0 ~= def.gen then
    return absent_log(def, key, now, true)
  end
  local period = def.rule.den
  local stored = value.total + 0
  local s = {key = key, value = value, base = value[2] + 0, last = EPOCH + value.last, stored = stored, total = stored, dropped = 0}
  if s.last > now and s.last - now > TOLERANCE then
    -- The clock was set back: what was granted counts as granted now.
    drop(s, s.last, period)
    anew(s, {{now, s.total - s.base}})
    s.stale, s.dirty = true, true
    enter_log(def, s, now)
    return s
  end
  enter_log(def, s, math.max(now, s.last))
  if s.last + period <= s.t then
    anew(s, {})
    s.stale = true
  elseif EPOCH + value[3] + period <= s.t then
    drop(s, s.t, period)
  end
  return s
end

-- have(def, s): the permits that are there.
function log.have(_, s)
  local n = s.limit - s.total + s.base
  if n > 0 then
    return n
  end
  return 0
end

-- take(def, s, n): takes n permits, whether they are there or not.
function log.take(_, s, n)
  s.total, s.dirty, s.absent = s.total + n, true, false
end

-- reached_at(s, goal): the instant of the record with which the running total reaches goal, and the total with it. What was
-- taken just now makes the last one.
local function reached_at(s, goal)
  if s.records then
    local total = 0
    for _, r in ipairs(s.records) do
      total = total + r[2]
      if total >= goal and r[1] < s.t then
        return r[1], total
      end
    end
    return s.t, s.total
  end
  if goal > s.stored or (s.last == s.t and goal > s.value.before + 0) then
    return s.t, s.total
  end
  if goal > s.value.before + 0 then
    return s.last, s.stored
  end
  local _, at, total = first(s, s.dropped + 1, function(_, reached)
    return reached >= goal
  end)
  return at, total
end

-- free_at(def, s, n): the instant at which n permits are there: when enough of the oldest are back and the limit has
-- grown enough.
function log.free_at(def, s, n)
  local at, gone = s.t, s.base
  local goal = s.total + n - def.rule.max
  if goal > gone then
    at, gone = reached_at(s, goal)
    at = at + def.rule.den
  end
  if def.born > 0 and at >= def.born then
    at = math.max(at, grown_to(def, s.total + n - gone))
  end
  return at
end

-- retry(def, s, n, now): µs until n permits are there.
function log.retry(def, s, n, now)
  return wait_for(log, def, s, n, now)
end

-- reset(def, s, now): µs until nothing is counted.
function log.reset(def, s, now)
  if s.total == s.base then
    return 0
  end
  local at = reached_at(s, s.total)
  return at + def.rule.den - now
end

-- reserve(def, s, n, wait, now): takes n permits if they are there; nil when not.
function log.reserve(def, s, n)
  return take_now(log, def, s, n)
end

-- give(def, s, n, at, rid, reset): gives back n permits that were taken at the instant `at`, if they still count and not
-- too many were granted since. False when stale.
function log.give(def, s, n, at, rid)
  if not s.value or s.records or rid < def.gen or rid > def.rule.rid then
    return false
  end
  local i, found = first(s, s.dropped + 1, function(instant)
    return instant >= at
  end)
  if found ~= at then
    return false
  end
  local before = s.base
  if i > s.dropped + 1 then
    local _, total = record(s, i - 1)
    before = total
  end
  local totals = redis.call('LRANGE', s.key, 2 * i, 2 * (i + GIVE_BEHIND) + 1)
  if totals[2] - before < n or totals[#totals - 1] + EPOCH ~= s.last then
    return false
  end
  s.given = {}
  for k = 2, #totals, 2 do
    s.given[#s.given + 1] = {2 * i + k - 1, totals[k] - n}
  end
  s.total, s.dirty = s.total - n, true
  return true
end

-- append(s): writes what was taken at s.t behind the stored records, and drops those that no longer count.
local function append(s)
  for _, item in ipairs(s.given or {}) do
    redis.call('LSET', s.key, item[1], item[2])
  end
  if s.total > s.stored then
    if s.last == s.t then
      redis.call('LSET', s.key, -1, s.total)
    else
      redis.call('RPUSH', s.key, s.t - EPOCH, s.total)
    end
  end
  if s.dropped > 0 then
    redis.call('LSET', s.key, 2 * s.dropped, s.value[1])
    redis.call('LTRIM', s.key, 2 * s.dropped, -1)
  end
end

-- replace(def, s): writes the list anew.
local function replace(def, s)
  if s.stale then
    redis.call('DEL', s.key)
  end
  local items, n, total, last = {FORMAT .. def.gen, 0}, 2, 0, nil
  for _, r in ipairs(s.records) do
    total, last = total + r[2], r[1]
    items[n + 1], items[n + 2] = last - EPOCH, total
    n = n + 2
  end
  if last == s.t then
    items[n] = s.total
  elseif s.total > total or not last then
    items[n + 1], items[n + 2] = s.t - EPOCH, s.total
  end
  redis.call('RPUSH', s.key, unpack(items))
end

-- save(def, s, now): stores s until what is granted at s.t would be back; by then every edit until now has ceased to
-- make absence mean more.
function log.save(def, s, now)
  if s.records then
    replace(def, s)
  else
    append(s)
  end
  redis.call('PEXPIRE', s.key, until_ms(s.t + def.rule.den, now))
end
