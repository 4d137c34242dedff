-- Algorithm fixed_window: at most max permits in each window. Window i is [i*period, (i+1)*period) since 1970.
--
-- State: FORMAT GEN:T:COUNT, decimal. GEN is the generation; T the instant of the last grant in whole ms since EPOCH;
-- COUNT what was granted in the window of T. It counts if T lies in the present window, so that an edit of the period
-- keeps it. (Periods are whole ms, so T in ms falls in the same window as in µs.) It expires with the window, whose end
-- is absolute: no grant moves it.
--
-- A bucket that is born empty has in its first window the limit max*(now - born)/period, rounded down.

local fixed = {}

local function window_start(period, t)
  return floor(t / period) * period
end

-- read(key): the stored state, false when there is none. A value of another type is another algorithm's.
function fixed.read(key)
  return redis.call('MGET', key)[1]
end

-- enter(def, s, t): makes t the instant that counts as now for s.
local function enter_window(def, s, t)
  local rule = def.rule
  s.t, s.start, s.limit = t, window_start(rule.den, t), rule.max
  if def.born > 0 and def.born >= s.start and def.born <= t then
    s.limit = grown(def, t)
  end
end

-- absent_window(def, key, now): a partition that has no state: nothing was granted, unless an edit lies in the window.
local function absent_window(def, key, now)
  local s = {key = key, last = now, count = 0, absent = true}
  enter_window(def, s, now)
  if def.older ~= '0' and not def.settling then
    local function over(rule)
      return window_start(rule.den, math.max(rule.at, s.start)) + rule.den <= now
    end
    for _, use in ipairs(forgotten(def, now, s.start, over)) do
      s.count = s.count + use[2]
    end
  end
  return s
end

-- open(def, key, value, now): the state under the present rule; nil when its format is unknown. s.count permits were
-- granted in the window that starts at s.start, the last ones at s.last; s.limit is its limit at s.t.
function fixed.open(def, key, value, now)
  if not value then
    return absent_window(def, key, now)
  end
  local gen, ms, count = string.match(value, '^' .. FORMAT .. '(%d+):(-?%d+):(%d+)$')
  if not gen then
    return anothers(value) and absent_window(def, key, now) or nil
  end
  if gen + 0 ~= def.gen then
    return absent_window(def, key, now)
  end
  local at = EPOCH + ms * 1000
  local s = {key = key, last = at, count = count + 0}
  if at <= now then
    enter_window(def, s, now)
    if at < s.start then
      s.count = 0
    end
  elseif at - now <= TOLERANCE then
    enter_window(def, s, at)
  else
    -- The clock was set back: what was granted counts as granted now.
    s.last, s.dirty = now, true
    enter_window(def, s, now)
  end
  return s
end

-- have(def, s): the permits that are there.
function fixed.have(_, s)
  local n = s.limit - s.count
  if n > 0 then
    return n
  end
  return 0
end

-- take(def, s, n): takes n permits, whether they are there or not.
function fixed.take(_, s, n)
  s.count, s.last = s.count + n, s.t
  s.dirty, s.absent = true, false
end

-- free_at(def, s, n): the instant at which n permits are there: in the next window, or sooner while the limit grows.
function fixed.free_at(def, s, n)
  local rule = def.rule
  local ends = s.start + rule.den
  if s.limit < rule.max and s.count + n <= rule.max then
    return math.min(ends, grown_to(def, s.count + n))
  end
  return ends
end

-- retry(def, s, n, now): µs until n permits are there.
function fixed.retry(def, s, n, now)
  return wait_for(fixed, def, s, n, now)
end

-- reset(def, s, now): µs until nothing is counted.
function fixed.reset(def, s, now)
  if s.count == 0 then
    return 0
  end
  return s.start + def.rule.den - now
end

-- reserve(def, s, n, wait, now): takes n permits if they are there; nil when not.
function fixed.reserve(def, s, n)
  return take_now(fixed, def, s, n)
end

-- give(def, s, n, at, rid, reset): gives back n permits that were taken at the instant `at` under rule rid, if they lie
-- in the present window and no other period was in force since. False when stale.
function fixed.give(def, s, n, at, rid)
  if s.absent or at < s.start or at > s.t or s.count < n or not same_period(def, rid) then
    return false
  end
  s.count, s.dirty = s.count - n, true
  return true
end

-- save(def, s, now): stores s until the window ends, and with it every edit within that makes absence mean more.
function fixed.save(def, s, now)
  redis.call('PSETEX', s.key, until_ms(s.start + def.rule.den, now),
    FORMAT .. def.gen .. ':' .. floor((s.last - EPOCH) / 1000) .. ':' .. s.count)
end
