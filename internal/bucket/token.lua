-- Algorithm token_bucket: the state of one partition, and how it moves through the rules of a definition.
--
-- State is kept as the instant T at which the bucket was, or will be, empty: T = w + f/num µs with w whole and
-- 0 <= f < num. (GCRA keeps the same quantity.) A full bucket has T = now - fill time; a T ahead of now is a debt of
-- reservations. Taking n permits moves T later by n*den/num µs; time passing moves nothing.
--
-- Giving permits back moves T earlier. So that no later give-back counts on a T that is no more, the state then keeps its
-- mark: the µs by which T would be later if nothing had been given back. See token.give.
--
-- A state is stored as FORMAT rid:t:lv, then :f unless f and mark are 0, then :mark unless it is; all hexadecimal. t is
-- when it was written, in µs since the rule id's instant, and lv is t - w.
--
-- A rule is {rid, at, num, den, max}: since the instant `at`, num permits arrive per den µs up to max. A definition has
-- the present one in def.rule, older ones of the same generation in its field "hist", and gen and born.
--
-- The table `token` at the end is what the scripts use; every algorithm has the same functions.

local LONGEST_WAIT = 3600000000 -- µs; no debt is deeper, and nothing older is given back
local MARK_BOUND = 2 ^ 50       -- µs

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

-- full_line(rule, now): T of a bucket that is just full at now.
local function full_line(rule, now)
  local f = rule.fill_f
  if f > 0 then
    return now - rule.fill - 1, rule.num - f
  end
  return now - rule.fill, 0
end

-- clamp(rule, w, f, now): T, but no earlier than that of a full bucket.
local function clamp(rule, w, f, now)
  local lw, lf = full_line(rule, now)
  if w < lw or (w == lw and f < lf) then
    return lw, lf
  end
  return w, f
end

-- debt(rule, nxt, w, f, at): T under nxt of a bucket that owes permits at `at`: it goes on owing as many, rounded up to
-- the units of nxt, but no more than the longest wait brings in.
local function debt(rule, nxt, w, f, at)
  local m, units = muldiv(rule.num, w - at, rule.den)
  units = units + f
  local more = math.floor(units / rule.den)
  m, units = m + more, units - more * rule.den
  if m > nxt.max + LONGEST_WAIT * nxt.num / nxt.den then
    return at + LONGEST_WAIT, 0
  end
  local whole, part = cost(nxt, m)
  local rest
  units, rest = muldiv(units, nxt.den, rule.den)
  if rest > 0 then
    units = units + 1
  end
  part = part + units
  more = math.floor(part / nxt.num)
  whole, part = whole + more, part - more * nxt.num
  if whole >= LONGEST_WAIT then
    return at + LONGEST_WAIT, 0
  end
  return at + whole, part
end

-- convert(rule, nxt, w, f, at): T under nxt of a bucket that passes from rule to nxt at `at`. Where num or den differ its
-- permits are rounded down to the units of nxt, which loses less than nxt refills in 1 µs. The clamp to nxt's maximum is
-- left to the next clamp, at a later instant, where it comes to the same.
local function convert(rule, nxt, w, f, at)
  w, f = clamp(rule, w, f, at)
  if rule.num == nxt.num and rule.den == nxt.den then
    return w, f
  end
  if w > at or (w == at and f > 0) then
    return debt(rule, nxt, w, f, at)
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

-- absent_after_edits(def, now): T of a partition without state where the limit was edited. The state may have expired
-- under any rule of the generation, so it gets the lowest level that it could have now: as if emptied under the newest
-- rule that gave such a state time to expire, at the last instant that allows it. Under the first rule of a generation a
-- partition started full (born = 0) or empty at born. (It could even have owed permits to reservations at an edit, and
-- nobody have asked since. That is forgiven: else for a while after each edit every key never used would count as in
-- debt.)
local function absent_after_edits(def, now)
  local rule = def.rule
  local w, f = full_line(rule, now)
  if w >= rule.at then
    return w, f
  end
  local list = rules(def)
  local i = #list
  while i > 1 do
    i = i - 1
    w, f = full_line(list[i], now)
    local ends = list[i + 1].at
    if w >= ends then
      w, f = ends, 0
    end
    if w >= list[i].at then
      break
    end
  end
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

