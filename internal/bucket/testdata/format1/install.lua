-- install: makes a definition what Redis enforces, if its revision is newer than what is there.
--
-- KEYS[1]    the definition
-- KEYS[2..]  state keys of the new definition's partition to be settled now: of shared its one key, of app one for each
--            listed app, else none
-- ARGV       format, deployment, lost (1 or 0), revision, algorithm, max, rate, period µs, num, den (rate/period in
--            lowest terms), partition, shards, mode, max_wait ms, on_failure, after_loss, then the apps
--
-- Reply: {1, revision, deployment, 0}             installed
--        {2, revision, deployment, gone (0 or 1)} an equal or newer revision is there (gone: its tombstone): unchanged
--        {-5, revision, deployment, 0}            the definition there is another deployment's: unchanged
--        {-4, 0, '', 0}                           definition or state of an unknown format is there: unchanged
--
-- A rule id is larger than all earlier ones of the name, also when Redis forgot those: it is taken from the clock.
-- O(apps + KEYS). Everything is read before the first write, and the first write is one that Redis refuses when it is
-- out of memory, so that such a failure changes nothing.

local RULES_KEPT = 8
local BATCH = 100 -- fields a HSET, far below Lua's bound for unpack

local key = KEYS[1]
local format, deployment, lost, revision, algorithm = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4]), ARGV[5]
local max, num, den = tonumber(ARGV[6]), tonumber(ARGV[9]), tonumber(ARGV[10])
local partition, shards, after_loss = ARGV[11], ARGV[12], ARGV[16]
local FIRST_APP = 17

-- older(d, now): the generation's rules so far as a list, instants that lie further ahead than the clock may pulled to
-- now, and its born.
local function older(d, now)
  local def = {rule = parse_rule(d.rule), hist = d.hist}
  local list = rules(def)
  for _, r in ipairs(list) do
    r.at = math.min(r.at, now)
  end
  return list, math.min(tonumber(d.born), now)
end

-- succeed(d, now): the new definition's rules and generation, and whether the limit changed within the generation.
local function succeed(d, now)
  local last = 0
  if d.fmt then
    last = d.gone and tonumber(d.rid) or parse_rule(d.rule).rid
  end
  local rid = math.max(last + 1, math.floor((now - EPOCH) / 1000))
  if d.fmt and not d.gone and d.alg == algorithm and d.part == partition and d.shards == shards then
    now = hold(parse_rule(d.rule).at, now)
    local list, born = older(d, now)
    local rule = list[#list]
    local changed = rule.num ~= num or rule.den ~= den or rule.max ~= max
    if changed then
      list[#list + 1] = new_rule(rid, now, num, den, max)
    end
    return list, tonumber(d.gen), born, changed
  end
  local born = 0
  if (d.fmt or lost) and after_loss == 'refill' then
    born = now
  end
  return {new_rule(rid, now, num, den, max)}, rid, born, false
end

local function history(list)
  local out = {}
  for i = math.max(1, #list - RULES_KEPT), #list - 1 do
    out[#out + 1] = print_rule(list[i])
  end
  return table.concat(out, ';')
end

local function write(fields)
  for i = 1, #fields, BATCH do
    redis.call('HSET', key, unpack(fields, i, math.min(i + BATCH - 1, #fields)))
  end
end

local names = {'fmt', 'dep', 'rev', 'gone', 'rid', 'gen', 'born', 'alg', 'part', 'shards', 'rule', 'hist'}
local values = redis.call('HMGET', key, unpack(names))
local d = {}
for i, name in ipairs(names) do
  d[name] = values[i]
end
if format ~= FORMAT or (d.fmt and d.fmt ~= FORMAT) or (not d.fmt and redis.call('EXISTS', key) == 1) then
  return {-4, 0, '', 0}
end
if d.fmt then
  if d.dep ~= deployment and not d.gone then
    return {-5, tonumber(d.rev), d.dep, 0}
  end
  if revision <= tonumber(d.rev) then
    return {2, tonumber(d.rev), d.dep, d.gone and 1 or 0}
  end
end

local now = redis_now()
local list, gen, born, changed = succeed(d, now)
local def = {rule = list[#list], hist = history(list), gen = gen, born = born}
local effective = hold(def.born, hold(def.rule.at, now))
local settled = {}
if changed then
  for i = 2, #KEYS do
    local s = load_state(def, redis.call('GET', KEYS[i]), effective)
    if not s then
      return {-4, 0, '', 0}
    end
    settled[i] = s
  end
end

local fields = {'fmt', FORMAT, 'dep', deployment, 'rev', ARGV[4], 'alg', algorithm, 'max', ARGV[6], 'rate', ARGV[7],
  'period', ARGV[8], 'part', partition, 'shards', shards, 'mode', ARGV[13], 'wait', ARGV[14], 'fail', ARGV[15],
  'loss', after_loss, 'gen', dec(gen), 'born', dec(born), 'rule', print_rule(def.rule), 'hist', def.hist}
local wanted = {}
for i = FIRST_APP, #ARGV do
  local field = 'app:' .. ARGV[i]
  wanted[field] = true
  fields[#fields + 1] = field
  fields[#fields + 1] = '1'
end
write(fields)
for _, field in ipairs(redis.call('HKEYS', key)) do
  if field == 'gone' or field == 'rid' or (string.sub(field, 1, 4) == 'app:' and not wanted[field]) then
    redis.call('HDEL', key, field)
  end
end
redis.call('PERSIST', key)
for i, s in pairs(settled) do
  save_state(def, KEYS[i], s, now)
end
return {1, revision, deployment, 0}
