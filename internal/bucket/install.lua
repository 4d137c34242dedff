-- install: makes a definition what Redis enforces, if its revision is newer than what is there.
--
-- KEYS[1]    the definition
-- KEYS[2..]  state keys of the new definition's partition to be settled now: of shared its one key, of app one for each
--            listed app, else none
-- ARGV       deployment, lost (1 or 0), revision, algorithm, max, rate, period µs, num, den (rate/period in lowest
--            terms; windows: max, period), partition, shards, mode, max_wait ms, on_failure, after_loss, then the apps
--
-- Reply: {1, revision, deployment, 0, shards}     installed in place of a definition with so many shards; 0 = of none
--        {2, revision, deployment, gone (0 or 1)} an equal or newer revision is there (gone: its tombstone): unchanged
--        {-5, revision, deployment, 0}            the definition there is another deployment's: unchanged
--        {-4, 0, '', 0}                           definition or state of an unknown format is there: unchanged
--
-- A hash without a format is damage, which no version writes: it is overwritten whatever revision it tells. So is one
-- whose owner, revision or head can't be read, by a newer revision. State then begins as after a loss.
--
-- A rule id is larger than all earlier ones of the name, also when Redis forgot those: it is taken from the clock.
-- O(apps + KEYS). Everything is read before the first write, and the first write is one that Redis refuses when it is
-- out of memory, so that such a failure changes nothing.

local RULES_KEPT = 8
local BATCH = 100 -- fields a HSET, far below Lua's bound for unpack
local FIRST_APP = 16

local key = KEYS[1]
local deployment, lost, revision, name = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), ARGV[4]
local max, num, den = tonumber(ARGV[5]), tonumber(ARGV[8]), tonumber(ARGV[9])
local shape, after_loss = ARGV[4] .. '.' .. ARGV[10] .. '.' .. ARGV[11], ARGV[15]
local algorithm = algorithms[name]

-- older(def, now): the generation's rules so far as a list, instants that lie further ahead than the clock may pulled to
-- now, and its born.
local function older(def, now)
  local list = rules(def)
  for _, r in ipairs(list) do
    r.at = math.min(r.at, now)
  end
  return list, math.min(def.born, now)
end

-- succeed(def, rid, now): the new definition's rules and generation, and whether the limit changed within the
-- generation. def is the present definition, nil where there is none; rid is the last rule id.
local function succeed(def, rid, now, existed)
  rid = math.max(rid + 1, math.floor((now - EPOCH) / 1000))
  if def and def.shape == shape then
    now = hold(def.rule.at, now)
    local list, born = older(def, now)
    local rule = list[#list]
    local changed = rule.num ~= num or rule.den ~= den or rule.max ~= max
    if changed then
      list[#list + 1] = new_rule(rid, now, num, den, max)
    end
    return list, def.gen, born, changed
  end
  local born = 0
  if (existed or lost) and after_loss == 'refill' then
    born = now
  end
  return {new_rule(rid, now, num, den, max)}, rid, born, false
end

local function history(list)
  local out = {}
  for i = math.max(1, #list - RULES_KEPT), #list - 1 do
    out[#out + 1] = print_rule(list[i])
  end
  return table.concat(out, ';'), dec(#out)
end

local function write(fields)
  for i = 1, #fields, BATCH do
    redis.call('HSET', key, unpack(fields, i, math.min(i + BATCH - 1, #fields)))
  end
end

local d = redis.call('HMGET', key, 'fmt', 'dep', 'rev', 'gone', 'rid', 'head', 'shards')
local fmt, owner, present_revision, gone, head = d[1], d[2], revision_of(d[3]), d[4], d[6]
if not algorithm or (fmt and fmt ~= FORMAT) then
  return {-4, 0, '', 0}
end
if fmt then
  if owner and owner ~= deployment and not gone then
    return {-5, present_revision, owner, 0}
  end
  if revision <= present_revision then
    return {2, present_revision, owner or '', gone and 1 or 0}
  end
end
local existed = fmt or redis.call('EXISTS', key) == 1
local before = fmt and not gone and head and parse_head(key, head)

local now = redis_now()
local rid = gone and tonumber(d[5]) or before and before.rule.rid or 0
local list, gen, born, changed = succeed(before, rid, now, existed)
local hist, kept = history(list)
local def = {key = key, rev = ARGV[3], shape = shape, mode = ARGV[12], fail = ARGV[14], wait = ARGV[13], gen = gen, born = born,
  rule = list[#list], older = kept, hist = hist, settling = true}
local settled = {}
if changed and algorithm.open then -- leases need no settling
  local effective = present(def, now)
  for i = 2, #KEYS do
    local s = algorithm.open(def, KEYS[i], algorithm.read(KEYS[i]), effective)
    if not s then
      return {-4, 0, '', 0}
    end
    settled[#settled + 1] = s
  end
end

local fields = {'fmt', FORMAT, 'dep', deployment, 'rev', ARGV[3], 'alg', name, 'max', ARGV[5], 'rate', ARGV[6],
  'period', ARGV[7], 'part', ARGV[10], 'shards', ARGV[11], 'mode', ARGV[12], 'wait', ARGV[13], 'fail', ARGV[14],
  'loss', after_loss, 'head', print_head(def), 'hist', hist}
for i = FIRST_APP, #ARGV do
  fields[#fields + 1] = 'app:' .. ARGV[i]
  fields[#fields + 1] = '1'
end
local fast = print_fast(def, ARGV[FIRST_APP] == '*')
if fast then
  fields[#fields + 1] = 'fast'
  fields[#fields + 1] = fast
end
write(fields)
if existed then -- what was there before
  local wanted = {}
  for i = 1, #fields, 2 do
    wanted[fields[i]] = true
  end
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if not wanted[field] then
      redis.call('HDEL', key, field)
    end
  end
  redis.call('PERSIST', key)
end
for _, s in ipairs(settled) do
  algorithm.save(def, s, now)
end
return {1, revision, deployment, 0, tonumber(d[7] or 0) or 0}
