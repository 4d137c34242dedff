-- Algorithm sliding_window: at most max permits in any period, counted in sub-buckets of a sixtieth of the period.
--
-- Sub-bucket j is [j*period/60, (j+1)*period/60) since 1970. At an instant in sub-bucket j the permits granted in the
-- sub-buckets j-60..j count. So one granted in sub-bucket j is back at (j+61)*period/60, rounded up to a µs: more than a
-- period after it was granted, by at most a sixtieth.
--
-- State: FORMAT RID:J:TOTAL, decimal, or FORMAT RID:J:TOTAL:COUNT:SPAN;D:C;D:C... with more than one sub-bucket. RID is the
-- rule that it was written under, J the newest sub-bucket and COUNT what was granted in it, TOTAL what was granted in all.
-- The older ones follow, newest first: each lies D before the one in front of it and has C. SPAN is the sum of all D.
-- A grant in the newest sub-bucket changes the front only; expired ones are cut from the far end. It expires when what is
-- granted now would be back.
--
-- A bucket that is born empty has during the first period the limit max*(now - born)/period, rounded down.

local sliding = {}

local SLIDING = '^' .. FORMAT .. '(%d+):(%d+):(%d+):?(%d*):?(%d*)(.*)$'
local OLDEST = '^(.*);(%d+):(%d+)$'

local function sub_of(period, t)
  local periods = floor(t / period)
  return periods * 60 + floor((t - periods * period) * 60 / period)
end

-- sub_start(period, j): the first µs of sub-bucket j.
local function sub_start(period, j)
  local periods = floor(j / 60)
  return periods * period + ceil((j - periods * 60) * period / 60)
end

-- back_at(period, j): the instant from which what was granted in sub-bucket j no longer counts.
local function back_at(period, j)
  return sub_start(period, j + 61)
end

-- add(s, j, n): counts n permits in sub-bucket j, which is the newest or a newer one.
local function add(s, j, n)
  if s.total == 0 then
    s.newest, s.count, s.span, s.rest = j, n, 0, ''
  elseif s.newest == j then
    s.count = s.count + n
  else
    s.rest = ';' .. (j - s.newest) .. ':' .. s.count .. s.rest
    s.span = s.span + j - s.newest
    s.newest, s.count = j, n
  end
  s.total = s.total + n
end

-- merge(s, j): counts all permits in sub-bucket j.
local function merge(s, j)
  s.newest, s.count, s.span, s.rest = j, s.total, 0, ''
end

-- expire(s): drops what no longer counts in sub-bucket s.j.
local function expire(s)
  local age = s.j - s.newest
  if age > 60 then
    s.total = 0
    merge(s, s.j)
    return
  end
  while age + s.span > 60 do
    local rest, d, c = string.match(s.rest, OLDEST)
    s.rest, s.span, s.total = rest, s.span - d, s.total - c
  end
end

-- enter_sub(def, s, t, j): makes t, in sub-bucket j, the instant that counts as now for s.
local function enter_sub(def, s, t, j)
  local rule = def.rule
  s.t, s.j, s.limit = t, j, rule.max
  if def.born > 0 and def.born <= t and t < def.born + rule.den then
    s.limit = grown(def, t)
  end
end

-- absent_subs(def, key, now): a partition that has no state: nothing was granted, unless a recent edit made the period
-- longer.
local function absent_subs(def, key, now)
  local period = def.rule.den
  local s = {key = key, total = 0, absent = true}
  enter_sub(def, s, now, sub_of(period, now))
  merge(s, s.j)
  if def.older ~= '0' and not def.settling then
    local from = sub_start(period, s.j - 60)
    for _, use in ipairs(forgotten(def, now, from, lengthened(def, now))) do
      add(s, sub_of(period, use[1]), use[2])
    end
  end
  return s
end

-- carry(def, s, rid): brings state of an older rule under the present one. Where the period is another, all that was
-- granted counts in the sub-bucket of the last instant at which it can have been granted: the end of its newest
-- sub-bucket, or of its rule.
local function carry(def, s, rid)
  local list = rules(def)
  local i = #list
  while i > 0 and list[i].rid ~= rid do
    i = i - 1
  end
  if i > 0 and list[i].den == def.rule.den then
    return
  end
  local last = list[i + 1].at
  if i > 0 then
    last = math.min(last, sub_start(list[i].den, s.newest + 1) - 1)
  end
  merge(s, sub_of(def.rule.den, last))
end

-- read(key): the stored state, false when there is none. A value of another type is another algorithm's.
function sliding.read(key)
  return redis.call('MGET', key)[1]
