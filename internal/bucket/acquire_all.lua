-- acquire_all: decides rows of calls that each want permits of several buckets, all or none, and takes what it grants.
--
-- KEYS[1..D]  the definitions
-- KEYS[D+1..] the state key of each part, call after call; the same key may come more than once
-- ARGV[1]     the app
-- ARGV[2]     D
-- ARGV[3]     1: parts whose bucket is not configured pass and take nothing; 0: they refuse their call
-- ARGV[4..]   for each definition: the shape that the caller believes in ('' = none learned, then without rows), and the
--             revision whose head the caller knows (0 = none)
-- then        for each row of calls: count (so many equal calls, 1 or more), the number of parts, and for each part the
--             number of its definition (1..D) and its permits. While keys are left the rows are gone through again from the
--             first, so that equal rows with other keys are said but once.
--
-- A call takes from all its parts' buckets, or, if one part refuses, from none. A part refuses where its bucket has too
-- little or is not configured; one of mode shadow never does, and takes nothing where it would have; one of mode off
-- neither refuses nor takes. Parts of one call with the same state want the sum of their permits.
--
-- Reply (whole numbers, and strings where said):
--   {1, now, four items for each definition, then for each row: granted, and four numbers for each of its parts: able,
--    remaining, retry_after µs, reset_after µs; then, if permits were given back to a state lately, a mark for each part}
--   {-3, now, four items for each definition}     stale: a shape is another one; nothing was decided
--   a definition's items: 1, revision, rule id (mode off: 0), head (string; '' when the caller knows it)   decided
--                         -3, revision, 0, head                                             its shape is another one
--                         0, revision, as in acquire: 0 absent, 1 removed, 2 app not listed, ''      not configured
--                         -4, 0, 0, ''                                       unknown format of it or of one of its states
--   granted: how many of the row's calls, the first ones
--   able: for how many of them, one after the other, this part alone had enough, at most count; -2 = permits > max.
--         So of call i it refused, or in mode shadow would have, if able < min(i, granted + 1)
--   The other figures are as in acquire; 0 where the definition is not decided.
-- Error reply "HEADGATE ...": anything that does not match the above. Nothing but a decision writes.
--
-- O(parts), plus what the algorithms need for state of before an edit.

local floor = math.floor

-- describe(key, shape, known, now): the four items of one definition, and the definition where it decides.
local function describe(key, shape, known, now)
  local app = ARGV[1]
  local d = redis.call('HMGET', key, 'head', 'app:' .. app, 'app:*')
  local def = d[1] and parse_head(key, d[1])
  if not def then
    local no = not_decided(key, d[1], now)
    return no[1], no[3] or 0, no[4] or 0, ''
  end
  local revision = tonumber(def.rev)
  if app == '*' or not (d[2] or d[3]) then
    return 0, revision, 2, ''
  end
  if def.shape ~= shape then
    return -3, revision, 0, d[1]
  end
  def.algorithm = algorithms[string.match(shape, '^[%a_]+')]
  if not def.algorithm or not def.algorithm.open then
    return -4, 0, 0, ''
  end
  def.effective = present(def, now)
  local head = d[1]
  if def.rev == known then
    head = ''
  end
  if def.mode == 'off' then
    return 1, revision, 0, head, def
  end
  return 1, revision, def.rule.rid, head, def
end

-- state_of(states, def, key): the state under key, read at its first mention; nil when its format is unknown.
local function state_of(states, def, key)
  local s = states[key]
  if s == nil then
    s = def.algorithm.open(def, key, def.algorithm.read(key), def.effective)
    if s then
      s.def, s.have = def, def.algorithm.have(def, s)
    end
    states[key] = s or false
  end
  return s or nil
end

-- able(s, count): for how many of count calls s has the permits that each wants of it in all.
local function able(s, count)
  if s.wanted > s.def.rule.max then
    return -2
  end
  local n = floor(s.have / s.wanted)
  if n > count then
    return count
  end
  return n
end

-- want(row): how many permits one call of the row wants of each state.
local function want(row)
  for _, part in ipairs(row) do
    if part.s then
      part.s.wanted, part.s.taken = 0, false
    end
  end
  for _, part in ipairs(row) do
    if part.s then
      part.s.wanted = part.s.wanted + part.permits
    end
  end
end

-- weigh(row): able of each part; how many calls no part refuses.
local function weigh(row)
  local granted = row.count
  for _, part in ipairs(row) do
    part.able = row.count
    if part.refuses then
      part.able, granted = 0, 0
    elseif part.s then
      part.able = able(part.s, row.count)
      if part.able < granted and part.s.def.mode ~= 'shadow' then
        granted = part.able
      end
    end
  end
  if granted < 0 then
    return 0
  end
  return granted
end