-- absent(def, now): T of a partition that has no state: full, unless an edit or a birth is recent.
local function absent(def, now)
  if def.older ~= '0' then
    return absent_after_edits(def, now)
  end
  local w, f = full_line(def.rule, now)
  if def.born > 0 and def.born > w and def.born <= now then
    return def.born, 0
  end
  return w, f
end

-- carried(def, rid, w, f, t, now): T under the present rule of a state of an older one; nil when it is of no rule of this
-- generation. Of a rule that is not kept any more the state counts as empty when the oldest that is kept began, or, if it
-- owed permits, when it would have ceased to.
local function carried(def, rid, w, f, t, now)
  if rid < def.gen or rid > def.rule.rid then
    return nil
  end
  local list = rules(def)
  local i = #list
  while i > 0 and list[i].rid ~= rid do
    i = i - 1
  end
  if i == 0 then
    if f > 0 then
      w = w + 1
    end
    i, w, f, t = 1, math.max(w, math.min(list[1].at, now)), 0, 0
  end
  return walk(list, i, w, f, t, now)
end

-- set_back(s, step): the mark of a state that moves with a clock set back by step µs, for what was granted before.
local function set_back(s, step)
  if step <= LONGEST_WAIT then
    s.mark = (s.mark or 0) + step
  else
    s.mark = nil
  end
end

-- wear(s, later): the mark of a state whose T moved later by at least later - 1 µs because the bucket was full.
local function wear(s, later)
  if s.mark and later > 1 then
    s.mark = s.mark - later + 1
    if s.mark <= 0 then
      s.mark = nil
    end
  end
end

local token = {}

-- read(key): the stored state, false when there is none. A value of another type is another algorithm's.
function token.read(key)
  return redis.call('MGET', key)[1]
end

