-- The state of one partition, and how it moves through the rules of a definition.
--
-- State is kept as the instant T at which the bucket was, or will be, empty: T = w + f/num µs with w whole and
-- 0 <= f < num. (GCRA keeps the same quantity.) A full bucket has T = now - fill time. Taking n permits moves T
-- later by n*den/num µs; time passing moves nothing.
--
-- A rule is {rid, at, num, den, max}: since the instant `at`, num permits arrive per den µs up to max. A definition is
-- {rule = the present one, hist = older ones of the same generation, gen, born}.

local FORMAT = '1'
local EPOCH = 1704067200000000 -- 2024-01-01T00:00:00Z in µs: rule ids are ms since then, or more
local TOLERANCE = 1000000      -- a clock at most this far (µs) behind is waited for; further behind, state moves to it

local function redis_now()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000000 + tonumber(t[2])
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

local function hex(n)
  if n < 0 then
    return string.format('-%x', -n)
  end
  return string.format('%x', n)
end

local function unhex(s)
  if string.sub(s, 1, 1) == '-' then
    return -tonumber(string.sub(s, 2), 16)
  end
  return tonumber(s, 16)
end

local function new_rule(rid, at, num, den, max)
  local rule = {rid = rid, at = at, num = num, den = den, max = max}
  rule.fill, rule.fill_f = cost(rule, max)
  return rule
end

local RULE = '(%d+),(%d+),(%d+),(%d+),(%d+)'

local function parse_rule(s)
  local rid, at, num, den, max = string.match(s, '^' .. RULE .. '$')
  return new_rule(tonumber(rid), tonumber(at), tonumber(num), tonumber(den), tonumber(max))
end

local function print_rule(r)
  return table.concat({dec(r.rid), dec(r.at), dec(r.num), dec(r.den), dec(r.max)}, ',')
end

-- rules(def): every kept rule, oldest first, the present one last. Kept after the first call; most calls need none.
local function rules(def)
  if not def.rules then
    local list = {}
    for one in string.gmatch(def.hist, '[^;]+') do
      list[#list + 1] = parse_rule(one)
    end
    list[#list + 1] = def.rule
    def.rules = list
  end
  return def.rules
end

-- full_line(rule, now): T of a bucket that is just full at now.
local function full_line(rule, now)
  return minus(rule.num, now, rule.fill, rule.fill_f)
end

-- clamp(rule, w, f, now): T, but no earlier than that of a full bucket.
local function clamp(rule, w, f, now)
  local lw, lf = full_line(rule, now)
  if w < lw or (w == lw and f < lf) then
    return lw, lf
  end
  return w, f
end

-- convert(rule, nxt, w, f, at): T under nxt of a bucket that passes from rule to nxt at `at`. Where num or den differ its
-- permits are rounded down to the units of nxt, which loses less than nxt refills in 1 µs. The clamp to nxt's maximum is
-- left to the next clamp, at a later instant, where it comes to the same.
local function convert(rule, nxt, w, f, at)
  w, f = clamp(rule, w, f, at)
  if rule.num == nxt.num and rule.den == nxt.den then
    return w, f
  end
  local m, units = level(rule, w, f, at)
  if m >= nxt.max then
    return full_line(nxt, at)
  end
  local whole, part = cost(nxt, m)
  units = muldiv(units, nxt.den, rule.den)
  local more = math.floor(units / nxt.num)
  return minus(nxt.num, at, whole + more, part + units - more * nxt.num)
end

-- walk(list, i, w, f, t, now): T under the last rule at now of a state that was at T under rule i at the instant t.
local function walk(list, i, w, f, t, now)
  for j = i, #list - 1 do
    local at = math.min(math.max(list[j + 1].at, t), now)
    w, f = convert(list[j], list[j + 1], w, f, at)
  end
  return clamp(list[#list], w, f, now)
end

-- absent(def, now): T of a partition that has no state. Its state may have expired under any rule of the generation, so
-- it gets the lowest level that it could have now: as if emptied under the newest rule that gave such a state time to
-- expire, at the last instant that allows it. Under the first rule of a generation a partition started full (born = 0)
-- or empty at born.
local function absent(def, now)
  local rule = def.rule
  local w, f = full_line(rule, now)
  if def.hist == '' then
    if def.born > 0 and w < def.born and def.born <= now then
      return def.born, 0
    end
    return w, f
  end
  if w >= rule.at then
    return w, f
  end
  local list = rules(def)
  local i = #list
  repeat
    i = i - 1
    w, f = full_line(list[i], now)
    local ends = list[i + 1].at
    if w >= ends then
      w, f = ends, 0
    end
  until i == 1 or w >= list[i].at
  if i == 1 then
    local start = def.born
    if list[1].rid ~= def.gen then
      start = math.max(start, list[1].at)
    end
    if start > 0 and w < start and start <= now then
      w, f = start, 0
    end
  end
  return walk(list, i, w, f, 0, now)
end

-- instant_of(rid): the µs that state of a rule counts its instant from, which keeps the stored figure short.
local function instant_of(rid)
  return EPOCH + rid * 1000
end

-- decode(value): rid, t, lv, f of a stored state; nil when its format is not ours.
local function decode(value)
  local rid, t, lv, f = string.match(value, '^' .. FORMAT .. '(%x+):(-?%x+):(-?%x+):?(%x*)$')
  if not rid then
    return nil
  end
  rid = tonumber(rid, 16)
  return rid, instant_of(rid) + unhex(t), unhex(lv), tonumber(f, 16) or 0
end

-- load_state(def, value, now): the state {w, f, t, rebased} under the present rule; value is false when there is none.
-- nil when its format is unknown. t is the instant that counts as now for this state.
local function load_state(def, value, now)
  if not value then
    local w, f = absent(def, now)
    return {w = w, f = f, t = now}
  end
  local rid, t, lv, f = decode(value)
  if not rid then
    return nil
  end
  local list, i = nil, nil
  if rid == def.rule.rid then
    list, i = {def.rule}, 1
  elseif rid >= def.gen and rid < def.rule.rid then
    list = rules(def)
    i = #list
    while i > 0 and list[i].rid ~= rid do
      i = i - 1
    end
  else
    return load_state(def, false, now)
  end
  local s = {t = hold(t, now), rebased = false}
  if t > s.t then
    t, s.rebased = s.t, true
  end
  local w = t - lv
  if i == 0 then
    i, w, f, t = 1, math.min(list[1].at, s.t), 0, 0
  end
  s.w, s.f = walk(list, i, w, f, t, s.t)
  return s
end

-- save_state(def, key, s, now): stores s. It lives until the bucket is full, and after an edit at
-- least until absence means full. (After a birth that is the same: no bucket fills earlier than one born empty.)
local function save_state(def, key, s, now)
  local rule = def.rule
  local value = FORMAT .. hex(rule.rid) .. ':' .. hex(s.t - instant_of(rule.rid)) .. ':' .. hex(s.t - s.w)
  if s.f > 0 then
    value = value .. ':' .. hex(s.f)
  end
  local us = micros_until(rule.num, s.w + rule.fill, s.f + rule.fill_f, now)
  if def.hist ~= '' and rule.at <= s.t then
    us = math.max(us, micros_until(rule.num, rule.at + rule.fill, rule.fill_f, now))
  end
  -- One ms more: Redis takes the time of expiry from the start of the command, a little before TIME was asked.
  redis.call('SET', key, value, 'PX', dec(math.ceil(us / 1000) + 1))
end