-- take(row, granted): takes what the granted calls want, once of each state.
local function take(row, granted)
  for _, part in ipairs(row) do
    local s, n = part.s, part.able
    if n > granted then
      n = granted
    end
    if s and n > 0 and not s.taken then
      s.taken = true
      s.def.algorithm.take(s.def, s, n * s.wanted)
      s.have = s.have - n * s.wanted
    end
  end
end

-- tell(row, now, reply, n): enters the figures of each part after the row from reply[n] on; returns where to go on.
local function tell(row, now, reply, n)
  for _, part in ipairs(row) do
    local s, remaining, retry, reset = part.s, part.remaining, 0, 0
    if s then
      remaining, reset = s.have, s.def.algorithm.reset(s.def, s, now)
      if s.have < s.wanted and part.able ~= -2 then
        retry = s.def.algorithm.retry(s.def, s, s.wanted, now)
      end
    end
    reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = part.able, remaining, retry, reset
    n = n + 4
  end
  return n
end

-- number(i): ARGV[i] as a whole number of 1 or more; nil when it is none.
local function number(i)
  local n = ARGV[i] and tonumber(ARGV[i])
  if n and n >= 1 and n < EXACT and n == floor(n) then
    return n
  end
  return nil
end

-- read_part(definitions, at, key, states): one part, from ARGV[at] on; nil when it says nothing sensible.
local function read_part(definitions, at, key, states)
  local d, permits = definitions[number(at)], number(at + 1)
  if not d or not permits then
    return nil
  end
  local part = {d = d, permits = permits, remaining = 0}
  if d.def and d.def.mode == 'off' then
    part.remaining = d.def.rule.max
  elseif d.def then
    part.s = state_of(states, d.def, key)
    d.def.unknown = d.def.unknown or not part.s
  end
  return part
end

-- read_rows(definitions, first, states): the rows, which stand from ARGV[first] on; nil when they don't match the keys.
local function read_rows(definitions, first, states)
  local rows, at, k = {}, first, #definitions + 1
  while k <= #KEYS do
    if at > #ARGV then
      at = first
    end
    local count, parts = number(at), number(at + 1)
    if not count or not parts or k + parts - 1 > #KEYS then
      return nil
    end
    local row = {count = count}
    for i = 1, parts do
      row[i] = read_part(definitions, at + 2 * i, KEYS[k], states)
      if not row[i] then
        return nil
      end
      k = k + 1
    end
    rows[#rows + 1], at = row, at + 2 + 2 * parts
  end
  return rows
end

-- refuse(rows, pass): which parts refuse their calls whatever the buckets have.
local function refuse(rows, pass)
  for _, row in ipairs(rows) do
    for _, part in ipairs(row) do
      local d = part.d
      local decides = d.def and not d.def.unknown
      if not decides then
        part.s, part.remaining = nil, 0
      end
      part.refuses = not decides and not (pass and d.status == 0)
    end
  end
end

-- mark(rows, reply, n): enters the marks of all parts' states from reply[n] on, if there are any.
local function mark(rows, reply, n)
  local marks, any = {}, false
  for _, row in ipairs(rows) do
    for _, part in ipairs(row) do
      local m = part.s and part.s.mark or 0
      marks[#marks + 1], any = m, any or m > 0
    end
  end
  if any then
    for i, m in ipairs(marks) do
      reply[n + i - 1] = m
    end
  end
end

local count, now = number(2), redis_now()
if not count or count > #KEYS or #ARGV < 3 + 2 * count then
  return redis.error_reply('HEADGATE keys must be the definitions and one for each part')
end
local definitions, reply, stale = {}, {1, now}, false
for i = 1, count do
  local status, revision, third, head, def = describe(KEYS[i], ARGV[2 + 2 * i], ARGV[3 + 2 * i], now)
  definitions[i] = {status = status, def = def}
  local n = 4 * i - 1
  reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = status, revision, third, head
  stale = stale or status == -3
end
if stale then
  reply[1] = -3
  return reply
end

local states = {}
local rows = read_rows(definitions, 4 + 2 * count, states)
if not rows then
  return redis.error_reply('HEADGATE each row must be a count, a number of parts, and as many definitions and permits')
end
for i, d in ipairs(definitions) do
  if d.def and d.def.unknown then
    local n = 4 * i - 1
    reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = -4, 0, 0, ''
  end
end
refuse(rows, ARGV[3] == '1')
local n = 3 + 4 * count
for _, row in ipairs(rows) do
  want(row)
  reply[n] = weigh(row)
  take(row, reply[n])
  n = tell(row, now, reply, n + 1)
end
mark(rows, reply, n)
for _, s in pairs(states) do
  if s and s.dirty and not s.def.unknown then
    s.def.algorithm.save(s.def, s, now)
  end
end
return reply
