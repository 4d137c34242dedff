-- What every script shares: the format, the clock, numbers as text, and a definition as the scripts read it.
--
-- A definition's field "head" is all that a decision needs, in one string:
--   FORMAT REV SHAPE MODE FAIL WAIT GEN BORN RID AT NUM DEN MAX FILL FILLF OLDER
-- SHAPE is ALGORITHM.PARTITION.SHARDS: what the state keys depend on. WAIT is in ms; AT and BORN are instants in µs;
-- FILL + FILLF/NUM is the time in µs in which NUM permits every DEN µs fill MAX; OLDER is how many rules "hist" keeps.
-- A tombstone's head is: FORMAT gone REV.

local FORMAT = '2'
local EPOCH = 1704067200000000 -- 2024-01-01T00:00:00Z in µs: rule ids are ms since then, or more
local TOLERANCE = 1000000      -- a clock at most this far (µs) behind is waited for; further behind, state moves to it

local HEAD = '^' .. FORMAT .. ' (%d+) (%S+) (%a+) (%a+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$'

local function redis_now()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- hold(instant, now): the later of the two if the clock is within the tolerance behind the instant, else now.
local function hold(instant, now)
  if instant > now and instant - now <= TOLERANCE then
    return instant
  end
  return now
end

local function dec(n)
  return string.format('%.0f', n)
end

-- anothers(value): whether a string that is not the algorithm's own kind of state is another algorithm's, and so of an
-- earlier generation. (State that is no string has another type.)
local function anothers(value)
  return string.find(value, '^' .. FORMAT .. '%x+:[-%x:;]+$') ~= nil
end

-- parse_head(key, head): the definition under key; nil when the head is a tombstone's or of another format.
local function parse_head(key, head)
  local rev, shape, mode, fail, wait, gen, born, rid, at, num, den, max, fill, fill_f, older = string.match(head, HEAD)
  if not rev then
    return nil
  end
  return {
    key = key, head = head, rev = rev, shape = shape, mode = mode, fail = fail, wait = wait, gen = tonumber(gen),
    born = tonumber(born), older = older,
    rule = {rid = tonumber(rid), at = tonumber(at), num = tonumber(num), den = tonumber(den), max = tonumber(max),
      fill = tonumber(fill), fill_f = tonumber(fill_f)},
  }
end

-- present(def, now): the instant that counts as now. A definition made or born just ahead of the clock counts from its
-- own instant.
local function present(def, now)
  if now >= def.rule.at and now >= def.born then
    return now
  end
  return hold(def.born, hold(def.rule.at, now))
end

-- not_decided(key, head, now): the reply where there is no definition to decide by.
local function not_decided(key, head, now)
  if not head then
    if redis.call('EXISTS', key) == 1 then
      return {-4, now}
    end
    return {0, now, 0, 0}
  end
  local rev = string.match(head, '^' .. FORMAT .. ' gone (%d+)$')
  if rev then
    return {0, now, tonumber(rev), 1}
  end
  return {-4, now}
end