-- open(def, key, value, now): the state under the present rule; nil when its format is unknown. s.t is the instant that
-- counts as now for it.
function token.open(def, key, value, now)
  local rule = def.rule
  local id, at, lv, f, mark
  if value then
    id, at, lv, f, mark = string.match(value, '^' .. FORMAT .. '(%x+):(-?%x+):(-?%x+):?(%x*):?(%x*)$')
    if not id and not anothers(value) then
      return nil
    end
  end
  if not id then
    local w
    w, f = absent(def, now)
    return {key = key, w = w, f = f, t = now}
  end
  local rid = tonumber(id, 16)
  local t = EPOCH + rid * 1000 + unhex(at)
  local w = t - unhex(lv)
  if f == '' then f = 0 else f = tonumber(f, 16) end
  local s = {key = key, t = t}
  if mark ~= '' then
    s.mark = tonumber(mark, 16)
  end
  if t <= now then
    s.t = now
  elseif t - now > TOLERANCE then
    -- The clock was set back: the state moves with it, its level kept, so that it refills from now on.
    -- (In two steps: the embedded Redis's Lua would take the new t for the second.)
    s.t, s.dirty = now, true
    set_back(s, t - now)
    w = w - (t - now)
    t = now
  end
  if rid == rule.rid then
    s.w, s.f = clamp(rule, w, f, s.t)
    wear(s, s.w - w)
  else
    s.mark = nil
    s.w, s.f = carried(def, rid, w, f, t, s.t)
    if not s.w then
      s.w, s.f = absent(def, now)
      s.t, s.dirty = now, false
    end
  end
  return s
end

-- have(def, s): the whole permits that are there.
function token.have(def, s)
  return (level(def.rule, s.w, s.f, s.t))
end

-- take(def, s, n): takes n permits, whether they are there or not.
function token.take(def, s, n)
  local num = def.rule.num
  local w, f = cost(def.rule, n)
  w, f = s.w + w, s.f + f
  if f >= num then
    w, f = w + 1, f - num
  end
  s.w, s.f, s.dirty = w, f, true
end

-- until_instant(def, s, w, f, now): µs until the instant w + f/num; 0 if that is past for s, for which the clock may be held.
local function until_instant(def, s, w, f, now)
  local us = micros_until(def.rule.num, w, f, now)
  if us <= s.t - now then
    return 0
  end
  return us
end

-- retry(def, s, n, now): µs until n permits are there.
function token.retry(def, s, n, now)
  local w, f = cost(def.rule, n)
  return until_instant(def, s, s.w + w, s.f + f, now)
end

-- reset(def, s, now): µs until the bucket is full.
function token.reset(def, s, now)
  return until_instant(def, s, s.w + def.rule.fill, s.f + def.rule.fill_f, now)
end

-- reserve(def, s, n, wait, now): takes n permits that are there within wait µs, and says in how many; nil when later.
function token.reserve(def, s, n, wait, now)
  local us = token.retry(def, s, n, now)
  if us > wait then
    return nil
  end
  token.take(def, s, n)
  return us
end

-- give(def, s, n, at, rid, reset): gives back n permits that were taken at the instant `at` under rule rid, by a call that
-- was told `reset` µs (and the mark added). False when stale: the bucket has forgotten them.
--
-- Be E the T just after that call, were nothing ever given back, and so T + mark the one of now. Two bounds:
-- Had the call not been, the bucket could have been full meanwhile. It holds no more than that leaves of the n permits.
-- And while the bucket owes permits, reservations made since rely on what was taken before them: their turns come as if
-- the call's permits were gone. So only n less all that was taken since is given back, which is the rule of CancelAt in
-- golang.org/x/time/rate. With both, what is granted net of give-backs stays within max + rate*time in every interval,
-- however many are given back in whatever order.
function token.give(def, s, n, at, rid, reset)
  local rule, mark = def.rule, s.mark or 0
  local num, full = rule.num, at + reset
  -- since: what was taken since, in µs, up to 1 too little or too much.
  local since = s.w + rule.fill + math.ceil((s.f + rule.fill_f) / num) + mark - full
  if rid ~= rule.rid or n > rule.max or since < 0 or s.t - at > LONGEST_WAIT or mark > MARK_BOUND then
    return false
  end
  local back, back_f = cost(rule, n)
  if (s.w > s.t or (s.w == s.t and s.f > 0)) and (since > 0 or num > rule.den) then
    -- (Even where nothing seems to be taken since, permits of less than a µs may hide in the rounding.)
    back = back - since - 1
  end
  local most = full - mark - s.t - 1
  if back >= most then
    back, back_f = most, 0
  end
  if back < 0 or (back == 0 and back_f == 0) then
    return false
  end
  s.mark = mark + back + math.ceil(back_f / num)
  s.w, s.f = s.w - back, s.f - back_f
  if s.f < 0 then
    s.w, s.f = s.w - 1, s.f + num
  end
  s.dirty = true
  return true
end

-- save(def, s, now): stores s. It lives until the bucket is full, and would be had nothing been given back, but so long
-- only as something taken before could be given back; after an edit at least until absence means full. (After a birth
-- that is the same: no bucket fills earlier than one born empty.)
function token.save(def, s, now)
  local rule = def.rule
  local lv, value = s.t - s.w, nil
  local since = s.t - EPOCH - rule.rid * 1000
  if lv >= 0 and since >= 0 then
    value = string.format('%s%x:%x:%x', FORMAT, rule.rid, since, lv)
  else
    value = FORMAT .. hex(rule.rid) .. ':' .. hex(since) .. ':' .. hex(lv)
  end
  local us = micros_until(rule.num, s.w + rule.fill, s.f + rule.fill_f, now)
  if s.mark then
    value = value .. string.format(':%x:%x', s.f, s.mark)
    us = us + math.min(s.mark, LONGEST_WAIT)
  elseif s.f > 0 then
    value = value .. string.format(':%x', s.f)
  end
  if def.older ~= '0' and rule.at <= s.t then
    us = math.max(us, micros_until(rule.num, rule.at + rule.fill, rule.fill_f, now))
  end
  -- One ms more: Redis takes the time of expiry from the start of the command, a little before TIME was asked.
  redis.call('PSETEX', s.key, math.ceil(us / 1000) + 1, value)
end
