-- acquire: decides a row of calls against one bucket and takes what it grants.
--
-- KEYS[1]    the definition
-- KEYS[2..]  the state key of each entry, for the partition that the caller believes in; the same key may come twice
-- ARGV[1]    the format that the caller speaks
-- ARGV[2]    the app
-- ARGV[3]    the partition that the caller believes in; '' = not learned, then with neither keys nor entries
-- ARGV[4..]  permits and count of each entry; count 0 = peek, which takes nothing
--
-- Reply (whole numbers, and strings where said):
--   {1, revision, now, generation, partition (string), mode (string), on_failure (string), max, num, den, max_wait ms,
--    then for each entry: code, granted, remaining, retry_after µs, reset_after µs}       decided
--   {-3, the same as above without entries}                          stale: the partition is another one
--   {0, 0, now, 0}                                                   no definition and no tombstone
--   {0, revision, now, 1}                                            removed: a tombstone
--   {0, revision, now, 2}                                            the app is not listed
--   {-4, 0, now}                                                     unknown format of caller, definition or state
--   code: 1 all granted (peek: one more would be), -1 some or all limited, -2 permits > max
-- Error reply "HEADGATE ...": permits < 1, a count < 0, or keys and entries that don't match. Nothing but a decision
-- writes, and a decision writes only what it granted (or a state that lay ahead of the clock).
--
-- O(entries), plus O(rules kept, at most 9) for a state older than the last change of the limit.

local function read_entries()
  local entries = {}
  for i = 4, #ARGV, 2 do
    local permits, count = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    if not permits or not (permits >= 1) or permits ~= math.floor(permits) then
      return nil, 'HEADGATE permits must be a whole number of at least 1'
    end
    if not count or not (count >= 0 and count < EXACT) or count ~= math.floor(count) then
      return nil, 'HEADGATE count must be a whole number of at least 0'
    end
    entries[#entries + 1] = {permits = permits, count = count, key = KEYS[#entries + 2]}
  end
  if #KEYS ~= 1 + #entries then
    return nil, 'HEADGATE keys must be the definition and one for each entry'
  end
  return entries
end

-- load_states(def, entries, now): state by key; nil when one has an unknown format.
local function load_states(def, entries, now)
  local states = {}
  for _, e in ipairs(entries) do
    if not states[e.key] then
      local s = load_state(def, redis.call('GET', e.key), now)
      if not s then
        return nil
      end
      states[e.key] = s
    end
  end
  return states
end

local function append(reply, code, granted, remaining, retry, reset)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] = code, granted, remaining, retry, reset
end

-- decide(rule, e, s, now, reply): takes from s what entry e is granted.
local function decide(rule, e, s, now, reply)
  local have = level(rule, s.w, s.f, s.t)
  local code, granted, retry = -2, 0, 0
  if e.permits <= rule.max then
    granted = math.min(e.count, math.floor(have / e.permits))
    if granted > 0 then
      local w, f = cost(rule, granted * e.permits)
      s.w, s.f = s.w + w, s.f + f
      if s.f >= rule.num then
        s.w, s.f = s.w + 1, s.f - rule.num
      end
      have = have - granted * e.permits
      s.dirty = true
    end
    if have < e.permits then
      local w, f = cost(rule, e.permits)
      retry = micros_until(rule.num, s.w + w, s.f + f, now)
    end
    code = 1
    if granted < e.count or (e.count == 0 and have < e.permits) then
      code = -1
    end
  end
  if s.rebased and e.count > 0 then
    s.dirty = true
  end
  local reset = 0
  if have < rule.max then
    reset = micros_until(rule.num, s.w + rule.fill, s.f + rule.fill_f, now)
  end
  append(reply, code, granted, have, retry, reset)
end

local now = redis_now()
if ARGV[1] ~= FORMAT then
  return {-4, 0, now}
end
local entries, misuse = read_entries()
if not entries then
  return redis.error_reply(misuse)
end

local app = ARGV[2]
local d = redis.call('HMGET', KEYS[1], 'fmt', 'gone', 'rev', 'alg', 'gen', 'born', 'part', 'mode', 'fail', 'wait', 'rule',
  'hist', 'app:' .. app, 'app:*')
if not d[1] then
  return {0, 0, now, 0}
end
if d[1] ~= FORMAT then
  return {-4, 0, now}
end
local revision = tonumber(d[3])
if d[2] then
  return {0, revision, now, 1}
end
if d[4] ~= 'token_bucket' then
  return {-4, 0, now}
end
if app == '*' or not (d[13] or d[14]) then
  return {0, revision, now, 2}
end

local def = {rule = parse_rule(d[11]), hist = d[12], gen = tonumber(d[5]), born = tonumber(d[6])}
local rule = def.rule
local mode = d[8]
local reply = {1, revision, now, def.gen, d[7], mode, d[9], rule.max, rule.num, rule.den, tonumber(d[10])}
if d[7] ~= ARGV[3] then
  reply[1] = -3
  return reply
end
if mode == 'off' then
  for _, e in ipairs(entries) do
    append(reply, 1, e.count, rule.max, 0, 0)
  end
  return reply
end

-- A definition made or born just ahead of the clock counts from its own instant.
local effective = hold(def.born, hold(rule.at, now))
local states = load_states(def, entries, effective)
if not states then
  return {-4, 0, now}
end
for _, e in ipairs(entries) do
  decide(rule, e, states[e.key], now, reply)
end
for key, s in pairs(states) do
  if s.dirty then
    save_state(def, key, s, now)
  end
end
return reply