end

-- open(def, key, value, now): the state under the present rule; nil when its format is unknown. s.total permits count in
-- sub-bucket s.j, that of s.t; s.newest, count, span and rest are those of the stored form.
function sliding.open(def, key, value, now)
  if not value then
    return absent_subs(def, key, now)
  end
  local rid, newest, total, count, span, rest = string.match(value, SLIDING)
  if not rid then
    return anothers(value) and absent_subs(def, key, now) or nil
  end
  rid = rid + 0
  local rule = def.rule
  if rid < def.gen or rid > rule.rid then
    return absent_subs(def, key, now)
  end
  local s = {key = key, newest = newest + 0, total = total + 0, span = 0, rest = rest}
  if count == '' then
    s.count = s.total
  else
    s.count, s.span = count + 0, span + 0
  end
  if rid ~= rule.rid then
    carry(def, s, rid)
  end
  local t, j = now, sub_of(rule.den, now)
  if s.newest > j then
    local starts = sub_start(rule.den, s.newest)
    if starts - now <= TOLERANCE then
      t, j = starts, s.newest
    else
      -- The clock was set back: what was granted counts as granted now.
      merge(s, j)
      s.dirty = true
    end
  end
  enter_sub(def, s, t, j)
  if j - s.newest + s.span > 60 then
    expire(s)
  end
  return s
end

-- have(def, s): the permits that are there.
function sliding.have(_, s)
  local n = s.limit - s.total
  if n > 0 then
    return n
  end
  return 0
end

-- take(def, s, n): takes n permits, whether they are there or not.
function sliding.take(_, s, n)
  add(s, s.j, n)
  s.dirty, s.absent = true, false
end

-- free_at(def, s, n): the instant at which n permits are there: when enough of the oldest are back and the limit has
-- grown enough.
function sliding.free_at(def, s, n)
  local period, max = def.rule.den, def.rule.max
  local excess, at = s.total + n - max, s.t
  local oldest, rest, d, c = s.newest - s.span, s.rest, nil, nil
  while excess > 0 do
    at = back_at(period, oldest)
    if rest == '' then
      excess = excess - s.count
      break
    end
    rest, d, c = string.match(rest, OLDEST)
    excess, oldest = excess - c, oldest + d
  end
  if def.born > 0 and at >= def.born then
    at = math.max(at, grown_to(def, max + excess))
  end
  return at
end

-- retry(def, s, n, now): µs until n permits are there.
function sliding.retry(def, s, n, now)
  return wait_for(sliding, def, s, n, now)
end

-- reset(def, s, now): µs until nothing is counted.
function sliding.reset(def, s, now)
  if s.total == 0 then
    return 0
  end
  local j, c = s.newest, s.count
  if c == 0 then
    -- What was granted in the newest sub-bucket was given back.
    for d, n in string.gmatch(s.rest, ';(%d+):(%d+)') do
      j = j - d
      if n + 0 > 0 then
        break
      end
    end
  end
  return back_at(def.rule.den, j) - now
end

-- reserve(def, s, n, wait, now): takes n permits if they are there; nil when not.
function sliding.reserve(def, s, n)
  return take_now(sliding, def, s, n)
end

-- give(def, s, n, at, rid, reset): gives back n permits that were taken at the instant `at` under rule rid, if they still
-- count and no other period was in force since. False when stale.
function sliding.give(def, s, n, at, rid)
  if s.absent or s.total < n or at > s.t or not same_period(def, rid) then
    return false
  end
  local wanted, j, found = sub_of(def.rule.den, at), s.newest, false
  if wanted == j and s.count >= n then
    s.count, found = s.count - n, true
  else
    s.rest = string.gsub(s.rest, ';(%d+):(%d+)', function(d, c)
      j = j - d
      if j == wanted and c + 0 >= n then
        found = true
        return ';' .. d .. ':' .. (c - n)
      end
    end)
  end
  if found then
    s.total, s.dirty = s.total - n, true
  end
  return found
end

-- save(def, s, now): stores s until what is granted at s.t would be back; by then every edit until now has ceased to
-- make absence mean more.
function sliding.save(def, s, now)
  local rule = def.rule
  local value = FORMAT .. rule.rid .. ':' .. dec(s.newest) .. ':' .. s.total
  if s.span > 0 then
    value = value .. ':' .. s.count .. ':' .. s.span .. s.rest
  end
  redis.call('PSETEX', s.key, until_ms(back_at(rule.den, s.j), now), value)
end
